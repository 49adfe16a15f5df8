//! A process that forks test processes: see the runtime's `fork_server`.

use std::ffi::{OsStr, OsString};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, IoSlice, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use nix::sched::sched_getaffinity;
use nix::sys::socket::{AddressFamily, ControlMessage, MsgFlags, SockFlag, SockType};
use nix::sys::socket::{sendmsg, socketpair};
use nix::unistd::{Pid, setpgid};
use nondex_core::protocol::spec::{FORK_SERVER, ForkRequest};

use super::leftover;
use crate::locked::Locked;

/// Time for a server to start, which takes a few milliseconds. A program that does not report that
/// it is ready is none.
const START: Duration = Duration::from_secs(2);

/// Time for a server to answer a request. A process may have started if it does not.
const PATIENCE: Duration = Duration::from_secs(60);

/// Identity of everything that a process is started with, but for what a [`ForkRequest`] replaces:
/// the program, its directory, its environment, and what it inherits from the thread that starts
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::campaign) struct StartId(u64);

impl StartId {
    /// Returns the identity of a process that this thread would start.
    pub(in crate::campaign) fn of(command: &Command) -> Self {
        let mut hasher = DefaultHasher::new();
        command.get_program().hash(&mut hasher);
        command.get_current_dir().hash(&mut hasher);
        for (name, value) in command.get_envs() {
            (name, value.filter(|_| room(name).is_none())).hash(&mut hasher);
        }
        sched_getaffinity(Pid::from_raw(0)).ok().hash(&mut hasher);
        StartId(hasher.finish())
    }
}

/// Returns how long the value of a variable can be that each fork gets anew; `None` for others.
fn room(name: &OsStr) -> Option<usize> {
    ForkRequest::VARIABLES.iter().find(|(known, _)| name == *known).map(|(_, length)| *length)
}

/// A process that forks test processes. It ends when this is dropped.
#[derive(Debug)]
pub(in crate::campaign) struct ForkServer {
    /// Socket for requests, which keep their boundaries. `None` after an error.
    socket: Mutex<Option<UnixStream>>,
    process: Child,
}

impl ForkServer {
    /// Starts the executable of `command` as a server, with room for what its forks replace. Waits
    /// until it can fork. Returns `None` if it cannot, or if a fork would lack threads or share
    /// open files of the program's libraries.
    pub(in crate::campaign) fn start(command: &Command) -> Option<Self> {
        let kind = (AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC);
        let (ours, theirs) = socketpair(kind.0, kind.1, None, kind.2).ok()?;
        let free = |length| OsString::from_vec(vec![FORK_SERVER; length]);
        let mut server = Command::new(command.get_program());
        server.arg(free(ForkRequest::MAX_ARGUMENTS)).args([""; ForkRequest::MAX_COUNT - 1]);
        server.env_clear();
        for (name, value) in command.get_envs() {
            server.envs(value.map(|value| (name, room(name).map_or(value.into(), free))));
        }
        server.current_dir(command.get_current_dir()?);
        server.stdin(theirs).stdout(Stdio::null()).stderr(Stdio::null());
        let process = {
            let _starting = leftover::starting();
            server.spawn().ok()?
        };
        // The command holds the server's end of the socket.
        drop(server);
        let mut socket = UnixStream::from(ours);
        let is_ready = socket.set_read_timeout(Some(START)).is_ok()
            && read(&mut socket).is_ok()
            && socket.set_read_timeout(Some(PATIENCE)).is_ok();
        let server = ForkServer { socket: Mutex::new(Some(socket)), process };
        (is_ready && server.is_alone()).then_some(server)
    }

    /// Returns whether the process has one thread, and no open files but those it was started with.
    fn is_alone(&self) -> bool {
        let folder = format!("/proc/{}", self.process.id());
        let threads = std::fs::read_dir(format!("{folder}/task")).map_or(0, Iterator::count);
        let is_given = |name: &OsString| {
            // What this process was started with itself is inherited.
            let target = |folder: &str| std::fs::read_link(Path::new(folder).join("fd").join(name));
            let own = target("/proc/self").ok();
            ["0", "1", "2"].iter().any(|standard| name == standard)
                || own.is_some() && own == target(&folder).ok()
        };
        let files = std::fs::read_dir(format!("{folder}/fd")).into_iter().flatten().flatten();
        threads == 1 && files.map(|file| file.file_name()).all(|name| is_given(&name))
    }

    /// Forks the process that `command` would start, as the leader of a group. It writes to
    /// `output`.
    ///
    /// # Errors
    /// Returns an error if there is no room for the variables and arguments. Also returns one if
    /// the server does not answer; it is not used again then.
    pub(super) fn fork(&self, command: &Command, output: &OwnedFd) -> io::Result<Pid> {
        let message = message(command).ok_or(io::ErrorKind::InvalidInput)?;
        let mut held = self.socket.locked();
        let socket = held.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        let forked = answer(socket, &message, output);
        if forked.is_err() {
            *held = None;
        }
        forked
    }
}

impl Drop for ForkServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the request for the process that `command` would start, unless it is too long.
fn message(command: &Command) -> Option<Vec<u8>> {
    let mut variables = Vec::new();
    for (name, value) in command.get_envs().filter(|(name, _)| room(name).is_some()) {
        if let Some(value) = value {
            variables.extend([name.as_bytes(), b"=", value.as_bytes(), b"\0"].concat());
        }
    }
    let arguments = command.get_args().map(|argument| [argument.as_bytes(), b"\0"].concat());
    let arguments = arguments.collect::<Vec<_>>().concat();
    ForkRequest { variables: &variables, arguments: &arguments }.message()
}

/// Sends a request to a server, and returns the process that it forks.
fn answer(socket: &mut UnixStream, message: &[u8], output: &OwnedFd) -> io::Result<Pid> {
    let rights = [output.as_raw_fd()];
    let rights = [ControlMessage::ScmRights(&rights)];
    let flags = MsgFlags::empty();
    sendmsg::<()>(socket.as_raw_fd(), &[IoSlice::new(message)], &rights, flags, None)?;
    let child = read(socket)?;
    if child <= 0 {
        return Err(io::ErrorKind::Other.into());
    }
    let child = Pid::from_raw(child);
    // Both processes do this, because either may run first.
    let _ = setpgid(child, child);
    Ok(child)
}

/// Reads a number that a server sends.
fn read(socket: &mut UnixStream) -> io::Result<i32> {
    let mut number = [0; size_of::<i32>()];
    socket.read_exact(&mut number)?;
    Ok(i32::from_ne_bytes(number))
}

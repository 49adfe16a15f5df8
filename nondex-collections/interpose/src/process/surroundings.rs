//! State that the system keeps for a process: environment, directory, masks, signals, limits,
//! ports, and what else it [holds](Held).

use ::std::env;
use ::std::ffi::{CStr, CString, OsStr, OsString, c_int};
use ::std::mem::MaybeUninit;
use ::std::os::unix::ffi::{OsStrExt, OsStringExt};
use ::std::path::PathBuf;
use ::std::ptr;

use super::held::{Held, numbered};
use crate::surroundings::MASK;
use crate::{libc, sockaddr};
use nondex_core::sorted::SortedMap;
use nondex_core::{StateId, StateKind};

/// Number of signals whose actions are compared. libc refuses those that it reserves for itself.
const SIGNALS: c_int = 64;

/// Number of limits that are compared, as the system numbers them.
const LIMITS: u32 = 16;

/// Maximum length of a value's text, in characters.
const MAX_TEXT: usize = 1000;

/// Snapshot of the state that the [module](self) describes.
#[derive(Clone)]
pub(super) struct Surroundings {
    variables: SortedMap<OsString, OsString>,
    directory: Option<PathBuf>,
    umask: libc::mode_t,
    signals: Vec<(c_int, libc::sigaction)>,
    /// Signals that this thread blocks, and the threads that it starts.
    blocked: libc::sigset_t,
    limits: Vec<(u32, libc::rlimit)>,
    ports: Vec<String>,
    held: Held,
}

impl ::std::fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        f.debug_tuple("Surroundings").field(&self.texts()).finish()
    }
}

impl Surroundings {
    /// Takes the present state.
    pub(super) fn now() -> Self {
        let limits = (0..LIMITS).filter_map(|number| Some((number, limit(number)?))).collect();
        let _room = Room::make();
        Surroundings {
            variables: variables(),
            directory: env::current_dir().ok(),
            umask: umask(),
            signals: (1..=SIGNALS).filter_map(|number| Some((number, action(number)?))).collect(),
            blocked: blocked(),
            limits,
            ports: ports(),
            held: held(),
        }
    }

    pub(super) fn directory(&self) -> Option<&PathBuf> {
        self.directory.as_ref()
    }

    /// Returns all of it as text.
    pub(super) fn texts(&self) -> SortedMap<StateId, String> {
        let mut texts = SortedMap::new();
        let mut add = |kind, name: String, text: String| {
            let end = text.char_indices().nth(MAX_TEXT).map_or(text.len(), |(end, _)| end);
            texts.insert(StateId { kind, name }, text[..end].to_owned());
        };
        for (name, value) in &self.variables {
            let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
            add(StateKind::Env, name.into_owned(), value.into_owned());
        }
        if let Some(directory) = &self.directory {
            add(StateKind::Cwd, String::new(), directory.to_string_lossy().into_owned());
        }
        add(StateKind::Umask, String::new(), format!("{:03o}", self.umask));
        for (number, action) in &self.signals {
            let treatment = match action.sa_sigaction {
                libc::SIG_DFL => continue,
                libc::SIG_IGN => "ignored".to_owned(),
                handler => format!("handled at {handler:#x}"),
            };
            add(StateKind::Signal, number.to_string(), treatment);
        }
        let is_blocked = |number: &c_int| {
            // SAFETY: the set is valid, and only read.
            unsafe { libc::sigismember(&raw const self.blocked, *number) == 1 }
        };
        let blocked: Vec<String> =
            (1..=SIGNALS).filter(is_blocked).map(|number| number.to_string()).collect();
        add(StateKind::Signal, MASK.to_owned(), blocked.join(" "));
        for (number, limit) in &self.limits {
            let text = match limit.rlim_cur {
                libc::RLIM_INFINITY => "unlimited".to_owned(),
                limit => limit.to_string(),
            };
            add(StateKind::Limit, number.to_string(), text);
        }
        for port in &self.ports {
            add(StateKind::Port, port.clone(), "open".to_owned());
        }
        for (state, count) in &self.held.counts() {
            add(state.kind, state.name.clone(), count.to_string());
        }
        texts
    }

    /// Restores this part of the state. The descriptor of a port is replaced by `/dev/null`, so it
    /// stays valid for its owner.
    pub(super) fn restore(&self, state: &StateId) {
        match state.kind {
            StateKind::Env => {
                let name = OsString::from(&state.name);
                set_variable(&name, self.variables.get(&name).map(OsString::as_os_str));
            }
            StateKind::Cwd => {
                if let Some(directory) = &self.directory {
                    let _ = env::set_current_dir(directory);
                }
            }
            // SAFETY: the call involves no memory.
            StateKind::Umask => _ = unsafe { libc::umask(self.umask) },
            // SAFETY: the mask was in place before.
            StateKind::Signal if state.name == MASK => unsafe {
                libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.blocked, ptr::null_mut());
            },
            StateKind::Signal => {
                let number = state.name.parse().ok();
                if let Some((number, action)) =
                    self.signals.iter().find(|(known, _)| Some(*known) == number)
                {
                    // SAFETY: the action was in place before.
                    unsafe { libc::sigaction(*number, action, ptr::null_mut()) };
                }
            }
            StateKind::Limit => {
                let number = state.name.parse().ok();
                let mut limits = self.limits.iter();
                if let Some((number, before)) = limits.find(|(known, _)| Some(*known) == number) {
                    restore_limit(*number, *before);
                }
            }
            StateKind::Port => {
                let had = sockets().filter(|(_, address)| *address == state.name);
                for (socket, _) in had.collect::<Vec<_>>() {
                    // SAFETY: the path ends with NUL.
                    unsafe {
                        let nothing = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
                        if nothing != -1 {
                            libc::dup2(nothing, socket);
                            libc::close(nothing);
                        }
                    }
                }
            }
            StateKind::Descriptor | StateKind::Child | StateKind::Thread => {
                held().end_new(&self.held, state);
            }
            StateKind::Static | StateKind::File => {}
        }
    }
}

/// Returns the variables in any order. It does not use std's function, because this tool may
/// replace that by one that permutes them.
fn variables() -> SortedMap<OsString, OsString> {
    unsafe extern "C" {
        static environ: *const *const libc::c_char;
    }
    let mut variables = SortedMap::new();
    // SAFETY: the block ends with a null pointer, its strings with NUL, and no other thread changes
    // it meanwhile.
    unsafe {
        let mut entry = environ;
        while !entry.is_null() && !(*entry).is_null() {
            let text = ::std::ffi::CStr::from_ptr(*entry).to_bytes();
            let at = text.iter().position(|byte| *byte == b'=').unwrap_or(text.len());
            let (name, value) = (&text[..at], text.get(at + 1..).unwrap_or_default());
            let name = OsString::from_vec(name.to_vec());
            // The first variable of a name is the effective one.
            if variables.get(&name).is_none() {
                variables.insert(name, OsString::from_vec(value.to_vec()));
            }
            entry = entry.add(1);
        }
    }
    variables
}

fn action(number: c_int) -> Option<libc::sigaction> {
    let mut action = MaybeUninit::zeroed();
    // SAFETY: the action is written to a local variable.
    let result = unsafe { libc::sigaction(number, ptr::null(), action.as_mut_ptr()) };
    // SAFETY: zeros are a valid action, which the call has overwritten.
    (result == 0).then(|| unsafe { action.assume_init() })
}

fn limit(number: u32) -> Option<libc::rlimit> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is written to a local variable.
    (unsafe { libc::getrlimit(number, &raw mut limit) } == 0).then_some(limit)
}

/// Restores a limit as far as that is allowed. If the hard limit was lowered for good, the soft
/// limit is restored up to it.
fn restore_limit(number: u32, before: libc::rlimit) {
    if set_limit(number, before) {
        return;
    }
    if let Some(now) = limit(number) {
        set_limit(number, libc::rlimit { rlim_cur: before.rlim_cur.min(now.rlim_max), ..now });
    }
}

/// Sets a limit, and returns whether that is allowed.
fn set_limit(number: u32, limit: libc::rlimit) -> bool {
    // SAFETY: the limit is read only.
    unsafe { libc::setrlimit(number, &raw const limit) == 0 }
}

/// Guard that raises the limit on descriptors, because a test may have left a limit that is used
/// up. The process's resources are read from files. Without descriptors all of them would count as
/// gone.
pub(super) struct Room(Option<libc::rlimit>);

impl Room {
    pub(super) fn make() -> Self {
        let before = limit(libc::RLIMIT_NOFILE).filter(|limit| limit.rlim_cur < limit.rlim_max);
        if let Some(before) = before {
            let most = libc::rlimit { rlim_cur: before.rlim_max, ..before };
            set_limit(libc::RLIMIT_NOFILE, most);
        }
        Room(before)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if let Some(before) = self.0 {
            set_limit(libc::RLIMIT_NOFILE, before);
        }
    }
}

/// Returns the file mode creation mask, which can only be read by setting it.
pub(super) fn umask() -> libc::mode_t {
    // SAFETY: the calls involve no memory.
    unsafe {
        let umask = libc::umask(0o77);
        libc::umask(umask);
        umask
    }
}

/// Returns the signals that this thread blocks.
fn blocked() -> libc::sigset_t {
    let mut blocked = MaybeUninit::zeroed();
    // SAFETY: the set is written to a local variable, over zeros, which are a valid set.
    unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), blocked.as_mut_ptr());
        blocked.assume_init()
    }
}

/// Returns the addresses at which connections are accepted or packets are received.
fn ports() -> Vec<String> {
    let mut ports: Vec<String> = sockets().map(|(_, address)| address).collect();
    ports.sort();
    ports.dedup();
    ports
}

/// Returns the sockets with a port for others, and their addresses.
fn sockets() -> impl Iterator<Item = (c_int, String)> {
    let numbers = numbered("/proc/self/fd").into_iter();
    numbers.filter_map(|(socket, _)| Some((socket, port(socket)?)))
}

/// Returns the process's resources other than its ports.
fn held() -> Held {
    Held::now(&|descriptor| port(descriptor).is_some())
}

/// Returns the address at which a socket accepts connections or receives packets.
fn port(socket: c_int) -> Option<String> {
    let is_open = option(socket, libc::SO_ACCEPTCONN) == Some(1)
        || option(socket, libc::SO_TYPE) == Some(libc::SOCK_DGRAM);
    let address = is_open.then(|| sockaddr::of_socket(socket)).flatten()?;
    (address.port() != 0).then(|| address.to_string())
}

/// Returns an option of a socket that is a number.
fn option(socket: c_int, name: c_int) -> Option<c_int> {
    let mut answer: c_int = 0;
    let mut length = size_of::<c_int>() as libc::socklen_t;
    // SAFETY: the answer is written to a local variable.
    let result = unsafe {
        let answer = (&raw mut answer).cast();
        libc::getsockopt(socket, libc::SOL_SOCKET, name, answer, &raw mut length)
    };
    (result == 0).then_some(answer)
}

/// Returns the value of a variable, without std's lock.
pub(super) fn variable(name: &str) -> Option<OsString> {
    let name = CString::new(name).ok()?;
    // SAFETY: the name ends with NUL, and no other thread is there to change the environment.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: the value of a variable ends in NUL.
    Some(OsString::from_vec(unsafe { CStr::from_ptr(value) }.to_bytes().to_vec()))
}

/// Sets or removes a variable, without std's lock.
pub(super) fn set_variable(name: &OsStr, value: Option<&OsStr>) {
    let Ok(name) = CString::new(name.as_bytes()) else { return };
    let value = value.and_then(|value| CString::new(value.as_bytes()).ok());
    // SAFETY: the strings end with NUL, and no other thread is there to read the environment.
    unsafe {
        match value {
            Some(value) => libc::setenv(name.as_ptr(), value.as_ptr(), 1),
            None => libc::unsetenv(name.as_ptr()),
        }
    };
}

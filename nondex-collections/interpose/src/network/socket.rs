//! Sockets that concern other machines. Each is identified by its inode. All descriptors of a
//! socket share the inode, however they were made, while a later socket with the same descriptor
//! has another one.
//!
//! Data about sockets changes in place, under a lock. What follows from a change is recorded after
//! the lock is released. Datagram sockets are known from the beginning, because a process other
//! than the sender may wait for the answer.

use ::std::ffi::c_int;
use ::std::net::SocketAddr;
use ::std::sync::atomic::{AtomicUsize, Ordering};

use nondex_core::context::network::{self, End, NetworkOperation};
use nondex_core::fork_lock::{ForkGuard, ForkLock};
use nondex_core::sorted::SortedMap;
use nondex_core::{NetworkMode, hidden};

use super::{Errno, address, error, fork, shown};
use crate::{libc, originals, schedule};

/// Data about one socket.
#[derive(Debug)]
pub(super) struct Socket {
    inode: u64,
    /// Whether the socket sends datagrams.
    is_datagram: bool,
    /// Peer to which it is connected, or being connected.
    pub(super) peer: Option<SocketAddr>,
    /// Connection that has begun and not ended.
    pub(super) connecting: Option<NetworkOperation>,
    /// Unanswered datagrams, one for each target.
    sent: hidden::Vec<NetworkOperation>,
    /// Whether it has ever received anything.
    answered: bool,
    /// Whether an `epoll` waits for it to become readable.
    pub(super) is_polled: bool,
}

/// Sockets by inode.
type Sockets = SortedMap<u64, Socket>;

/// Maximum number of known sockets. If there are more, the oldest are forgotten.
const MAX_KNOWN: usize = 4096;

/// Number of known sockets.
static KNOWN: AtomicUsize = AtomicUsize::new(0);
/// Number of unanswered datagrams.
static UNANSWERED: AtomicUsize = AtomicUsize::new(0);
static SOCKETS: ForkLock<Sockets> = ForkLock::new(SortedMap::new);

pub(super) fn before_fork() {
    SOCKETS.before_fork();
}

pub(super) fn after_fork() {
    SOCKETS.after_fork();
}

/// Returns whether any socket is known. If not, there is nothing to do.
#[inline]
pub(super) fn is_any_known() -> bool {
    KNOWN.load(Ordering::Relaxed) > 0
}

/// Returns whether any datagram is unanswered.
#[inline]
pub(super) fn is_any_unanswered() -> bool {
    UNANSWERED.load(Ordering::Relaxed) > 0
}

/// Returns the inode of the socket `fd`, if it is a socket.
fn inode(fd: c_int) -> Option<u64> {
    // SAFETY: a `stat` is plain data, for which zeros are valid.
    let mut stat = unsafe { ::std::mem::zeroed::<libc::stat64>() };
    // SAFETY: `fstat64` checks the descriptor, and `stat` is valid for writes.
    let result = unsafe { libc::fstat64(fd, &raw mut stat) };
    (result == 0 && stat.st_mode & libc::S_IFMT == libc::S_IFSOCK).then_some(stat.st_ino)
}

/// Returns the socket `fd`, if it is known and this thread works for a test. Costs one load while
/// no socket is known.
#[inline]
pub(super) fn known(fd: c_int) -> Option<u64> {
    if is_any_known() { look_up(fd) } else { None }
}

/// Returns the same as [`known`]. Allocates no memory for an unknown descriptor, because a signal
/// handler may write to one.
#[cold]
fn look_up(fd: c_int) -> Option<u64> {
    let _errno = Errno::save();
    let inode = inode(fd)?;
    let is_known = SOCKETS.lock()?.get(&inode).is_some();
    (is_known && network::mode() != NetworkMode::Off).then_some(inode)
}

/// Makes the socket `fd` known, and returns it.
pub(super) fn know(fd: c_int) -> Option<u64> {
    let _errno = Errno::save();
    let inode = inode(fd)?;
    let mut sockets = SOCKETS.lock()?;
    if sockets.get(&inode).is_none() {
        let is_datagram = is_datagram(fd);
        if sockets.len() >= MAX_KNOWN {
            if let Some((_, oldest)) = sockets.pop_first() {
                UNANSWERED.fetch_sub(oldest.sent.len(), Ordering::Relaxed);
            }
        }
        let socket = Socket {
            inode,
            is_datagram,
            peer: None,
            connecting: None,
            sent: hidden::vec(),
            answered: false,
            is_polled: false,
        };
        sockets.insert(inode, socket);
        KNOWN.store(sockets.len(), Ordering::Relaxed);
    }
    Some(inode)
}

/// Makes `fd` known if it is a datagram socket that can reach other machines.
pub(super) fn know_datagrams(fd: c_int) {
    let _errno = Errno::save();
    let is_internet = || {
        let family = option(fd, libc::SO_DOMAIN);
        matches!(family, Some(libc::AF_INET | libc::AF_INET6))
    };
    if inode(fd).is_some() && is_internet() && is_datagram(fd) {
        know(fd);
    }
}

/// Makes known the sockets that this process inherited.
pub(super) fn inherit() {
    each_descriptor(|fd| {
        know_datagrams(fd);
        true
    });
}

/// Returns whether `holds` is true for each open descriptor of this process.
fn each_descriptor(holds: impl FnMut(c_int) -> bool) -> bool {
    schedule::each_number(c"/proc/self/fd", holds)
}

/// Changes the data about a socket, and then records what follows from the change.
pub(super) fn update(inode: u64, change: impl FnOnce(&mut Socket, &mut Changes)) {
    let mut changes = Changes::none();
    if let Some(mut sockets) = SOCKETS.lock() {
        if let Some(socket) = sockets.get_mut(&inode) {
            UNANSWERED.fetch_sub(socket.sent.len(), Ordering::Relaxed);
            change(socket, &mut changes);
            UNANSWERED.fetch_add(socket.sent.len(), Ordering::Relaxed);
        }
    }
    changes.record();
}

/// Changes the data about every socket that an `epoll` waits for, as [`update`] does. It ignores
/// which `epoll`, because an `epoll` can have many descriptors, too.
pub(super) fn update_polled(change: impl Fn(&mut Socket, &mut Changes)) {
    let mut changes = Changes::none();
    if let Some(mut sockets) = SOCKETS.lock() {
        for socket in sockets.values_mut().filter(|socket| socket.is_polled) {
            change(socket, &mut changes);
        }
    }
    changes.record();
}

/// Returns whether the socket has an unanswered question.
pub(super) fn is_unanswered(inode: u64) -> bool {
    let is_unanswered =
        |sockets: ForkGuard<'_, Sockets>| Some(!sockets.get(&inode)?.sent.is_empty());
    SOCKETS.lock().and_then(is_unanswered).unwrap_or(false)
}

/// Returns the destination of a message on a socket, and whether it is a first question: none to
/// that machine is open.
pub(super) fn question(inode: u64, target: Option<SocketAddr>) -> Option<(SocketAddr, bool)> {
    let sockets = SOCKETS.lock()?;
    let socket = sockets.get(&inode)?;
    let target = target.or(socket.peer)?;
    let text = shown(&target);
    let is_open = socket.sent.iter().any(|sent| sent.is_to(&text));
    let is_first = socket.is_datagram
        && socket.connecting.is_none()
        && !socket.answered
        && !is_open
        && !address::is_group(&target);
    Some((target, is_first))
}

/// Returns whether `fd` sends datagrams.
pub(super) fn is_datagram(fd: c_int) -> bool {
    option(fd, libc::SO_TYPE).is_some_and(|kind| kind != libc::SOCK_STREAM)
}

/// Returns an option of the socket itself, read without the interposed function.
fn option(fd: c_int, name: c_int) -> Option<c_int> {
    let original = originals::getsockopt.get()?;
    let mut value: c_int = 0;
    let mut len = size_of::<c_int>() as libc::socklen_t;
    // SAFETY: the value is valid for writes of its length.
    let result =
        unsafe { original(fd, libc::SOL_SOCKET, name, (&raw mut value).cast(), &raw mut len) };
    (result == 0).then_some(value)
}

fn is_connected(fd: c_int) -> bool {
    // SAFETY: an address is plain data, for which zeros are valid.
    let mut address = unsafe { ::std::mem::zeroed::<libc::sockaddr_storage>() };
    let mut len = size_of_val(&address) as libc::socklen_t;
    // SAFETY: the address is valid for writes of its length.
    unsafe { libc::getpeername(fd, (&raw mut address).cast(), &raw mut len) == 0 }
}

/// Records what can still be learnt about a socket before its descriptor `fd` is closed.
pub(super) fn closing(inode: u64, fd: c_int) {
    let _errno = Errno::save();
    let mut is_connecting = false;
    if let Some(mut sockets) = SOCKETS.lock() {
        if let Some(socket) = sockets.get(&inode) {
            is_connecting = socket.connecting.is_some();
            if !is_connecting && socket.peer.is_none() && socket.sent.is_empty() && !socket.answered
            {
                sockets.remove(&inode);
                KNOWN.store(sockets.len(), Ordering::Relaxed);
            }
        }
    }
    if is_connecting {
        // Reading an error clears it for all other descriptors, so only the last one does it.
        let errno = if is_connected(fd) || !is_last(inode, fd) {
            0
        } else {
            option(fd, libc::SO_ERROR).unwrap_or(0)
        };
        update(inode, |socket, changes| socket.error(fd, errno, changes));
    }
}

/// Returns whether no other descriptor of this process refers to the same socket. After a fork this
/// is unknown, because a child may have one, and the answer is false.
fn is_last(inode: u64, fd: c_int) -> bool {
    !fork::has_forked() && each_descriptor(|other| other == fd || self::inode(other) != Some(inode))
}

/// Changes that are to be recorded.
#[derive(Debug)]
pub(super) struct Changes {
    operations: hidden::Vec<NetworkOperation>,
    /// Socket that received something although this process knows of no question.
    received: Option<u64>,
}

impl Changes {
    const fn none() -> Self {
        Changes { operations: hidden::vec(), received: None }
    }

    /// Ends an operation with this outcome.
    pub(super) fn end(&mut self, mut operation: NetworkOperation, outcome: End) {
        if operation.learn(outcome) {
            self.operations.push(operation);
        }
    }

    fn record(self) {
        for operation in self.operations {
            operation.write();
        }
        if let Some(socket) = self.received {
            network::received(socket);
        }
    }
}

impl Socket {
    /// Handles the error, or 0, that was read from the socket `fd`.
    pub(super) fn error(&mut self, fd: c_int, errno: c_int, changes: &mut Changes) {
        if errno != 0 {
            self.failed(errno, changes);
        } else if self.connecting.is_some() && is_connected(fd) {
            self.end_connecting(End::Answered, changes);
        }
    }

    /// Ends all pending operations with this error.
    pub(super) fn failed(&mut self, errno: c_int, changes: &mut Changes) {
        let outcome = End::Failed(error::name(errno));
        self.end_connecting(outcome.clone(), changes);
        for operation in self.sent.drain(..) {
            changes.end(operation, outcome.clone());
        }
    }

    /// Ends all pending operations, because something was received.
    pub(super) fn answered(&mut self, changes: &mut Changes) {
        if self.is_datagram && self.sent.is_empty() && !self.answered {
            changes.received = Some(self.inode);
        }
        self.answered = true;
        self.end_connecting(End::Answered, changes);
        for operation in self.sent.drain(..) {
            changes.end(operation, End::Answered);
        }
    }

    /// Adds a question that is sent.
    pub(super) fn add_question(&mut self, operation: NetworkOperation) {
        self.sent.push(operation);
    }

    /// Removes and returns the question to this machine, which could not be sent after all.
    pub(super) fn take_question(&mut self, target: &SocketAddr) -> Option<NetworkOperation> {
        let target = shown(target);
        let place = self.sent.iter().position(|sent| sent.is_to(&target))?;
        Some(self.sent.swap_remove(place))
    }

    /// Records that a thread waits for the answers.
    pub(super) fn awaited(&mut self, changes: &mut Changes) {
        self.waits(&End::Awaited, changes);
    }

    /// Records that a thread waited for the answers, or polled for them, and there were none.
    pub(super) fn waited_unanswered(&mut self, changes: &mut Changes) {
        self.waits(&End::Pending, changes);
    }

    fn waits(&mut self, outcome: &End, changes: &mut Changes) {
        for operation in &mut self.sent {
            if operation.learn(outcome.clone()) {
                changes.operations.push(operation.clone());
            }
        }
    }

    pub(super) fn end_connecting(&mut self, outcome: End, changes: &mut Changes) {
        if let Some(operation) = self.connecting.take() {
            changes.end(operation, outcome);
        }
    }
}

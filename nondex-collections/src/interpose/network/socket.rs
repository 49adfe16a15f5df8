//! Sockets that have to do with another machine, by their descriptors.

use ::std::collections::BTreeMap;
use ::std::ffi::c_int;
use ::std::net::SocketAddr;
use ::std::sync::Mutex;
use ::std::sync::atomic::{AtomicUsize, Ordering};

use nondex_core::NetworkOutcome;
use nondex_core::network::{self, NetworkMode, Operation};

use super::{Errno, error, lock, original};

/// What is known of one socket.
#[derive(Debug)]
pub(super) struct Socket {
    /// Tells it from a later one with its descriptor.
    inode: u64,
    /// What it is connected to, or being connected to.
    pub(super) peer: Option<SocketAddr>,
    /// A connection that was begun.
    pub(super) connecting: Option<Operation>,
    /// Datagrams nobody has answered yet, one of each target.
    pub(super) sent: Vec<Operation>,
    /// Whether it ever received anything.
    pub(super) answered: bool,
}

/// How many sockets are known.
static KNOWN: AtomicUsize = AtomicUsize::new(0);
static SOCKETS: Mutex<BTreeMap<c_int, Socket>> = Mutex::new(BTreeMap::new());

/// Whether the socket `fd` is known, and this thread works for a test: else there is nothing to do. Costs a load while no
/// socket is.
#[inline]
pub(super) fn is_watched(fd: c_int) -> bool {
    KNOWN.load(Ordering::Relaxed) > 0 && is_known(fd)
}

/// Takes no memory for a descriptor that is not known: a signal's handler may write to one.
#[cold]
fn is_known(fd: c_int) -> bool {
    let _errno = Errno::save();
    lock(&SOCKETS).is_some_and(|sockets| sockets.contains_key(&fd))
        && network::mode() != NetworkMode::Off
}

fn inode(fd: c_int) -> Option<u64> {
    // SAFETY: a `stat` is plain data, for which zeros are valid.
    let mut stat = unsafe { ::std::mem::zeroed::<libc::stat64>() };
    // SAFETY: `fstat64` checks the descriptor, and `stat` is valid for writes.
    (unsafe { libc::fstat64(fd, &raw mut stat) } == 0).then_some(stat.st_ino)
}

/// Takes what is known of the socket `fd`, if it is one that is known.
pub(super) fn take(fd: c_int) -> Option<Socket> {
    if KNOWN.load(Ordering::Relaxed) == 0 {
        return None;
    }
    let _errno = Errno::save();
    let socket = lock(&SOCKETS)?.remove(&fd)?;
    KNOWN.fetch_sub(1, Ordering::Relaxed);
    (inode(fd) == Some(socket.inode)).then_some(socket)
}

/// Takes what is known of `fd`, or a socket of which nothing is known yet.
pub(super) fn take_or_new(fd: c_int) -> Option<Socket> {
    take(fd).or_else(|| {
        Some(Socket {
            inode: inode(fd)?,
            peer: None,
            connecting: None,
            sent: Vec::new(),
            answered: false,
        })
    })
}

/// Keeps what is known of `fd`.
pub(super) fn keep(fd: c_int, socket: Socket) {
    if let Some(mut sockets) = lock(&SOCKETS)
        && sockets.insert(fd, socket).is_none()
    {
        KNOWN.fetch_add(1, Ordering::Relaxed);
    }
}

/// Whether `fd` sends datagrams.
pub(super) fn is_datagram(fd: c_int) -> bool {
    option(fd, libc::SO_TYPE).is_some_and(|kind| kind != libc::SOCK_STREAM)
}

/// An option of the socket itself, read without our own function in between.
fn option(fd: c_int, name: c_int) -> Option<c_int> {
    let original = original!(c"getsockopt": super::connect::Getsockopt)?;
    let mut value: c_int = 0;
    let mut len = size_of::<c_int>() as libc::socklen_t;
    // SAFETY: the value is valid for writes of its length.
    let result = unsafe {
        original(
            fd,
            libc::SOL_SOCKET,
            name,
            (&raw mut value).cast(),
            &raw mut len,
        )
    };
    (result == 0).then_some(value)
}

fn is_connected(fd: c_int) -> bool {
    // SAFETY: an address is plain data, for which zeros are valid.
    let mut address = unsafe { ::std::mem::zeroed::<libc::sockaddr_storage>() };
    let mut len = size_of_val(&address) as libc::socklen_t;
    // SAFETY: the address is valid for writes of its length.
    unsafe { libc::getpeername(fd, (&raw mut address).cast(), &raw mut len) == 0 }
}

impl Socket {
    /// Notes the error, or 0, that was read from the socket.
    pub(super) fn error(&mut self, fd: c_int, errno: c_int) {
        if errno != 0 {
            self.failed(errno);
        } else if self.connecting.is_some() && is_connected(fd) {
            self.end_connecting(NetworkOutcome::Answered);
        }
    }

    /// Everything that was waited for failed.
    pub(super) fn failed(&mut self, errno: c_int) {
        let outcome = NetworkOutcome::Failed(error::name(errno));
        self.end_connecting(outcome.clone());
        for mut operation in self.sent.drain(..) {
            operation.end(outcome.clone());
        }
    }

    /// Something came back.
    pub(super) fn answered(&mut self) {
        self.answered = true;
        self.end_connecting(NetworkOutcome::Answered);
        for mut operation in self.sent.drain(..) {
            operation.end(NetworkOutcome::Answered);
        }
    }

    pub(super) fn end_connecting(&mut self, outcome: NetworkOutcome) {
        if let Some(mut operation) = self.connecting.take() {
            operation.end(outcome);
        }
    }

    /// Learns how a connection ended that nobody asked about.
    pub(super) fn closing(&mut self, fd: c_int) {
        if self.connecting.is_some() {
            let errno = if is_connected(fd) {
                0
            } else {
                option(fd, libc::SO_ERROR).unwrap_or(0)
            };
            self.error(fd, errno);
        }
    }
}

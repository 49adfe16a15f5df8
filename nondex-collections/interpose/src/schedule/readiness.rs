//! Readiness of descriptors: their kind, and how long a call on them waits.

use ::std::ffi::{c_int, c_short};

use super::{filter, kernel, now, output};
use crate::{libc, originals};

/// Kind of a descriptor, as far as waiting is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A file or a directory, for which no thread waits.
    File,
    /// No thread waits for it either: a non-blocking one, an output of this process, or none.
    Ready,
    Pipe,
    /// A stream socket.
    Stream,
    /// Another socket, an event counter, or a terminal.
    Other,
}

/// Direction in which a thread wants to transfer data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    In,
    Out,
}

impl Kind {
    pub(super) const fn is_ready(self) -> bool {
        matches!(self, Kind::File | Kind::Ready)
    }
}

impl Direction {
    pub(super) const fn events(self) -> c_short {
        match self {
            Direction::In => libc::POLLIN,
            Direction::Out => libc::POLLOUT,
        }
    }

    const fn time_limit(self) -> c_int {
        match self {
            Direction::In => libc::SO_RCVTIMEO,
            Direction::Out => libc::SO_SNDTIMEO,
        }
    }
}

/// Returns the kind of a descriptor. If a filter forbids to query the system, it counts as ready.
pub(super) fn kind(fd: c_int) -> Kind {
    if filter::is_there() {
        return Kind::Ready;
    }
    let Some(stat) = kernel::stat(fd) else { return Kind::Ready };
    match stat.st_mode & libc::S_IFMT {
        libc::S_IFREG | libc::S_IFDIR | libc::S_IFBLK => Kind::File,
        libc::S_IFIFO if output::is_pipe(&stat) => Kind::Ready,
        _ if !waits(fd) => Kind::Ready,
        libc::S_IFIFO => Kind::Pipe,
        libc::S_IFSOCK if option(fd, libc::SO_TYPE) == Some(libc::SOCK_STREAM) => Kind::Stream,
        _ => Kind::Other,
    }
}

/// Returns the flags with which a descriptor was opened.
fn flags(fd: c_int) -> Option<c_int> {
    // SAFETY: the function accepts any number, and this command ignores its argument.
    let flags = originals::fcntl.get().map(|fcntl| unsafe { fcntl(fd, libc::F_GETFL, 0) });
    flags.filter(|flags| *flags != -1)
}

/// Returns whether a descriptor is ready for everything that it was opened for.
pub(super) fn is_ready_for_all(fd: c_int) -> bool {
    const MODES: c_int = libc::O_WRONLY | libc::O_RDWR;
    flags(fd).is_some_and(|flags| {
        let mode = flags & MODES;
        (mode == libc::O_WRONLY || is_ready(fd, libc::POLLIN))
            && (mode == libc::O_RDONLY || is_ready(fd, libc::POLLOUT))
    })
}

/// Returns whether calls on a descriptor wait.
pub(super) fn waits(fd: c_int) -> bool {
    flags(fd).is_some_and(|flags| flags & libc::O_NONBLOCK == 0)
}

/// Returns an option of a socket that has the size of `T`.
pub(super) fn option<T: Default>(fd: c_int, name: c_int) -> Option<T> {
    let mut value = T::default();
    let mut len = size_of::<T>() as libc::socklen_t;
    let getsockopt = originals::getsockopt.get()?;
    // SAFETY: the kernel writes at most as many bytes as there is room for, and any are a value of
    // the requested types.
    let result = unsafe {
        let value = (&raw mut value).cast();
        getsockopt(fd, libc::SOL_SOCKET, name, value, &raw mut len)
    };
    (result == 0).then_some(value)
}

/// Returns the virtual time at which a socket's own time limit is over.
pub(super) fn deadline(fd: c_int, direction: Direction) -> Option<u64> {
    let [seconds, micros] = option::<[i64; 2]>(fd, direction.time_limit())?;
    let limit = seconds as u64 * 1_000_000_000 + micros as u64 * 1_000;
    (limit != 0).then(|| now() + limit)
}

/// Returns whether a descriptor is ready, or broken.
pub(super) fn is_ready(fd: c_int, events: c_short) -> bool {
    let mut entry = libc::pollfd { fd, events, revents: 0 };
    // SAFETY: the list has one entry.
    originals::poll.get().is_none_or(|poll| unsafe { poll(&raw mut entry, 1, 0) } != 0)
}

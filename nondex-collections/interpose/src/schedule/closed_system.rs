//! Whether the test is a closed system: nothing outside of it can make a descriptor ready.
//!
//! All descriptors are checked at once, which is conservative. Each must be ready for every event
//! that a thread could wait for, or be of a closed kind. These kinds are a file, a pipe, an event
//! counter and a pair of sockets. This process must have made it since the test began, while no
//! other process was there to inherit it.

use ::std::ffi::{c_int, c_long};
use ::std::sync::atomic::{AtomicU64, Ordering};

use nondex_core::process_number;

use super::kernel;
use super::readiness::{is_ready_for_all, option};
use crate::{libc, system};

/// Descriptors that existed when the test began, a bit for each. Larger numbers count as inherited.
static INHERITED: [AtomicU64; 16] = [const { AtomicU64::new(0) }; 16];

/// Records which descriptors exist when the test begins.
pub(super) fn begin() {
    INHERITED.iter().for_each(|bits| bits.store(0, Ordering::Relaxed));
    kernel::each_number(c"/proc/self/fd", |fd| {
        // No thread waits for a directory, and the one that is read here is open only now.
        let is_folder = kernel::mode(fd).is_some_and(|mode| mode & libc::S_IFMT == libc::S_IFDIR);
        if let Some(bits) = INHERITED.get(fd as usize / 64).filter(|_| !is_folder) {
            bits.fetch_or(1 << (fd % 64), Ordering::Relaxed);
        }
        true
    });
}

/// Returns whether nothing outside of this process could make one of its descriptors ready.
pub(super) fn is_closed() -> bool {
    !has_child() && kernel::each_number(c"/proc/self/fd", is_own)
}

/// Returns whether there is a child, however it was started, and whether it has ended or not.
fn has_child() -> bool {
    const ALL: c_long = libc::P_ALL as c_long;
    const LOOK: c_int = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
    // SAFETY: a null pointer requests no information.
    unsafe { kernel::syscall(libc::SYS_waitid, [ALL, 0, 0, LOOK.into(), 0, 0]) == 0 }
}

/// Returns whether a descriptor's object belongs to this process, is a file, or is ready anyway.
fn is_own(fd: c_int) -> bool {
    let Some(mode) = kernel::mode(fd) else { return true };
    let mut room = [0; 64];
    let name = system::name_of(fd, &mut room).unwrap_or_default();
    let kind = mode & libc::S_IFMT;
    // The system reports changes through some files of procfs and sysfs, so a thread may wait for
    // them.
    let is_of_system = || name.starts_with(b"/proc/") || name.starts_with(b"/sys/");
    match kind {
        libc::S_IFDIR | libc::S_IFBLK => return true,
        libc::S_IFREG => return !is_of_system(),
        _ if name == b"/dev/null" => return true,
        _ => {}
    }
    let is_inherited = INHERITED
        .get(fd as usize / 64)
        .is_none_or(|bits| bits.load(Ordering::Relaxed) >> (fd % 64) & 1 == 1);
    if is_inherited {
        // A thread does not wait for a descriptor that is ready.
        return is_ready_for_all(fd);
    }
    if kind == libc::S_IFSOCK {
        return is_own_pair(fd);
    }
    let is_counter = matches!(name, b"anon_inode:[eventfd]" | b"anon_inode:[eventpoll]");
    is_counter || name.starts_with(b"pipe:")
}

/// Returns whether this process made both ends of a connection.
fn is_own_pair(fd: c_int) -> bool {
    /// Option that returns the creator of the other end: a process, a user and a group
    /// (`SO_PEERCRED`).
    const PEER: c_int = 17;
    let own = c_long::from(process_number::of_system());
    option(fd, libc::SO_DOMAIN) == Some(libc::AF_UNIX)
        && option(fd, libc::SO_ACCEPTCONN) == Some(0)
        && option::<[i32; 3]>(fd, PEER).is_some_and(|[process, ..]| c_long::from(process) == own)
}

#[cfg(test)]
mod tests {
    use ::std::io::pipe;
    use ::std::net::TcpListener;
    use ::std::os::fd::AsRawFd;
    use ::std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};

    use super::*;

    #[test]
    fn pipes_and_pairs_of_this_process_are_its_own_and_sockets_that_others_reach_are_not() {
        let (reader, writer) = pipe().unwrap();
        let (one, other) = UnixStream::pair().unwrap();
        for fd in [reader.as_raw_fd(), writer.as_raw_fd(), one.as_raw_fd(), other.as_raw_fd()] {
            assert!(is_own(fd), "{fd}");
        }
        let path =
            ::std::env::temp_dir().join(format!("nondex-closed-system-{}", ::std::process::id()));
        let listener = UnixListener::bind(&path).unwrap();
        let unconnected = UnixDatagram::unbound().unwrap();
        let network = TcpListener::bind("127.0.0.1:0").unwrap();
        ::std::fs::remove_file(path).unwrap();
        for fd in [listener.as_raw_fd(), unconnected.as_raw_fd(), network.as_raw_fd()] {
            assert!(!is_own(fd), "{fd}");
        }
        begin();
        assert!(!is_own(reader.as_raw_fd()), "somebody else may have the other end");
        assert!(is_own(writer.as_raw_fd()), "nobody waits for it");
        INHERITED.iter().for_each(|bits| bits.store(0, Ordering::Relaxed));
    }
}

//! Addresses that cannot be bound, and those that no other process may bind meanwhile: `bind` and
//! `listen`. A `connect` to this machine is handled together with those to others.

use ::std::ffi::c_int;

use super::super::sockaddr;
use super::{Errno, errno, failed};
use crate::accessed::accessed;
use crate::clock;
use crate::libc;
use crate::schedule::{self, Operation};
use crate::written;
use nondex_core::hidden::Text;
use nondex_core::{Source, StateKind};

/// Records that an address is bound, and a failure.
///
/// # Safety
/// `address` must be null or valid for reads of `len` bytes.
pub(crate) unsafe fn bind(
    address: *const libc::sockaddr,
    len: libc::socklen_t,
    next: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    let shared = unsafe { shared(address, len) };
    if let Some(kind) = shared {
        // SAFETY: as the caller promises.
        accessed(kind, true, || unsafe { shown(address, len) });
    }
    // SAFETY: as the caller promises.
    if unsafe { is_any_port(address, len) } {
        clock::note(Source::Port);
    }
    schedule::point(Operation::Bind);
    let result = next();
    match shared {
        Some(StateKind::File) if result == 0 => written::anything(),
        // From now on no other test may bind the port, so it counts as taken here.
        Some(StateKind::Port) if result == 0 => {
            // SAFETY: as the caller promises.
            accessed(StateKind::Port, false, || unsafe { shown(address, len) });
        }
        _ => {}
    }
    if result == -1 {
        // SAFETY: as the caller promises, and the original has read the address.
        failed("bind", errno(), || unsafe { shown(address, len) });
    }
    result
}

/// Records an access to the port of a socket. A bound port is free for others until a socket
/// listens on it, if the socket allows that.
pub(crate) fn listen(socket: c_int, next: impl FnOnce() -> c_int) -> c_int {
    let result = next();
    let _errno = Errno::save();
    let address = (result == 0).then(|| sockaddr::of_socket(socket)).flatten();
    if let Some(address) = address.filter(|address| address.port() != 0) {
        accessed(StateKind::Port, false, || Text::of(format_args!("{address}")));
    }
    result
}

/// Returns the kind of state that others could bind instead of the caller: a port, or the file of a
/// local socket. A local name that begins with NUL ("abstract") counts as a port. Returns `None` if
/// the system chooses the address.
///
/// # Safety
/// `address` must be null or valid for reads of `len` bytes.
unsafe fn shared(address: *const libc::sockaddr, len: libc::socklen_t) -> Option<StateKind> {
    // SAFETY: as the caller promises.
    if let Some(address) = unsafe { sockaddr::read(address, len) } {
        return (address.port() != 0).then_some(StateKind::Port);
    }
    // SAFETY: as the caller promises.
    match unsafe { local_name(address, len) }? {
        [] => None,
        [0, ..] => Some(StateKind::Port),
        _ => Some(StateKind::File),
    }
}

/// Returns whether the system chooses the port.
///
/// # Safety
/// `address` must be null or valid for reads of `len` bytes.
unsafe fn is_any_port(address: *const libc::sockaddr, len: libc::socklen_t) -> bool {
    // SAFETY: as the caller promises.
    unsafe { sockaddr::read(address, len) }.is_some_and(|address| address.port() == 0)
}

/// Returns the name in the address of a local socket, which follows the family.
///
/// # Safety
/// `address` must be null or valid for reads of `len` bytes, for as long as the name is used.
unsafe fn local_name<'a>(address: *const libc::sockaddr, len: libc::socklen_t) -> Option<&'a [u8]> {
    let len = len as usize;
    let is_whole = !address.is_null() && len >= size_of::<libc::sa_family_t>();
    // SAFETY: every address begins with its family.
    if !is_whole || unsafe { sockaddr::family(address) } != libc::AF_UNIX {
        return None;
    }
    let start = ::std::mem::offset_of!(libc::sockaddr_un, sun_path).min(len);
    // SAFETY: the name goes up to the length of the address.
    Some(unsafe { ::std::slice::from_raw_parts(address.cast::<u8>().add(start), len - start) })
}

/// Formats an address with its port, the path of a local socket, or its abstract name after an `@`.
///
/// # Safety
/// `address` must be null or valid for reads of `len` bytes.
unsafe fn shown(address: *const libc::sockaddr, len: libc::socklen_t) -> Text {
    // SAFETY: as the caller promises.
    if let Some(address) = unsafe { sockaddr::read(address, len) } {
        return Text::of(format_args!("{address}"));
    }
    if address.is_null() || (len as usize) < size_of::<libc::sa_family_t>() {
        return Text::new();
    }
    // SAFETY: as the caller promises.
    match unsafe { local_name(address, len) } {
        Some([0, name @ ..]) => Text::of(format_args!("@{}", &*Text::lossy(name))),
        Some(path) => {
            let end = path.iter().position(|byte| *byte == 0);
            Text::lossy(&path[..end.unwrap_or(path.len())])
        }
        // SAFETY: every address begins with its family.
        None => Text::of(format_args!("family {}", unsafe { sockaddr::family(address) })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_port(port: u16) -> libc::sockaddr_in {
        libc::sockaddr_in {
            sin_family: libc::AF_INET as libc::sa_family_t,
            sin_port: port.to_be(),
            sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes([127, 0, 0, 1]) },
            sin_zero: [0; 8],
        }
    }

    #[test]
    fn an_address_is_shown_as_std_shows_it() {
        let address = of_port(80);
        let pointer = (&raw const address).cast();
        let len = size_of_val(&address) as libc::socklen_t;
        // SAFETY: the pointer is valid for the length, and for every smaller one.
        unsafe {
            assert_eq!(*shown(pointer, len), *"127.0.0.1:80");
            assert_eq!(*shown(pointer, len - 1), *"family 2");
            assert_eq!(*shown(::std::ptr::null(), len), *"");
        }
    }

    #[test]
    fn a_port_is_shared_unless_the_system_chooses_it() {
        for (port, expected) in [(80, Some(StateKind::Port)), (0, None)] {
            let address = of_port(port);
            let len = size_of_val(&address) as libc::socklen_t;
            let pointer = (&raw const address).cast();
            // SAFETY: the pointer is valid for the length.
            let found = unsafe { (shared(pointer, len), is_any_port(pointer, len)) };
            assert_eq!(found, (expected, port == 0), "{port}");
        }
    }

    #[test]
    fn a_local_socket_is_a_file_or_has_only_a_name() {
        for (path, expected, kind) in [
            (&b"/run/socket\0"[..], "/run/socket", Some(StateKind::File)),
            (b"\0name", "@name", Some(StateKind::Port)),
            (b"", "", None),
        ] {
            let mut bytes = [0; 32];
            bytes[..2].copy_from_slice(&(libc::AF_UNIX as libc::sa_family_t).to_ne_bytes());
            bytes[2..][..path.len()].copy_from_slice(path);
            let len = (2 + path.len()) as libc::socklen_t;
            // SAFETY: the pointer is valid for the length.
            unsafe {
                assert_eq!(*shown(bytes.as_ptr().cast(), len), *expected);
                assert_eq!(shared(bytes.as_ptr().cast(), len), kind);
            }
        }
    }
}

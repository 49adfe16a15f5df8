//! Addresses that cannot be had: `bind`. A `connect` to this machine is seen together with those to
//! others.

use ::std::ffi::c_int;

use super::super::sockaddr;
use super::{Original, errno, failed};
use crate::accessed::accessed;
use crate::libc;
use crate::schedule::{self, Operation};
use crate::written;
use nondex_core::StateKind;
use nondex_core::hidden::Text;

#[unsafe(no_mangle)]
unsafe extern "C" fn bind(
    socket: c_int,
    address: *const libc::sockaddr,
    len: libc::socklen_t,
) -> c_int {
    // SAFETY: the signature is libc's.
    static ORIGINAL: Original<
        unsafe extern "C" fn(c_int, *const libc::sockaddr, libc::socklen_t) -> c_int,
    > = unsafe { Original::new(c"bind") };
    let Some(original) = ORIGINAL.get() else {
        return -1;
    };
    // SAFETY: the caller gives an address of this length.
    let kind = match unsafe { is_file(address, len) } {
        true => StateKind::File,
        false => StateKind::Port,
    };
    // SAFETY: as above.
    accessed(kind, true, || unsafe { shown(address, len) });
    schedule::point(Operation::Bind);
    // SAFETY: the caller's arguments, unchanged.
    let result = unsafe { original(socket, address, len) };
    if result == 0 && kind == StateKind::File {
        written::anything();
    }
    if result == -1 {
        // SAFETY: the caller gives an address of this length, at which the original has looked.
        failed("bind", errno(), || unsafe { shown(address, len) });
    }
    result
}

/// Whether it is the address of a local socket that is a file: one that begins with NUL is a name
/// only ("abstract").
///
/// # Safety
/// `address` must be null or valid for reads of `len` bytes.
unsafe fn is_file(address: *const libc::sockaddr, len: libc::socklen_t) -> bool {
    // SAFETY: as the caller promises.
    unsafe { local_name(address, len) }.is_some_and(|name| !name.starts_with(&[0]))
}

/// What comes after the family in the address of a local socket.
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

/// An address with its port, the path of a local socket, or its name after an `@`.
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
        None => Text::of(format_args!("family {}", unsafe {
            sockaddr::family(address)
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_as_std_shows_it() {
        let address = libc::sockaddr_in {
            sin_family: libc::AF_INET as libc::sa_family_t,
            sin_port: 80_u16.to_be(),
            sin_addr: libc::in_addr {
                s_addr: u32::from_ne_bytes([127, 0, 0, 1]),
            },
            sin_zero: [0; 8],
        };
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
    fn a_local_socket_is_a_file_or_has_only_a_name() {
        for (path, expected, is_a_file) in [
            (&b"/run/socket\0"[..], "/run/socket", true),
            (b"\0name", "@name", false),
        ] {
            let mut bytes = [0; 32];
            bytes[..2].copy_from_slice(&(libc::AF_UNIX as libc::sa_family_t).to_ne_bytes());
            bytes[2..][..path.len()].copy_from_slice(path);
            let len = (2 + path.len()) as libc::socklen_t;
            // SAFETY: the pointer is valid for the length.
            unsafe {
                assert_eq!(*shown(bytes.as_ptr().cast(), len), *expected);
                assert_eq!(is_file(bytes.as_ptr().cast(), len), is_a_file);
            }
        }
    }
}

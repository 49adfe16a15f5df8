//! Addresses that cannot be had: `bind`. A `connect` to this machine is seen beside those to others.

use ::std::ffi::c_int;

use super::super::sockaddr;
use super::{Original, errno, failed};
use crate::accessed::accessed;
use crate::libc;
use crate::schedule::{self, Operation};
use nondex_core::StateKind;

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
    let kind = match unsafe { is_local(address, len) } {
        true => StateKind::File,
        false => StateKind::Port,
    };
    // SAFETY: as above.
    accessed(kind, true, || unsafe { shown(address, len) });
    schedule::point(Operation::Bind);
    // SAFETY: the caller's arguments, unchanged.
    let result = unsafe { original(socket, address, len) };
    if result == -1 {
        // SAFETY: the caller gives an address of this length, at which the original has looked.
        failed("bind", errno(), || unsafe { shown(address, len) });
    }
    result
}

/// Whether it is the address of a local socket, which is a file.
///
/// # Safety
/// `address` must be null or valid for reads of `len` bytes.
unsafe fn is_local(address: *const libc::sockaddr, len: libc::socklen_t) -> bool {
    let is_whole = !address.is_null() && len as usize >= size_of::<libc::sa_family_t>();
    // SAFETY: every address begins with its family.
    is_whole && unsafe { sockaddr::family(address) } == libc::AF_UNIX
}

/// An address with its port, or the path of a local socket.
///
/// # Safety
/// `address` must be null or valid for reads of `len` bytes.
unsafe fn shown(address: *const libc::sockaddr, len: libc::socklen_t) -> String {
    // SAFETY: as the caller promises.
    if let Some(address) = unsafe { sockaddr::read(address, len) } {
        return address.to_string();
    }
    let len = len as usize;
    if address.is_null() || len < size_of::<libc::sa_family_t>() {
        return String::new();
    }
    // SAFETY: every address begins with its family.
    match unsafe { sockaddr::family(address) } {
        libc::AF_UNIX => {
            let start = ::std::mem::offset_of!(libc::sockaddr_un, sun_path);
            // SAFETY: the path stands behind the family, up to the length of the address.
            let path = unsafe {
                let path = address.cast::<u8>().add(start.min(len));
                ::std::slice::from_raw_parts(path, len.saturating_sub(start))
            };
            let end = path.iter().position(|byte| *byte == 0);
            String::from_utf8_lossy(&path[..end.unwrap_or(path.len())]).into_owned()
        }
        other => format!("family {other}"),
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
            assert_eq!(shown(pointer, len), "127.0.0.1:80");
            assert_eq!(shown(pointer, len - 1), "family 2");
            assert_eq!(shown(::std::ptr::null(), len), "");
        }
    }
}

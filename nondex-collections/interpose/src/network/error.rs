//! Names of errors.

use ::std::ffi::c_int;

use nondex_core::hidden::Text;

use crate::libc;

/// Returns the name of libc's constant with a value, or `None` if it is none of these.
macro_rules! name_of {
    ($value:expr; $($name:ident)*) => {
        match $value {
            $(libc::$name => Some(stringify!($name)),)*
            _ => None,
        }
    };
}

/// Returns the name of an `errno`.
pub(super) fn name(errno: c_int) -> Text {
    let name = name_of!(
        errno;
        EACCES EADDRINUSE EADDRNOTAVAIL EAFNOSUPPORT EBADF ECONNABORTED ECONNREFUSED ECONNRESET
        EDESTADDRREQ EHOSTDOWN EHOSTUNREACH EINVAL EMSGSIZE ENETDOWN ENETRESET ENETUNREACH ENOBUFS
        ENOTCONN ENOTSOCK EPERM EPIPE EPROTOTYPE ETIMEDOUT
    );
    name.map_or_else(|| Text::of(format_args!("errno {errno}")), Text::from)
}

/// Returns whether an `errno` means that there is no answer yet.
pub(super) const fn is_wait(errno: c_int) -> bool {
    matches!(errno, libc::EINPROGRESS | libc::EALREADY | libc::EAGAIN | libc::EINTR)
}

/// Returns the name of an error of `getaddrinfo`.
pub(super) fn resolver_name(code: c_int) -> Text {
    /// Constant that the libc crate lacks.
    const EAI_ADDRFAMILY: c_int = -9;
    let name = name_of!(
        code;
        EAI_AGAIN EAI_BADFLAGS EAI_FAIL EAI_FAMILY EAI_MEMORY EAI_NODATA EAI_NONAME EAI_SERVICE
        EAI_SOCKTYPE EAI_SYSTEM
    );
    name.or((code == EAI_ADDRFAMILY).then_some("EAI_ADDRFAMILY"))
        .map_or_else(|| Text::of(format_args!("EAI {code}")), Text::from)
}

/// Converts the `h_errno` of older functions into a code of `getaddrinfo`.
pub(super) const fn of_h_errno(h_errno: c_int) -> c_int {
    match h_errno {
        1 => libc::EAI_NONAME,
        TRY_AGAIN => libc::EAI_AGAIN,
        4 => libc::EAI_NODATA,
        _ => libc::EAI_FAIL,
    }
}

/// Converts a code of `getaddrinfo` into the `h_errno` of older functions.
pub(super) const fn to_h_errno(code: c_int) -> c_int {
    match code {
        libc::EAI_AGAIN => TRY_AGAIN,
        _ => NO_RECOVERY,
    }
}

/// `TRY_AGAIN` of `netdb.h`.
const TRY_AGAIN: c_int = 2;

/// `NO_RECOVERY` of `netdb.h`.
const NO_RECOVERY: c_int = 3;

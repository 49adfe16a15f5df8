//! The names of errors.

use ::std::ffi::c_int;

use nondex_core::hidden::Text;

use crate::libc;

/// The name of an `errno`.
pub(super) fn name(errno: c_int) -> Text {
    let name = match errno {
        libc::EACCES => "EACCES",
        libc::EADDRINUSE => "EADDRINUSE",
        libc::EADDRNOTAVAIL => "EADDRNOTAVAIL",
        libc::EAFNOSUPPORT => "EAFNOSUPPORT",
        libc::EBADF => "EBADF",
        libc::ECONNABORTED => "ECONNABORTED",
        libc::ECONNREFUSED => "ECONNREFUSED",
        libc::ECONNRESET => "ECONNRESET",
        libc::EDESTADDRREQ => "EDESTADDRREQ",
        libc::EHOSTDOWN => "EHOSTDOWN",
        libc::EHOSTUNREACH => "EHOSTUNREACH",
        libc::EINVAL => "EINVAL",
        libc::EMSGSIZE => "EMSGSIZE",
        libc::ENETDOWN => "ENETDOWN",
        libc::ENETRESET => "ENETRESET",
        libc::ENETUNREACH => "ENETUNREACH",
        libc::ENOBUFS => "ENOBUFS",
        libc::ENOTCONN => "ENOTCONN",
        libc::ENOTSOCK => "ENOTSOCK",
        libc::EPERM => "EPERM",
        libc::EPIPE => "EPIPE",
        libc::EPROTOTYPE => "EPROTOTYPE",
        libc::ETIMEDOUT => "ETIMEDOUT",
        other => return Text::of(format_args!("errno {other}")),
    };
    Text::from(name)
}

/// Whether an `errno` means that there is no answer yet.
pub(super) const fn is_wait(errno: c_int) -> bool {
    matches!(
        errno,
        libc::EINPROGRESS | libc::EALREADY | libc::EAGAIN | libc::EINTR
    )
}

/// The name of what `getaddrinfo` returned.
pub(super) fn resolver_name(code: c_int) -> Text {
    let name = match code {
        libc::EAI_AGAIN => "EAI_AGAIN",
        libc::EAI_BADFLAGS => "EAI_BADFLAGS",
        libc::EAI_FAIL => "EAI_FAIL",
        libc::EAI_FAMILY => "EAI_FAMILY",
        libc::EAI_MEMORY => "EAI_MEMORY",
        libc::EAI_NODATA => "EAI_NODATA",
        libc::EAI_NONAME => "EAI_NONAME",
        libc::EAI_SERVICE => "EAI_SERVICE",
        libc::EAI_SOCKTYPE => "EAI_SOCKTYPE",
        libc::EAI_SYSTEM => "EAI_SYSTEM",
        // Not in the libc crate.
        -9 => "EAI_ADDRFAMILY",
        other => return Text::of(format_args!("EAI {other}")),
    };
    Text::from(name)
}

/// The code of `getaddrinfo` for what the older functions leave in `h_errno`.
pub(super) const fn of_h_errno(h_errno: c_int) -> c_int {
    match h_errno {
        1 => libc::EAI_NONAME,
        TRY_AGAIN => libc::EAI_AGAIN,
        4 => libc::EAI_NODATA,
        _ => libc::EAI_FAIL,
    }
}

/// What the older functions leave in `h_errno` for a code of `getaddrinfo`.
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

//! The names of errors, as the interposed functions record them, without libc's table of them.

use ::std::io::{self, ErrorKind};

/// An error that sockets meet.
struct Known {
    name: &'static str,
    /// The kind that std gives it, when it has one of its own.
    kind: Option<ErrorKind>,
    linux: i32,
    /// macOS and every BSD; Windows has the same number plus [`WINDOWS`].
    bsd: i32,
}

/// What Windows adds: `WSAECONNREFUSED` is 10061.
const WINDOWS: i32 = 10_000;

const fn known(name: &'static str, kind: ErrorKind, linux: i32, bsd: i32) -> Known {
    Known {
        name,
        kind: Some(kind),
        linux,
        bsd,
    }
}

const fn numbered(name: &'static str, linux: i32, bsd: i32) -> Known {
    Known {
        name,
        kind: None,
        linux,
        bsd,
    }
}

const KNOWN: [Known; 26] = [
    // Before EACCES, with which it shares its kind: found by its number, which Windows does not have.
    numbered("EPERM", 1, 1),
    known("EACCES", ErrorKind::PermissionDenied, 13, 13),
    known("EADDRINUSE", ErrorKind::AddrInUse, 98, 48),
    known("EADDRNOTAVAIL", ErrorKind::AddrNotAvailable, 99, 49),
    known("EAGAIN", ErrorKind::WouldBlock, 11, 35),
    known("ECONNABORTED", ErrorKind::ConnectionAborted, 103, 53),
    known("ECONNREFUSED", ErrorKind::ConnectionRefused, 111, 61),
    known("ECONNRESET", ErrorKind::ConnectionReset, 104, 54),
    known("EHOSTUNREACH", ErrorKind::HostUnreachable, 113, 65),
    known("EINTR", ErrorKind::Interrupted, 4, 4),
    known("EINVAL", ErrorKind::InvalidInput, 22, 22),
    known("ENETDOWN", ErrorKind::NetworkDown, 100, 50),
    known("ENETUNREACH", ErrorKind::NetworkUnreachable, 101, 51),
    known("ENOTCONN", ErrorKind::NotConnected, 107, 57),
    known("EPIPE", ErrorKind::BrokenPipe, 32, 32),
    known("ETIMEDOUT", ErrorKind::TimedOut, 110, 60),
    numbered("EAFNOSUPPORT", 97, 47),
    numbered("EBADF", 9, 9),
    numbered("EDESTADDRREQ", 89, 39),
    numbered("EHOSTDOWN", 112, 64),
    numbered("EMSGSIZE", 90, 40),
    numbered("ENETRESET", 102, 52),
    numbered("ENOBUFS", 105, 55),
    numbered("ENOTSOCK", 88, 38),
    numbered("EPROTOTYPE", 91, 41),
    numbered("ESHUTDOWN", 108, 58),
];

impl Known {
    /// Its number on this platform.
    fn number(&self) -> Option<i32> {
        if cfg!(any(target_os = "linux", target_os = "android")) {
            Some(self.linux)
        } else if cfg!(windows) {
            Some(WINDOWS + self.bsd)
        } else if cfg!(any(
            target_vendor = "apple",
            target_os = "dragonfly",
            target_os = "freebsd",
            target_os = "netbsd",
            target_os = "openbsd"
        )) {
            Some(self.bsd)
        } else {
            None
        }
    }
}

/// The name of the error of an operation.
pub(super) fn name(error: &io::Error) -> String {
    let number = error.raw_os_error();
    let is = |known: &&Known| match known.kind {
        Some(kind) => kind == error.kind(),
        None => number.is_some() && number == known.number(),
    };
    match (KNOWN.iter().find(is), number) {
        (Some(known), _) => known.name.to_owned(),
        (None, Some(number)) => format!("errno {number}"),
        (None, None) => format!("{:?}", error.kind()),
    }
}

/// The error with one of the names that [`name`] gives.
pub(super) fn named(name: &str) -> io::Error {
    let known = KNOWN.iter().find(|known| known.name == name);
    let number = known.and_then(Known::number);
    // Windows has no EPERM of sockets.
    let kind = known.and_then(|known| known.kind);
    let kind = kind.or((name == "EPERM").then_some(ErrorKind::PermissionDenied));
    // Some processors have numbers of their own, even on Linux: std, which was compiled for this one, must agree.
    let agrees = |error: &io::Error| kind.is_none_or(|kind| kind == error.kind());
    let error = number.map(io::Error::from_raw_os_error).filter(agrees);
    error
        .or(kind.map(Into::into))
        .unwrap_or_else(|| io::Error::other(name))
}

/// Whether an error says that there is no answer yet.
pub(super) fn is_wait(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// The number of `WSATRY_AGAIN`, with which Windows says `EAI_AGAIN`.
const WSATRY_AGAIN: i32 = 11_002;

/// The number of `WSANO_RECOVERY`, `EAI_FAIL`.
const WSANO_RECOVERY: i32 = 11_003;

/// The number of `WSANO_DATA`, `EAI_NODATA`.
const WSANO_DATA: i32 = 11_004;

/// The name of the error of a lookup.
///
/// On unix std tells only the words for it, not the code, and words are no evidence. Of all codes it may have been, the name
/// that does not exist claims least: it counts as the network's absence only where the machine is offline as a whole.
pub(super) fn lookup_name(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(WSATRY_AGAIN) if cfg!(windows) => "EAI_AGAIN",
        Some(WSANO_RECOVERY) if cfg!(windows) => "EAI_FAIL",
        Some(WSANO_DATA) if cfg!(windows) => "EAI_NODATA",
        // std gives the error of the system call here.
        Some(_) if cfg!(unix) => "EAI_SYSTEM",
        _ => "EAI_NONAME",
    }
}

/// The error of a lookup that is made to fail, by its name.
pub(super) fn of_lookup(name: &str) -> io::Error {
    let (number, words) = match name {
        "EAI_FAIL" => (WSANO_RECOVERY, "non-recoverable failure in name resolution"),
        _ => (WSATRY_AGAIN, "temporary failure in name resolution"),
    };
    if cfg!(windows) {
        io::Error::from_raw_os_error(number)
    } else {
        io::Error::other(format!("failed to lookup address information: {words}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_keeps_its_name() {
        let is_had = |known: &&Known| !cfg!(windows) || known.name != "EPERM";
        for known in KNOWN.iter().filter(is_had) {
            assert_eq!(name(&named(known.name)), known.name);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_numbers_are_those_of_libc() {
        for (name, number) in [
            ("EACCES", libc::EACCES),
            ("EADDRINUSE", libc::EADDRINUSE),
            ("EADDRNOTAVAIL", libc::EADDRNOTAVAIL),
            ("EAFNOSUPPORT", libc::EAFNOSUPPORT),
            ("EAGAIN", libc::EAGAIN),
            ("EBADF", libc::EBADF),
            ("ECONNABORTED", libc::ECONNABORTED),
            ("ECONNREFUSED", libc::ECONNREFUSED),
            ("ECONNRESET", libc::ECONNRESET),
            ("EDESTADDRREQ", libc::EDESTADDRREQ),
            ("EHOSTDOWN", libc::EHOSTDOWN),
            ("EHOSTUNREACH", libc::EHOSTUNREACH),
            ("EINTR", libc::EINTR),
            ("EINVAL", libc::EINVAL),
            ("EMSGSIZE", libc::EMSGSIZE),
            ("ENETDOWN", libc::ENETDOWN),
            ("ENETRESET", libc::ENETRESET),
            ("ENETUNREACH", libc::ENETUNREACH),
            ("ENOBUFS", libc::ENOBUFS),
            ("ENOTCONN", libc::ENOTCONN),
            ("ENOTSOCK", libc::ENOTSOCK),
            ("EPERM", libc::EPERM),
            ("EPIPE", libc::EPIPE),
            ("EPROTOTYPE", libc::EPROTOTYPE),
            ("ESHUTDOWN", libc::ESHUTDOWN),
            ("ETIMEDOUT", libc::ETIMEDOUT),
        ] {
            let known = KNOWN.iter().find(|known| known.name == name);
            assert_eq!(known.and_then(Known::number), Some(number), "{name}");
        }
    }

    #[test]
    fn an_error_without_a_name_is_told_by_its_number_or_kind() {
        assert_eq!(name(&io::Error::from_raw_os_error(9999)), "errno 9999");
        assert_eq!(name(&ErrorKind::UnexpectedEof.into()), "UnexpectedEof");
    }

    #[test]
    fn a_lookup_whose_code_std_hides_counts_only_where_the_machine_is_offline() {
        let hidden = io::Error::other("failed to lookup address information");
        assert_eq!(lookup_name(&hidden), "EAI_NONAME");
        if cfg!(unix) {
            let of_system = named("EACCES");
            assert_eq!(lookup_name(&of_system), "EAI_SYSTEM");
        }
    }
}

//! Names: `getaddrinfo` and its predecessors.

mod queued;

use ::std::ffi::{CStr, c_char, c_int, c_uchar};
use ::std::ptr;

use nondex_core::network::{self, NetworkMode, Operation};
use nondex_core::{NetworkOutcome, model};

use super::{Errno, address, caller, error, fault, injected, original};

/// What to do with the lookup of a name.
enum Lookup {
    Pass,
    Observe(String, Option<Box<Operation>>),
    /// Fail with this code.
    Refuse(c_int),
}

/// # Safety
/// `name` must be null or end with NUL.
unsafe fn look_up(operation: &str, name: *const c_char) -> Lookup {
    let mode = network::mode();
    if name.is_null() || mode == NetworkMode::Off {
        return Lookup::Pass;
    }
    let _errno = Errno::save();
    // SAFETY: as the caller promises.
    let name = unsafe { CStr::from_ptr(name) };
    let Some(name) = name
        .to_str()
        .ok()
        .filter(|name| address::is_remote_name(name))
    else {
        return Lookup::Pass;
    };
    let begun = network::begin(operation, name.to_owned(), None, caller());
    if mode == NetworkMode::Block && !network::is_allowed(name) {
        end(begun.map(Box::new), libc::EAI_AGAIN);
        return Lookup::Refuse(libc::EAI_AGAIN);
    }
    if mode == NetworkMode::Fault
        && !network::is_allowed(name)
        && let Some(code) = fault::drawn(&model::NETWORK_RESOLVE, fault::RESOLVE)
    {
        if let Some(mut operation) = begun {
            operation.end(NetworkOutcome::Failed(injected(&error::resolver_name(
                code,
            ))));
        }
        return Lookup::Refuse(code);
    }
    Lookup::Observe(name.to_owned(), begun.map(Box::new))
}

/// Records how a lookup ended: 0 or a code of `getaddrinfo`.
fn end(operation: Option<Box<Operation>>, code: c_int) {
    let _errno = Errno::save();
    if let Some(mut operation) = operation {
        operation.end(match code {
            0 => NetworkOutcome::Answered,
            code => NetworkOutcome::Failed(error::resolver_name(code)),
        });
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getaddrinfo(
    node: *const c_char,
    service: *const c_char,
    hints: *const libc::addrinfo,
    result: *mut *mut libc::addrinfo,
) -> c_int {
    let Some(original) = original!(c"getaddrinfo": unsafe extern "C" fn(*const c_char, *const c_char, *const libc::addrinfo, *mut *mut libc::addrinfo) -> c_int)
    else {
        return libc::EAI_FAIL;
    };
    // SAFETY: the caller's arguments, unchanged.
    let call = || unsafe { original(node, service, hints, result) };
    // SAFETY: the hints are null or valid.
    if unsafe { is_numeric(hints) } {
        return call();
    }
    // SAFETY: the caller gives a name that ends with NUL, or none.
    match unsafe { look_up("getaddrinfo", node) } {
        Lookup::Pass => call(),
        Lookup::Refuse(code) => code,
        Lookup::Observe(name, operation) => {
            let code = call();
            end(operation, code);
            if code == 0 {
                // SAFETY: libc has just made this list.
                unsafe { remember(result.read(), &name) };
            }
            code
        }
    }
}

/// Whether only addresses are asked for, which need no one to be looked up.
///
/// # Safety
/// `hints` must be null or valid.
unsafe fn is_numeric(hints: *const libc::addrinfo) -> bool {
    // SAFETY: as the caller promises.
    unsafe { hints.as_ref() }.is_some_and(|hints| hints.ai_flags & libc::AI_NUMERICHOST != 0)
}

/// # Safety
/// `list` must be a list of addresses.
unsafe fn remember(mut list: *const libc::addrinfo, name: &str) {
    // SAFETY: as the caller promises.
    while let Some(entry) = unsafe { list.as_ref() } {
        // SAFETY: the entry's address has this length.
        if let Some(found) = unsafe { address::read(entry.ai_addr, entry.ai_addrlen) } {
            address::remember(found.ip(), name);
        }
        list = entry.ai_next;
    }
}

unsafe extern "C" {
    fn __h_errno_location() -> *mut c_int;
}

fn h_errno() -> c_int {
    // SAFETY: the location is valid for the life of the thread.
    unsafe { *__h_errno_location() }
}

fn set_h_errno(value: c_int) {
    // SAFETY: the location is valid for the life of the thread.
    unsafe { *__h_errno_location() = value }
}

/// Looks `name` up by `call`, which leaves its error in `h_errno`; `is_error` tells its results apart.
///
/// # Safety
/// `name` must be null or end with NUL.
unsafe fn older<R: Copy>(
    operation: &str,
    name: *const c_char,
    refused: R,
    is_error: impl FnOnce(R) -> bool,
    call: impl FnOnce() -> R,
) -> R {
    // SAFETY: as the caller promises.
    match unsafe { look_up(operation, name) } {
        Lookup::Pass => call(),
        Lookup::Refuse(code) => {
            set_h_errno(error::to_h_errno(code));
            refused
        }
        Lookup::Observe(_, operation) => {
            let result = call();
            let code = if is_error(result) {
                error::of_h_errno(h_errno())
            } else {
                0
            };
            end(operation, code);
            result
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn gethostbyname(name: *const c_char) -> *mut libc::hostent {
    let Some(original) =
        original!(c"gethostbyname": unsafe extern "C" fn(*const c_char) -> *mut libc::hostent)
    else {
        return ptr::null_mut();
    };
    // SAFETY: the caller's argument, unchanged.
    unsafe {
        older(
            "gethostbyname",
            name,
            ptr::null_mut(),
            <*mut libc::hostent>::is_null,
            || original(name),
        )
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn gethostbyname_r(
    name: *const c_char,
    entry: *mut libc::hostent,
    buffer: *mut c_char,
    len: usize,
    result: *mut *mut libc::hostent,
    reason: *mut c_int,
) -> c_int {
    let Some(original) = original!(c"gethostbyname_r": unsafe extern "C" fn(*const c_char, *mut libc::hostent, *mut c_char, usize, *mut *mut libc::hostent, *mut c_int) -> c_int)
    else {
        return libc::ENOSYS;
    };
    // SAFETY: the caller's arguments, unchanged.
    let call = || unsafe { original(name, entry, buffer, len, result, reason) };
    // SAFETY: the caller gives a name that ends with NUL.
    match unsafe { look_up("gethostbyname", name) } {
        Lookup::Pass => call(),
        Lookup::Refuse(code) => {
            // SAFETY: the caller gives places for both.
            unsafe {
                result.write(ptr::null_mut());
                reason.write(error::to_h_errno(code));
            }
            libc::EAGAIN
        }
        Lookup::Observe(_, operation) => {
            let code = call();
            // SAFETY: libc has written both.
            let (found, reason) = unsafe { (!(*result).is_null(), *reason) };
            // Asked again with more room.
            if code != libc::ERANGE {
                end(operation, if found { 0 } else { error::of_h_errno(reason) });
            }
            code
        }
    }
}

type Query = unsafe extern "C" fn(*const c_char, c_int, c_int, *mut c_uchar, c_int) -> c_int;

#[unsafe(no_mangle)]
unsafe extern "C" fn res_query(
    name: *const c_char,
    class: c_int,
    kind: c_int,
    answer: *mut c_uchar,
    len: c_int,
) -> c_int {
    let Some(original) = original!(c"res_query": Query) else {
        return -1;
    };
    // SAFETY: the caller's arguments, unchanged.
    unsafe {
        older(
            "res_query",
            name,
            -1,
            |result| result < 0,
            || original(name, class, kind, answer, len),
        )
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn res_search(
    name: *const c_char,
    class: c_int,
    kind: c_int,
    answer: *mut c_uchar,
    len: c_int,
) -> c_int {
    let Some(original) = original!(c"res_search": Query) else {
        return -1;
    };
    // SAFETY: the caller's arguments, unchanged.
    unsafe {
        older(
            "res_search",
            name,
            -1,
            |result| result < 0,
            || original(name, class, kind, answer, len),
        )
    }
}

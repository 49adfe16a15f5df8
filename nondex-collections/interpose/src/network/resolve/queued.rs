//! Names that are looked up later: `getaddrinfo_a`.
//!
//! libc resolves queued names on its own threads, without an interposed function. The end of a
//! request becomes known when the program queries it. Until then, or if the program cancels it, the
//! request is pending. A refused request is never queued.

use ::std::ffi::{c_char, c_int};
use ::std::slice;

use nondex_core::context::network::NetworkOperation;
use nondex_core::fork_lock::ForkLock;
use nondex_core::hidden::{self, Text};
use nondex_core::sorted::SortedMap;

use super::{Lookup, end, is_numeric, look_up, remember};
use crate::schedule::counter;
use crate::{libc, originals};

/// `struct gaicb` of `netdb.h`.
#[repr(C)]
pub(crate) struct Request {
    name: *const c_char,
    service: *const c_char,
    hints: *const libc::addrinfo,
    result: *mut libc::addrinfo,
    /// Result of `gai_error`.
    code: c_int,
    reserved: [c_int; 5],
}

/// `GAI_WAIT` of `netdb.h`. In the other mode a request may have ended, and been freed, when the
/// call returns.
const WAIT: c_int = 0;

/// `EAI_INPROGRESS` of `netdb.h`.
const IN_PROGRESS: c_int = -100;

/// `EAI_CANCELED` of `netdb.h`.
const CANCELLED: c_int = -101;

/// Operations that have begun, by the address of their request. The program must not use that
/// address for anything else meanwhile.
static QUEUED: ForkLock<SortedMap<usize, (Text, hidden::Box<NetworkOperation>)>> =
    ForkLock::new(SortedMap::new);

pub(in crate::network) fn before_fork() {
    QUEUED.before_fork();
}

pub(in crate::network) fn after_fork() {
    QUEUED.after_fork();
}

/// Begins requests, and queues those that are not refused.
///
/// # Safety
/// `list` must be null or have `count` requests, each null or valid.
pub(crate) unsafe fn begun(
    mode: c_int,
    list: *mut *mut Request,
    count: c_int,
    next: impl FnOnce(*mut *mut Request) -> c_int,
) -> c_int {
    let len = usize::try_from(count).unwrap_or(0);
    if list.is_null() || len == 0 {
        return next(list);
    }
    // SAFETY: as the caller promises.
    let mut requests = hidden::copy(unsafe { slice::from_raw_parts(list, len) });
    for request in &mut requests {
        // SAFETY: an entry is null or valid, and the caller's to change until this call.
        if unsafe { !begin(*request) } {
            // libc skips null entries.
            *request = ::std::ptr::null_mut();
        }
    }
    // libc only reads the list, in this call. Its threads block all signals and may read the
    // counter, so its fault would kill them.
    let result = counter::allowed(|| next(requests.as_mut_ptr()));
    if mode == WAIT {
        for request in requests {
            // SAFETY: the request is null or valid.
            unsafe { look_at(request) };
        }
    }
    result
}

/// Begins a request. Returns false if it is refused, and has ended.
///
/// # Safety
/// `request` must be null or valid.
unsafe fn begin(request: *mut Request) -> bool {
    // SAFETY: as the caller promises.
    let Some(entry) = (unsafe { request.as_mut() }) else { return true };
    // SAFETY: the hints are null or valid.
    if unsafe { is_numeric(entry.hints) } {
        return true;
    }
    // SAFETY: the name is null, or ends with NUL.
    match unsafe { look_up("getaddrinfo_a", entry.name) } {
        Lookup::Pass => {}
        Lookup::Refuse(code) => {
            entry.result = ::std::ptr::null_mut();
            entry.code = code;
            return false;
        }
        Lookup::Observe(name, operation) => {
            if let Some(operation) = operation {
                if let Some(mut queued) = QUEUED.lock() {
                    queued.insert(request.addr(), (name, operation));
                }
            }
        }
    }
    true
}

/// Records how a request ended, if it has.
///
/// # Safety
/// `request` must be null or valid.
unsafe fn look_at(request: *const Request) {
    let Some(original) = originals::gai_error.get() else { return };
    if request.is_null() {
        return;
    }
    // SAFETY: the request is valid.
    let code = unsafe { original(request.cast_mut()) };
    if code == IN_PROGRESS {
        return;
    }
    let known = QUEUED.lock().and_then(|mut queued| queued.remove(&request.addr()));
    let Some((name, operation)) = known else { return };
    if code != CANCELLED {
        end(Some(operation), code);
    }
    if code == 0 {
        // SAFETY: the request has ended with a list of addresses.
        unsafe { remember((*request).result, &name) };
    }
}

/// Records how a request ended, if it has, before the program reads its error.
///
/// # Safety
/// `request` must be null or valid.
pub(crate) unsafe fn ended(request: *mut Request, next: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { look_at(request) };
    next()
}

/// Records how requests ended, of which the call awaits one.
///
/// # Safety
/// `list` must have `count` requests, each null or valid.
pub(crate) unsafe fn awaited(
    list: *const *const Request,
    count: c_int,
    next: impl FnOnce() -> c_int,
) -> c_int {
    let result = next();
    for i in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: as the caller promises.
        unsafe { look_at(*list.add(i)) };
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_laid_out_as_in_the_header() {
        assert_eq!(::std::mem::offset_of!(Request, code), 32);
        assert_eq!(size_of::<Request>(), 56);
    }
}

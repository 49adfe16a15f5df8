//! Lookups of names: `getaddrinfo`, its predecessors, and the reverse.

pub(crate) mod older;
pub(crate) mod query;
pub(crate) mod reverse;

use ::std::ffi::{CStr, c_char, c_int};

use nondex_core::context::network::{self, End, NetworkOperation};
use nondex_core::hidden::{self, Text};
use nondex_core::{NetworkMode, model};

use super::{Errno, address, caller, error, fault, injected};
use crate::libc;

/// Treatment of the lookup of a name.
pub(crate) enum Lookup {
    Pass,
    Observe(Text, Option<hidden::Box<NetworkOperation>>),
    /// The lookup fails with this code.
    Refuse(c_int),
}

/// Decides about the lookup of `name`, if it belongs to another machine.
///
/// # Safety
/// `name` must be null or end with NUL.
unsafe fn look_up(operation: &'static str, name: *const c_char) -> Lookup {
    if name.is_null() || network::mode() == NetworkMode::Off {
        return Lookup::Pass;
    }
    let _errno = Errno::save();
    // SAFETY: as the caller promises.
    let name = unsafe { CStr::from_ptr(name) };
    match name.to_str() {
        Ok(name) if address::is_remote_name(name) => decide(operation, Text::from(name), None),
        _ => Lookup::Pass,
    }
}

/// Decides about the lookup of `target`, which belongs to another machine. If it is an address,
/// `host` is the name from which it was resolved.
fn decide(operation: &'static str, target: Text, host: Option<Text>) -> Lookup {
    let _errno = Errno::save();
    let is_allowed =
        network::is_allowed(&target) || host.as_deref().is_some_and(network::is_allowed);
    let begun = network::begin(operation, target.clone(), host, caller());
    match network::mode() {
        NetworkMode::Block if !is_allowed => {
            end(begun.map(hidden::boxed), libc::EAI_AGAIN);
            return Lookup::Refuse(libc::EAI_AGAIN);
        }
        NetworkMode::Fault if !is_allowed => {
            if let Some(code) = fault::drawn(&model::NETWORK_RESOLVE, fault::RESOLVE) {
                if let Some(mut operation) = begun {
                    operation.end(End::Failed(injected(&error::resolver_name(code))));
                }
                return Lookup::Refuse(code);
            }
        }
        _ => {}
    }
    Lookup::Observe(target, begun.map(hidden::boxed))
}

/// Records the end of a lookup, with 0 or a code of `getaddrinfo`.
fn end(operation: Option<hidden::Box<NetworkOperation>>, code: c_int) {
    let _errno = Errno::save();
    if let Some(mut operation) = operation {
        operation.end(match code {
            0 => End::Answered,
            code => End::Failed(error::resolver_name(code)),
        });
    }
}

/// Looks up the addresses of a name, and remembers the name of each.
///
/// # Safety
/// The name must be null or end with NUL, and the hints must be null or valid. The call must write
/// a list to `result` if it returns 0.
pub(crate) unsafe fn addresses(
    node: *const c_char,
    hints: *const libc::addrinfo,
    result: *const *mut libc::addrinfo,
    next: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    if unsafe { is_numeric(hints) } {
        return next();
    }
    // SAFETY: as the caller promises.
    match unsafe { look_up("getaddrinfo", node) } {
        Lookup::Pass => next(),
        Lookup::Refuse(code) => code,
        Lookup::Observe(name, operation) => {
            let code = next();
            end(operation, code);
            if code == 0 {
                // SAFETY: libc has just made this list.
                unsafe { remember(result.read(), &name) };
            }
            code
        }
    }
}

/// Returns whether only numeric addresses are requested, which need no lookup.
///
/// # Safety
/// `hints` must be null or valid.
unsafe fn is_numeric(hints: *const libc::addrinfo) -> bool {
    // SAFETY: as the caller promises.
    unsafe { hints.as_ref() }.is_some_and(|hints| hints.ai_flags & libc::AI_NUMERICHOST != 0)
}

/// Remembers the name of each address in a list.
///
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

/// Performs a lookup by `next`, which leaves its error in `h_errno`. `is_error` recognizes a result
/// that is an error.
fn by_h_errno<R: Copy>(
    lookup: Lookup,
    refused: R,
    is_error: impl FnOnce(R) -> bool,
    next: impl FnOnce() -> R,
) -> R {
    match lookup {
        Lookup::Pass => next(),
        Lookup::Refuse(code) => {
            set_h_errno(error::to_h_errno(code));
            refused
        }
        Lookup::Observe(_, operation) => {
            let result = next();
            let code = if is_error(result) { error::of_h_errno(h_errno()) } else { 0 };
            end(operation, code);
            result
        }
    }
}

//! Operations on other machines that fail although nothing is wrong: which ones, and how, the seed decides, at choice
//! points like any other.

use ::std::ffi::c_int;

use nondex_core::{Model, NetworkMode, choice, network};

use super::caller;

/// One operation in so many fails.
const ODDS: u64 = 4;

/// What an operation of `model` is to fail with, of these errors; `None` when it is not.
pub(super) fn drawn(model: &'static Model, errors: &[c_int]) -> Option<c_int> {
    if network::mode() != NetworkMode::Fault {
        return None;
    }
    let caller = caller();
    // A program that is none of the project's has no call sites that could be named.
    if caller.file.is_empty() {
        return None;
    }
    let word = choice::fault(model, caller)?;
    let error = usize::try_from(word / ODDS).unwrap_or(0) % errors.len();
    word.is_multiple_of(ODDS).then(|| errors[error])
}

/// What a connection fails with.
pub(super) const CONNECT: &[c_int] = &[
    libc::ECONNREFUSED,
    libc::ECONNRESET,
    libc::ENETUNREACH,
    libc::ETIMEDOUT,
];

/// What sending fails with.
pub(super) const SEND: &[c_int] = &[libc::ENETUNREACH, libc::EHOSTUNREACH, libc::EPERM];

/// What looking up a name fails with.
pub(super) const RESOLVE: &[c_int] = &[libc::EAI_AGAIN, libc::EAI_FAIL];

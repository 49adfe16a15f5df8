//! What operations on other machines fail with when the seed decides that they do.

use ::std::ffi::c_int;

use nondex_core::{Model, choice};

use super::caller;
use crate::libc;

/// What an operation of `model` is to fail with, of these errors; `None` when it is not.
pub(super) fn drawn(model: &'static Model, errors: &[c_int]) -> Option<c_int> {
    choice::fault::drawn(model, errors, caller)
}

/// What a connection fails with.
pub(super) const CONNECT: &[c_int] =
    &[libc::ECONNREFUSED, libc::ECONNRESET, libc::ENETUNREACH, libc::ETIMEDOUT];

/// What sending fails with.
pub(super) const SEND: &[c_int] = &[libc::ENETUNREACH, libc::EHOSTUNREACH, libc::EPERM];

/// What looking up a name fails with.
pub(super) const RESOLVE: &[c_int] = &[libc::EAI_AGAIN, libc::EAI_FAIL];

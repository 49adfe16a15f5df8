//! Errors that the seed injects into operations on other machines.

use ::std::ffi::c_int;

use nondex_core::{Model, choice};

use super::caller;
use crate::libc;

/// Draws an error for an operation of `model`; `None` if it is not to fail.
pub(super) fn drawn(model: &'static Model, errors: &[c_int]) -> Option<c_int> {
    choice::fault::drawn(model, errors, caller)
}

/// Errors of a connection.
pub(super) const CONNECT: &[c_int] =
    &[libc::ECONNREFUSED, libc::ECONNRESET, libc::ENETUNREACH, libc::ETIMEDOUT];

/// Errors of sending.
pub(super) const SEND: &[c_int] = &[libc::ENETUNREACH, libc::EHOSTUNREACH, libc::EPERM];

/// Errors of looking up a name.
pub(super) const RESOLVE: &[c_int] = &[libc::EAI_AGAIN, libc::EAI_FAIL];

//! Choices of a project's own code, made by the engine of this crate.

use nondex_core::choice::own;

use crate::caller::caller;

/// Returns a number below `len`, as the run decides.
#[must_use]
#[track_caller]
pub fn choose(len: usize) -> usize {
    own::choose(len, caller())
}

/// Arranges `items` as the run decides.
#[track_caller]
pub fn permute<T>(items: &mut [T]) {
    own::permute(items, caller());
}

//! Operations on other machines that fail although nothing is wrong: which ones, and how, the seed decides, at choice
//! points like any other.

use super::NetworkMode;
use crate::choice;
use crate::model::Model;
use crate::site::Caller;

/// One operation in so many fails.
const ODDS: u64 = 4;

/// What an operation of `model` is to fail with, of these errors; `None` when it is not. The `caller` is asked for only in a
/// run with [`NetworkMode::Fault`].
pub fn drawn<E: Copy>(
    model: &'static Model,
    errors: &[E],
    caller: impl FnOnce() -> Caller,
) -> Option<E> {
    if super::mode() != NetworkMode::Fault {
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

/// The name that an error is recorded under when the seed chose it: it is not the machine's, and explains no failure.
#[must_use]
pub fn injected(error: &str) -> String {
    format!("{error} (from the seed)")
}

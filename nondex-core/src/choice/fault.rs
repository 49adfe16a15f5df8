//! Injected failures of network operations. The seed decides which operations fail and how, at
//! choice points like any other.

use rand_core::Rng;

use super::number::number;
use crate::catalogue::Model;
use crate::context::network::mode;
use crate::hidden::Text;
use crate::protocol::network::NetworkMode;
use crate::protocol::site::Caller;

/// One in this number of operations fails.
const ODDS: u64 = 4;

/// Returns the error with which an operation of `model` must fail; `None` if it must not fail.
/// `caller` is called only in a run with [`NetworkMode::Fault`].
pub fn drawn<E: Copy>(
    model: &'static Model,
    errors: &[E],
    caller: impl FnOnce() -> Caller,
) -> Option<E> {
    if mode() != NetworkMode::Fault {
        return None;
    }
    let caller = caller();
    // A program that is not part of the project has no call sites that could be named.
    if caller.file.is_empty() {
        return None;
    }
    // 0 represents no failure, and `n` for the error at index `n - 1`.
    let len = errors.len() as u64;
    let fault = number(model, caller, 0..=len, 0, |mut generator| {
        let word = generator.next_u64();
        let error = (word / ODDS).checked_rem(len);
        error.filter(|_| word % ODDS == 0).map_or(0, |error| error + 1)
    })?;
    let error = usize::try_from(fault.checked_sub(1)?).ok()?;
    errors.get(error).copied()
}

/// Returns the name under which an injected error is recorded. It is not an error of the machine,
/// and explains no failure.
pub fn injected(error: &str) -> Text {
    Text::of(format_args!("{error} (from the seed)"))
}

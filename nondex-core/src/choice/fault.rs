//! Operations on other machines that fail although nothing is wrong: which ones, and how, the seed
//! decides, at choice points like any other.

use rand_core::Rng;

use super::number::number;
use crate::catalogue::Model;
use crate::context::network::mode;
use crate::hidden::Text;
use crate::protocol::network::NetworkMode;
use crate::protocol::site::Caller;

/// One operation in this number fails.
const ODDS: u64 = 4;

/// What an operation of `model` is to fail with, of these errors; `None` when it is not. The
/// `caller` is computed only in a run with [`NetworkMode::Fault`].
pub fn drawn<E: Copy>(
    model: &'static Model,
    errors: &[E],
    caller: impl FnOnce() -> Caller,
) -> Option<E> {
    if mode() != NetworkMode::Fault {
        return None;
    }
    let caller = caller();
    // A program that is none of the project's has no call sites that could be named.
    if caller.file.is_empty() {
        return None;
    }
    // 0 is none; else the errors are counted through.
    let len = errors.len() as u64;
    let fault = number(model, caller, 0..=len, 0, |mut generator| {
        let word = generator.next_u64();
        let error = (word / ODDS).checked_rem(len);
        error.filter(|_| word % ODDS == 0).map_or(0, |error| error + 1)
    })?;
    let error = usize::try_from(fault.checked_sub(1)?).ok()?;
    errors.get(error).copied()
}

/// The name that an error is recorded under when the seed chose it: it is not the machine's, and
/// explains no failure.
pub fn injected(error: &str) -> Text {
    Text::of(format_args!("{error} (from the seed)"))
}

//! The decision about a number.

use std::ops::RangeInclusive;

use rand_core::Rng;

use super::decision::Step;
use super::generator::{ChaCha8Rng, generator};
use crate::catalogue::{Family, Level, Model};
use crate::context::{self, Reached};
use crate::protocol::choice::Choice;
use crate::protocol::choices::GivenChoice;
use crate::protocol::schedule::Schedule;
use crate::protocol::site::{Caller, Site};

/// Decides a number at one call of `model` by `caller`. Returns `base` if the spec does not vary
/// the choice. If it does, returns what `draw` makes of a generator that is keyed by the seed and
/// the call. The level has no influence. Returns `None` outside a test.
pub fn number(
    model: &'static Model,
    caller: Caller,
    range: RangeInclusive<u64>,
    base: u64,
    draw: impl FnOnce(ChaCha8Rng) -> u64,
) -> Option<u64> {
    let choice = Choice::Number { range, base, scale: model.family.scale()? };
    let drawn = |reached: &Reached| {
        let tag = tag(model.family);
        draw(generator(reached.seed, tag, reached.place, reached.ordinal))
    };
    decide_number(model, caller, &choice, drawn).map(|(number, _)| number)
}

/// Decides a number as [`number`] does, for a family whose [numbers depend on the
/// level](Family::numbers_depend_on_level). If there is a `moment` of a schedule, it keys the
/// generator instead of the call. Calls of a schedule are known only by code addresses, which
/// change whenever the project does.
pub(super) fn number_at_level(
    model: &'static Model,
    caller: Caller,
    moment: Option<u64>,
    range: impl FnOnce(Level) -> RangeInclusive<u64>,
    base: u64,
    draw: impl FnOnce(Level, ChaCha8Rng) -> u64,
) -> Option<u64> {
    let choice =
        Choice::Number { range: range(context::level()?), base, scale: model.family.scale()? };
    let drawn = |reached: &Reached| {
        let tag = LEVEL_TAG | tag(model.family) << 8 | reached.level.tag();
        let call = (reached.place, reached.ordinal);
        let (place, ordinal) = moment.map_or(call, |moment| (moment, MOMENT));
        draw(reached.level, generator(reached.seed, tag, place, ordinal))
    };
    decide_number(model, caller, &choice, drawn).map(|(number, _)| number)
}

/// Decides a number below `len` for a call in the project's own code; 0 if the spec does not vary
/// the choice. Returns `None` outside a test.
///
/// At ONE, `len` alone determines the number, and the first seeds of a covering design go through
/// all numbers other than 0. At EQ and ID the call site determines it, and at FULL the call.
pub(super) fn own_choice(model: &'static Model, caller: Caller, len: u64) -> Option<u64> {
    let choice =
        Choice::Number { range: 0..=len.checked_sub(1)?, base: 0, scale: model.family.scale()? };
    let drawn = |reached: &Reached| {
        let (a, b) = match reached.level {
            Level::Std | Level::One => match reached.schedule {
                Schedule::Covering if reached.seed < len - 1 => return reached.seed + 1,
                _ => (len, 0),
            },
            Level::Eq | Level::Id => (Site::hash_of(model, model.family, caller), len),
            Level::Full => (reached.place, reached.ordinal),
        };
        let tag = LEVEL_TAG | tag(model.family) << 8 | reached.level.tag();
        let word = generator(reached.seed, tag, a, b).next_u64();
        below(word, len)
    };
    decide_number(model, caller, &choice, drawn).map(|(number, _)| number)
}

/// Returns a number below `bound`, from the high bits of `word`.
const fn below(word: u64, bound: u64) -> u64 {
    ((word as u128 * bound as u128) >> 64) as u64
}

/// Decides a number; all functions that decide numbers use this one.
fn decide_number(
    model: &'static Model,
    caller: Caller,
    choice: &Choice,
    drawn: impl FnOnce(&Reached) -> u64,
) -> Option<(u64, Reached)> {
    let Choice::Number { range, base, .. } = choice else { return None };
    let reached = context::reach(model, model.family, caller, choice)?;
    let number = match reached.given.as_deref() {
        None if !reached.is_selected => *base,
        None => drawn(&reached),
        Some(&GivenChoice::Steps(steps)) => {
            let (number, all) = choice.between(drawn(&reached), steps);
            let step = Step {
                call: (model, model.family, caller),
                ordinal: reached.ordinal,
                len: choice.size(),
                steps: all,
                position: 0,
            };
            step.record(|object| {
                object.object("number", |object| {
                    object.number("base", *base).number("value", number);
                });
            });
            number
        }
        Some(GivenChoice::Number(number)) if range.contains(number) => *number,
        Some(GivenChoice::Number(_) | GivenChoice::Ranks(_)) => *base,
    };
    Some((number, reached))
}

/// Returns the generator of one request for random bytes; `None` outside a test. If the spec varies
/// this choice, the generator depends on the seed. If not, it depends only on the identity of the
/// request, so that clean runs repeat too.
pub fn entropy(model: &'static Model, caller: Caller) -> Option<ChaCha8Rng> {
    let choice = Choice::opaque(CLEAN_ENTROPY);
    let (seed, reached) = decide_number(model, caller, &choice, |reached| reached.seed)?;
    Some(generator(seed, ENTROPY_TAG, reached.place, reached.ordinal))
}

/// Returns the generator of a request for random bytes that cannot be recorded: see
/// [`is_forked_beside_threads`](context::is_forked_beside_threads). It depends only on the thread
/// and its number of such requests, not on the seed. Returns `None` outside a test.
pub fn unrecorded_entropy() -> Option<ChaCha8Rng> {
    let (thread, ordinal) = context::unrecorded()?;
    Some(generator(CLEAN_ENTROPY, ENTROPY_TAG, thread, ordinal))
}

/// Returns the generator of the keys of a `RandomState` that no shim created, such as those inside
/// std, once per thread. It does not depend on the seed, because the place where the keys take
/// effect could not be reported.
pub fn foreign_keys() -> Option<ChaCha8Rng> {
    let thread = context::path_hash()?;
    Some(generator(CLEAN_ENTROPY, FOREIGN_KEYS_TAG, thread, 0))
}

/// Returns the key of a new `RandomState` created by `caller`, as the mirrored tables see it. It
/// differs from all others in the run. At STD, where a run varies the table's own order, it depends
/// on the seed. Returns `None` outside a test.
///
/// This is no choice point: the reading of an order records what the key decides. All other users
/// of the state get [`seen_key`].
pub fn table_key(model: &'static Model, caller: Caller) -> Option<u64> {
    context::table_key(model, caller)
}

/// Returns the key of the `RandomState` with this [table key](table_key), as users other than the
/// mirrored tables see it. This is the recorded choice of `caller`, which created the state. It is
/// recorded once, also for all clones if it `is_shared`. If it is turned off, the key does not
/// depend on the seed.
pub fn seen_key(model: &'static Model, caller: Caller, table_key: u64, is_shared: bool) -> u64 {
    // The choice cannot be recorded in a thread that is ending, for example. The seed must then
    // have no effect.
    let base = context::key_without_seed(table_key);
    context::once(table_key, is_shared, || {
        let decided = decide_number(model, caller, &Choice::opaque(base), |_| table_key);
        decided.map_or(base, |(key, _)| key)
    })
}

/// Returns the tag that separates the numbers of a family from all other results of a seed.
const fn tag(family: Family) -> u64 {
    match family {
        Family::Entropy => ENTROPY_TAG,
        Family::Fault => FAULT_TAG,
        other => NUMBER_TAG + other.key() as u64,
    }
}

/// Seed of random bytes in clean runs.
const CLEAN_ENTROPY: u64 = u64::MAX;

/// Separates random bytes from the orders of all levels.
const ENTROPY_TAG: u64 = 16;

/// Separates the keys of hash maps from all other random bytes.
const FOREIGN_KEYS_TAG: u64 = 17;

/// Separates faults from all other numbers.
const FAULT_TAG: u64 = 18;

/// Separates moments of a schedule from calls, because no thread makes this many calls.
const MOMENT: u64 = u64::MAX;

/// Marks the tags of numbers that depend on the level.
const LEVEL_TAG: u64 = 1 << 32;

/// First tag of the other families' numbers.
const NUMBER_TAG: u64 = 64;

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

/// Decides a number at one call of `model` by `caller`: its base when the spec leaves the choice
/// alone, else what `draw` makes of a generator that is keyed by the seed and the call, whatever
/// the level. `None` outside a test.
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

/// As [`number`], of a family whose [numbers depend on the level](Family::numbers_depend_on_level).
/// It is drawn by the call or, if there is one, by the moment of a schedule: the calls of a
/// schedule have no other names than addresses of code, which move with every change of a project.
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

/// Decides a number below `len` for a call in the project's own code, 0 when the spec leaves the
/// choice alone. At ONE, `len` alone determines it, and the first seeds of a covering design are
/// all other numbers in turn; at EQ and ID the call site determines it, and at FULL the call.
/// `None` outside a test.
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

/// A number below `bound`, from the high bits of a word.
const fn below(word: u64, bound: u64) -> u64 {
    ((word as u128 * bound as u128) >> 64) as u64
}

/// The one place where a number is decided.
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

/// The generator of one request for random bytes, `None` outside a test. When the spec makes this
/// choice it depends on the seed, otherwise only on the request's identity, so that clean runs
/// repeat too.
pub fn entropy(model: &'static Model, caller: Caller) -> Option<ChaCha8Rng> {
    let choice = Choice::opaque(CLEAN_ENTROPY);
    let (seed, reached) = decide_number(model, caller, &choice, |reached| reached.seed)?;
    Some(generator(seed, ENTROPY_TAG, reached.place, reached.ordinal))
}

/// The generator of a request for random bytes that cannot be recorded: see
/// [`is_forked_beside_threads`](context::is_forked_beside_threads). It does not depend on the seed,
/// only on who asks and how often it did. `None` outside a test.
pub fn unrecorded_entropy() -> Option<ChaCha8Rng> {
    let (thread, ordinal) = context::unrecorded()?;
    Some(generator(CLEAN_ENTROPY, ENTROPY_TAG, thread, ordinal))
}

/// The generator of the keys of a `RandomState` that no shim made, such as those inside std, once
/// for each thread; `None` outside a test. They never depend on the seed, because nobody could say
/// where that is seen.
pub fn foreign_keys() -> Option<ChaCha8Rng> {
    let thread = context::path_hash()?;
    Some(generator(CLEAN_ENTROPY, FOREIGN_KEYS_TAG, thread, 0))
}

/// The key of a new `RandomState` made by `caller` as the mirror's own tables see it: unlike that
/// of every other one in the run, and seeded at STD, where the table's own order is what a run
/// varies. `None` outside a test. It is no choice point: what it decides is recorded where an order
/// is read. For everybody else there is [`seen_key`].
pub fn table_key(model: &'static Model, caller: Caller) -> Option<u64> {
    context::table_key(model, caller)
}

/// The key of the `RandomState` with this [table key](table_key), as others than the mirror's own
/// tables see it. This is the choice that is recorded, as `caller`'s, who made the state: once,
/// also for all clones if it `is_shared`. Turned off, it is a key that does not depend on the seed.
pub fn seen_key(model: &'static Model, caller: Caller, table_key: u64, is_shared: bool) -> u64 {
    // A thread that ends, say: the seed is not seen in what is not recorded.
    let base = context::key_without_seed(table_key);
    context::once(table_key, is_shared, || {
        let decided = decide_number(model, caller, &Choice::opaque(base), |_| table_key);
        decided.map_or(base, |(key, _)| key)
    })
}

/// Separates the numbers of a family from all else that a seed decides.
const fn tag(family: Family) -> u64 {
    match family {
        Family::Entropy => ENTROPY_TAG,
        Family::Fault => FAULT_TAG,
        other => NUMBER_TAG + other.key() as u64,
    }
}

/// The seed of entropy in clean runs.
const CLEAN_ENTROPY: u64 = u64::MAX;

/// Separates entropy from every level's orders.
const ENTROPY_TAG: u64 = 16;

/// Separates the keys of hash maps from all other entropy.
const FOREIGN_KEYS_TAG: u64 = 17;

/// Separates faults from everything else.
const FAULT_TAG: u64 = 18;

/// Separates moments of a schedule from calls, of which no thread makes this many.
const MOMENT: u64 = u64::MAX;

/// Marks the tags of numbers that depend on the level.
const LEVEL_TAG: u64 = 1 << 32;

/// The first tag of numbers that have none of these.
const NUMBER_TAG: u64 = 64;

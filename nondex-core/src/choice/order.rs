//! The decision about an order.

use std::panic::Location;

use super::decision::{Decision, Intermediate};
use super::permutation::Permutation;
use super::schedule::{DESIGNED_LEN, Key};
use crate::catalogue::{Family, Level, Model};
use crate::context::{self, Reached, ThreadState};
use crate::hash;
use crate::hidden;
use crate::protocol::choice::Choice;
use crate::protocol::choices::GivenChoice;
use crate::protocol::point::{ChoiceRecord, Reading};
use crate::protocol::schedule::Schedule;
use crate::protocol::site::Caller;

/// Data that a level considers. The shim computes it only if the level needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aspect {
    /// Hash of the elements that does not depend on their order.
    Content,
    /// Identity of the object (see [`context::new_object`]) combined with its modification count.
    Version,
    /// Number of the last elements in canonical order that the process itself added. Requested only
    /// for the environment.
    Own,
}

/// One reading of the environment.
#[derive(Clone, Copy, Debug)]
struct Read {
    content: u64,
    reading: Reading,
    own: u64,
}

/// Decides the order of `len` elements at one call of `model` by `caller`.
///
/// `aspect` is called only at levels EQ and ID, and for the environment. Outside a test, and for
/// fewer than two elements, returns [`Decision::Base`] and records nothing.
pub fn decide(
    model: &'static Model,
    family: Family,
    caller: Caller,
    len: usize,
    aspect: impl Fn(Aspect) -> u64,
) -> Decision {
    if len < 2 {
        return Decision::Base;
    }
    let choice = Choice::Order { len: len as u64 };
    let reached = context::reach(model, family, caller, &choice);
    reached.map_or(Decision::Base, |reached| {
        decide_reached(&reached, model, family, caller, len, &aspect)
    })
}

/// Decides an order as [`decide`] does, for a call at a place in the source. `caller` returns the
/// caller that the call belongs to. It is called only if the thread does not remember the place,
/// the place does not determine the caller, or the spec gives the choice. Not generic, so that it
/// is compiled once and optimised.
pub fn decide_at(
    model: &'static Model,
    family: Family,
    place: &'static Location<'static>,
    caller: fn(&'static Location<'static>) -> Caller,
    len: usize,
    aspect: &dyn Fn(Aspect) -> u64,
) -> Decision {
    if len < 2 {
        return Decision::Base;
    }
    let again = context::with_thread(|thread| {
        let reached = thread.reach_again(model, family, place, len as u64)?;
        Some(match reached.given {
            None => Ok(seeded(thread, &reached, None, len, aspect)),
            Some(_) => Err(reached),
        })
    });
    let Some(again) = again else {
        // Outside of a test.
        return Decision::Base;
    };
    let remembered = match again {
        Some(Ok(decision)) => return decision,
        Some(Err(reached)) => Some(reached),
        None => None,
    };
    let caller = caller(place);
    let reached =
        remembered.or_else(|| context::reach_at(model, family, place, caller, len as u64));
    reached.map_or(Decision::Base, |reached| {
        decide_reached(&reached, model, family, caller, len, aspect)
    })
}

/// Decides the order at a recorded call.
#[cold]
fn decide_reached(
    reached: &Reached,
    model: &'static Model,
    family: Family,
    caller: Caller,
    len: usize,
    aspect_of: &dyn Fn(Aspect) -> u64,
) -> Decision {
    let content = (family == Family::Environment).then(|| aspect_of(Aspect::Content));
    let read = content.and_then(|content| {
        Some(Read { content, reading: context::reading(content)?, own: aspect_of(Aspect::Own) })
    });
    let seeded = context::with_thread(|thread| seeded(thread, reached, read, len, aspect_of))
        .unwrap_or(Decision::Base);
    match reached.given.as_deref() {
        None => seeded,
        Some(&GivenChoice::Steps(steps)) => {
            let partly = Intermediate::new(seeded, steps, model, family, caller, reached.ordinal);
            Decision::Intermediate(hidden::boxed(partly))
        }
        Some(GivenChoice::Ranks(ranks))
            if ranks.len() == len && Permutation::is_listed_once(ranks) =>
        {
            Decision::Permute(Permutation::listed(ranks.iter().copied()))
        }
        Some(GivenChoice::Ranks(_) | GivenChoice::Number(_)) => Decision::Base,
    }
}

/// Returns the order that the seed represents at a call, if the seed decides it, and lists the
/// choice. `read` describes the reading, which must be known for the environment.
fn seeded(
    thread: &mut ThreadState,
    reached: &Reached,
    read: Option<Read>,
    len: usize,
    aspect_of: &dyn Fn(Aspect) -> u64,
) -> Decision {
    let is_open = match reached.given.as_deref() {
        None => reached.is_selected,
        Some(given) => matches!(given, GivenChoice::Steps(_)),
    };
    if !is_open && !reached.is_listed {
        return Decision::Base;
    }
    let level = reached.level;
    let content = read.map(|read| read.content);
    let aspect = match level {
        Level::Eq | Level::Id if content.is_some() => content,
        Level::Eq if is_open => Some(aspect_of(Aspect::Content)),
        Level::Id if is_open => Some(aspect_of(Aspect::Version)),
        _ => None,
    };
    let choice = ChoiceRecord {
        place: reached.place,
        ordinal: reached.ordinal,
        len: len as u64,
        aspect,
        reading: read.map(|read| read.reading),
        own: read.map_or(0, |read| read.own),
    };
    if reached.is_listed {
        thread.list(choice);
    }
    if !is_open || choice.keeps_base(level) {
        return Decision::Base;
    }
    let (schedule, seed) = (reached.schedule, reached.seed);
    let key = key(level, &choice);
    if let Some(key) = key {
        thread.note_key(reached, hash::mix(key.a ^ key.b.rotate_left(32)));
    }
    match (key, level) {
        // The names in reverse, as a file system that lists new entries first would order them.
        (None, _) if reached.is_of_names && schedule.reverses(seed) => {
            Decision::Permute(backward(len, choice.own))
        }
        (None, _) => Decision::Std { key: hash::mix(seed ^ STD_KEY) },
        (Some(key), Level::Eq) if len > DESIGNED_LEN => by_content(schedule, seed, key.a),
        (Some(key), Level::Eq) => {
            Decision::PermuteContent(schedule.order_again(seed, key, len, &mut thread.orders))
        }
        (Some(key), _) => {
            Decision::Permute(schedule.order_again(seed, key, len, &mut thread.orders))
        }
    }
}

/// Returns the reverse order of all elements except the last `own`, which the process itself added
/// and which stay in place.
fn backward(len: usize, own: u64) -> Permutation {
    if own == 0 {
        return Permutation::reversed(len);
    }
    let len = u32::try_from(len).unwrap_or(u32::MAX);
    let given = len - u32::try_from(own).unwrap_or(len).min(len);
    Permutation::listed((0..len).map(|rank| if rank < given { given - 1 - rank } else { rank }))
}

/// Returns the order of a long sequence at level EQ. Seed 0 reverses the order of the keyed hashes.
fn by_content(schedule: Schedule, seed: u64, content: u64) -> Decision {
    Decision::ByContent {
        tree: hash::mix(seed ^ TREE_KEY),
        key: if schedule.reverses(seed) { u64::MAX } else { hash::mix(content ^ hash::mix(seed)) },
    }
}

/// Returns the permutation that a run at `level` draws from `seed` at a choice, if it is known. It
/// is not known at STD. At ID and EQ it is known only if the choice was made in the run that
/// recorded it. For long sequences at EQ, it represents the order with the same key.
pub fn draw(
    schedule: Schedule,
    level: Level,
    seed: u64,
    choice: &ChoiceRecord,
) -> Option<Permutation> {
    let len = usize::try_from(choice.len).ok()?;
    Some(schedule.order(seed, key(level, choice)?, len))
}

/// Returns the data from which the order of a choice is drawn, in addition to the seed. Returns
/// `None` at STD, and if the data is not known.
#[inline]
pub fn key(level: Level, choice: &ChoiceRecord) -> Option<Key> {
    let (a, b) = match level {
        Level::Std => return None,
        Level::One => (choice.len, 0),
        Level::Eq | Level::Id => (choice.aspect?, choice.len),
        Level::Full => (choice.place, choice.ordinal),
    };
    let tag = level.tag();
    Some(Key { tag, a, b })
}

/// Separates the key of names at STD from the bare seed.
const STD_KEY: u64 = 0x6e6f_6e64_6578_2d31;

/// Separates the tree of contents from the bare seed.
const TREE_KEY: u64 = 0x6e6f_6e64_6578_2d32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::model::{ENV_VARS, HASH_MAP_ITER};
    use crate::context::{Context, Entered};
    use crate::{Given, Outcome, RunRecord, RunSpec, Selection, Site};

    const CALLER: Caller = Caller { file: "src/lib.rs", line: 3, column: 9 };

    /// Returns the decisions for collections of these sizes, and the record.
    fn decided(spec: &RunSpec, lens: &[usize]) -> (Vec<Decision>, RunRecord) {
        let context = Context::new(spec.clone());
        let entered = context::enter(&context, "mine");
        let decide = |&len| decide(&HASH_MAP_ITER, Family::HashMap, CALLER, len, |_| 5);
        let decisions = lens.iter().map(decide).collect();
        Entered::end(entered, &context, "mine", None, true);
        let record = RunRecord::fold(spec, context.take_events(), Outcome::Exited(0));
        (decisions, record)
    }

    fn order(decision: &Decision) -> Option<Vec<usize>> {
        match decision {
            Decision::Permute(order) | Decision::PermuteContent(order) => {
                Some(order.clone().collect())
            }
            _ => None,
        }
    }

    #[test]
    fn from_the_record_of_a_run_it_is_known_what_any_seed_draws_there() {
        for (level, schedule) in Level::ALL.into_iter().zip(Schedule::DRAWN.iter().cycle()) {
            let of = |seed| {
                let spec = RunSpec::new("mine", level, seed).with_schedule(*schedule);
                decided(&spec, &[5, 2, 1, 50])
            };
            let (_, record) = of(7);
            assert_eq!(record.choices.len(), 3, "of one element there is no choice");
            for seed in [0, 1, 2, 5, 8, 100] {
                let (decisions, _) = of(seed);
                let decisions =
                    decisions.iter().filter(|decision| !matches!(decision, Decision::Base));
                for (choice, decision) in record.choices.iter().zip(decisions) {
                    let drawn =
                        draw(*schedule, level, seed, choice).map(Iterator::collect::<Vec<_>>);
                    assert_eq!(drawn, order(decision), "{level} {seed}");
                }
            }
        }
    }

    #[test]
    fn the_record_counts_the_keys_from_which_a_seed_draws_orders() {
        let keys = |spec: &RunSpec, lens: &[usize]| {
            let (_, record) = decided(spec, lens);
            record.points[0].keys.count_ones()
        };
        let at = |level| RunSpec::new("mine", level, 7);
        let lens = Vec::from_iter(2..66);
        assert_eq!(keys(&RunSpec::clean("mine"), &lens), 0);
        for (level, expected) in
            [(Level::Std, 0..1), (Level::One, 32..64), (Level::Eq, 32..64), (Level::Full, 32..64)]
        {
            assert!(expected.contains(&keys(&at(level), &lens)), "{level}");
        }
        // One content of one length; each call has another place in the run.
        for (level, expected) in [(Level::One, 1..2), (Level::Eq, 1..2), (Level::Full, 32..64)] {
            assert!(expected.contains(&keys(&at(level), &[5; 64])), "{level}");
        }
    }

    #[test]
    fn the_environment_has_another_order_at_std_and_above_it_where_readings_may_differ() {
        let order_of =
            |level, content| match decide(&ENV_VARS, Family::Environment, CALLER, 20, |aspect| {
                if aspect == Aspect::Own { 0 } else { content }
            }) {
                Decision::Base => "base",
                Decision::Std { .. } => "std",
                Decision::Permute(_) => "drawn",
                Decision::PermuteContent(_) | Decision::ByContent { .. } => "by content",
                Decision::Intermediate(_) => unreachable!("no order is given at {level}"),
            };
        for (level, expected) in [
            (Level::Std, ["std"; 4]),
            (Level::One, ["base"; 4]),
            (Level::Eq, ["base", "base", "by content", "base"]),
            (Level::Id, ["base", "base", "drawn", "base"]),
            (Level::Full, ["base", "drawn", "drawn", "drawn"]),
        ] {
            let context = Context::new(RunSpec::new("mine", level, 3));
            let _entered = context::enter(&context, "mine");
            assert_eq!([1, 1, 2, 1].map(|content| order_of(level, content)), expected);
        }
    }

    #[test]
    fn a_given_order_is_followed_at_its_call_and_nowhere_else() {
        let given = |order| Given {
            site: Site {
                api: HASH_MAP_ITER.api.to_owned(),
                family: Family::HashMap,
                file: CALLER.file.to_owned(),
                line: CALLER.line,
                column: CALLER.column,
            },
            thread: "0".to_owned(),
            ordinal: 1,
            choice: order,
        };
        let spec = |order| {
            RunSpec::new("mine", Level::Full, 7)
                .with_selection(Selection::Only(Vec::new()))
                .with_given(vec![given(order)])
        };
        let (decisions, _) = decided(&spec(GivenChoice::Ranks(vec![2, 0, 1])), &[3, 3, 3]);
        assert!(matches!(decisions[0], Decision::Base));
        assert_eq!(order(&decisions[1]), Some(vec![2, 0, 1]));
        assert!(matches!(decisions[2], Decision::Base));
        let (decisions, _) = decided(&spec(GivenChoice::Ranks(vec![2, 0, 1])), &[3, 4]);
        assert!(matches!(decisions[1], Decision::Base));
        let (decisions, _) = decided(&spec(GivenChoice::Steps(1)), &[3, 3]);
        assert!(matches!(decisions[1], Decision::Intermediate(_)));
    }
}

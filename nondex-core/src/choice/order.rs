//! The decision about an order.

use super::decision::{Decision, Intermediate};
use super::permutation::Permutation;
use super::schedule::{DESIGNED_LEN, Key};
use crate::catalogue::{Family, Level, Model};
use crate::context;
use crate::hash;
use crate::protocol::choice::Choice;
use crate::protocol::point::ChoiceRecord;
use crate::protocol::schedule::Schedule;
use crate::protocol::site::Caller;
use crate::protocol::spec::GivenChoice;

/// What a level looks at. Asked of the shim only when the level needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aspect {
    /// A hash of the elements that does not depend on their order.
    Content,
    /// The object's identity (see [`context::new_object`]) combined with its modification count.
    Version,
}

/// Decides the order of `len` elements at one call of `model` by `caller`.
///
/// `aspect` is called at most once, and only at levels EQ and ID. Outside a test, and for fewer than two elements, the
/// answer is [`Decision::Base`] and nothing is recorded. Costs a thread-local lookup and one ChaCha8 key set-up.
#[inline]
pub fn decide(
    model: &'static Model,
    family: Family,
    caller: Caller,
    len: usize,
    aspect: impl FnOnce(Aspect) -> u64,
) -> Decision {
    if len < 2 {
        return Decision::Base;
    }
    let mut aspect = Some(aspect);
    let mut look = |at| aspect.take().map(|aspect| aspect(at));
    decide_many(model, family, caller, len, &mut look)
}

/// As [`decide`], of two elements and more: code that is compiled once.
fn decide_many(
    model: &'static Model,
    family: Family,
    caller: Caller,
    len: usize,
    look: &mut dyn FnMut(Aspect) -> Option<u64>,
) -> Decision {
    let Some(reached) = context::reach(model, family, caller, &Choice::Order { len: len as u64 })
    else {
        return Decision::Base;
    };
    let mut choice = ChoiceRecord {
        place: reached.place,
        ordinal: reached.ordinal,
        len: len as u64,
        aspect: None,
        reading: None,
    };
    if family == Family::Environment {
        let content = look(Aspect::Content);
        choice.aspect = content.filter(|_| matches!(reached.level, Level::Eq | Level::Id));
        choice.reading = content.and_then(context::reading);
    }
    let mut drawn = || {
        if choice.keeps_base(reached.level) {
            return Decision::Base;
        }
        let (schedule, seed, level) = (reached.schedule, reached.seed, reached.level);
        match level {
            // The names backward, as a filesystem may list them that puts what is new first.
            Level::Std
                if schedule.reverses(seed)
                    && matches!(family, Family::Directory | Family::Environment) =>
            {
                return Decision::Permute(Permutation::reversed(len));
            }
            Level::Std => {
                return Decision::Std {
                    key: hash::mix(seed ^ STD_KEY),
                };
            }
            Level::Eq => choice.aspect = look(Aspect::Content).or(choice.aspect),
            Level::Id => choice.aspect = look(Aspect::Version).or(choice.aspect),
            Level::One | Level::Full => {}
        }
        if let (Level::Eq, Some(content)) = (level, choice.aspect)
            && len > DESIGNED_LEN
        {
            return by_content(schedule, seed, content);
        }
        match (draw(schedule, level, seed, &choice), level) {
            (None, _) => Decision::Base,
            (Some(order), Level::Eq) => Decision::PermuteContent(order),
            (Some(order), _) => Decision::Permute(order),
        }
    };
    let decision =
        match reached.given.as_deref() {
            None if !reached.is_selected => Decision::Base,
            None => drawn(),
            Some(&GivenChoice::Steps(steps)) => Decision::Intermediate(Box::new(
                Intermediate::new(drawn(), steps, model, family, caller, reached.ordinal),
            )),
            Some(GivenChoice::Ranks(ranks))
                if ranks.len() == len && Permutation::is_listed_once(ranks) =>
            {
                Decision::Permute(Permutation::listed(ranks.iter().copied()))
            }
            Some(GivenChoice::Ranks(_) | GivenChoice::Number(_)) => Decision::Base,
        };
    if reached.is_listed {
        context::list(choice);
    }
    decision
}

/// The order of a long sequence at level EQ. Seed 0 reverses the order of the keyed hashes.
fn by_content(schedule: Schedule, seed: u64, content: u64) -> Decision {
    Decision::ByContent {
        tree: hash::mix(seed ^ TREE_KEY),
        key: if schedule.reverses(seed) {
            u64::MAX
        } else {
            hash::mix(content ^ hash::mix(seed))
        },
    }
}

/// The permutation that a run at `level` draws from `seed` at a choice, when that is known: not at STD, and at ID and EQ only
/// if the choice was made in the run that recorded it. Of long sequences at EQ, it stands for the order that has the same key.
#[must_use]
pub fn draw(
    schedule: Schedule,
    level: Level,
    seed: u64,
    choice: &ChoiceRecord,
) -> Option<Permutation> {
    let (a, b) = match level {
        Level::Std => return None,
        Level::One => (choice.len, 0),
        Level::Eq | Level::Id => (choice.aspect?, choice.len),
        Level::Full => (choice.place, choice.ordinal),
    };
    let len = usize::try_from(choice.len).ok()?;
    let tag = level.tag();
    Some(schedule.order(seed, Key { tag, a, b }, len))
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

    const CALLER: Caller = Caller {
        file: "src/lib.rs",
        line: 3,
        column: 9,
    };

    /// What was decided for collections of these sizes, and the record.
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
                let spec = RunSpec {
                    schedule: *schedule,
                    ..RunSpec::new("mine", level, seed)
                };
                decided(&spec, &[5, 2, 1, 50])
            };
            let (_, record) = of(7);
            assert_eq!(record.choices.len(), 3, "of one element there is no choice");
            for seed in [0, 1, 2, 5, 8, 100] {
                let (decisions, _) = of(seed);
                let decisions = decisions
                    .iter()
                    .filter(|decision| !matches!(decision, Decision::Base));
                for (choice, decision) in record.choices.iter().zip(decisions) {
                    let drawn = draw(*schedule, level, seed, choice);
                    let drawn = drawn.map(Iterator::collect::<Vec<_>>);
                    assert_eq!(drawn, order(decision), "{level} {seed}");
                }
            }
        }
    }

    #[test]
    fn the_environment_has_another_order_at_std_and_above_it_where_readings_may_differ() {
        let order_of = |level, content| match decide(
            &ENV_VARS,
            Family::Environment,
            CALLER,
            20,
            |_| content,
        ) {
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
            assert_eq!(
                [1, 1, 2, 1].map(|content| order_of(level, content)),
                expected
            );
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
        let spec = |order| RunSpec {
            choices: Selection::None,
            given: vec![given(order)],
            ..RunSpec::new("mine", Level::Full, 7)
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

//! The decision at one choice point.
//!
//! Every choice draws from a generator of its own, keyed by the seed and by what its level looks at, never from one
//! running stream: turning one choice off leaves every other as it was.

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use crate::context;
use crate::hash;
use crate::level::Level;
use crate::model::{Family, Model};
use crate::permutation::Permutation;
use crate::site::{Caller, Site};
use crate::spec::RunSpec;

/// What a shim does at one choice point.
#[derive(Clone, Debug)]
pub enum Decision {
    /// Take the base order: nothing is chosen here.
    Base,
    /// Do what std and the platform would do under another seed: a hash collection takes its table's own order; a
    /// directory or environment sorts its names by a hash keyed with `key`, which is the same for the whole run.
    Std {
        /// The key, the same for the whole run.
        key: u64,
    },
    /// Permute the base order.
    Permute(Permutation),
    /// Sort by content, whatever the base order is, then permute.
    PermuteContent(Permutation),
}

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
    let Some(reached) = context::reach(model, family, caller, len) else {
        return Decision::Base;
    };
    if !reached.made {
        return Decision::Base;
    }
    let key = |a, b| generator(reached.seed, reached.level.tag(), a, b);
    match reached.level {
        Level::Std => Decision::Std {
            key: hash::mix(reached.seed ^ STD_KEY),
        },
        Level::One => Decision::Permute(Permutation::new(key(len as u64, 0), len)),
        Level::Eq => Decision::PermuteContent(Permutation::new(
            key(aspect(Aspect::Content), len as u64),
            len,
        )),
        Level::Id => Decision::Permute(Permutation::new(
            key(aspect(Aspect::Version), len as u64),
            len,
        )),
        Level::Full => {
            Decision::Permute(Permutation::new(key(reached.place, reached.ordinal), len))
        }
    }
}

/// The permutation that [`decide`] will draw in a run of `spec` for the call numbered `ordinal`, from 0, of the thread
/// with path `thread` at `site`, if that follows from the place and the length alone: at ONE and FULL, for a choice that
/// the spec makes. What to conclude without running.
#[must_use]
pub fn foresee(
    spec: &RunSpec,
    site: &Site,
    thread: &str,
    ordinal: u64,
    len: usize,
) -> Option<Permutation> {
    let (a, b) = match spec.level {
        Level::One => (len as u64, 0),
        Level::Full => (
            context::place(context::path_hash(&spec.test, thread), site),
            ordinal,
        ),
        Level::Std | Level::Eq | Level::Id => return None,
    };
    let made = spec.choices.contains(site) && site.family.varies_at(spec.level);
    made.then(|| Permutation::new(generator(spec.seed, spec.level.tag(), a, b), len))
}

/// The generator of one request for random bytes, `None` outside a test. When the spec makes this choice it depends on
/// the seed, otherwise only on the request's identity, so that clean runs repeat too.
#[must_use]
pub fn entropy(model: &'static Model, caller: Caller, len: usize) -> Option<ChaCha8Rng> {
    let reached = context::reach(model, Family::Entropy, caller, len)?;
    let seed = if reached.made {
        reached.seed
    } else {
        CLEAN_ENTROPY
    };
    Some(generator(seed, ENTROPY_TAG, reached.place, reached.ordinal))
}

/// The generator of the keys of std's `RandomState`, once for each thread; `None` outside a test.
///
/// The keys vary at STD only, where the table's own order is what the run varies, and are no choice point of their own:
/// what they decide is recorded where an order is read.
#[must_use]
pub fn map_keys() -> Option<ChaCha8Rng> {
    let thread = context::map_keys()?;
    let seed = if thread.made {
        thread.seed
    } else {
        CLEAN_ENTROPY
    };
    Some(generator(seed, MAP_KEYS_TAG, thread.place, thread.ordinal))
}

/// Separates the key of names at STD from the bare seed.
const STD_KEY: u64 = 0x6e6f_6e64_6578_2d31;
/// The seed of entropy in clean runs.
const CLEAN_ENTROPY: u64 = u64::MAX;
/// Separates entropy from every level's orders.
const ENTROPY_TAG: u64 = 16;

/// Separates the keys of hash maps from all other entropy.
const MAP_KEYS_TAG: u64 = 17;

/// The generator keyed by the four words.
fn generator(seed: u64, tag: u64, a: u64, b: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    for (bytes, word) in key.chunks_exact_mut(8).zip([seed, tag, a, b]) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;
    use crate::model::HASH_MAP_ITER;

    #[test]
    fn what_is_foreseen_at_one_and_full_is_what_is_decided() {
        for level in Level::ALL {
            let spec = RunSpec::new("mine", level, 7);
            let context = Context::new(spec.clone());
            let entered = context::enter(&context, "mine");
            let caller = Caller {
                file: "src/lib.rs",
                line: 3,
                column: 9,
            };
            let orders: Vec<Option<Vec<usize>>> = [5, 2, 5]
                .into_iter()
                .map(
                    |len| match decide(&HASH_MAP_ITER, Family::HashMap, caller, len, |_| 0) {
                        Decision::Permute(order) => Some(order.collect()),
                        _ => None,
                    },
                )
                .collect();
            drop(entered);
            let site = Site {
                api: HASH_MAP_ITER.api.to_owned(),
                family: Family::HashMap,
                file: "src/lib.rs".to_owned(),
                line: 3,
                column: 9,
            };
            for (ordinal, (len, decided)) in [5, 2, 5].into_iter().zip(orders).enumerate() {
                let foreseen = foresee(&spec, &site, "0", ordinal as u64, len);
                match level {
                    Level::One | Level::Full => {
                        assert_eq!(foreseen.map(Iterator::collect::<Vec<_>>), decided);
                    }
                    _ => assert!(foreseen.is_none()),
                }
            }
        }
    }
}

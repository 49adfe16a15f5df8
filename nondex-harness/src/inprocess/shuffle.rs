//! `--shuffle`: the order libtest gives for the same seed and tests.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{SystemTime, UNIX_EPOCH};

use super::arguments::Arguments;
use super::descriptor::TestDescAndFn;

/// The seed that is asked for; one from the clock when only shuffling is.
pub(crate) fn seed(arguments: &Arguments) -> Option<u64> {
    arguments.shuffle_seed.or_else(|| {
        arguments.shuffle.then(|| {
            let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
            since_epoch.map_or(0, |duration| duration.as_nanos() as u64)
        })
    })
}

/// Puts `tests` in the order of `seed`.
pub(crate) fn shuffle(seed: u64, tests: &mut [TestDescAndFn]) {
    let names: Vec<_> = tests.iter().map(|test| &test.desc.name).collect();
    let extra = hash(&names);
    let mut state = seed;
    for start in 0..tests.len() {
        let rest = &mut tests[start..];
        state = hash(&(state, extra));
        let chosen = (state % rest.len() as u64) as usize;
        rest.swap(0, chosen);
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

//! The specs of a campaign's runs of one test.

use nondex_core::{Level, RunSpec};

use super::options::Options;
use super::world::World;

/// The levels from the most realistic one, each once.
pub fn levels(levels: &[Level]) -> Vec<Level> {
    Level::ALL.into_iter().filter(|level| levels.contains(level)).collect()
}

/// The spec of a clean run, as the campaign runs it.
pub fn clean_spec(test: &str, options: &Options) -> RunSpec {
    options.apply(RunSpec::clean(test))
}

/// How many operations of threads are recorded of a run that is to be shown.
pub(super) const OPERATIONS: u64 = 20_000;

/// The spec of a run in canonical order with real threads and real time.
pub fn natural_spec(test: &str, options: &Options) -> RunSpec {
    clean_spec(test, options).with_real_threads()
}

/// The spec of a run with these choices.
pub fn world_spec(test: &str, world: &World, options: &Options) -> RunSpec {
    match world.seed {
        None => clean_spec(test, options),
        Some(seed) => seed_spec(test, Level::Std, seed, options),
    }
}

/// The same, whose operations are recorded, to show where two runs part.
pub fn shown_world_spec(test: &str, world: &World, options: &Options) -> RunSpec {
    world_spec(test, world, options).with_operations(OPERATIONS)
}

/// The spec of one seed at `level`, as the campaign runs it.
pub fn seed_spec(test: &str, level: Level, seed: u64, options: &Options) -> RunSpec {
    options.apply(RunSpec::new(test, level, seed))
}

//! The specs of a campaign's runs of one test.

use nondex_core::{Level, RunSpec};

use super::options::Options;
use super::world::World;

/// How many operations of threads are recorded of a run that is to be shown.
pub(super) const OPERATIONS: u64 = 20_000;

impl Options {
    /// The requested levels from the most realistic one, each once.
    pub fn realistic_first(&self) -> Vec<Level> {
        Level::ALL.into_iter().filter(|level| self.levels.contains(level)).collect()
    }

    /// The spec of a clean run of `test`, as the campaign runs it.
    pub fn clean_spec(&self, test: &str) -> RunSpec {
        self.apply(RunSpec::clean(test))
    }

    /// The spec of a run in canonical order with real threads and real time.
    pub fn natural_spec(&self, test: &str) -> RunSpec {
        self.clean_spec(test).with_real_threads()
    }

    /// The spec of one seed at `level`, as the campaign runs it.
    pub fn seed_spec(&self, test: &str, level: Level, seed: u64) -> RunSpec {
        self.apply(RunSpec::new(test, level, seed))
    }

    /// The spec of a run with these choices.
    pub fn world_spec(&self, test: &str, world: &World) -> RunSpec {
        match world.seed {
            None => self.clean_spec(test),
            Some(seed) => self.seed_spec(test, Level::Std, seed),
        }
    }

    /// The same, whose operations are recorded, to show where two runs part.
    pub fn shown_world_spec(&self, test: &str, world: &World) -> RunSpec {
        self.world_spec(test, world).with_operations(OPERATIONS)
    }
}

//! Builds the specs of a campaign's runs of one test.

use nondex_core::{Level, RunSpec};

use super::options::Options;
use super::world::World;

/// Maximum number of operations of threads that are recorded in a run to be shown.
pub(super) const OPERATIONS: u64 = 20_000;

impl Options {
    /// Returns the requested levels, the most realistic one first, without duplicates.
    pub fn realistic_first(&self) -> Vec<Level> {
        Level::ALL.into_iter().filter(|level| self.levels.contains(level)).collect()
    }

    /// Returns the spec of a clean run of `test`.
    pub fn clean_spec(&self, test: &str) -> RunSpec {
        self.apply(RunSpec::clean(test))
    }

    /// Returns the spec of a run in canonical order with real threads and real time.
    pub fn natural_spec(&self, test: &str) -> RunSpec {
        self.clean_spec(test).with_real_threads()
    }

    /// Returns the spec of the run with this seed at `level`.
    pub fn seed_spec(&self, test: &str, level: Level, seed: u64) -> RunSpec {
        self.apply(RunSpec::new(test, level, seed))
    }

    /// Returns the spec of a run with these choices.
    pub fn world_spec(&self, test: &str, world: &World) -> RunSpec {
        match world.seed {
            None => self.clean_spec(test),
            Some(seed) => self.seed_spec(test, Level::Std, seed),
        }
    }

    /// Returns the same spec with recorded operations, to show where two runs diverge.
    pub fn shown_world_spec(&self, test: &str, world: &World) -> RunSpec {
        self.world_spec(test, world).with_operations(OPERATIONS)
    }
}

//! `cargo nondex test`: every test once, with choices that are always the same.

use std::num::NonZeroU32;

use clap::Args;

use super::run_args::RunArgs;
use super::seeds::Seeds;
use super::testing_args::TestingArgs;
use super::values::Switch as _;
use super::world_args::WorldArgs;
use crate::judge::world::World;

/// The options of `cargo nondex test`.
#[derive(Args, Clone, Debug)]
pub struct TestArgs {
    /// Which choices are made.
    #[command(flatten)]
    pub world: WorldArgs,

    /// Run every test twice, and name the first event at which two runs differ
    #[arg(long, help_heading = "Test options")]
    pub verify: bool,

    /// With `--verify`, tests that differ but end alike are failures too
    #[arg(long, switch = "BOOL", help_heading = "Test options")]
    pub strict: Option<bool>,

    /// Which tests of what, and how.
    #[command(flatten)]
    pub testing: TestingArgs,
}

impl TestArgs {
    /// Which choices are made.
    #[must_use]
    pub const fn world(&self) -> World {
        World {
            seed: self.world.seed,
            verify: self.verify,
        }
    }

    /// The campaign that makes no choice but these: without seeds, with as many clean runs of each
    /// test as there are runs of it.
    #[must_use]
    pub fn campaign(&self) -> RunArgs {
        RunArgs {
            seeds: Some(Seeds::first(0)),
            clean_runs: NonZeroU32::new(if self.verify { 2 } else { 1 }),
            strict: self.strict,
            real_threads: self.world.real_threads,
            max_steps: self.world.max_steps,
            thorough: Some(true),
            testing: self.testing.clone(),
            ..RunArgs::default()
        }
    }
}

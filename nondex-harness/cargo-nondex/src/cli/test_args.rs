//! Options of `cargo nondex test`, which runs every test once with the same choices each time.

use std::num::NonZeroU32;

use clap::{Arg, Args};

use super::budget_args::BudgetArgs;
use super::display_args::DisplayArgs;
use super::max_fail::MaxFail;
use super::run_args::RunArgs;
use super::seeds::Seeds;
use super::testing_args::TestingArgs;
use super::values::Switch as _;
use super::world_args::WorldArgs;
use crate::judge::world::World;

/// Options of `cargo nondex test`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Test options")]
pub struct TestArgs {
    /// Choices that are made.
    #[command(flatten)]
    pub world: WorldArgs,

    /// Run every test twice, and name the first event at which two runs differ
    #[arg(long)]
    pub verify: bool,

    /// With `--verify`, tests that differ but end alike are failures too
    #[arg(long, switch = "BOOL")]
    pub strict: Option<bool>,

    /// Begin no other test after one that fails, as nextest does by default
    #[arg(long, alias = "ff", conflicts_with_all = ["no_fail_fast", "max_fail"])]
    pub fail_fast: bool,

    /// Begin no other test after this number of failures, or run `all` [default: all]
    #[arg(long, value_name = "N|all", conflicts_with = "no_fail_fast")]
    pub max_fail: Option<MaxFail>,

    /// Show what tests write as they write it, one test at a time; it is not in the report then
    #[arg(long, alias = "nocapture")]
    pub no_capture: bool,

    /// As in nextest, where a run may end in another way when it is repeated
    #[arg(long, value_name = "N", hide = true)]
    pub retries: Option<String>,

    /// Nextest's display options, which have no effect.
    #[command(flatten)]
    pub display: DisplayArgs,

    /// Selection of tests, and options for running them.
    #[command(flatten)]
    pub testing: TestingArgs,
}

impl TestArgs {
    /// Returns the choices that are made.
    pub const fn world(&self) -> World {
        World { seed: self.world.seed, verify: self.verify }
    }

    /// Shows the option `--no-fail-fast`, which is hidden in other commands, where it has no
    /// effect.
    pub(super) fn show_no_fail_fast(option: Arg) -> Arg {
        let meaning = "Run all tests regardless of failure";
        option.help(meaning).long_help(None).hide(false).help_heading("Test options")
    }

    /// Returns the number of failures after which no further test starts.
    ///
    /// There is no limit by default, because the machine determines which tests have started when
    /// one fails.
    pub fn max_fail(&self) -> MaxFail {
        if self.testing.project.build.no_fail_fast {
            MaxFail::ALL
        } else if self.fail_fast {
            MaxFail::ONE
        } else {
            self.max_fail.unwrap_or(MaxFail::ALL)
        }
    }

    /// Returns the campaign that makes only these choices. It has no seeds, and all runs of a test
    /// are clean runs.
    pub fn campaign(&self) -> RunArgs {
        let mut testing = self.testing.clone();
        let shows_output = testing.project.filter.take_no_capture();
        RunArgs {
            seeds: Some(Seeds::first(0)),
            clean_runs: NonZeroU32::new(if self.verify { 2 } else { 1 }),
            strict: self.strict,
            max_fail: self.max_fail().0,
            no_capture: self.no_capture || shows_output,
            real_threads: self.world.real_threads,
            max_steps: self.world.max_steps,
            budget: BudgetArgs { thorough: Some(true), budget_factor: None },
            testing,
            ..RunArgs::default()
        }
    }
}

//! `cargo nondex test`: every test once, with choices that are always the same.

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

/// The options of `cargo nondex test`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Test options")]
pub struct TestArgs {
    /// Which choices are made.
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

    /// What nextest shows.
    #[command(flatten)]
    pub display: DisplayArgs,

    /// Which tests of what, and how.
    #[command(flatten)]
    pub testing: TestingArgs,
}

impl TestArgs {
    /// Which choices are made.
    pub const fn world(&self) -> World {
        World { seed: self.world.seed, verify: self.verify }
    }

    /// Shows the option that other commands take for what they do anyway.
    pub(super) fn show_no_fail_fast(option: Arg) -> Arg {
        let meaning = "Run all tests, whatever fails";
        option.help(meaning).long_help(None).hide(false).help_heading("Test options")
    }

    /// How many tests may fail until no other one is begun.
    ///
    /// Any number by default: which tests have begun when one fails depends on the machine.
    pub fn max_fail(&self) -> MaxFail {
        if self.testing.project.build.no_fail_fast {
            MaxFail::ALL
        } else if self.fail_fast {
            MaxFail::ONE
        } else {
            self.max_fail.unwrap_or(MaxFail::ALL)
        }
    }

    /// The campaign that makes no choice but these: without seeds, with as many clean runs of each
    /// test as there are runs of it.
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

//! Options of `cargo nondex test` and `cargo nondex with`, whose tests make the same choices each
//! time.

use std::ffi::OsString;
use std::num::NonZeroU32;

use camino::Utf8PathBuf;
use clap::{Arg, Args};

use super::run_args::RunArgs;
use super::seeds::Seeds;
use super::testing_args::{BudgetArgs, TestingArgs};
use super::values::{MaxFail, Switch as _, whole};
use crate::judge::World;

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

/// Options that `cargo nondex test` and `cargo nondex with` share.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Test options")]
pub struct WorldArgs {
    /// Make the choices of this seed, at level STD, in place of those of canonical order
    #[arg(long, value_name = "SEED", value_parser = whole::<u64>)]
    pub seed: Option<u64>,

    /// Leave threads to the operating system, and time to the clock
    #[arg(long, switch = "BOOL")]
    pub real_threads: Option<bool>,

    /// Maximum number of operations of a test's threads while they are scheduled [default:
    /// 10000000]
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub max_steps: Option<u64>,
}

/// Options of `cargo nondex with`.
#[derive(Args, Clone, Debug)]
pub struct WithArgs {
    /// Choices that are made.
    #[command(flatten)]
    pub world: WorldArgs,

    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH", help_heading = "Manifest options")]
    pub manifest_path: Option<Utf8PathBuf>,

    /// The command and its arguments, such as `cargo nextest run`
    #[arg(value_name = "COMMAND", required = true, last = true, help_heading = "Arguments")]
    pub command: Vec<OsString>,
}

/// Options of `cargo nextest run` that have no effect on the output of this tool.
#[derive(Args, Clone, Debug)]
pub struct DisplayArgs {
    #[arg(long, hide = true, value_name = "LEVEL")]
    status_level: Option<String>,
    #[arg(long, hide = true, value_name = "LEVEL")]
    final_status_level: Option<String>,
    #[arg(long, hide = true, value_name = "WHEN")]
    failure_output: Option<String>,
    #[arg(long, hide = true, value_name = "WHEN")]
    success_output: Option<String>,
    #[arg(long, hide = true, value_name = "HOW")]
    show_progress: Option<String>,
    #[arg(long, hide = true)]
    hide_progress_bar: bool,
    #[arg(long, hide = true)]
    no_output_indent: bool,
    #[arg(long, hide = true)]
    no_input_handler: bool,
    #[arg(long, hide = true)]
    no_pager: bool,
}

impl DisplayArgs {
    /// Returns the names of the given options, which have no effect.
    pub fn passed_over(&self) -> Vec<&'static str> {
        let options = [
            (self.status_level.is_some(), "--status-level"),
            (self.final_status_level.is_some(), "--final-status-level"),
            (self.failure_output.is_some(), "--failure-output"),
            (self.success_output.is_some(), "--success-output"),
            (self.show_progress.is_some(), "--show-progress"),
            (self.hide_progress_bar, "--hide-progress-bar"),
            (self.no_output_indent, "--no-output-indent"),
            (self.no_input_handler, "--no-input-handler"),
            (self.no_pager, "--no-pager"),
        ];
        options.into_iter().filter(|(is_given, _)| *is_given).map(|(_, name)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches as _};

    use super::*;

    #[test]
    fn what_nextest_is_told_to_show_is_taken_and_named() {
        let command = DisplayArgs::augment_args(Command::new("test"));
        let passed_over = |words: &[&str]| {
            let matches = command.clone().try_get_matches_from(words).unwrap();
            DisplayArgs::from_arg_matches(&matches).unwrap().passed_over()
        };
        assert_eq!(passed_over(&["test"]), [""; 0]);
        assert_eq!(
            passed_over(&["test", "--no-pager", "--failure-output", "final", "--status-level=all"]),
            ["--status-level", "--failure-output", "--no-pager"]
        );
    }
}

//! Options of `cargo nondex replay`.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::time::Duration;

use camino::Utf8PathBuf;
use clap::Args;
use nondex_core::{Level, NetworkMode, Schedule};

use super::build_args::BuildArgs;
use super::model_args::ModelArgs;
use super::project_args::ExtractArgs;
use super::values::{duration, one_of, positive, whole};

/// Options of `cargo nondex replay`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Replay options")]
pub struct ReplayArgs {
    /// The finding: its id, its test, or a part of either that no other has, or `latest`; with
    /// `--level` and `--seed`, or `--clean`, the test
    #[arg(value_name = "ID|TEST", help_heading = "Arguments")]
    pub id: String,

    /// Run the test at this level
    #[arg(long, value_name = "LEVEL", requires = "seed", conflicts_with_all = ["clean", "report"])]
    pub level: Option<Level>,

    /// Run the test with this seed
    #[arg(long, value_name = "SEED", requires = "level", value_parser = whole::<u64>)]
    pub seed: Option<u64>,

    /// Meaning of the seed: orders of a covering design, random orders, or a list of preemptions
    /// [default: covering]
    #[arg(long, value_name = "covering|random|systematic", requires = "level")]
    pub schedule: Option<Schedule>,

    /// Run the test without any choice, in canonical order
    #[arg(long, conflicts_with = "report")]
    pub clean: bool,

    /// Run this test before it in the same process; several run in the order given
    #[arg(long, value_name = "TEST", conflicts_with = "report")]
    #[arg(allow_hyphen_values = true)]
    pub after: Vec<String>,

    /// With real threads and real time, whatever models are on
    #[arg(long, conflicts_with = "report")]
    pub real_threads: bool,

    /// Maximum number of operations of the test's threads while they are scheduled [default:
    /// 10000000]
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub max_steps: Option<u64>,

    /// Run the test of `--after` in the middle of the test, at an access to this: `static:PATH`,
    /// `env:NAME`, `file:PATH`, `port:ADDRESS`, `cwd:` or `umask:`
    #[arg(long, value_name = "KIND:NAME", requires = "after", requires = "interrupt_at")]
    pub state: Option<String>,

    /// Access of the outer test to this state at which the inner test runs, from 0
    #[arg(long, value_name = "N", requires = "state", value_parser = whole::<u64>)]
    pub interrupt_at: Option<u64>,

    /// The test is the inner one: it runs in the middle of the test of `--after`
    #[arg(long, requires = "interrupt_at")]
    pub inner: bool,

    /// Access of the inner test at which it waits until the outer test has ended, from 0
    #[arg(long, value_name = "N", requires = "interrupt_at", value_parser = whole::<u64>)]
    pub pause_at: Option<u64>,

    /// Network mode of the run
    #[arg(long, value_name = "MODE", value_parser = one_of(NetworkMode::ALL, NetworkMode::name))]
    pub network: Option<NetworkMode>,

    /// Hosts that are reached although the network is blocked or fails; `*.` matches subdomains
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub network_allow: Vec<String>,

    /// Take the finding from this report, such as one that a CI job wrote
    #[arg(long, value_name = "FILE")]
    pub report: Option<Utf8PathBuf>,

    /// More arguments for the test executable
    #[arg(last = true, value_name = "ARGS", help_heading = "Arguments")]
    #[arg(allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,

    /// Run the test under gdb
    #[arg(long, conflicts_with_all = ["debugger", "quiet"])]
    pub gdb: bool,

    /// Run the test under this command, which is given the executable and its arguments: `lldb --`,
    /// `rr record`
    #[arg(long, value_name = "COMMAND", conflicts_with = "quiet")]
    pub debugger: Option<String>,

    /// Show where the responsible calls were made from, and of threads every operation
    #[arg(long)]
    pub trace: bool,

    /// Repeat the same run, each time in a separate process, and count how it ends
    #[arg(long, value_name = "N", conflicts_with_all = ["gdb", "debugger", "trace"])]
    #[arg(value_parser = positive::<NonZeroU32>)]
    pub runs: Option<NonZeroU32>,

    /// Time limit [default: that of the run that found it; none under a debugger]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,

    /// Selection of models.
    #[command(flatten)]
    pub models: ModelArgs,

    /// Archive to take the tests from.
    #[command(flatten)]
    pub archive: ExtractArgs,

    /// Build options. A recorded finding is built as it was then.
    #[command(flatten)]
    pub build: BuildArgs,
}

impl ReplayArgs {
    /// Returns whether the options describe a run, not a recorded finding.
    pub const fn is_run(&self) -> bool {
        self.level.is_some() || self.clean || !self.after.is_empty()
    }

    /// Returns the debugger's command line, which comes before the executable.
    pub fn debugger(&self) -> Option<Vec<String>> {
        if self.gdb {
            return Some(vec!["gdb".to_owned(), "--args".to_owned()]);
        }
        Some(self.debugger.as_ref()?.split_whitespace().map(str::to_owned).collect())
    }
}

//! `cargo nondex replay`: which finding, and how its run is watched.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;

use super::location_args::LocationArgs;
use super::output_args::OutputArgs;
use super::values::seconds;

/// The options of `cargo nondex replay`.
#[derive(Args, Clone, Debug)]
pub struct ReplayArgs {
    /// The finding: its id, the beginning of its id, or `latest`
    #[arg(value_name = "ID", help_heading = "Arguments")]
    pub id: String,

    /// More arguments for the test executable
    #[arg(last = true, value_name = "ARGS", help_heading = "Arguments")]
    #[arg(allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,

    /// Run the test under gdb
    #[arg(long, conflicts_with_all = ["debugger", "quiet"])]
    #[arg(help_heading = "Replay options")]
    pub gdb: bool,

    /// Run the test under this command, which is given the executable and its arguments: `lldb --`, `rr record`
    #[arg(long, value_name = "COMMAND", conflicts_with = "quiet")]
    #[arg(help_heading = "Replay options")]
    pub debugger: Option<String>,

    /// Show where the responsible calls were made from
    #[arg(long, help_heading = "Replay options")]
    pub trace: bool,

    /// Time limit [default: that of the run that found it; none under a debugger]
    #[arg(long, value_name = "SECONDS", help_heading = "Replay options")]
    #[arg(value_parser = seconds)]
    pub timeout: Option<Duration>,

    /// Where the project is.
    #[command(flatten)]
    pub location: LocationArgs,

    /// How results are shown.
    #[command(flatten)]
    pub output: OutputArgs,
}

impl ReplayArgs {
    /// What stands before the executable when it is debugged.
    #[must_use]
    pub fn debugger(&self) -> Option<Vec<String>> {
        if self.gdb {
            return Some(vec!["gdb".to_owned(), "--args".to_owned()]);
        }
        let words = self.debugger.as_ref()?.split_whitespace();
        Some(words.map(str::to_owned).collect())
    }
}

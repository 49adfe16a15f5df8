//! Options that select tests by a change, and the folder of their history.

use camino::Utf8PathBuf;
use clap::Args;

/// Options of commands that keep a history of each test.
#[derive(Args, Clone, Debug, Default)]
pub struct ChangedArgs {
    /// Run only tests that are new or may run what is different from this commit [default: HEAD, or
    /// its parent when nothing is changed since HEAD]
    #[arg(long, value_name = "REV", num_args = 0..=1, require_equals = true)]
    #[arg(help_heading = "Test selection")]
    pub changed: Option<Option<String>>,

    /// Folder with the history of each test [default: target/nondex/history]
    #[arg(long, value_name = "DIR", help_heading = "Output options")]
    pub history_dir: Option<Utf8PathBuf>,
}

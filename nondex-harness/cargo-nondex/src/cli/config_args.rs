//! Options that select the configuration.

use camino::Utf8PathBuf;
use clap::Args;

/// Profile and file of the configuration.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Config options")]
pub struct ConfigArgs {
    /// Profile of the configuration file [env: `NONDEX_PROFILE`] [default: default]
    #[arg(short = 'P', long, value_name = "NAME")]
    pub profile: Option<String>,

    /// Configuration file [default: .config/nondex.toml in the workspace root] [env:
    /// `NONDEX_CONFIG_FILE`]
    #[arg(long, value_name = "FILE")]
    pub config_file: Option<Utf8PathBuf>,
}

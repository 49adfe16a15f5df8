//! Options of `cargo nondex archive`.

use camino::Utf8PathBuf;
use clap::Args;

use super::build_args::BuildArgs;
use super::config_args::ConfigArgs;
use crate::project;

/// Options of `cargo nondex archive`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Archive options")]
pub struct ArchiveArgs {
    /// File to write; its name ends in .tar.zst, .tar.gz, .tgz or .tar [default:
    /// nondex/archive.tar.gz in the target directory]
    #[arg(long, value_name = "FILE", value_parser = name)]
    pub archive_file: Option<Utf8PathBuf>,

    /// Leave out the plain build, by which a failure is judged: half the size, and failures are
    /// reported as not compared
    #[arg(long)]
    pub no_plain: bool,

    /// Leave out the files of the workspace: tests then need a checkout, named by
    /// `--workspace-remap`
    #[arg(long)]
    pub no_sources: bool,

    /// Configuration options.
    #[command(flatten)]
    pub config: ConfigArgs,

    /// Build options.
    #[command(flatten)]
    pub build: BuildArgs,
}

/// Parses the file name of an archive.
fn name(text: &str) -> Result<Utf8PathBuf, String> {
    let file = Utf8PathBuf::from(text);
    project::is_name_of_archive(&file).map(|()| file)
}

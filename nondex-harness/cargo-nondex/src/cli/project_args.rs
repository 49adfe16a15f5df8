//! Options of commands that build tests and select some of them, or take them from an archive.

use std::num::NonZeroU32;
use std::time::Duration;

use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};

use super::build_args::BuildArgs;
use super::seeds::Seeds;
use super::test_filter::FilterArgs;
use super::values::{duration, positive};
use crate::project::{self, Folders};

/// Project, and selection of its tests.
#[derive(Args, Clone, Debug, Default)]
pub struct ProjectArgs {
    /// Filters of tests.
    #[command(flatten)]
    pub filter: FilterArgs,

    /// Configuration options.
    #[command(flatten)]
    pub config: ConfigArgs,

    /// Archive to take the tests from.
    #[command(flatten)]
    pub archive: ExtractArgs,

    /// Build options.
    #[command(flatten)]
    pub build: BuildArgs,
}

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

/// Archive of built tests, and the folder where it is extracted.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Archive options")]
pub struct ExtractArgs {
    /// Run the tests that `cargo nondex archive` packed into this file, and build nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = BUILD)]
    pub archive_file: Option<Utf8PathBuf>,

    /// Folder for the files of the workspace and the target directory, which a later call with the
    /// same archive finds there [default: the workspace has the target directory]
    #[arg(long, value_name = "DIR", requires = "archive_file")]
    pub extract_to: Option<Utf8PathBuf>,

    /// Checkout of the workspace, whose files are used in place of those in the archive
    #[arg(long, value_name = "DIR", requires = "archive_file")]
    pub workspace_remap: Option<Utf8PathBuf>,

    /// Folders of the extracted archive.
    #[arg(skip)]
    pub extracted: Option<Folders>,
}

/// Options that were fixed when the archive was packed.
const BUILD: [&str; 25] = [
    "packages",
    "workspace",
    "exclude",
    "lib",
    "bins",
    "bin",
    "examples",
    "example",
    "tests",
    "test",
    "benches",
    "bench",
    "all_targets",
    "doc",
    "features",
    "all_features",
    "no_default_features",
    "release",
    "cargo_profile",
    "target",
    "target_dir",
    "races",
    "mode",
    "manifest_path",
    "config",
];

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

/// Options of `cargo nondex confirm`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Confirm options")]
pub struct ConfirmArgs {
    /// Runs of each test, each in a separate process
    #[arg(long, value_name = "N", default_value = "100", value_parser = positive::<NonZeroU32>)]
    pub runs: NonZeroU32,

    /// Instead, one run with each of these seeds for its entropy: how many, a range or a list
    #[arg(long, value_name = "N|A..B|LIST", conflicts_with = "runs")]
    #[arg(allow_hyphen_values = true)]
    pub seeds: Option<Seeds>,

    /// Time limit of one run of one test [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,

    /// Project and selection of tests.
    #[command(flatten)]
    pub project: ProjectArgs,
}

/// Options of `cargo nondex network`.
#[derive(Args, Clone, Debug)]
pub struct NetworkListArgs {
    /// A table, arguments for libtest, or a filterset for nextest that leave these tests out
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: ListFormat,

    /// Hosts that remain reachable; `*.` matches subdomains
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub network_allow: Vec<String>,

    /// Project and selection of tests.
    #[command(flatten)]
    pub project: ProjectArgs,
}

/// Output format of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// Every test that asks for another machine, with the hosts.
    #[default]
    Table,
    /// `--exact --skip NAME …` for libtest.
    Skip,
    /// `not (…)` for nextest's `-E`.
    Filterset,
}

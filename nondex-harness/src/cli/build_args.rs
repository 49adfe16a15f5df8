//! What is built, and how: the flags of `cargo test`, by cargo's names.

use std::num::NonZeroUsize;

use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};

use super::location_args::LocationArgs;
use super::run_args::positive;
use super::test_filter::Names;

/// How the tests of a project come to make their choices from a seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// The whole program is built over a std that makes its open choices from a seed; no source change.
    #[default]
    Program,
    /// Only what the project imports from `nondex-collections`, whose feature `nondex` is switched on.
    Swap,
    /// Nothing is changed: an ordinary build, in a directory of its own. Not a choice of the command line.
    #[value(skip)]
    Plain,
}

/// Which doctests are built. Each is a program of its own, so that building those that nobody runs would take long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doctests {
    /// None.
    No,
    /// Those with such names; of the ignored ones, which often do not compile, only when they are run.
    Named {
        /// The names.
        names: Names,
        /// Whether ignored ones are built.
        ignored: bool,
    },
}

impl Default for Doctests {
    fn default() -> Self {
        Doctests::Named {
            names: Names::default(),
            ignored: false,
        }
    }
}

impl Doctests {
    /// The one with this name, or those that share it and have only a number of their own.
    #[must_use]
    pub fn one(name: &str) -> Self {
        let name = name.rsplit_once(" #").map_or(name, |(shared, _)| shared);
        Doctests::Named {
            names: Names {
                filters: vec![name.to_owned()],
                skip: Vec::new(),
                exact: true,
            },
            ignored: true,
        }
    }
}

/// Cargo's selection of packages, targets, features and profile, and the files it works on.
#[derive(Args, Clone, Debug, Default)]
pub struct BuildArgs {
    /// Nothing that observes the network is linked into the tests.
    #[arg(skip)]
    pub without_network: bool,

    /// Which doctests are built, of those that cargo selects.
    #[arg(skip)]
    pub doctests: Doctests,

    /// Package to test
    #[arg(short = 'p', long = "package", value_name = "SPEC")]
    #[arg(help_heading = "Package selection")]
    pub packages: Vec<String>,

    /// Test all packages in the workspace
    #[arg(long, alias = "all", help_heading = "Package selection")]
    pub workspace: bool,

    /// Exclude packages from the test
    #[arg(long, value_name = "SPEC", help_heading = "Package selection")]
    pub exclude: Vec<String>,

    /// Test only this package's library
    #[arg(long, help_heading = "Target selection")]
    pub lib: bool,

    /// Test all binaries
    #[arg(long, help_heading = "Target selection")]
    pub bins: bool,

    /// Test only the specified binary
    #[arg(long, value_name = "NAME", help_heading = "Target selection")]
    pub bin: Vec<String>,

    /// Test all examples
    #[arg(long, help_heading = "Target selection")]
    pub examples: bool,

    /// Test only the specified example
    #[arg(long, value_name = "NAME", help_heading = "Target selection")]
    pub example: Vec<String>,

    /// Test all targets that have `test = true` set
    #[arg(long, help_heading = "Target selection")]
    pub tests: bool,

    /// Test only the specified test target
    #[arg(long, value_name = "NAME", help_heading = "Target selection")]
    pub test: Vec<String>,

    /// Test all targets that have `bench = true` set
    #[arg(long, help_heading = "Target selection")]
    pub benches: bool,

    /// Test only the specified bench target
    #[arg(long, value_name = "NAME", help_heading = "Target selection")]
    pub bench: Vec<String>,

    /// Test all targets
    #[arg(long, help_heading = "Target selection")]
    pub all_targets: bool,

    /// Test only the documentation of libraries
    #[arg(long, help_heading = "Target selection")]
    #[arg(conflicts_with_all = [
        "lib", "bins", "bin", "examples", "example", "tests", "test", "benches", "bench", "all_targets",
    ])]
    pub doc: bool,

    /// Space or comma separated list of features to activate
    #[arg(short = 'F', long, value_name = "FEATURES")]
    #[arg(help_heading = "Feature selection")]
    pub features: Vec<String>,

    /// Activate all available features
    #[arg(long, help_heading = "Feature selection")]
    pub all_features: bool,

    /// Do not activate the `default` feature
    #[arg(long, help_heading = "Feature selection")]
    pub no_default_features: bool,

    /// Number of parallel build jobs and test runs [default: the number of CPUs]
    #[arg(short = 'j', long, value_name = "N")]
    #[arg(help_heading = "Compilation options", value_parser = positive::<NonZeroUsize>)]
    pub jobs: Option<NonZeroUsize>,

    /// Build in release mode, with optimizations
    #[arg(short = 'r', long, conflicts_with = "cargo_profile")]
    #[arg(help_heading = "Compilation options")]
    pub release: bool,

    /// Build with the specified cargo profile
    #[arg(long, value_name = "NAME", help_heading = "Compilation options")]
    pub cargo_profile: Option<String>,

    /// Build for the target triple
    #[arg(long, value_name = "TRIPLE", help_heading = "Compilation options")]
    pub target: Option<String>,

    /// Directory for all generated artifacts
    #[arg(long, value_name = "DIRECTORY", help_heading = "Compilation options")]
    pub target_dir: Option<Utf8PathBuf>,

    /// Whole program, or only what imports `nondex-collections`
    #[arg(long, value_name = "MODE", default_value = "program")]
    #[arg(help_heading = "Compilation options", hide_possible_values = false)]
    pub mode: Mode,

    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH", help_heading = "Manifest options")]
    pub manifest_path: Option<Utf8PathBuf>,

    /// Assert that `Cargo.lock` will remain unchanged
    #[arg(long, help_heading = "Manifest options")]
    pub locked: bool,

    /// Build without accessing the network
    #[arg(long, help_heading = "Manifest options")]
    pub offline: bool,

    /// Equivalent to specifying both --locked and --offline
    #[arg(long, help_heading = "Manifest options")]
    pub frozen: bool,

    /// Override a cargo configuration value
    #[arg(long, value_name = "KEY=VALUE|PATH", help_heading = "Manifest options")]
    pub config: Vec<String>,
}

impl BuildArgs {
    /// Where the project is, for another command.
    #[must_use]
    pub fn location(&self) -> LocationArgs {
        LocationArgs {
            manifest_path: self.manifest_path.clone(),
            target_dir: self.target_dir.clone(),
        }
    }
}

//! Build options, the flags of `cargo test` with cargo's names, and the location of the project.

use std::num::NonZeroUsize;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;

use super::values::{Switch as _, one_of, processors};
use crate::error::Result;
use crate::project::{BuildPlan, Folders, Mode};

/// Cargo's options for packages, targets, features, profile and files.
#[derive(Args, Clone, Debug, Default)]
pub struct BuildArgs {
    /// Package to test
    #[arg(short = 'p', long = "package", value_name = "SPEC")]
    #[arg(help_heading = "Package selection")]
    pub packages: Vec<String>,

    /// Test all packages in the workspace
    #[arg(long, alias = "all", switch = "BOOL", help_heading = "Package selection")]
    pub workspace: Option<bool>,

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
        "lib", "bins", "bin", "examples", "example", "tests", "test", "benches", "bench",
        "all_targets",
    ])]
    pub doc: bool,

    /// Run all tests, whatever fails. This is the default; the option is there for `cargo test`'s
    /// command lines
    #[arg(long, hide = true, alias = "nff")]
    pub no_fail_fast: bool,

    /// Space or comma separated list of features to activate
    #[arg(short = 'F', long, value_name = "FEATURES")]
    #[arg(help_heading = "Feature selection")]
    pub features: Vec<String>,

    /// Activate all available features
    #[arg(long, switch = "BOOL", help_heading = "Feature selection")]
    pub all_features: Option<bool>,

    /// Do not activate the `default` feature
    #[arg(long, switch = "BOOL", help_heading = "Feature selection")]
    pub no_default_features: Option<bool>,

    /// Number of parallel build jobs and test runs [default: the number of CPUs]
    #[arg(short = 'j', long, value_name = "N", visible_alias = "test-threads")]
    #[arg(help_heading = "Compilation options", value_parser = processors)]
    #[arg(allow_negative_numbers = true)]
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

    /// Stop threads at plain loads and stores of the workspace's own crates, too
    #[arg(long, help_heading = "Compilation options")]
    pub races: bool,

    /// Whole program, or only what imports `nondex-collections` [default: program]
    #[arg(long, value_name = "MODE", value_parser = one_of(Mode::ALL, Mode::name))]
    #[arg(help_heading = "Compilation options")]
    pub mode: Option<Mode>,

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
    /// Returns whether the options select only some packages or targets.
    pub fn is_narrowed(&self) -> bool {
        let names =
            [&self.packages, &self.exclude, &self.bin, &self.example, &self.test, &self.bench];
        let kinds = [self.lib, self.bins, self.examples, self.tests, self.benches, self.doc];
        names.into_iter().any(|names| !names.is_empty()) || kinds.contains(&true)
    }

    /// Returns the build plan for a command that starts in `directory`.
    pub fn plan(&self, directory: &Utf8Path) -> BuildPlan {
        BuildPlan {
            directory: directory.to_owned(),
            manifest_path: self.manifest_path.clone(),
            target_dir: self.target_dir.clone(),
            target: self.target.clone(),
            mode: self.mode.unwrap_or_default(),
            races: self.races,
            packages: self.packages.clone(),
            workspace: self.workspace.unwrap_or(false),
            exclude: self.exclude.clone(),
            targets: self.targets(),
            doc: self.doc,
            flags: self.flags(),
            locked: self.locked,
            offline: self.offline,
            frozen: self.frozen,
            config: self.config.clone(),
            jobs: self.jobs,
            ..BuildPlan::default()
        }
    }

    /// Returns cargo's arguments that select targets.
    fn targets(&self) -> Vec<String> {
        let kinds = set_flags([
            ("--lib", self.lib),
            ("--bins", self.bins),
            ("--examples", self.examples),
            ("--tests", self.tests),
            ("--benches", self.benches),
            ("--all-targets", self.all_targets),
        ]);
        let named = [
            ("--bin", &self.bin),
            ("--example", &self.example),
            ("--test", &self.test),
            ("--bench", &self.bench),
        ];
        kinds
            .into_iter()
            .chain(named.into_iter().flat_map(|(flag, names)| with_values(flag, names)))
            .collect()
    }

    /// Returns cargo's arguments for features and profile.
    fn flags(&self) -> Vec<String> {
        let mut flags = set_flags([
            ("--all-features", self.all_features.unwrap_or(false)),
            ("--no-default-features", self.no_default_features.unwrap_or(false)),
            ("--release", self.release),
        ]);
        flags.extend(with_values("--features", &self.features));
        flags.extend(with_values("--profile", self.cargo_profile.as_slice()));
        flags
    }

    /// Returns the location of the project, for a command that does not build.
    pub fn location(&self) -> LocationArgs {
        LocationArgs {
            manifest_path: self.manifest_path.clone(),
            target_dir: self.target_dir.clone(),
        }
    }
}

/// Returns the flags that are set.
fn set_flags<const N: usize>(flags: [(&str, bool); N]) -> Vec<String> {
    flags.into_iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| flag.to_owned()).collect()
}

/// Returns the values, each after the flag.
fn with_values<'a>(flag: &'a str, values: &'a [String]) -> impl Iterator<Item = String> {
    values.iter().flat_map(move |value| [flag, value]).map(str::to_owned)
}

/// Location of a project and of its findings.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Manifest options")]
pub struct LocationArgs {
    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH")]
    pub manifest_path: Option<Utf8PathBuf>,

    /// Directory for all generated artifacts
    #[arg(long, value_name = "DIRECTORY")]
    pub target_dir: Option<Utf8PathBuf>,
}

impl LocationArgs {
    /// Finds the folders of the project.
    ///
    /// # Errors
    /// Returns an error if there is no project.
    pub fn folders(&self) -> Result<Folders> {
        Folders::find(self.manifest_path.as_deref(), self.target_dir.as_deref())
    }

    /// Returns the flags with which another command finds the same project.
    pub fn words(&self) -> Vec<String> {
        let paths = [("--manifest-path", &self.manifest_path), ("--target-dir", &self.target_dir)];
        paths
            .into_iter()
            .filter_map(|(flag, path)| Some([flag.to_owned(), path.as_ref()?.to_string()]))
            .flatten()
            .collect()
    }
}

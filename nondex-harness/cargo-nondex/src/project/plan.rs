//! Plan of a build as plain data. A plan can be saved, and the build repeated on another machine.

use std::num::NonZeroUsize;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::checkout::Checkout;

/// How the tests of a project make their choices from a seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The whole program is built over a std that makes unspecified choices from a seed. The
    /// sources do not change.
    #[default]
    Program,
    /// Only types and functions that the project imports from `nondex-collections` make choices.
    /// The feature `nondex` of that crate is switched on.
    Swap,
    /// Plain build, in its own directory. The command line does not offer it.
    Plain,
}

impl Mode {
    /// Modes that the command line offers.
    pub const ALL: [Mode; 2] = [Mode::Program, Mode::Swap];

    /// Returns the name of the mode, as on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Program => "program",
            Mode::Swap => "swap",
            Mode::Plain => "plain",
        }
    }
}

/// Filters of tests by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameFilters {
    /// Patterns of which a name must match at least one, if there are any.
    pub filters: Vec<String>,
    /// Patterns of which a name must match none.
    pub skip: Vec<String>,
    /// Whether a pattern must equal the whole name, not a part of it.
    pub exact: bool,
}

impl NameFilters {
    /// Returns whether the test with this name in the binary with this id is selected. A pattern
    /// with `$` is compared with the id of the test in reports, such as `shop::cart$adds_up`.
    pub fn matches(&self, binary: &str, name: &str) -> bool {
        let named = |pattern: &String| {
            let text = if pattern.contains('$') { &format!("{binary}${name}") } else { name };
            if self.exact { text == pattern } else { text.contains(pattern.as_str()) }
        };
        (self.filters.is_empty() || self.filters.iter().any(named)) && !self.skip.iter().any(named)
    }
}

/// Selection of the doctests to build. Some are separate programs, so building those that nobody
/// runs would take long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doctests {
    /// No doctests.
    No,
    /// Doctests with such names. Ignored ones often do not compile, so they are built only if they
    /// are run.
    Named {
        /// Filters by name.
        names: NameFilters,
        /// Whether ignored ones are built.
        ignored: bool,
    },
}

impl Default for Doctests {
    fn default() -> Self {
        Doctests::Named { names: NameFilters::default(), ignored: false }
    }
}

impl Doctests {
    /// Selects the doctest with this name, and those that differ from it only in the number.
    pub fn one(name: &str) -> Self {
        let name = name.rsplit_once(" #").map_or(name, |(shared, _)| shared);
        Doctests::Named {
            names: NameFilters { filters: vec![name.to_owned()], skip: Vec::new(), exact: true },
            ignored: true,
        }
    }
}

/// Build script or proc macro that takes its random bytes from a seed, while all others take theirs
/// from seed 0. By default there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Varied {
    /// Program, as the library that makes the bytes names it: `build-script:` and the folder of its
    /// package, or `proc-macro:` and the name of its crate.
    pub program: String,
    /// Seed of the random bytes.
    pub seed: u64,
    /// Packages that must be rebuilt because the program takes other bytes.
    pub packages: Vec<String>,
}

/// Folders of a project, or of an extracted archive of its tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    /// Root of the workspace. For an archive, this may be a checkout.
    pub workspace_root: Utf8PathBuf,
    /// Target directory, with findings and reports.
    pub target_dir: Utf8PathBuf,
}

/// Packages, targets and flags of a build, and the folder in which cargo is called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BuildPlan {
    /// Folder in which cargo is called. It decides which packages are selected if none is named,
    /// which configuration cargo reads, and where relative paths start.
    pub directory: Utf8PathBuf,
    /// Checkout of another commit, if the folder is in one.
    #[serde(skip)]
    pub checkout: Option<Checkout>,
    /// Path of `Cargo.toml`, if cargo does not search for it from the folder upwards.
    pub manifest_path: Option<Utf8PathBuf>,
    /// Target directory, if it is not the project's own.
    pub target_dir: Option<Utf8PathBuf>,
    /// Target triple, if it is not the host's.
    pub target: Option<String>,
    /// How tests make choices.
    pub mode: Mode,
    /// Selected packages, by cargo's package id specifications.
    pub packages: Vec<String>,
    /// Whether all packages of the workspace are selected.
    pub workspace: bool,
    /// Packages of the workspace that are not selected.
    pub exclude: Vec<String>,
    /// Cargo's arguments that select targets of the packages: `--lib`, `--test x`.
    pub targets: Vec<String>,
    /// Whether only doctests are selected.
    pub doc: bool,
    /// Cargo's arguments for features and profile: `--features x`, `--release`.
    pub flags: Vec<String>,
    /// Whether `Cargo.lock` must not change.
    pub locked: bool,
    /// Whether cargo must not fetch anything.
    pub offline: bool,
    /// Whether both `locked` and `offline` hold.
    pub frozen: bool,
    /// Values of cargo's `--config`.
    pub config: Vec<String>,
    /// Number of jobs, which depends on the machine.
    #[serde(skip)]
    pub jobs: Option<NonZeroUsize>,
    /// Whether plain loads and stores of the project's own crates are operations of the scheduler.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub races: bool,
    /// Whether the tests are built without the code that observes the network.
    #[serde(skip)]
    pub without_network: bool,
    /// Doctests that are built, of those that cargo selects.
    #[serde(skip)]
    pub doctests: Doctests,
    /// Program that takes other random bytes in this build than in others.
    #[serde(skip)]
    pub varied: Varied,
    /// Whether the project's own crates record which of their code runs.
    #[serde(skip)]
    pub covered: bool,
    /// Target directory with another build of the project, whose dependencies may be reused.
    #[serde(skip)]
    pub inherited_from: Option<Utf8PathBuf>,
    /// Archive with the built tests, if nothing is built.
    #[serde(skip)]
    pub archive: Option<Folders>,
}

impl BuildPlan {
    /// Returns a plan for the project of `manifest_path`, or for the one around the current folder.
    pub fn of(manifest_path: Option<&Utf8Path>) -> Self {
        BuildPlan { manifest_path: manifest_path.map(Utf8Path::to_owned), ..BuildPlan::default() }
    }

    /// Resolves a path of the command line from the plan's folder. Like that folder, the result may
    /// be relative to the current folder.
    pub fn path(&self, path: &Utf8Path) -> Utf8PathBuf {
        self.directory.join(path)
    }

    /// Returns the plan as it is saved: a folder inside the workspace is relative to the root.
    pub fn written(&self, workspace_root: &Utf8Path) -> Self {
        let directory = self.directory.strip_prefix(workspace_root);
        BuildPlan { directory: directory.unwrap_or(&self.directory).to_owned(), ..self.clone() }
    }

    /// Returns the saved plan for the workspace at `root`, which may have moved.
    pub fn in_workspace(&self, root: &Utf8Path) -> Self {
        BuildPlan { directory: root.join(&self.directory), ..self.clone() }
    }

    /// Returns the plan for its folder in a checkout. Cargo is called in another one, so paths of
    /// configuration files become absolute.
    pub fn in_checkout(self, checkout: Checkout) -> Self {
        let absolute = |value: &String| {
            let is_path = !value.contains('=');
            if is_path { self.directory.join(value).into_string() } else { value.clone() }
        };
        let config = self.config.iter().map(absolute).collect();
        BuildPlan { checkout: Some(checkout), config, ..self }
    }

    /// Returns the arguments with which this tool's commands build the same, if cargo can fetch its
    /// packages. Leaves out settings that depend on the machine.
    pub fn own_words(&self) -> Vec<String> {
        let plan = BuildPlan {
            jobs: None,
            offline: false,
            frozen: false,
            locked: self.locked || self.frozen,
            config: Vec::new(),
            ..self.clone()
        };
        let mut words = plan.cargo_words();
        for word in &mut words {
            if word == "--profile" {
                *word = "--cargo-profile".to_owned();
            }
        }
        words.extend(self.target.iter().flat_map(|target| pair("--target", target)));
        let target_dir = self.target_dir.iter();
        words.extend(target_dir.flat_map(|folder| pair("--target-dir", folder.as_str())));
        if self.mode != Mode::default() {
            words.extend(pair("--mode", self.mode.name()));
        }
        words.extend(self.races.then(|| "--races".to_owned()));
        // Settings of cargo's terminal output do not change what is built.
        let config = self.config.iter().filter(|config| !config.starts_with("term."));
        words.extend(config.flat_map(|config| pair("--config", config)));
        words
    }

    /// Returns the arguments of `cargo test` that select the same. The caller adds the target, the
    /// target directory and the mode.
    pub fn cargo_words(&self) -> Vec<String> {
        let mut words = self.targets.clone();
        words.extend(self.flags.iter().cloned());
        words.extend(self.doc.then(|| "--doc".to_owned()));
        words.extend(self.workspace.then(|| "--workspace".to_owned()));
        words.extend(self.packages.iter().flat_map(|name| pair("--package", name)));
        words.extend(self.exclude.iter().flat_map(|name| pair("--exclude", name)));
        words.extend(self.jobs.iter().flat_map(|jobs| pair("--jobs", &jobs.to_string())));
        words.extend(self.resolution_words());
        words
    }

    /// Returns the arguments of a cargo command that only resolves packages.
    pub fn resolution_words(&self) -> Vec<String> {
        let mut words = self.lock_words();
        let manifest = self.manifest_path.iter();
        words.extend(manifest.flat_map(|path| pair("--manifest-path", path.as_str())));
        words
    }

    /// Returns the same arguments without the manifest.
    pub(super) fn lock_words(&self) -> Vec<String> {
        let flags =
            [("--locked", self.locked), ("--offline", self.offline), ("--frozen", self.frozen)];
        let mut words: Vec<String> = flags
            .into_iter()
            .filter(|(_, is_set)| *is_set)
            .map(|(flag, _)| flag.to_owned())
            .collect();
        words.extend(self.config.iter().flat_map(|value| pair("--config", value)));
        words
    }
}

/// Returns a flag and its value as arguments.
fn pair(flag: &str, value: &str) -> [String; 2] {
    [flag, value].map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_that_was_written_down_is_the_same_in_a_workspace_that_has_moved() {
        let plan = BuildPlan {
            directory: "/w/member".into(),
            packages: vec!["a".into(), "b@1.0".into()],
            targets: ["--lib", "--test", "z"].map(str::to_owned).to_vec(),
            flags: ["--features", "f1,f2", "--release"].map(str::to_owned).to_vec(),
            mode: Mode::Swap,
            target: Some("t".into()),
            frozen: true,
            config: vec!["a=1".into()],
            ..BuildPlan::default()
        };
        let written = plan.written(Utf8Path::new("/w"));
        assert_eq!(written.directory, "member");
        let text = serde_json::to_string(&written).unwrap();
        let read: BuildPlan = serde_json::from_str(&text).unwrap();
        assert_eq!(read, written);
        let moved = read.in_workspace(Utf8Path::new("/moved"));
        assert_eq!(moved.directory, "/moved/member");
        assert_eq!(moved.cargo_words(), plan.cargo_words());

        let elsewhere = BuildPlan {
            directory: "/elsewhere".into(),
            jobs: NonZeroUsize::new(3),
            ..BuildPlan::default()
        };
        let written = elsewhere.written(Utf8Path::new("/w"));
        let text = serde_json::to_string(&written).unwrap();
        let read: BuildPlan = serde_json::from_str(&text).unwrap();
        assert_eq!(read.in_workspace(Utf8Path::new("/w")).directory, "/elsewhere");
        assert_eq!(read.jobs, None, "a matter of the machine");
    }
}

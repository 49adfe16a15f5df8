//! What is built, and how, as plain data: a build can be written down and made again, anywhere.

use std::num::NonZeroUsize;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::extracted::Extracted;

/// How the tests of a project come to make their choices from a seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The whole program is built over a std that makes its open choices from a seed; no source
    /// change.
    #[default]
    Program,
    /// Only what the project imports from `nondex-collections`, whose feature `nondex` is switched
    /// on.
    Swap,
    /// A plain build, in its own directory. Not a choice of the command line.
    Plain,
}

impl Mode {
    /// Those that the command line chooses from.
    pub const ALL: [Mode; 2] = [Mode::Program, Mode::Swap];

    /// Its name there.
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
pub struct Names {
    /// A name must match one of these, if there are any.
    pub filters: Vec<String>,
    /// It must match none of these.
    pub skip: Vec<String>,
    /// Whether a filter matches the whole name, not a part of it.
    pub exact: bool,
}

impl Names {
    /// Whether the test with this name in the binary with this id is selected. A pattern with `$`
    /// is compared with both, as reports join them: `shop::cart$adds_up`.
    pub fn matches(&self, binary: &str, name: &str) -> bool {
        let named = |pattern: &String| {
            let text = if pattern.contains('$') { &format!("{binary}${name}") } else { name };
            if self.exact { text == pattern } else { text.contains(pattern.as_str()) }
        };
        (self.filters.is_empty() || self.filters.iter().any(named)) && !self.skip.iter().any(named)
    }
}

/// Which doctests are built. Some are separate programs, so that building those that nobody runs
/// would take long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doctests {
    /// None.
    No,
    /// Those with such names; of the ignored ones, which often do not compile, only when they are
    /// run.
    Named {
        /// The names.
        names: Names,
        /// Whether ignored ones are built.
        ignored: bool,
    },
}

impl Default for Doctests {
    fn default() -> Self {
        Doctests::Named { names: Names::default(), ignored: false }
    }
}

impl Doctests {
    /// The one with this name, or those that share it and differ only in a number.
    pub fn one(name: &str) -> Self {
        let name = name.rsplit_once(" #").map_or(name, |(shared, _)| shared);
        Doctests::Named {
            names: Names { filters: vec![name.to_owned()], skip: Vec::new(), exact: true },
            ignored: true,
        }
    }
}

/// A build script or a proc macro that takes its random bytes from a seed, while all others take
/// theirs from seed 0. By default there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Varied {
    /// The program, as the library that makes the bytes names it: `build-script:` and the folder of
    /// its package, or `proc-macro:` and the name of its crate.
    pub program: String,
    /// The seed.
    pub seed: u64,
    /// The packages that must be built again because the program takes other bytes.
    pub packages: Vec<String>,
}

/// The packages, targets and flags of a build, and the folder that it starts from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BuildPlan {
    /// Where cargo is called: it decides which packages are selected when none is named, which
    /// configuration cargo reads, and where relative paths start.
    pub directory: Utf8PathBuf,
    /// `Cargo.toml`, when it is not looked for from the folder upwards.
    pub manifest_path: Option<Utf8PathBuf>,
    /// The target directory, when it is not the project's own.
    pub target_dir: Option<Utf8PathBuf>,
    /// The triple that is built for, when it is not the host's.
    pub target: Option<String>,
    /// How choices come to be made.
    pub mode: Mode,
    /// The packages that are named.
    pub packages: Vec<String>,
    /// All packages of the workspace.
    pub workspace: bool,
    /// All but these.
    pub exclude: Vec<String>,
    /// Which targets of the packages: `--lib`, `--test x`.
    pub targets: Vec<String>,
    /// Doctests only.
    pub doc: bool,
    /// Features and profile, in cargo's words: `--features x`, `--release`.
    pub flags: Vec<String>,
    /// `Cargo.lock` is not changed.
    pub locked: bool,
    /// Nothing is fetched.
    pub offline: bool,
    /// Both.
    pub frozen: bool,
    /// Values of cargo's configuration.
    pub config: Vec<String>,
    /// How many jobs, a matter of the machine.
    #[serde(skip)]
    pub jobs: Option<NonZeroUsize>,
    /// Plain loads and stores of the project's own crates are operations by which threads see each
    /// other.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub races: bool,
    /// Nothing that observes the network is linked into the tests.
    #[serde(skip)]
    pub without_network: bool,
    /// Which doctests are built, of those that cargo selects.
    #[serde(skip)]
    pub doctests: Doctests,
    /// What takes other random bytes in this build than in others.
    #[serde(skip)]
    pub varied: Varied,
    /// Whether the project's own crates record what they run.
    #[serde(skip)]
    pub covered: bool,
    /// The archive that has the tests, where nothing is built.
    #[serde(skip)]
    pub archive: Option<Extracted>,
}

impl BuildPlan {
    /// The project of `manifest_path`, or the one around the current folder.
    pub fn of(manifest_path: Option<&Utf8Path>) -> Self {
        BuildPlan { manifest_path: manifest_path.map(Utf8Path::to_owned), ..BuildPlan::default() }
    }

    /// A path of the command line. As the folder itself, it may be relative to the current one.
    pub fn path(&self, path: &Utf8Path) -> Utf8PathBuf {
        self.directory.join(path)
    }

    /// The plan as it is written down: a folder inside the workspace is relative to its root.
    pub fn written(&self, workspace_root: &Utf8Path) -> Self {
        let directory = self.directory.strip_prefix(workspace_root);
        BuildPlan { directory: directory.unwrap_or(&self.directory).to_owned(), ..self.clone() }
    }

    /// The written plan in the workspace at `root`, wherever that is now.
    pub fn in_workspace(&self, root: &Utf8Path) -> Self {
        BuildPlan { directory: root.join(&self.directory), ..self.clone() }
    }

    /// The arguments of our own commands that build the same, where it can be fetched. Not what is
    /// a matter of the machine.
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
        let mut value = |flag: &str, value: &str| words.extend([flag, value].map(str::to_owned));
        if let Some(target) = &self.target {
            value("--target", target);
        }
        if let Some(dir) = &self.target_dir {
            value("--target-dir", dir.as_str());
        }
        if self.mode != Mode::default() {
            value("--mode", self.mode.name());
        }
        words.extend(self.races.then(|| "--races".to_owned()));
        let mut value = |flag: &str, value: &str| words.extend([flag, value].map(str::to_owned));
        // How cargo's output is coloured is no part of what is built.
        let config = self.config.iter();
        config
            .filter(|config| !config.starts_with("term."))
            .for_each(|config| value("--config", config));
        words
    }

    /// The arguments of `cargo test` that select the same. The target, the target directory and the
    /// mode are the caller's.
    pub fn cargo_words(&self) -> Vec<String> {
        let mut words = self.targets.clone();
        words.extend(self.flags.iter().cloned());
        words.extend(self.doc.then(|| "--doc".to_owned()));
        words.extend(self.workspace.then(|| "--workspace".to_owned()));
        let mut value = |flag: &str, value: &str| words.extend([flag, value].map(str::to_owned));
        self.packages.iter().for_each(|name| value("--package", name));
        self.exclude.iter().for_each(|name| value("--exclude", name));
        if let Some(jobs) = self.jobs {
            value("--jobs", &jobs.to_string());
        }
        words.extend(self.resolution_words());
        words
    }

    /// The arguments of a cargo that only finds out which packages there are.
    pub fn resolution_words(&self) -> Vec<String> {
        let mut words = self.lock_words();
        if let Some(path) = &self.manifest_path {
            words.extend(["--manifest-path".to_owned(), path.to_string()]);
        }
        words
    }

    /// The same without the manifest.
    pub(super) fn lock_words(&self) -> Vec<String> {
        let flags =
            [("--locked", self.locked), ("--offline", self.offline), ("--frozen", self.frozen)];
        let flags = flags.into_iter().filter(|(_, is_set)| *is_set);
        let mut words: Vec<String> = flags.map(|(flag, _)| flag.to_owned()).collect();
        for value in &self.config {
            words.extend(["--config".to_owned(), value.clone()]);
        }
        words
    }
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

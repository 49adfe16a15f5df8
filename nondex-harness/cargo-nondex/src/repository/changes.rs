//! Differences between commits and the working tree.

mod diff;

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;

use super::git::{Commit, Git};
use super::index::Index;
use super::syntax::number;
use crate::error::{Error, Result};

/// Differences between two states of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Changed files, by their paths from the root of the repository.
    pub files: BTreeMap<String, FileChange>,
}

/// Differences in a file. Empty if only its mode changed, or if an untracked file is not text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileChange {
    /// New and changed lines, from 1, in the new state of the file.
    pub lines: BTreeSet<u32>,
    /// Places where lines of code were deleted and fewer put in their place: the line before them,
    /// and the last one of the new lines. Blank lines and comments do not count as code. Line
    /// numbers are those of the new state.
    pub deletions: BTreeSet<u32>,
    /// First line of the new state whose number has changed.
    pub moved: Option<u32>,
}

impl FileChange {
    /// Returns the first changed line, or 1 if no line is known.
    pub fn first(&self) -> u32 {
        self.lines.iter().chain(&self.deletions).min().copied().unwrap_or(1)
    }
}

/// Returns what a commit changed, compared with its first parent.
///
/// # Errors
/// Returns a set-up error if git fails.
pub fn changes(git: &Git, commit: &str) -> Result<Changes> {
    Changes::read(git, &["show", "--first-parent", "--format=", commit])
}

/// Returns the differences between a commit and the working tree, with staged changes and untracked
/// files. Leaves out untracked files that cargo writes by itself, because each build may write
/// them.
///
/// # Errors
/// Returns a set-up error if git fails.
pub fn since(git: &Git, commit: &str) -> Result<Changes> {
    let shown = Index::if_hidden(git)?;
    let git = shown.as_ref().map_or(git, |index| &index.git);
    let mut changes = Changes::read(git, &["diff", commit])?;
    let untracked = ["ls-files", "--others", "--exclude-standard", "--full-name", "-z", ":/"];
    for file in paths(&git.read(&untracked)?).filter(|file| !is_written_by_cargo(git.root(), file))
    {
        let text = std::fs::read_to_string(git.root().join(file)).unwrap_or_default();
        let count = number(text.lines().count());
        let change = FileChange { lines: (1..=count).collect(), ..FileChange::default() };
        changes.files.insert(file.to_owned(), change);
    }
    Ok(changes)
}

/// Returns whether cargo writes an untracked file when it builds: a lock file, or a file in a
/// folder that cargo tags as a cache.
fn is_written_by_cargo(root: &Utf8Path, file: &str) -> bool {
    let file = Utf8Path::new(file);
    let mut folders = file.ancestors().skip(1).filter(|folder| *folder != "");
    file.file_name() == Some("Cargo.lock")
        || folders.any(|folder| root.join(folder).join("CACHEDIR.TAG").exists())
}

/// Returns the commit that a change is compared with. If `HEAD` and the commit `named` both went on
/// since their common ancestor, it is that ancestor. Otherwise it is the commit `named`. Without a
/// name, it is `HEAD`, or its parent if nothing changed since `HEAD`.
///
/// # Errors
/// Returns an error with the reason if there is no such commit.
pub fn base(git: &Git, named: Option<&str>) -> Result<Commit> {
    if let Some(named) = named {
        let named = git.commit(named)?;
        let fork = git
            .fork(&named.id)
            .filter(|fork| *fork != named.id)
            // If `named` only continues `HEAD`, the comparison is with `named` itself.
            .filter(|_| !git.leads_to("HEAD", &named.id));
        return fork.map_or(Ok(named), |fork| git.commit(&fork));
    }
    let head = git
        .commit("HEAD")
        .map_err(|_| Error::setup(format!("the repository `{}` has no commit yet", git.root())))?;
    if !since(git, &head.id)?.files.is_empty() {
        return Ok(head);
    }
    git.commit("HEAD^").map_err(|_| {
        let why = if git.is_complete() {
            "is the first commit"
        } else {
            "has no parent in this shallow clone: `git fetch --deepen 1` brings it"
        };
        Error::usage(format!(
            "nothing is changed since `HEAD`, which {why}: `--base REV` or `--changed=REV` sets \
             what to compare with"
        ))
    })
}

/// Returns the paths in a text, each of which ends in NUL.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    text.split('\0').filter(|path| !path.is_empty())
}

impl Changes {
    /// Reads the differences that this command of git shows.
    pub(super) fn read(git: &Git, command: &[&str]) -> Result<Self> {
        // These options override the user's configuration and the attributes of files.
        let plain = [
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            "--no-relative",
            "--text",
            "--inter-hunk-context=0",
            "--submodule=short",
            "--ignore-submodules=none",
        ];
        let read = |more: &[&str]| git.read(&[command, &plain, more, &["--"]].concat());
        let mut changes = Changes::of_diff(&read(&["--unified=0", "--no-prefix"])?);
        // Some changed files have no lines in a diff, for example if only the mode changed.
        for file in paths(&read(&["--name-only", "-z"])?) {
            changes.files.entry(file.to_owned()).or_default();
        }
        Ok(changes)
    }

    /// Returns the number of changed files of this kind. The test is, or was, in the files
    /// `of_test`.
    pub fn count(
        &self,
        kind: FileKind,
        of_test: &[String],
        text_of: impl Fn(&str) -> Option<String>,
    ) -> usize {
        self.files.keys().filter(|file| kind_of(file, of_test, &text_of) == kind).count()
    }

    /// Returns the changed line of `file` that is nearest to `line`.
    pub fn nearest(&self, file: &str, line: u32) -> Option<u32> {
        self.files.get(file)?.lines.iter().copied().min_by_key(|changed| changed.abs_diff(line))
    }
}

/// Kind of a file, as in Lam et al., "A large-scale longitudinal study of flaky tests" (OOPSLA
/// 2020), table 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// File that contains the test.
    Test,
    /// File with other tests.
    OtherTests,
    /// Other source file.
    Code,
    /// Manifest, lock file, build script, or configuration of cargo or the toolchain.
    Build,
    /// Any other file.
    Other,
}

/// Returns the kind of a changed file. The test is, or was, in the files `of_test`.
fn kind_of(file: &str, of_test: &[String], text_of: impl Fn(&str) -> Option<String>) -> FileKind {
    let name = file.rsplit('/').next().unwrap_or(file);
    let is_build =
        ["Cargo.toml", "Cargo.lock", "build.rs", "rust-toolchain", "rust-toolchain.toml"]
            .contains(&name)
            || file.split('/').any(|part| part == ".cargo");
    if of_test.iter().any(|own| own == file) {
        FileKind::Test
    } else if is_build {
        FileKind::Build
    } else if !name.ends_with(".rs") {
        FileKind::Other
    } else if file.split('/').any(|part| part == "tests" || part == "benches")
        || text_of(file).is_some_and(|text| text.contains("#[test]"))
    {
        FileKind::OtherTests
    } else {
        FileKind::Code
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::scratch::Repository;

    #[test]
    fn what_cargo_writes_itself_is_no_change() {
        let repository = Repository::new();
        let first = repository.commit(&[("a", "1".to_owned())]);
        repository.commit(&[("a", "2".to_owned())]);
        let write = |file: &str| {
            let path = repository.git.root().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        };
        for file in ["Cargo.lock", "fuzz/Cargo.lock", "target/CACHEDIR.TAG", "target/debug/b"] {
            write(file);
        }
        assert_eq!(base(&repository.git, None).unwrap().id, first);
        let changed = || since(&repository.git, &first).unwrap().files.into_keys();
        assert_eq!(changed().collect::<Vec<_>>(), ["a"]);
        write("target.rs");
        repository.run(&["add", "Cargo.lock"]);
        assert_eq!(changed().collect::<Vec<_>>(), ["Cargo.lock", "a", "target.rs"]);
    }

    #[test]
    fn a_branch_that_went_on_is_compared_with_where_it_was_left() {
        let repository = Repository::new();
        let run = |arguments: &[&str]| repository.run(arguments);
        let commit = |file: &str| repository.commit(&[(file, file.to_owned())]);
        let first = commit("first");
        run(&["checkout", "--quiet", "-b", "side"]);
        let own = commit("own");
        run(&["checkout", "--quiet", "main"]);
        let ahead = commit("ahead");
        let compared = |with: &str| base(&repository.git, Some(with)).unwrap().id;
        assert_eq!(compared("side"), first);
        assert_eq!(compared("main~1"), first);
        assert_eq!(compared("main"), ahead);
        run(&["checkout", "--quiet", "--detach", "main~1"]);
        assert_eq!(compared("main"), ahead);
        run(&["checkout", "--quiet", "--orphan", "other"]);
        commit("other");
        assert_eq!(compared("side"), own);
    }

    #[test]
    fn files_have_the_kinds_of_the_study() {
        let text = |file: &str| {
            Some(if file == "src/a.rs" { "#[test]\nfn x() {}" } else { "" }.to_owned())
        };
        for (file, expected) in [
            ("src/own.rs", FileKind::Test),
            ("src/before.rs", FileKind::Test),
            ("tests/it.rs", FileKind::OtherTests),
            ("src/a.rs", FileKind::OtherTests),
            ("src/b.rs", FileKind::Code),
            ("a/Cargo.toml", FileKind::Build),
            ("Cargo.lock", FileKind::Build),
            ("build.rs", FileKind::Build),
            (".cargo/config.toml", FileKind::Build),
            ("README.md", FileKind::Other),
        ] {
            let of_test = ["src/own.rs", "src/before.rs"].map(str::to_owned);
            assert_eq!(kind_of(file, &of_test, text), expected, "{file}");
        }
    }
}

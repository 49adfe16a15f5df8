//! What is different between commits, and the working tree.

mod diff;
mod kind;

pub use kind::FileKind;

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;
use kind::kind_of;

use super::git::{Commit, Git};
use super::index::Index;
use super::syntax::number;
use crate::error::{Error, Result};

/// What is different between two states of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The files that are, by their paths from the root of the repository.
    pub files: BTreeMap<String, FileChange>,
}

/// What is different in a file: nothing is known of one that is no text, or of which only the mode
/// changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileChange {
    /// New and changed lines, from 1, of the file as it is afterwards.
    pub lines: BTreeSet<u32>,
    /// Where more than blank lines and comments was deleted, and less put in its place: the line
    /// before it and the last one of what is there instead, of the file as it is afterwards.
    pub deletions: BTreeSet<u32>,
    /// The first line whose number is another one than before.
    pub moved: Option<u32>,
}

impl FileChange {
    /// The first line of what is different, or of the file.
    pub fn first(&self) -> u32 {
        self.lines.iter().chain(&self.deletions).min().copied().unwrap_or(1)
    }
}

/// What a commit changed, compared with its first parent.
///
/// # Errors
/// When git cannot say.
pub fn changes(git: &Git, commit: &str) -> Result<Changes> {
    Changes::read(git, &["show", "--first-parent", "--format=", commit])
}

/// What is different between a commit and the working tree, with what is staged and what git does
/// not know yet, but for what cargo writes there by itself: each build may write it.
///
/// # Errors
/// When git cannot say.
pub fn since(git: &Git, commit: &str) -> Result<Changes> {
    let shown = Index::if_hidden(git)?;
    let git = shown.as_ref().map_or(git, |index| &index.git);
    let mut changes = Changes::read(git, &["diff", commit])?;
    let untracked = ["ls-files", "--others", "--exclude-standard", "--full-name", "-z", ":/"];
    for file in paths(&git.read(&untracked)?).filter(|file| !is_cargos(git.root(), file)) {
        let text = std::fs::read_to_string(git.root().join(file)).unwrap_or_default();
        let count = number(text.lines().count());
        let change = FileChange { lines: (1..=count).collect(), ..FileChange::default() };
        changes.files.insert(file.to_owned(), change);
    }
    Ok(changes)
}

/// Whether cargo writes an untracked file when it builds: a lock file, or what is in a folder of
/// its own.
fn is_cargos(root: &Utf8Path, file: &str) -> bool {
    let file = Utf8Path::new(file);
    let mut folders = file.ancestors().skip(1).filter(|folder| *folder != "");
    file.file_name() == Some("Cargo.lock")
        || folders.any(|folder| root.join(folder).join("CACHEDIR.TAG").exists())
}

/// The commit that a change is compared with: the one that is named, or where `HEAD` left the
/// branch that is named and went on since; or else `HEAD`, or its parent when nothing was changed
/// since.
///
/// # Errors
/// When there is none, with the reason.
pub fn base(git: &Git, named: Option<&str>) -> Result<Commit> {
    if let Some(named) = named {
        let named = git.commit(named)?;
        let fork = git.fork(&named.id).filter(|fork| *fork != named.id);
        // A commit that is ahead is compared with as it is.
        let fork = fork.filter(|_| !git.leads_to("HEAD", &named.id));
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

/// Paths that each end in NUL.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    text.split('\0').filter(|path| !path.is_empty())
}

impl Changes {
    /// What this command of git shows.
    pub(super) fn read(git: &Git, command: &[&str]) -> Result<Self> {
        // Whatever the user's configuration and the attributes of files say of how a difference is
        // shown.
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
        let asked = |more: &[&str]| git.read(&[command, &plain, more, &["--"]].concat());
        let mut changes = Changes::of_diff(&asked(&["--unified=0", "--no-prefix"])?);
        // A file that is no text has no lines in a diff.
        for file in paths(&asked(&["--name-only", "-z"])?) {
            changes.files.entry(file.to_owned()).or_default();
        }
        Ok(changes)
    }

    /// How many files of each kind there are; the test is, or was, in these files.
    pub fn count(
        &self,
        kind: FileKind,
        of_test: &[String],
        text_of: impl Fn(&str) -> Option<String>,
    ) -> usize {
        self.files.keys().filter(|file| kind_of(file, of_test, &text_of) == kind).count()
    }

    /// The changed line of `file` that is nearest to `line`.
    pub fn nearest(&self, file: &str, line: u32) -> Option<u32> {
        self.files.get(file)?.lines.iter().copied().min_by_key(|changed| changed.abs_diff(line))
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
}

//! What is different between commits, and the working tree.

use std::collections::{BTreeMap, BTreeSet};

use super::git::{Commit, Git};
use super::index::Index;
use crate::error::{Error, Result};

/// What kind of file it is: the kinds of Lam et al., "A large-scale longitudinal study of flaky tests" (OOPSLA 2020), table 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// The file that the test is in.
    Test,
    /// A file of other tests.
    OtherTests,
    /// A source file.
    Code,
    /// A manifest, a lock file, a build script, a configuration of cargo or the toolchain.
    Build,
    /// Anything else.
    Other,
}

/// What is different between two states of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The files that are, by their paths from the root of the repository.
    pub files: BTreeMap<String, FileChange>,
}

/// What is different in a file: nothing is known of one that is no text, or of which only the mode changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileChange {
    /// New and changed lines, from 1, of the file as it is afterwards.
    pub lines: BTreeSet<u32>,
    /// Those of them that were put between lines that stay, in the place of nothing.
    pub added: BTreeSet<u32>,
    /// Where more than blank lines and comments was deleted, and less put in its place: the line before it and the last one of what is there
    /// instead, of the file as it is afterwards.
    pub deletions: BTreeSet<u32>,
    /// The line before it, where what looks blank or like a comment is gone: in a text of several lines that says something.
    pub blanks: BTreeSet<u32>,
    /// The first line whose number is another one than before.
    pub moved: Option<u32>,
}

impl FileChange {
    /// The first line of what is different, or of the file.
    #[must_use]
    pub fn first(&self) -> u32 {
        let lines = self.lines.iter().chain(&self.deletions);
        lines.min().copied().unwrap_or(1)
    }
}

/// What a commit changed, compared with its first parent.
///
/// # Errors
/// When git cannot say.
pub fn changes(git: &Git, commit: &str) -> Result<Changes> {
    Changes::read(git, &["show", "--first-parent", "--format=", commit])
}

/// What is different between a commit and the working tree, with what is staged and what git does not know yet.
///
/// # Errors
/// When git cannot say.
pub fn since(git: &Git, commit: &str) -> Result<Changes> {
    let shown = Index::if_hidden(git)?;
    let git = shown.as_ref().map_or(git, |index| &index.git);
    let mut changes = Changes::read(git, &["diff", commit])?;
    let untracked = [
        "ls-files",
        "--others",
        "--exclude-standard",
        "--full-name",
        "-z",
        ":/",
    ];
    for file in paths(&git.read(&untracked)?) {
        let text = std::fs::read_to_string(git.root().join(file)).unwrap_or_default();
        let count = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        let lines: BTreeSet<u32> = (1..=count).collect();
        let change = FileChange {
            added: lines.clone(),
            lines,
            ..FileChange::default()
        };
        changes.files.insert(file.to_owned(), change);
    }
    Ok(changes)
}

/// The commit that a change is compared with: the one that is named, or where `HEAD` left the branch that is named and went on since; or else `HEAD`,
/// or its parent when nothing was changed since.
///
/// # Errors
/// When there is none, which says why.
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
        let why = match git.is_complete() {
            true => "is the first commit",
            false => "has no parent in this shallow clone: `git fetch --deepen 1` brings it",
        };
        Error::usage(format!(
            "nothing is changed since `HEAD`, which {why}: `--base` says what to compare with"
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
        // Whatever the user's configuration and the attributes of files say of how a difference is shown.
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

    fn of_diff(text: &str) -> Self {
        let mut changes = Changes::default();
        let mut before = "";
        let mut file = FileChange::default();
        // Lines of a hunk that are still to come: one of these may look like a header.
        let mut left = 0;
        let mut hunk = Hunk::default();
        let mut change = &mut file;
        for line in text.lines() {
            if left > 0 && line.starts_with(['+', '-']) {
                left -= 1;
                hunk.add(line);
                if left == 0 {
                    change.deletions.extend(hunk.deletions());
                    change.blanks.extend(hunk.blanks());
                }
            } else if let Some(path) = line.strip_prefix("--- ") {
                before = path;
            } else if let Some(path) = line.strip_prefix("+++ ") {
                let path = if path == "/dev/null" { before } else { path };
                // A tab ends a path with spaces.
                let path = unquoted(path.trim_end_matches('\t'));
                change = changes.files.entry(path).or_default();
            } else if let Some(ranges) = line.strip_prefix("@@ -") {
                let mut parts = ranges.split(' ');
                let [old, new] = [parts.next(), parts.next()]
                    .map(|part| range(part.unwrap_or_default().trim_start_matches('+')));
                left = old.1 + new.1;
                let lines = new.0..new.0 + new.1;
                if old.1 != new.1 {
                    // Of nothing, the line before it is named.
                    let behind = new.0 + new.1.max(1);
                    change.moved = change.moved.or(Some(behind));
                }
                if old.1 == 0 {
                    change.added.extend(lines.clone());
                }
                change.lines.extend(lines);
                hunk = Hunk {
                    new,
                    ..Hunk::default()
                };
            }
        }
        changes
    }

    /// How many files of each kind there are; the test is, or was, in these files.
    #[must_use]
    pub fn count(
        &self,
        kind: FileKind,
        of_test: &[String],
        text_of: impl Fn(&str) -> Option<String>,
    ) -> usize {
        let files = self.files.keys();
        files
            .filter(|file| kind_of(file, of_test, &text_of) == kind)
            .count()
    }

    /// The changed line of `file` that is nearest to `line`.
    #[must_use]
    pub fn nearest(&self, file: &str, line: u32) -> Option<u32> {
        let lines = self.files.get(file)?.lines.iter().copied();
        lines.min_by_key(|changed| changed.abs_diff(line))
    }
}

/// Lines that stand in the place of others.
#[derive(Debug, Default)]
struct Hunk {
    /// The first of them afterwards, or the line before where there are none, and how many there are.
    new: (u32, u32),
    /// How many lines that are more than blank or a comment there were.
    before: u32,
    /// How many there are afterwards.
    after: u32,
    /// How many there were of the others.
    blank: u32,
}

impl Hunk {
    /// Counts a line with its sign.
    fn add(&mut self, line: &str) {
        let text = line[1..].trim();
        let is_code = !text.is_empty() && !text.starts_with("//");
        match line.as_bytes()[0] {
            b'-' if is_code => self.before += 1,
            b'-' => self.blank += 1,
            _ => self.after += u32::from(is_code),
        }
    }

    /// The line behind which what looks like nothing is gone, if there is.
    fn blanks(&self) -> Option<u32> {
        let (first, count) = self.new;
        (self.blank > 0).then(|| {
            if count == 0 {
                first
            } else {
                first.saturating_sub(1)
            }
        })
    }

    /// The lines behind which something is gone: where the lines begin and where they end, if fewer of them say something than before.
    fn deletions(&self) -> BTreeSet<u32> {
        let (first, count) = self.new;
        match (self.after < self.before, count) {
            (false, _) => BTreeSet::new(),
            (true, 0) => BTreeSet::from([first]),
            (true, _) => BTreeSet::from([first.saturating_sub(1), first + count - 1]),
        }
    }
}

/// A path as git shows it, which it puts into quotation marks where a sign in it is special.
fn unquoted(path: &str) -> String {
    let quoted = path
        .strip_prefix('"')
        .and_then(|path| path.strip_suffix('"'));
    let Some(quoted) = quoted else {
        return path.to_owned();
    };
    let mut bytes = Vec::new();
    let mut rest = quoted.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match (byte, rest.clone().next()) {
            (b'\\', Some(b'0'..=b'3')) => {
                let digits = rest.by_ref().take(3).map(|digit| digit.wrapping_sub(b'0'));
                digits.fold(0_u8, |number, digit| (number << 3) | (digit & 7))
            }
            (b'\\', Some(sign)) => {
                rest.next();
                match sign {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    sign => sign,
                }
            }
            (byte, _) => byte,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The first line and the number of lines in `7,2` or `7`.
fn range(text: &str) -> (u32, u32) {
    let (first, count) = text.split_once(',').unwrap_or((text, "1"));
    (first.parse().unwrap_or(0), count.parse().unwrap_or(0))
}

fn kind_of(file: &str, of_test: &[String], text_of: impl Fn(&str) -> Option<String>) -> FileKind {
    let name = file.rsplit('/').next().unwrap_or(file);
    let is_build = [
        "Cargo.toml",
        "Cargo.lock",
        "build.rs",
        "rust-toolchain",
        "rust-toolchain.toml",
    ]
    .contains(&name)
        || file.split('/').any(|part| part == ".cargo");
    if of_test.iter().any(|own| own == file) {
        FileKind::Test
    } else if is_build {
        FileKind::Build
    } else if !name.ends_with(".rs") {
        FileKind::Other
    } else if file
        .split('/')
        .any(|part| part == "tests" || part == "benches")
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

    const DIFF: &str = "diff --git src/lib.rs src/lib.rs\nindex 1..2 100644\n--- src/lib.rs\n+++ src/lib.rs\n@@ -3 +3,2 @@ fn a() {\n\
                        -old\n+new\n+++ b\n@@ -9,2 +10,0 @@\n--- gone\n-gone\n@@ -20,0 +20 @@\n+last\n\
                        diff --git gone.rs gone.rs\n--- gone.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";

    #[test]
    fn changed_lines_are_those_of_the_file_afterwards() {
        let changes = Changes::of_diff(DIFF);
        let set = |lines: &[u32]| lines.iter().copied().collect::<BTreeSet<u32>>();
        let expected = [
            ("gone.rs", set(&[]), set(&[]), set(&[0]), Some(1)),
            (
                "src/lib.rs",
                set(&[3, 4, 20]),
                set(&[20]),
                set(&[10]),
                Some(5),
            ),
        ];
        let found = changes.files.iter().map(|(file, change)| {
            let FileChange {
                lines,
                added,
                deletions,
                moved,
                blanks: _,
            } = change.clone();
            (file.as_str(), lines, added, deletions, moved)
        });
        assert_eq!(found.collect::<Vec<_>>(), expected);
        assert_eq!(changes.nearest("src/lib.rs", 9), Some(4));
        assert_eq!(changes.nearest("gone.rs", 9), None);
    }

    #[test]
    fn paths_are_what_they_are_without_quotation_marks() {
        for (path, expected) in [
            ("a/b.rs", "a/b.rs"),
            (r#""a\tb\"c\\.rs""#, "a\tb\"c\\.rs"),
            (r#""\303\244.rs""#, "ä.rs"),
            (r#""\344.rs""#, "\u{fffd}.rs"),
        ] {
            assert_eq!(unquoted(path), expected);
        }
    }

    #[test]
    fn where_what_looks_like_nothing_is_gone_is_known() {
        let text =
            "--- a.rs\n+++ a.rs\n@@ -5,2 +4,0 @@\n-\n-// b\n@@ -9,2 +7 @@\n-// c\n-a();\n+a(1);\n";
        let changes = Changes::of_diff(text);
        assert_eq!(changes.files["a.rs"].blanks, BTreeSet::from([4, 6]));
    }

    #[test]
    fn what_is_commented_out_is_gone() {
        let deletions = |hunk: &str| {
            let changes = Changes::of_diff(&format!("--- a.rs\n+++ a.rs\n{hunk}"));
            changes.files["a.rs"].deletions.clone()
        };
        for (hunk, expected) in [
            ("@@ -5 +5 @@\n-    a();\n+    // a();\n", &[4, 5][..]),
            ("@@ -5 +5 @@\n-    a();\n+\n", &[4, 5]),
            ("@@ -5,2 +5 @@\n-    a();\n-    b();\n+    c();\n", &[4, 5]),
            ("@@ -5 +5 @@\n-    a();\n+    b();\n", &[]),
            ("@@ -5 +5,2 @@\n-    // a\n+    // b\n+\n", &[]),
            ("@@ -5,2 +4,0 @@\n-    a();\n-    b();\n", &[4]),
        ] {
            let expected: BTreeSet<u32> = expected.iter().copied().collect();
            assert_eq!(deletions(hunk), expected, "{hunk}");
        }
    }

    #[test]
    fn files_have_the_kinds_of_the_study() {
        let text = |file: &str| {
            Some(
                if file == "src/a.rs" {
                    "#[test]\nfn x() {}"
                } else {
                    ""
                }
                .to_owned(),
            )
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

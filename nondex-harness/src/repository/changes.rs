//! What a commit changed.

use super::git::Git;
use crate::error::Result;

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

/// What a commit changed, compared with its first parent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The files, from the root of the repository.
    pub files: Vec<String>,
    /// New and changed lines, from 1, of the files as they are afterwards.
    pub lines: Vec<(String, u32)>,
    /// Those of them that were put between lines that stay, in the place of nothing.
    pub added: Vec<(String, u32)>,
    /// Where more than blank lines and comments was deleted, and nothing put in its place: the line before it, of the file as it is
    /// afterwards.
    pub deletions: Vec<(String, u32)>,
}

/// What a commit changed.
///
/// # Errors
/// When git cannot say.
pub fn changes(git: &Git, commit: &str) -> Result<Changes> {
    let options = [
        "show",
        "--first-parent",
        "--format=",
        "--unified=0",
        "--no-color",
        "--no-ext-diff",
    ];
    let text =
        git.read(&[options.as_slice(), &["--no-prefix", "--no-renames", commit]].concat())?;
    Ok(Changes::of_diff(&text))
}

/// What is different between a commit and the working tree, with what is staged and what git does not know yet.
///
/// # Errors
/// When git cannot say.
pub fn since(git: &Git, commit: &str) -> Result<Changes> {
    let options = [
        "diff",
        "--unified=0",
        "--no-color",
        "--no-ext-diff",
        "--no-prefix",
        "--no-renames",
    ];
    let text = git.read(&[options.as_slice(), &[commit, "--"]].concat())?;
    let mut changes = Changes::of_diff(&text);
    let untracked = git.read(&[
        "ls-files",
        "--others",
        "--exclude-standard",
        "--full-name",
        ":/",
    ])?;
    for file in untracked.lines() {
        let text = std::fs::read_to_string(git.root().join(file)).unwrap_or_default();
        changes.files.push(file.to_owned());
        let count = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        let lines = (1..=count).map(|line| (file.to_owned(), line));
        changes.added.extend(lines.clone());
        changes.lines.extend(lines);
    }
    Ok(changes)
}

impl Changes {
    fn of_diff(text: &str) -> Self {
        let mut changes = Changes::default();
        let mut before = "";
        let mut file = String::new();
        // Lines of a hunk that are still to come: one of these may look like a header.
        let mut left = 0;
        // Where lines are deleted, until one is seen that counts.
        let mut deleted = None;
        for line in text.lines() {
            if left > 0 && line.starts_with(['+', '-']) {
                left -= 1;
                let text = line[1..].trim();
                let is_code = line.starts_with('-') && !text.is_empty() && !text.starts_with("//");
                if let Some(at) = deleted.filter(|_| is_code) {
                    changes.deletions.push((file.clone(), at));
                    deleted = None;
                }
            } else if let Some(path) = line.strip_prefix("--- ") {
                before = path;
            } else if let Some(path) = line.strip_prefix("+++ ") {
                file = if path == "/dev/null" { before } else { path }.to_owned();
                changes.files.push(file.clone());
            } else if let Some(hunk) = line.strip_prefix("@@ -") {
                let mut parts = hunk.split(' ');
                let [old, new] = [parts.next(), parts.next()]
                    .map(|part| range(part.unwrap_or_default().trim_start_matches('+')));
                left = old.1 + new.1;
                deleted = (new.1 == 0).then_some(new.0);
                let lines = (new.0..new.0 + new.1).map(|line| (file.clone(), line));
                if old.1 == 0 {
                    changes.added.extend(lines.clone());
                }
                changes.lines.extend(lines);
            }
        }
        changes
    }

    /// How many files of each kind there are; `test` is the file of the test, if it is known.
    #[must_use]
    pub fn count(
        &self,
        kind: FileKind,
        test: Option<&str>,
        text_of: impl Fn(&str) -> Option<String>,
    ) -> usize {
        let files = self.files.iter();
        files
            .filter(|file| kind_of(file, test, &text_of) == kind)
            .count()
    }

    /// The changed line of `file` that is nearest to `line`.
    #[must_use]
    pub fn nearest(&self, file: &str, line: u32) -> Option<u32> {
        let lines = self.lines.iter().filter(|(changed, _)| changed == file);
        lines
            .map(|(_, changed)| *changed)
            .min_by_key(|changed| changed.abs_diff(line))
    }
}

/// The first line and the number of lines in `7,2` or `7`.
fn range(text: &str) -> (u32, u32) {
    let (first, count) = text.split_once(',').unwrap_or((text, "1"));
    (first.parse().unwrap_or(0), count.parse().unwrap_or(0))
}

fn kind_of(file: &str, test: Option<&str>, text_of: impl Fn(&str) -> Option<String>) -> FileKind {
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
    if test == Some(file) {
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

    const DIFF: &str = "diff --git src/lib.rs src/lib.rs\nindex 1..2 100644\n--- src/lib.rs\n+++ src/lib.rs\n@@ -3 +3,2 @@ fn a() {\n\
                        -old\n+new\n+++ b\n@@ -9,2 +10,0 @@\n--- gone\n-gone\n@@ -20,0 +20 @@\n+last\n\
                        diff --git gone.rs gone.rs\n--- gone.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";

    #[test]
    fn changed_lines_are_those_of_the_file_afterwards() {
        let changes = Changes::of_diff(DIFF);
        assert_eq!(changes.files, ["src/lib.rs", "gone.rs"]);
        let lines: Vec<u32> = changes.lines.iter().map(|(_, line)| *line).collect();
        assert_eq!(lines, [3, 4, 20]);
        assert_eq!(
            changes.deletions,
            [("src/lib.rs".to_owned(), 10), ("gone.rs".to_owned(), 0)]
        );
        assert_eq!(changes.nearest("src/lib.rs", 9), Some(4));
        assert_eq!(changes.nearest("gone.rs", 9), None);
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
            ("tests/it.rs", FileKind::OtherTests),
            ("src/a.rs", FileKind::OtherTests),
            ("src/b.rs", FileKind::Code),
            ("a/Cargo.toml", FileKind::Build),
            ("Cargo.lock", FileKind::Build),
            ("build.rs", FileKind::Build),
            (".cargo/config.toml", FileKind::Build),
            ("README.md", FileKind::Other),
        ] {
            assert_eq!(kind_of(file, Some("src/own.rs"), text), expected, "{file}");
        }
    }
}

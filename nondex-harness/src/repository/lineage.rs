//! Where a test comes from: the commit that introduced it, and what it was called on the way.
//!
//! `git log -L` follows the lines of a function through changes of its name and of its file's. Where the lines came into being, the same function
//! may have been in another file before: it is looked for by its name, then by its longest line.

use super::git::Git;
use crate::error::Result;

/// How many moves from file to file are followed.
const MAX_MOVES: usize = 20;

/// A line that is shorter says nothing about a function.
const MIN_LINE: usize = 24;

/// Where a test comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lineage {
    /// The commit that introduced it; `None` when its source cannot be found.
    pub introduced: Option<String>,
    /// The names of its function, the youngest first.
    pub names: Vec<String>,
}

/// The lineage of the function `name` in `file`, a path from the root of the repository, as they are at `commit`.
///
/// # Errors
/// When git cannot say.
pub fn lineage(git: &Git, commit: &str, file: &str, name: &str) -> Result<Lineage> {
    let mut found = Lineage {
        introduced: None,
        names: vec![name.to_owned()],
    };
    let mut place = Some((commit.to_owned(), file.to_owned(), name.to_owned()));
    for _ in 0..MAX_MOVES {
        let Some((commit, file, name)) = place.take() else {
            break;
        };
        let Some(text) = git.text(&commit, &file) else {
            break;
        };
        let Some((first, last)) = function(&text, &name) else {
            break;
        };
        let lines = format!("-L{first},{last}:{file}");
        let log = git.read(&[
            "log",
            "--no-color",
            "--no-ext-diff",
            "--format=%x01%H",
            &lines,
            &commit,
        ])?;
        let mut oldest = None;
        for line in log.lines() {
            if let Some(id) = line.strip_prefix('\u{1}') {
                oldest = Some(id.to_owned());
            } else if let Some(name) = line.get(1..).and_then(function_name)
                && !line.starts_with("+++")
                && !line.starts_with("---")
                && !found.names.contains(&name.to_owned())
            {
                found.names.push(name.to_owned());
            }
        }
        let Some(oldest) = oldest else {
            break;
        };
        let own = found.names.clone();
        found.introduced = Some(oldest.clone());
        place = moved_from(git, &oldest, &own)?;
        if let Some((_, _, name)) = &place
            && !found.names.contains(name)
        {
            found.names.push(name.clone());
        }
    }
    Ok(found)
}

/// Where a function was in a parent of the commit that added its lines: the parent, the file and the name.
fn moved_from(
    git: &Git,
    commit: &str,
    names: &[String],
) -> Result<Option<(String, String, String)>> {
    for parent in git.parents(commit)? {
        for name in names {
            let head = format!("fn {name}(");
            if let Some(file) = only_left(git, (&parent, commit), &head) {
                return Ok(Some((parent, file, name.clone())));
            }
        }
        // Another name in another file: the line that nobody else has.
        let added = super::changes::changes(git, commit)?;
        for file in added.files.keys() {
            let Some(text) = git.text(commit, file) else {
                continue;
            };
            let Some((first, last)) = names.iter().find_map(|name| function(&text, name)) else {
                continue;
            };
            let lines = text
                .lines()
                .skip(first)
                .take(last.saturating_sub(first + 1));
            let longest = lines.map(str::trim).max_by_key(|line| line.len());
            let Some(longest) = longest.filter(|line| line.len() >= MIN_LINE) else {
                continue;
            };
            let Some(file) = only_left(git, (&parent, commit), longest) else {
                continue;
            };
            let Some(old) = git.text(&parent, &file) else {
                continue;
            };
            if let Some(name) = enclosing(&old, longest) {
                return Ok(Some((parent, file, name)));
            }
        }
    }
    Ok(None)
}

/// The only file that has this text in the first of two commits, and fewer of it in the second: one that keeps it was copied, at most.
fn only_left(git: &Git, (before, after): (&str, &str), text: &str) -> Option<String> {
    let found = git.read(&[
        "grep",
        "--files-with-matches",
        "--fixed-strings",
        "-e",
        text,
        before,
        "--",
        "*.rs",
    ]);
    let found = found.ok()?;
    let files = found.lines().filter_map(|line| line.split_once(':'));
    let count = |commit, file: &str| {
        let content = git.text(commit, file).unwrap_or_default();
        content.matches(text).count()
    };
    let mut left = files.filter(|(_, file)| count(after, file) < count(before, file));
    let (_, file) = left.next()?;
    left.next().is_none().then(|| file.to_owned())
}

/// The name of the function that a line begins.
fn function_name(line: &str) -> Option<&str> {
    let at = line.find("fn ")?;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if line[..at].ends_with(is_word) || line.trim_start().starts_with("//") {
        return None;
    }
    let rest = &line[at + 3..];
    let end = rest.find(|c| !is_word(c))?;
    (end > 0 && rest[end..].starts_with(['(', '<'])).then(|| &rest[..end])
}

/// The first and the last line of a function, from 1: rustfmt closes it with the indentation that it begins with.
fn function(text: &str, name: &str) -> Option<(usize, usize)> {
    let mut lines = text.lines().enumerate();
    let (first, begin) = lines.find(|(_, line)| function_name(line) == Some(name))?;
    let indentation = &begin[..begin.len() - begin.trim_start().len()];
    if begin.trim_end().ends_with('}') {
        return Some((first + 1, first + 1));
    }
    let end = format!("{indentation}}}");
    let (last, _) = lines.find(|(_, line)| line.trim_end() == end)?;
    Some((first + 1, last + 1))
}

/// The name of the function that has a line.
fn enclosing(text: &str, line: &str) -> Option<String> {
    let before = text.lines().take_while(|other| other.trim() != line);
    let name = before.filter_map(function_name).last()?;
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_copied_comes_from_nowhere_and_what_is_moved_from_where_it_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let root = camino::Utf8Path::from_path(folder.path()).unwrap();
        let git = Git::at(root);
        git.read(&["init", "--quiet"]).unwrap();
        let commit = |files: &[(&str, &str)]| {
            for (file, name) in files {
                let line = "assert_eq!(sorted(&[1, 2, 3, 2, 1]), [1, 1, 2, 2, 3]);";
                let text = format!("#[test]\nfn {name}() {{\n    {line}\n}}\n");
                let text = if name.is_empty() { String::new() } else { text };
                std::fs::write(root.join(file), text).unwrap();
            }
            git.read(&["add", "--all"]).unwrap();
            let who = [
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b",
                "-c",
                "commit.gpgsign=false",
            ];
            git.read(&[&who[..], &["commit", "--quiet", "--message", "x"]].concat())
                .unwrap();
            git.read(&["rev-parse", "HEAD"]).unwrap().trim().to_owned()
        };
        let first = commit(&[("a.rs", "case")]);
        let second = commit(&[("b.rs", "case")]);
        let third = commit(&[("c.rs", "other_case")]);
        let introduced = |file, name| lineage(&git, "HEAD", file, name).unwrap().introduced;
        assert_eq!(introduced("a.rs", "case"), Some(first.clone()));
        assert_eq!(introduced("b.rs", "case"), Some(second));
        assert_eq!(introduced("c.rs", "other_case"), Some(third));
        commit(&[("a.rs", ""), ("d.rs", "renamed_case")]);
        assert_eq!(introduced("d.rs", "renamed_case"), Some(first));
    }

    #[test]
    fn a_function_is_found_by_its_name() {
        let text = "mod tests {\n    #[test]\n    fn a() {\n        if x {\n        }\n    }\n\n    async fn ab<T>() {}\n}\n";
        assert_eq!(function(text, "a"), Some((3, 6)));
        assert_eq!(function(text, "ab"), Some((8, 8)));
        assert_eq!(function(text, "b"), None);
        assert_eq!(enclosing(text, "if x {"), Some("a".to_owned()));
        for (line, name) in [
            ("pub(crate) fn x(", Some("x")),
            ("// fn x()", None),
            ("let f: fn (u8) = y;", None),
            ("    defn x()", None),
            ("fn x", None),
        ] {
            assert_eq!(function_name(line), name, "{line}");
        }
    }
}

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
            if let Some(file) = only_file(git, &parent, &format!("fn {name}(")) {
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
            let Some(file) = only_file(git, &parent, longest) else {
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

/// The only file of a commit that has this text.
fn only_file(git: &Git, commit: &str, text: &str) -> Option<String> {
    let found = git.read(&[
        "grep",
        "--files-with-matches",
        "--fixed-strings",
        "-e",
        text,
        commit,
        "--",
        "*.rs",
    ]);
    let found = found.ok()?;
    let mut files = found.lines();
    let file = files.next()?.split_once(':')?.1;
    files.next().is_none().then(|| file.to_owned())
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

//! History of a test: the commit that introduced it, and its former names and files.
//!
//! git's pickaxe finds the commits that changed lines with the name of the test in a file. At the
//! commit in which the function appeared in its file, `git blame` shows which of its lines were
//! elsewhere before. A function that disappeared in the same commit is its predecessor under one of
//! two conditions. It has the same name and one of these lines, or another name and four fifths of
//! them.

use std::collections::BTreeMap;

use super::git::Git;
use super::items::functions;
use super::syntax::LineRange;
use crate::error::Result;

/// Maximum number of moves and renames that are followed.
const MAX_MOVES: usize = 20;

/// Origin of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestHistory {
    /// Commit that introduced the test, or `None` if its source cannot be found.
    pub introduced: Option<String>,
    /// Names of its function, latest first.
    pub names: Vec<String>,
    /// Files that contained it, latest first.
    pub files: Vec<String>,
}

/// Returns the history of the test with this path, such as `module::tests::case`, in `file`. `file`
/// is a path from the root of the repository. Both are those at `commit`.
///
/// A test that was removed and later added again was introduced the first time. If no function has
/// the test's own name, a macro writes the test. Such a test is as old as its name in the file.
///
/// # Errors
/// Returns a set-up error if git fails.
pub fn test_history(git: &Git, commit: &str, file: &str, test: &str) -> Result<TestHistory> {
    let text = git.text(commit, file).unwrap_or_default();
    let name = name_of(&text, test);
    let mut found = TestHistory { files: vec![file.to_owned()], ..TestHistory::default() };
    let mut place = Origin { commit: commit.to_owned(), file: file.to_owned(), name };
    for _ in 0..MAX_MOVES {
        let Some(introduced) = place.introduced(git)? else { break };
        if !found.names.contains(&place.name) {
            found.names.push(place.name.clone());
        }
        if !found.files.contains(&place.file) {
            found.files.push(place.file.clone());
        }
        let text = |file: &str| git.text(&introduced, file);
        let before = origin(git, &format!("{introduced}^!"), &text, (&place.file, &place.name));
        found.introduced = Some(introduced);
        let Some(before) = before else { break };
        place = before;
    }
    Ok(found)
}

/// Returns the name that the function of a test in the working tree had at `commit`, if it was
/// renamed since. `file` is a path from the root of the repository.
pub fn former_name(git: &Git, commit: &str, file: &str, test: &str) -> Option<String> {
    let text = |file: &str| std::fs::read_to_string(git.root().join(file)).ok();
    let name = name_of(&text(file)?, test);
    origin(git, &format!("^{commit}"), &text, (file, &name)).map(|origin| origin.name)
}

/// Returns the name of the function of a test: the last part of its path that is the name of a
/// function. If there is none, a macro writes the function, and its name is the last part.
fn name_of(text: &str, test: &str) -> String {
    let all = functions(text);
    let mut parts = test.rsplit("::");
    let written = parts.find(|part| all.iter().any(|(name, _)| name == part));
    written.or_else(|| test.rsplit("::").next()).unwrap_or(test).to_owned()
}

/// Place of a function in the history.
#[derive(Debug)]
struct Origin {
    commit: String,
    file: String,
    name: String,
}

impl Origin {
    /// Returns the first commit that brought the name into the file.
    fn introduced(&self, git: &Git) -> Result<Option<String>> {
        let word = format!("-G(^|[^[:alnum:]_]){}($|[^[:alnum:]_])", self.name);
        let file = format!(":(top,literal){}", self.file);
        let plain = ["log", "--no-color", "--no-ext-diff", "--no-renames", "-m", "--topo-order"];
        let query = ["--format=%H", &word, &self.commit, "--", &file];
        let log = git.read(&[&plain[..], &query].concat())?;
        Ok(log.lines().last().map(str::to_owned))
    }
}

/// Returns where a function was before the commits of `range`, if it had another name or was in
/// another file. `text` returns the text of a file after these commits.
fn origin(
    git: &Git,
    range: &str,
    text: &dyn Fn(&str) -> Option<String>,
    (file, name): (&str, &str),
) -> Option<Origin> {
    let has = |file: &str, name: &str| {
        text(file).is_some_and(|text| functions(&text).iter().any(|(known, _)| known == name))
    };
    let (_, lines) = functions(&text(file)?).into_iter().find(|(known, _)| known == name)?;
    // The first line is left out, because it contains the name, which may have changed.
    let first = (lines.start() + 1).min(*lines.end());
    let wanted = format!("-L{first},{}", lines.end());
    // `-M9` and `-C9` lower the number of moved characters that git requires.
    let how = ["blame", "-s", "-w", "-M9", "-C9", "--line-porcelain"];
    let blamed = git.read(&[&how[..], &[&wanted, range, "--", file]].concat()).ok()?;
    let mut count = 0;
    let mut votes: BTreeMap<(&str, &str, String), usize> = BTreeMap::new();
    let mut known: BTreeMap<(&str, &str), Vec<(String, LineRange)>> = BTreeMap::new();
    for BlamedLine { commit, file, line, is_boundary } in blamed_lines(&blamed) {
        count += 1;
        let old = known.entry((commit, file)).or_insert_with(|| {
            let text = git.text(commit, file).filter(|_| is_boundary);
            functions(&text.unwrap_or_default())
        });
        if let Some((name, _)) = old.iter().find(|(_, lines)| lines.contains(&line)) {
            *votes.entry((commit, file, name.clone())).or_default() += 1;
        }
    }
    let origins = votes.into_iter().filter(|((_, old, was), votes)| {
        let is_gone = !has(old, was) && (was == name || !has(file, was));
        is_gone && (was == name || 5 * votes >= 4 * count)
    });
    let best = origins.max_by_key(|((_, _, was), votes)| (was == name, *votes));
    best.map(|((commit, file, name), _)| Origin {
        commit: commit.to_owned(),
        file: file.to_owned(),
        name,
    })
}

/// Former place of a line of a function.
#[derive(Debug, PartialEq, Eq)]
struct BlamedLine<'a> {
    commit: &'a str,
    file: &'a str,
    line: u32,
    /// Whether it is older than the searched commits.
    is_boundary: bool,
}

/// Parses the output of `git blame --line-porcelain`. Returns the lines that contain letters or
/// digits.
fn blamed_lines(printed: &str) -> impl Iterator<Item = BlamedLine<'_>> {
    let mut next = BlamedLine { commit: "", file: "", line: 0, is_boundary: false };
    printed.lines().filter_map(move |row| {
        if let Some(content) = row.strip_prefix('\t') {
            let found = BlamedLine { ..next };
            next.is_boundary = false;
            return content.contains(char::is_alphanumeric).then_some(found);
        }
        if let Some(file) = row.strip_prefix("filename ") {
            next.file = file;
        } else if row == "boundary" {
            next.is_boundary = true;
        } else if let [commit, line, _, ..] = row.split(' ').collect::<Vec<_>>()[..]
            && commit.len() >= 40
        {
            (next.commit, next.line) = (commit, line.parse().unwrap_or(0));
        }
        None
    })
}

#[cfg(test)]
mod tests;

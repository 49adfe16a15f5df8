//! Where a test comes from: the commit that introduced it, and what it was called on the way.
//!
//! Git's pickaxe names the commits that changed lines of a file with the name of the test in them.
//! Where the function came into being in its file, `git blame` shows which of its lines were
//! somewhere else before that commit. A function that went away in the same commit is what it was
//! before if it had the same name and one of these lines, or another name and four fifths of them.

use std::collections::BTreeMap;

use super::git::Git;
use super::items::functions;
use super::syntax::Lines;
use crate::error::Result;

/// How many moves and changes of the name are followed.
const MAX_MOVES: usize = 20;

/// Where a test comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestHistory {
    /// The commit that introduced it; `None` when its source cannot be found.
    pub introduced: Option<String>,
    /// The names of its function, the youngest first.
    pub names: Vec<String>,
    /// The files that it was in, the youngest first.
    pub files: Vec<String>,
}

/// History of a test with this path, such as `module::tests::case`, in `file`, a path from the root
/// of the repository, as they are at `commit`.
///
/// A test that was away for some time was introduced the first time. One whose own name no function
/// has is written by a macro: it is as old as its name in the file.
///
/// # Errors
/// When git cannot say.
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

/// The name that the function of a test in a file of the working tree, a path from the root of the
/// repository, had at `commit`.
pub fn former_name(git: &Git, commit: &str, file: &str, test: &str) -> Option<String> {
    let text = |file: &str| std::fs::read_to_string(git.root().join(file)).ok();
    let name = name_of(&text(file)?, test);
    origin(git, &format!("^{commit}"), &text, (file, &name)).map(|origin| origin.name)
}

/// The name of the function of a test: the last part of its path that is one, or that a macro makes
/// one of.
fn name_of(text: &str, test: &str) -> String {
    let all = functions(text);
    let mut parts = test.rsplit("::");
    let written = parts.find(|part| all.iter().any(|(name, _)| name == part));
    written.or_else(|| test.rsplit("::").next()).unwrap_or(test).to_owned()
}

/// Where a function was.
#[derive(Debug)]
struct Origin {
    commit: String,
    file: String,
    name: String,
}

impl Origin {
    /// The first commit that brought the name into the file.
    fn introduced(&self, git: &Git) -> Result<Option<String>> {
        let word = format!("-G(^|[^[:alnum:]_]){}($|[^[:alnum:]_])", self.name);
        let file = format!(":(top,literal){}", self.file);
        let plain = ["log", "--no-color", "--no-ext-diff", "--no-renames", "-m", "--topo-order"];
        let asked = ["--format=%H", &word, &self.commit, "--", &file];
        let log = git.read(&[&plain[..], &asked].concat())?;
        Ok(log.lines().last().map(str::to_owned))
    }
}

/// Where a function was before the commits of `range`, if it was not there but by another name, or
/// in another file. `text` has the files after them.
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
    // The head has the name, which may be another one.
    let first = (lines.start() + 1).min(*lines.end());
    let asked = format!("-L{first},{}", lines.end());
    // However little moved.
    let how = ["blame", "-s", "-w", "-M9", "-C9", "--line-porcelain"];
    let blamed = git.read(&[&how[..], &[&asked, range, "--", file]].concat()).ok()?;
    let mut count = 0;
    let mut votes: BTreeMap<(&str, &str, String), usize> = BTreeMap::new();
    let mut known: BTreeMap<(&str, &str), Vec<(String, Lines)>> = BTreeMap::new();
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

/// Where a line of a function was before.
#[derive(Debug, PartialEq, Eq)]
struct BlamedLine<'a> {
    commit: &'a str,
    file: &'a str,
    line: u32,
    /// Whether it is older than the commits that were looked through.
    is_boundary: bool,
}

/// The lines with letters or digits of what `git blame --line-porcelain` has printed.
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

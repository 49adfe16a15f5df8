//! Where a function is in a commit, and since when it is there.

use super::super::functions::{Function, functions};
use super::super::git::Git;
use crate::error::Result;

/// How alike two bodies are at least that are one function in two places, of the same name.
pub(super) const SAME_NAME: f64 = 0.5;

/// Where a function is in a commit.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) file: String,
    modules: Vec<String>,
    pub(super) name: String,
    /// The modules of the file that have another function of this name.
    others: Vec<Vec<String>>,
    /// Whether it is in the arguments of a macro that writes it, as a word.
    is_word: bool,
}

/// What a commit has at a place: the function, or none of it where the file cannot be split into
/// tokens.
pub(super) type FoundFunction = Option<Function>;

impl Place {
    /// That of one of all the functions of a file.
    pub(super) fn of<'f>(
        file: &str,
        function: &Function,
        all: impl IntoIterator<Item = &'f Function>,
    ) -> Self {
        let same = all
            .into_iter()
            .filter(|other| other.name == function.name && other.modules != function.modules);
        Place {
            file: file.to_owned(),
            modules: function.modules.clone(),
            name: function.name.clone(),
            others: same.map(|other| other.modules.clone()).collect(),
            is_word: false,
        }
    }

    /// The function of a test: that with its name whose modules end its path, or else one that the
    /// macro writes.
    pub(super) fn first(file: &str, text: &str, test: &str) -> Option<Self> {
        let segments: Vec<&str> = test.split("::").collect();
        let all = functions(text).unwrap_or_default();
        let written = segments.iter().enumerate().rev().find_map(|(last, name)| {
            all.iter().filter(|function| function.name == *name).max_by_key(|function| {
                let around = segments[..last].iter().rev();
                let pairs = function.modules.iter().rev().zip(around);
                let common = pairs.take_while(|(module, segment)| module == *segment);
                (common.count(), std::cmp::Reverse(function.modules.len()))
            })
        });
        let name = segments.last()?;
        match written {
            Some(function) => Some(Place::of(file, function, &all)),
            None => has_word(text, name).then(|| Place {
                file: file.to_owned(),
                modules: Vec::new(),
                name: (*name).to_owned(),
                others: Vec::new(),
                is_word: true,
            }),
        }
    }

    /// The same place in a file of another name.
    pub(super) fn in_file(self, file: String) -> Self {
        Place { file, ..self }
    }

    /// What a commit has here.
    pub(super) fn find(&self, git: &Git, commit: &str) -> Option<FoundFunction> {
        self.find_in(&git.text(commit, &self.file)?)
    }

    pub(super) fn find_in(&self, text: &str) -> Option<FoundFunction> {
        let all = functions(text).filter(|_| !self.is_word);
        let Some(all) = all else { return has_word(text, &self.name).then_some(None) };
        let same = all.into_iter().filter(|function| {
            function.name == self.name && !self.others.contains(&function.modules)
        });
        let mut same: Vec<Function> = same.collect();
        // Its module may have been called something else.
        let own = same
            .iter()
            .position(|function| function.modules == self.modules)
            .or_else(|| (same.len() == 1).then_some(0))?;
        Some(Some(same.swap_remove(own)))
    }

    /// The first commit of those that lead to `commit` that has this function in this file, and
    /// what it is there.
    pub(super) fn introduced(
        &self,
        git: &Git,
        commit: &str,
    ) -> Result<Option<(String, FoundFunction)>> {
        let name = &self.name;
        let word = format!("-G(^|[^[:alnum:]_]){name}($|[^[:alnum:]_])");
        let file = format!(":(top,literal){}", self.file);
        let log = git.read(&[
            "log",
            "--no-color",
            "--no-ext-diff",
            "--no-renames",
            "-m",
            "--topo-order",
            "--format=%H",
            &word,
            commit,
            "--",
            &file,
        ])?;
        let mut commits: Vec<&str> = log.lines().collect();
        // A merge is there once for each parent.
        commits.dedup();
        let mut introduced: Option<(String, FoundFunction)> = None;
        // What it was when it went away, in the commits that lead to where it came back.
        let mut last: Option<FoundFunction> = None;
        for commit in commits {
            let now = self.find(git, commit);
            let before = git.parents(commit)?.iter().find_map(|parent| self.find(git, parent));
            match (now, before) {
                (Some(now), None) => {
                    let came_back = introduced.as_ref().zip(last.take());
                    let is_other = came_back.is_some_and(|((_, back), left)| {
                        let both = back.as_ref().zip(left.as_ref());
                        both.is_some_and(|(back, left)| back.likeness(left) < SAME_NAME)
                    });
                    if is_other {
                        break;
                    }
                    introduced = Some((commit.to_owned(), now));
                }
                (None, Some(before)) => {
                    last.get_or_insert(before);
                }
                _ => {}
            }
        }
        Ok(introduced)
    }
}

/// Whether a text has a word.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

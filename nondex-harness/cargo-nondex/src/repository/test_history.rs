//! Where a test comes from: the commit that introduced it, and what it was called on the way.
//!
//! Git's pickaxe names the commits that changed lines of a file with the name of the test in them.
//! Where the function came into being in its file, those that went away in the same commit are
//! compared with it: one of the same name, in another file or module, or one that reads almost the
//! same, is what it was before.

mod origin;
mod place;

use self::place::Place;
use super::git::Git;
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
/// A test that was away for some time, and came back much as it was, was introduced the first time.
/// One whose own name no function has is written by a macro: it is as old as its name in the file.
///
/// # Errors
/// When git cannot say.
pub fn test_history(git: &Git, commit: &str, file: &str, test: &str) -> Result<TestHistory> {
    let mut place = git.text(commit, file).and_then(|text| Place::first(file, &text, test));
    let own = place.as_ref().map(|place| place.name.clone());
    let mut found = TestHistory {
        introduced: None,
        names: own.into_iter().collect(),
        files: vec![file.to_owned()],
    };
    let mut commit = commit.to_owned();
    for _ in 0..MAX_MOVES {
        let Some(here) = place.take() else { break };
        let Some((introduced, function)) = here.introduced(git, &commit)? else { break };
        for parent in git.parents(&introduced)? {
            let before = origin::before(&here, git, (&parent, &introduced), function.as_ref())?;
            if let Some(before) = before {
                if !found.names.contains(&before.name) {
                    found.names.push(before.name.clone());
                }
                if !found.files.contains(&before.file) {
                    found.files.push(before.file.clone());
                }
                place = Some(before);
                commit = parent;
                break;
            }
        }
        found.introduced = Some(introduced);
    }
    Ok(found)
}

/// The name that the function of a test had in its file at `commit`, a path from the root of the
/// repository; `now` is the file's text.
pub fn former_name(
    git: &Git,
    commit: &str,
    (file, now): (&str, &str),
    test: &str,
) -> Option<String> {
    origin::former_name(&git.text(commit, file)?, now, test)
}

#[cfg(test)]
mod tests;

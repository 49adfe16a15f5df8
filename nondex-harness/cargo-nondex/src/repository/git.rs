//! Calls of the program `git`.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::{Error, OrSetup, Result};

/// Number of lines before and after a line that count as near to it.
const NEAR: u32 = 5;

/// Maximum number of commits that are examined because they changed the same lines.
const MAX_CHANGES: usize = 4;

/// Repository that contains a folder.
#[derive(Clone, Debug)]
pub struct Git {
    root: Utf8PathBuf,
    /// Additional environment variables for `git`.
    variables: Vec<(&'static str, String)>,
}

/// Commit of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Full hash.
    pub id: String,
    /// Commit time, in seconds since 1970.
    pub time: i64,
    /// Commit date in the committer's time zone, such as `2026-11-22`.
    pub date: String,
    /// First line of the message.
    pub subject: String,
}

/// Number of digits of a commit's hash that are shown.
const SHORT: usize = 10;

/// Returns the hash of a commit as it is shown.
pub fn short(commit: &str) -> &str {
    commit.get(..SHORT).unwrap_or(commit)
}

impl Git {
    /// Returns the repository that contains `folder`.
    ///
    /// # Errors
    /// Returns a set-up error if there is no `git` or no repository.
    pub fn around(folder: &Utf8Path) -> Result<Self> {
        let there = Git::at(folder);
        let root = there
            .read(&["rev-parse", "--show-toplevel"])
            .or_setup(format_args!("`{folder}` has no history to search"))?;
        Ok(Git::at(root.trim_end().into()))
    }

    /// Returns the same repository with this environment variable for `git`.
    pub(super) fn with(&self, name: &'static str, value: &str) -> Self {
        let mut git = self.clone();
        git.variables.retain(|(known, _)| *known != name);
        git.variables.push((name, value.to_owned()));
        git
    }

    /// Returns the repository with this root.
    pub(super) fn at(root: &Utf8Path) -> Self {
        Git { root: root.to_owned(), variables: Vec::new() }
    }

    /// Returns the top folder of the checkout.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// Calls `git` and returns what it writes to stdout.
    ///
    /// # Errors
    /// Returns a set-up error with the message of `git`.
    pub fn read(&self, arguments: &[&str]) -> Result<String> {
        let failed = |what: String| {
            Error::setup(format!("`git {}` failed: {what}", arguments.first().unwrap_or(&"")))
        };
        let output = self.command(arguments).output().map_err(|e| failed(e.to_string()))?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            return Err(failed(message.trim().to_owned()));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Returns a call of `git` in this repository, whatever repository this program's environment
    /// names. The call never asks the user, runs no hooks and no file-system monitor, and does not
    /// split the index. It does not write the index only to refresh it.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            // The user's configuration in the environment still applies.
            if text.starts_with("GIT_") && !text.starts_with("GIT_CONFIG") {
                command.env_remove(&name);
            }
        }
        command
            .current_dir(&self.root)
            .env("LC_ALL", "C")
            .envs(self.variables.iter().cloned())
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .args(["-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false"])
            .args(["-c", "core.fsmonitor=false", "-c", "core.splitIndex=false"])
            .args(["-c", "protocol.file.allow=always"])
            .args(arguments)
            .stdin(Stdio::null());
        command
    }

    /// Returns the commit that `revision` names.
    ///
    /// # Errors
    /// Returns a usage error if it names none.
    pub fn commit(&self, revision: &str) -> Result<Commit> {
        let of_commit = format!("{revision}^{{commit}}");
        let find = ["rev-parse", "--verify", "--quiet", "--end-of-options", &of_commit];
        let id = self.read(&find).map_err(|_| {
            let why = if self.is_complete() {
                ""
            } else {
                " in this shallow clone: `git fetch --unshallow` brings the others"
            };
            Error::usage(format!("`{revision}` names no commit{why}"))
        })?;
        let format = "--format=%H%x00%ct%x00%cs%x00%s";
        let text = self.read(&["show", "--no-patch", format, id.trim()])?;
        let mut parts = text.trim_end().split('\0').map(str::to_owned);
        let mut part = || parts.next().unwrap_or_default();
        Ok(Commit {
            id: part(),
            time: part().parse().unwrap_or_default(),
            date: part(),
            subject: part(),
        })
    }

    /// Returns whether the repository has its whole history: it is no shallow clone.
    pub fn is_complete(&self) -> bool {
        let shallow = self.read(&["rev-parse", "--is-shallow-repository"]);
        shallow.is_ok_and(|answer| answer.trim() == "false")
    }

    /// Returns whether the history is cut before this commit: a shallow clone begins there.
    pub fn is_cut_before(&self, commit: &str) -> bool {
        let file = self.read(&["rev-parse", "--git-path", "shallow"]);
        let Ok(file) = file.map(|file| self.root.join(file.trim())) else { return false };
        let cuts = fs::read_to_string(file).unwrap_or_default();
        cuts.lines().any(|cut| cut == commit)
    }

    /// Returns the commits that lead to `bad` and to none of `good`, including `bad` itself. The
    /// commit that halves the others best comes first.
    ///
    /// # Errors
    /// Returns a set-up error if git fails.
    pub fn between(&self, bad: &str, good: &[&str]) -> Result<Vec<String>> {
        let mut arguments = vec!["rev-list", "--bisect-all", bad, "--not"];
        arguments.extend(good);
        let text = self.read(&arguments)?;
        let ids = text.lines().filter_map(|line| line.split_whitespace().next());
        Ok(ids.map(str::to_owned).collect())
    }

    /// Returns the last common ancestor of `HEAD` and a commit, if there is one.
    pub(super) fn fork(&self, commit: &str) -> Option<String> {
        Some(self.read(&["merge-base", commit, "HEAD"]).ok()?.trim().to_owned())
    }

    /// Returns whether `before` is `after` or an ancestor of it.
    pub fn leads_to(&self, before: &str, after: &str) -> bool {
        self.read(&["merge-base", "--is-ancestor", before, after]).is_ok()
    }

    /// Returns the parents of a commit.
    ///
    /// # Errors
    /// Returns a set-up error if git fails.
    pub fn parents(&self, commit: &str) -> Result<Vec<String>> {
        let text = self.read(&["show", "--no-patch", "--format=%P", commit])?;
        Ok(text.split_whitespace().map(str::to_owned).collect())
    }

    /// Returns the last few commits that changed lines near this one of a file in `commit`, newest
    /// first.
    ///
    /// # Errors
    /// Returns a set-up error if git fails.
    pub fn changed_near(&self, commit: &str, file: &str, line: u32) -> Result<Vec<String>> {
        let lines = self.text(commit, file).map_or(0, |text| text.lines().count());
        let lines = u32::try_from(lines).unwrap_or(u32::MAX);
        if lines == 0 {
            return Ok(Vec::new());
        }
        let first = line.saturating_sub(NEAR).clamp(1, lines);
        let last = line.saturating_add(NEAR).min(lines);
        let range = format!("-L{first},{last}:{file}");
        let most = format!("--max-count={MAX_CHANGES}");
        let text = self.read(&["log", "--no-patch", "--format=%H", &most, &range, commit])?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// Returns the files of a commit, by their paths from the root.
    ///
    /// # Errors
    /// Returns a set-up error if git fails.
    pub fn files(&self, commit: &str) -> Result<BTreeSet<String>> {
        let text = self.read(&["ls-tree", "-r", "-z", "--full-tree", "--name-only", commit])?;
        Ok(text.split('\0').filter(|file| !file.is_empty()).map(str::to_owned).collect())
    }

    /// Returns whether a source or manifest contains one of these texts, between word boundaries.
    /// Searches `tree`, or the working tree if it is `None`.
    pub fn mentions(&self, tree: Option<&str>, names: &[&str]) -> bool {
        let mut words = vec!["grep", "--quiet", "--word-regexp", "--fixed-strings"];
        words.extend(names.iter().flat_map(|name| ["-e", name]));
        words.extend([tree.unwrap_or("--untracked"), "--", ":/*.rs", ":/*.toml"]);
        self.read(&words).is_ok()
    }

    /// Returns whether a source contains this file name, outside of comments and documentation
    /// attributes. Searches `tree`, or the working tree if it is `None`.
    pub fn is_named(&self, tree: Option<&str>, name: &str) -> bool {
        let tree = tree.unwrap_or("--untracked");
        let words = ["grep", "-h", "--fixed-strings", "-e", name, tree, "--", ":/*.rs"];
        let lines = self.read(&words).unwrap_or_default();
        let is_documentation = |line: &str| {
            let words = line.replace(' ', "");
            words.contains("doc=") || words.starts_with("//")
        };
        lines.lines().any(|line| !is_documentation(line))
    }

    /// Returns the text of a file in a commit, if it exists there.
    pub fn text(&self, commit: &str, file: &str) -> Option<String> {
        self.read(&["show", &format!("{commit}:{file}")]).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::super::scratch::Repository;

    #[test]
    fn a_shallow_clone_shows_where_it_begins() {
        let whole = Repository::new();
        let commits = ["1", "2", "3"].map(|text| whole.commit(&[("file", text.to_owned())]));
        let url = format!("file://{}", whole.git.root());
        let shallow = Repository::new();
        shallow.run(&["fetch", "--quiet", "--depth", "2", &url, "main"]);
        for (git, cut) in [(&whole.git, [false; 3]), (&shallow.git, [false, true, false])] {
            assert_eq!(git.is_complete(), cut == [false; 3]);
            assert_eq!(commits.each_ref().map(|commit| git.is_cut_before(commit)), cut);
        }
    }
}

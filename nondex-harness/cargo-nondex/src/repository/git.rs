//! Calls of `git` that read.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::{Error, Result};

/// How many lines before and after a line are near to it.
const NEAR: u32 = 5;

/// How many commits are looked at that changed the same lines.
const MAX_CHANGES: usize = 4;

/// The repository around a folder.
#[derive(Clone, Debug)]
pub struct Git {
    root: Utf8PathBuf,
    /// Environment variables that it gets.
    variables: Vec<(&'static str, String)>,
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its full name.
    pub id: String,
    /// When it was committed, in seconds since 1970.
    pub time: i64,
    /// The day of that, where it was committed, as `2026-11-22`.
    pub date: String,
    /// The first line of its message.
    pub subject: String,
}

/// How many digits of a commit's name are shown.
const SHORT: usize = 10;

/// The name of a commit as it is shown.
pub fn short(commit: &str) -> &str {
    commit.get(..SHORT).unwrap_or(commit)
}

impl Git {
    /// The repository that `folder` is in.
    ///
    /// # Errors
    /// When there is no `git`, no repository, or no commit in it.
    pub fn around(folder: &Utf8Path) -> Result<Self> {
        let there = Git::at(folder);
        let root = there
            .read(&["rev-parse", "--show-toplevel"])
            .map_err(|e| Error::setup(format!("`{folder}` has no history to search: {e}")))?;
        Ok(Git::at(root.trim_end().into()))
    }

    /// The same, told something by a variable.
    pub(super) fn with(&self, name: &'static str, value: &str) -> Self {
        let mut git = self.clone();
        git.variables.retain(|(known, _)| *known != name);
        git.variables.push((name, value.to_owned()));
        git
    }

    /// The repository whose root this is.
    pub(super) fn at(root: &Utf8Path) -> Self {
        Git { root: root.to_owned(), variables: Vec::new() }
    }

    /// The top folder of the checkout.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// What `git` writes when it is called so.
    ///
    /// # Errors
    /// A set-up error with its message.
    pub fn read(&self, arguments: &[&str]) -> Result<String> {
        let failed = |what: String| {
            Error::setup(format!("`git {}` failed: {what}", arguments.first().unwrap_or(&"")))
        };
        let output = self.command(arguments).output().map_err(|e| failed(e.to_string()))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(failed(said.trim().to_owned()));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// A call in this repository, whatever repository our own environment names; it asks nobody
    /// anything, writes no index only to keep it fresh, divides none, and runs neither a hook nor
    /// what watches files.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
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

    /// The commit that `revision` names.
    ///
    /// # Errors
    /// When it names none.
    pub fn commit(&self, revision: &str) -> Result<Commit> {
        let of_commit = format!("{revision}^{{commit}}");
        let id = self.read(&["rev-parse", "--verify", "--quiet", "--end-of-options", &of_commit]);
        let id = id.map_err(|_| {
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

    /// Whether every commit that leads to `revision` is there.
    pub fn is_complete(&self) -> bool {
        let shallow = self.read(&["rev-parse", "--is-shallow-repository"]);
        shallow.is_ok_and(|answer| answer.trim() == "false")
    }

    /// The commits that lead to `bad` and to none of `good`, themselves among them, each with how
    /// many of these are known once it is tried, at least. The best to try comes first.
    ///
    /// # Errors
    /// When git cannot say.
    pub fn between(&self, bad: &str, good: &[&str]) -> Result<Vec<String>> {
        let mut arguments = vec!["rev-list", "--bisect-all", bad, "--not"];
        arguments.extend(good);
        let text = self.read(&arguments)?;
        let ids = text.lines().filter_map(|line| line.split_whitespace().next());
        Ok(ids.map(str::to_owned).collect())
    }

    /// The commit at which `HEAD` and a commit went different ways, if they have one in common.
    pub(super) fn fork(&self, commit: &str) -> Option<String> {
        Some(self.read(&["merge-base", commit, "HEAD"]).ok()?.trim().to_owned())
    }

    /// Whether `before` leads to `after`.
    pub fn leads_to(&self, before: &str, after: &str) -> bool {
        self.read(&["merge-base", "--is-ancestor", before, after]).is_ok()
    }

    /// The parents of a commit.
    ///
    /// # Errors
    /// When git cannot say.
    pub fn parents(&self, commit: &str) -> Result<Vec<String>> {
        let text = self.read(&["show", "--no-patch", "--format=%P", commit])?;
        Ok(text.split_whitespace().map(str::to_owned).collect())
    }

    /// The commits, the newest first, that changed what is near to this line of a file in `commit`,
    /// a few at most.
    ///
    /// # Errors
    /// When git cannot say.
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

    /// The files of a commit, by their paths from the root.
    ///
    /// # Errors
    /// When git cannot say.
    pub fn files(&self, commit: &str) -> Result<BTreeSet<String>> {
        let text = self.read(&["ls-tree", "-r", "-z", "--full-tree", "--name-only", commit])?;
        Ok(text.split('\0').filter(|file| !file.is_empty()).map(str::to_owned).collect())
    }

    /// Whether a source has one of these names in it, or one of these texts: in a tree, or in the
    /// working tree.
    pub fn mentions(&self, tree: Option<&str>, names: &[&str]) -> bool {
        let mut words = vec!["grep", "--quiet", "--word-regexp", "--fixed-strings"];
        words.extend(names.iter().flat_map(|name| ["-e", name]));
        words.extend([tree.unwrap_or("--untracked"), "--", ":/*.rs", ":/*.toml"]);
        self.read(&words).is_ok()
    }

    /// Whether a source has this name of a file in it, outside of its documentation attributes: in
    /// a tree, or in the working tree.
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

    /// The text of a file in a commit, if it is there.
    pub fn text(&self, commit: &str, file: &str) -> Option<String> {
        self.read(&["show", &format!("{commit}:{file}")]).ok()
    }
}

//! Calls of git in a separate project.

use std::fs;

use super::{Fixture, plain_command};

/// Date of commits, in git's format.
const NOON: &str = "1767268800 +0000";

/// Returns a project in a repository with one commit of these sources.
pub(crate) fn committed(files: &[(&str, &str)]) -> Fixture {
    let project = Fixture::new("no-tests");
    let manifest = "[package]\nname = \"project\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let own = [("Cargo.toml", manifest), (".gitignore", "target\nCargo.lock\n")];
    for (file, text) in own.iter().chain(files) {
        project.write(file, text);
    }
    git_at_noon(&project, &["init", "--quiet", "--initial-branch", "main"]);
    commit(&project);
    project
}

/// Commits all changes.
pub(crate) fn commit(project: &Fixture) {
    git_at_noon(project, &["add", "--all"]);
    git_at_noon(project, &["commit", "--quiet", "--message", "x"]);
}

/// Replaces the first occurrence of each text in a file.
pub(crate) fn edit(project: &Fixture, file: &str, edits: &[(&str, &str)]) {
    let path = project.path(file);
    let mut text = fs::read_to_string(&path).unwrap();
    for (old, new) in edits {
        assert!(text.contains(old), "{old}");
        text = text.replacen(old, new, 1);
    }
    fs::write(path, text).unwrap();
}

/// Returns the output of git, called with [`NOON`] as the date.
pub(crate) fn git_at_noon(project: &Fixture, arguments: &[&str]) -> String {
    git(project, NOON, arguments)
}

/// Returns the output of git, called with this date in git's format. Ignores the repository that
/// the environment of the tests may name.
pub(crate) fn git(project: &Fixture, date: &str, arguments: &[&str]) -> String {
    let mut git = plain_command("git", &project.path(""));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            git.env_remove(name);
        }
    }
    git.env("GIT_AUTHOR_DATE", date)
        .env("GIT_COMMITTER_DATE", date)
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"])
        .args(arguments);
    let output = git.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

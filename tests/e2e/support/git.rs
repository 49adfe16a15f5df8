//! One call of git in a project of its own.

use super::{Fixture, plain_command};

/// What git writes when it is called so, as if it were this `date`, in git's words; whatever repository our own environment names.
pub(crate) fn git(project: &Fixture, date: &str, arguments: &[&str]) -> String {
    let mut git = plain_command("git", &project.path(""));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            git.env_remove(name);
        }
    }
    git.env("GIT_AUTHOR_DATE", date)
        .env("GIT_COMMITTER_DATE", date)
        .args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "-c",
            "commit.gpgsign=false",
        ])
        .args(arguments);
    let output = git.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

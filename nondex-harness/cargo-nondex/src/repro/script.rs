//! A shell script that runs a plain test.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use camino::{Utf8Path, Utf8PathBuf};

use super::Subject;
use crate::campaign::launch;
use crate::error::{Error, Result};
use crate::project::{BuildPlan, Harness};
use crate::shell::{join, quote};

/// What a script ends with when the test cannot be built. Neither cargo nor libtest ends so.
pub(super) const NOT_BUILT: i32 = 99;

/// Where such a script is.
#[derive(Debug)]
pub(super) struct Script(pub(super) Utf8PathBuf);

impl Script {
    /// Writes `run.sh` into `folder`, executable.
    pub(super) fn write(folder: &Utf8Path, text: &str) -> Result<Script> {
        let path = folder.join("run.sh");
        let written = fs::create_dir_all(folder)
            .and_then(|()| fs::write(&path, text))
            .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o755)));
        written.map_err(|e| Error::setup(format!("failed to write `{path}`: {e}")))?;
        Ok(Script(path))
    }

    /// Deletes it with its folder, and the finding's folder when that was all.
    pub(super) fn discard(folder: &Utf8Path) {
        let _ = fs::remove_dir_all(folder);
        if let Some(parent) = folder.parent() {
            let _ = fs::remove_dir(parent);
        }
    }
}

impl Subject<'_> {
    /// The beginning of a script, with its purpose.
    pub(super) fn heading(&self, purpose: &str) -> String {
        let mut text = "#!/bin/sh\n".to_owned();
        for line in purpose.lines() {
            let _ = writeln!(text, "# {line}");
        }
        text.push_str("# Needs cargo and a shell. Ends with 0 when the test passes.\nset -u\n");
        text
    }

    /// Builds the test as `cargo test` does, where this tool builds plain tests, so that it follows
    /// changes of the source. Then it is in `$test`, the current folder is the one that cargo
    /// starts it in, and the environment has what cargo adds.
    pub(super) fn build_it(&self) -> String {
        let target_dir = self.project.target_dir.join("nondex/plain");
        let words = self.cargo_words();
        let mut text = format!(
            "cd {}\n\
             test=$(cargo test --quiet --no-run --message-format json-render-diagnostics \
             --target-dir {} \\\n    {} |\n    \
             sed -n '/\"test\":true}}/s/.*\"executable\":\"\\([^\"]*\\)\".*/\\1/p')\n\
             [ -x \"$test\" ] || exit {NOT_BUILT}\n",
            quote(self.plan.directory.as_str()),
            quote(target_dir.as_str()),
            join(words.iter().map(String::as_str)),
        );
        for (name, value) in &self.binary.env {
            let (Some(name), Some(value)) = (variable(name), value.to_str()) else { continue };
            if std::env::var(name).ok().as_deref() != Some(value) {
                let _ = writeln!(text, "export {name}={}", quote(value));
            }
        }
        let _ = writeln!(text, "cd {}", quote(self.binary.cwd.as_str()));
        text
    }

    /// The arguments of `cargo test` that build this test's executable and no other.
    fn cargo_words(&self) -> Vec<String> {
        let (kind, target) = (self.binary.kind.as_str(), &self.binary.target);
        let targets = match kind {
            "bin" | "example" | "test" | "bench" => vec![format!("--{kind}"), target.clone()],
            _ => vec!["--lib".to_owned()],
        };
        let plan = BuildPlan {
            packages: vec![self.binary.package.clone()],
            workspace: false,
            exclude: Vec::new(),
            targets,
            doc: false,
            manifest_path: Some(self.project.workspace_root.join("Cargo.toml")),
            ..self.plan.clone()
        };
        plan.cargo_words()
    }

    /// The test's executable `$test` with its arguments.
    pub(super) fn run_it(&self) -> String {
        let mut words = Vec::new();
        if self.binary.harness != Harness::Opaque {
            words.extend(launch::arguments(self.test, None));
        }
        format!("\"$test\" {}", join(words)).trim_end().to_owned()
    }
}

/// A variable's name, if a shell can hold it.
pub(super) fn variable(name: &OsStr) -> Option<&str> {
    let name = name.to_str()?;
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let continues = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (begins && continues).then_some(name)
}

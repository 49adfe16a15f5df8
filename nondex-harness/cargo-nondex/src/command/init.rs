//! `cargo nondex init`: writes the files that run this tool in a project's CI.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};

use camino::{Utf8Path, Utf8PathBuf};

use super::console::Console;
use super::known;
use crate::cli::InitArgs;
use crate::config::CONFIG_FILE;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::findings::known::{KNOWN_FILE, Known};
use crate::project::Folders;
use crate::report::{Sources, plural, store};
use crate::repository::Git;

/// Path of the workflow, relative to the root of the repository.
const WORKFLOW_FILE: &str = ".github/workflows/nondex.yml";

/// Template of the workflow.
const WORKFLOW: &str = include_str!("init/workflow.yml");
/// Text of the configuration.
const CONFIG: &str = include_str!("init/nondex.toml");

/// Writes a workflow, a configuration, and the findings of the last report as known flakes.
pub(super) fn init(args: &InitArgs, console: &Console) -> Result<ExitCode> {
    let folders = args.location.folders()?;
    let root = &folders.workspace_root;
    let git = Git::around(root).ok();
    let top = git.as_ref().map_or(root.as_path(), Git::root);
    let inside = root.strip_prefix(top).unwrap_or(Utf8Path::new(""));
    let workflow = workflow(inside, &default_branch(git.as_ref()));
    for (path, text) in
        [(top.join(WORKFLOW_FILE), workflow.as_str()), (root.join(CONFIG_FILE), CONFIG)]
    {
        write(&path, text, args.force, console)?;
    }
    write_known(&folders, args.force, console)?;
    Ok(ExitCode::Ok)
}

/// Writes a file. Without `force`, an existing file stays.
fn write(path: &Utf8Path, text: &str, force: bool, console: &Console) -> Result<()> {
    let failed = |e| Error::setup(format!("failed to write `{path}`: {e}"));
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).truncate(true).create(force).create_new(!force);
    match options.open(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).map_err(failed)?,
        Err(e) if !force && e.kind() == ErrorKind::AlreadyExists => {
            console.note(&format!("{path} already exists: --force overwrites it"));
            return Ok(());
        }
        Err(e) => return Err(failed(e)),
    }
    console.status("Wrote", path.as_str());
    Ok(())
}

/// Writes the findings of the last report as known flakes. Without `force`, an existing file stays.
fn write_known(folders: &Folders, force: bool, console: &Console) -> Result<()> {
    let path = folders.workspace_root.join(KNOWN_FILE);
    if path.exists() && !force {
        console.note(&format!("{path} already exists: --force overwrites it"));
        return Ok(());
    }
    if !store::has_latest(&folders.target_dir) {
        console.note(
            "there is no report yet: after a first run, `cargo nondex known add --all` writes \
             its findings as known flakes",
        );
        return Ok(());
    }
    let mut report = match store::read_latest(&folders.target_dir) {
        Ok(report) => report,
        Err(error) => {
            console.warning(&format!("no known flakes are written: {error}"));
            return Ok(());
        }
    };
    let expires = known::usual_expiry();
    // An empty list removes the marks of known flakes from the report. So the new file lists all
    // findings.
    known::KnownFlakes::default().apply(&folders.workspace_root, &mut report);
    let tests = known::failing(&report);
    if tests.is_empty() {
        console.note("no finding of the last report can be a known flake");
        return Ok(());
    }
    let sources = Sources::of_user(&folders.workspace_root);
    let mut known = Known::default();
    for test in &tests {
        let entry = known::entry(test, &sources, known::UNEXAMINED, expires);
        known.add(entry).map_err(Error::usage)?;
    }
    known.write(&path)?;
    let flakes = plural(tests.len(), "known flake");
    console.status("Wrote", &format!("{path}, with {flakes} until {expires}"));
    Ok(())
}

/// Returns the workflow for a workspace in this folder of its repository.
fn workflow(inside: &Utf8Path, branch: &str) -> String {
    let (folder, defaults) = match inside.as_str() {
        "" => (Utf8PathBuf::new(), String::new()),
        folder => (
            inside.join(""),
            format!("\ndefaults:\n  run:\n    working-directory: {}\n", quoted(folder)),
        ),
    };
    WORKFLOW
        .replace("@BRANCH@", &quoted(branch))
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
        .replace("@DEFAULTS@\n", &format!("{defaults}\n"))
        .replace("@FOLDER@", folder.as_str())
}

/// Returns a YAML scalar that is a string with this text.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | '.');
    if text.chars().all(is_plain) && text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

/// Returns the branch that changes are merged into: the default branch of `origin`, or else the
/// current one, or else `main`.
fn default_branch(git: Option<&Git>) -> String {
    let read = |arguments: &[&str]| {
        let name = git?.read(arguments).ok()?;
        Some(name.trim().to_owned()).filter(|name| !name.is_empty())
    };
    let of_origin = read(&["symbolic-ref", "--short", "refs/remotes/origin/HEAD"])
        .and_then(|name| Some(name.strip_prefix("origin/")?.to_owned()));
    let current = || read(&["symbolic-ref", "--short", "HEAD"]);
    of_origin.or_else(current).unwrap_or_else(|| "main".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::RunArgs;
    use crate::judge::options::{
        DEFAULT_BUDGET_FACTOR, DEFAULT_CLEAN_RUNS, DEFAULT_SEARCH_RUNS, DEFAULT_SEEDS,
        DEFAULT_TIMEOUT,
    };

    #[test]
    fn what_is_commented_out_in_the_configuration_is_a_default() {
        let (default, _) = CONFIG.split_once("# The search at night").unwrap();
        let keys: String = default
            .lines()
            .filter_map(|line| line.strip_prefix("# ").filter(|line| line.contains(" = ")))
            .map(|line| format!("{line}\n"))
            .collect();
        let found: toml::Table = keys.parse().unwrap();
        let levels: Vec<&str> =
            RunArgs::default().levels().iter().map(|level| level.name()).collect();
        let mut expected = toml::toml! {
            strict = false
        };
        let mut insert = |key: &str, value: toml::Value| expected.insert(key.to_owned(), value);
        insert("levels", levels.into());
        insert("seeds", toml::Value::Integer(DEFAULT_SEEDS.cast_signed()));
        insert("clean-runs", i64::from(DEFAULT_CLEAN_RUNS.get()).into());
        insert("timeout", DEFAULT_TIMEOUT.as_secs().cast_signed().into());
        insert("budget-factor", DEFAULT_BUDGET_FACTOR.into());
        insert("search-runs", i64::try_from(DEFAULT_SEARCH_RUNS).unwrap().into());
        assert_eq!(found, expected);
    }

    #[test]
    fn a_workspace_below_the_repository_is_where_commands_run() {
        let own = workflow(Utf8Path::new(""), "main");
        assert!(own.contains("    branches: [main]\n"), "{own}");
        assert!(!own.contains("working-directory"), "{own}");
        assert!(own.contains(" target/nondex/runs/*/report.json\n"), "{own}");
        let below = workflow(Utf8Path::new("rust"), "1.x");
        assert!(below.contains("    branches: ['1.x']\n"), "{below}");
        assert!(
            below.contains("\ndefaults:\n  run:\n    working-directory: rust\n\njobs:\n"),
            "{below}"
        );
        assert!(below.contains(" rust/target/nondex/latest/report.json\n"));
        for text in [own, below] {
            assert!(!text.contains('@') || !text.contains("@FOLDER@"), "{text}");
        }
    }
}

//! Setup scripts of nextest's configuration, which run before the tests that need them.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use camino::Utf8Path;

use crate::campaign::SelectedTests;
use crate::cli::filterset::{Query, WorkspaceMembers};
use crate::command::console::Console;
use crate::config::SetupScript;
use crate::error::{Error, OrSetup, Result};
use crate::project::{Project, Suite};

/// Variables of tests, by the id of their binary.
pub(super) type TestVariables = BTreeMap<String, Vec<(String, String)>>;

/// Prefix of the names that nextest reserves.
const RESERVED: &str = "NEXTEST";

/// Runs each script that one of the selected tests needs. A script writes variables for the tests
/// into the file that `NEXTEST_ENV` names. Unlike in nextest, all tests of a binary get these
/// variables.
///
/// # Errors
/// When a filter names something that the workspace does not have, or a script fails.
pub(super) fn run(
    scripts: &[SetupScript],
    selected: &[SelectedTests<'_>],
    workspace: &WorkspaceMembers,
    project: &Project,
    console: &Console,
) -> Result<TestVariables> {
    let mut found = TestVariables::new();
    for script in scripts {
        let resolved = script.filter.as_ref().map(|filter| filter.resolve(workspace));
        let name = &script.name;
        let filter = resolved
            .transpose()
            .or_setup(format_args!("invalid filterset of the setup script `{name}`"))?;
        let needs = |one: &&SelectedTests<'_>| {
            one.running().any(|(suite, test)| {
                filter.as_ref().is_none_or(|filter| filter.contains(&Query::of(suite, test)))
            })
        };
        let binaries: Vec<&str> =
            selected.iter().filter(needs).map(|one| one.suite.binary.id.as_str()).collect();
        if binaries.is_empty() {
            continue;
        }
        console.status("Setup", name);
        let variables = execute(script, &project.workspace_root, &project.target_dir)?;
        for binary in binaries {
            found.entry(binary.to_owned()).or_default().extend(variables.iter().cloned());
        }
    }
    Ok(found)
}

/// Adds the variables to the environment of these binaries.
pub(super) fn give(variables: &TestVariables, suites: &mut [Suite]) {
    for suite in suites {
        let own = variables.get(&suite.binary.id).into_iter().flatten();
        suite.binary.env.extend(own.map(|(name, value)| (name.into(), value.into())));
    }
}

/// Runs a script to its end. Returns the variables that it sets.
fn execute(
    script: &SetupScript,
    root: &Utf8Path,
    target_dir: &Utf8Path,
) -> Result<Vec<(String, String)>> {
    let SetupScript { name, command, .. } = script;
    let failed = |why: &str| Error::setup(format!("the setup script `{name}` {why}"));
    let [program, arguments @ ..] = command.as_slice() else { return Ok(Vec::new()) };
    let file = target_dir.join(format!("nondex/setup-{}", std::process::id()));
    std::fs::write(&file, "")
        .map_err(|e| failed(&format!("has no file for its variables: {e}")))?;
    let ended = Command::new(program)
        .args(arguments)
        .current_dir(root)
        .env("NEXTEST", "1")
        .env("NEXTEST_ENV", &file)
        .stdin(Stdio::null())
        // Our own stdout is reserved for the report.
        .stdout(Stdio::null())
        .status();
    let text = std::fs::read_to_string(&file);
    // The script may have removed it, and a remaining file does no harm.
    let _ = std::fs::remove_file(&file);
    let status = ended.map_err(|e| failed(&format!("cannot be run: {e}")))?;
    if !status.success() {
        return Err(failed(&format!("failed: {status}")));
    }
    let text = text.map_err(|e| failed(&format!("wrote variables that cannot be read: {e}")))?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let variables = lines.map(|line| match line.split_once('=') {
        Some((name, value)) if !name.is_empty() && !name.starts_with(RESERVED) => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err(failed(&format!("wrote `{line}`, which is not a variable for tests"))),
    });
    variables.collect()
}

//! `cargo nondex list`: lists the tests that would be run.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use super::configuration::Asked;
use super::console::Console;
use super::selection;
use crate::campaign::SelectedTests;
use crate::cli::{MessageFormat, ProjectArgs};
use crate::error::Result;
use crate::exit_code::ExitCode;
use crate::judge::Required;
use crate::project;

/// List of tests, as JSON.
#[derive(Debug, Serialize)]
struct Listing<'a> {
    /// Number of tests, including ignored ones.
    test_count: usize,
    tests: Vec<Listed<'a>>,
}

/// Test of the list. The field names are those of the report.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    id: String,
    package: &'a str,
    binary: &'a str,
    kind: &'a str,
    name: &'a str,
    file: Option<&'a str>,
    line: Option<u32>,
    ignored: bool,
    /// Whether the test is run. An ignored test is run only on request.
    runs: bool,
    /// Test group in nextest's configuration, which limits how many tests run at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    test_group: Option<String>,
}

/// Lists the selected tests on stdout, one id per line or as JSON.
pub(super) fn list(args: &ProjectArgs, asked: &Asked, console: &Console) -> Result<ExitCode> {
    let filter = args.filter.parse()?;
    let mut plan = selection::plan(&args.build, &args.archive, console)?;
    plan.doctests = filter.doctests();
    let filter = selection::resolve(&filter, &plan)?;
    let project = project::build(&plan, console.quiet)?;
    let selected = selection::select(&project.suites, &filter, selection::Divided::Tests);
    console.notes(&selection::notes(&project, &selected));
    let required = selection::required(asked, &plan, &project.suites)?;
    let tests = listed(&selected, &required);
    if console.format == MessageFormat::Json {
        console.json(&Listing { test_count: tests.len(), tests })?;
        selection::expect_some(&project.suites, &selected, &filter, console)?;
    } else {
        selection::expect_some(&project.suites, &selected, &filter, console)?;
        console.product(&text(&tests, console.verbose > 0))?;
    }
    Ok(project.exit_code())
}

/// Returns the selected tests as entries of the list.
fn listed<'a>(
    selected: &'a [SelectedTests<'a>],
    required: &BTreeMap<String, Required>,
) -> Vec<Listed<'a>> {
    let tests = selected.iter().flat_map(|SelectedTests { suite, tests }| {
        tests.iter().map(move |(test, runs)| {
            let id = suite.test_id(test);
            let group = required.get(&id).and_then(Required::group);
            Listed {
                package: &suite.binary.package,
                binary: &suite.binary.id,
                kind: &suite.binary.kind,
                name: &test.name,
                file: test.file.as_deref(),
                line: test.line,
                ignored: test.ignored,
                runs: *runs,
                test_group: group.map(str::to_owned),
                id,
            }
        })
    });
    tests.collect()
}

/// Returns the list as text, one id per line. With `details`, each line also has the place of the
/// test and its group.
fn text(tests: &[Listed<'_>], details: bool) -> String {
    let mut text = String::new();
    for test in tests {
        text.push_str(&test.id);
        if !test.runs {
            text.push_str(" (ignored)");
        }
        if let (true, Some(file), Some(line)) = (details, test.file, test.line) {
            let _ = write!(text, " at {file}:{line}");
        }
        if let Some(group) = test.test_group.as_ref().filter(|_| details) {
            let _ = write!(text, " in test group {group}");
        }
        text.push('\n');
    }
    text
}

//! `cargo nondex network`: lists which tests need the network, and which hosts.

use std::collections::BTreeSet;
use std::fmt::Write;

use nondex_core::NetworkMode;
use serde::Serialize;

use super::console::Console;
use super::progress::Display;
use super::{interrupt, outcome, selection};
use crate::campaign;
use crate::cli::filterset::of_test;
use crate::cli::{ListFormat, MessageFormat, NetworkListArgs};
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::judge::{NetworkPolicy, Options};
use crate::project;
use crate::report::{Report, RunDirectory, TestReport, Verdict, plural};
use crate::shell;

/// Test that tries to reach another machine.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    id: &'a str,
    binary: &'a str,
    name: &'a str,
    /// Whether the test fails without the network.
    needs: bool,
    hosts: &'a [String],
}

impl Listed<'_> {
    fn is_doctest(&self) -> bool {
        self.binary.contains("::doc/")
    }
}

/// Runs every selected test with the network blocked, and prints on stdout which tests tried to use
/// it.
pub(super) fn network(args: &NetworkListArgs, line: &str, console: &Console) -> Result<ExitCode> {
    let filter = args.project.filter.parse()?;
    let mut plan = selection::plan(&args.project.build, &args.project.archive, console)?;
    plan.doctests = filter.doctests();
    let filter = selection::resolve(&filter, &plan)?;
    let stop = interrupt::install()?;
    let project = project::build(&plan, console.quiet)?;
    let selected = selection::select(&project.suites, &filter, selection::Divided::Tests);
    console.notes(&selection::notes(&project, &selected));
    selection::expect_some(&project.suites, &selected, &filter, console)?;

    let mut options = Options::new(project.workspace_root.clone());
    line.clone_into(&mut options.command);
    options.seeds = Vec::new();
    options.clean_runs = std::num::NonZeroU32::MIN;
    options.jobs = args.project.build.jobs.unwrap_or(options.jobs);
    options.network = NetworkPolicy::new(NetworkMode::Block, args.network_allow.clone(), true);
    let directory = RunDirectory::create(&project.target_dir)?;
    let tests = plural(selection::running(&selected), "test");
    console.status("Running", &format!("{tests} with the network blocked"));
    let plain = outcome::PlainBuilder::new(plan);
    let display = Display::new(console, selection::running(&selected));
    let report =
        campaign::run(&selected, &options, &directory, Some(&plain), None, &display, &stop);
    display.finish();
    let report = report?;
    directory.write_aside(&report)?;
    if report.partial {
        return Err(Error::setup("interrupted before every test had run"));
    }
    let failed = report
        .tests
        .iter()
        .filter(|test| {
            !test.is_sanitised()
                && (test.verdict.is_flaky() || test.unjudged || test.verdict == Verdict::Broken)
        })
        .count();
    if failed > 0 {
        let failed = plural(failed, "test");
        console.note(&format!("{failed} failed for another reason than the network"));
    }
    let listed = listed(&report);
    if console.format == MessageFormat::Json {
        console.json(&listed)?;
    } else {
        if args.format != ListFormat::Table && needing(&listed).any(Listed::is_doctest) {
            console.note(
                "doctests that need the network are left out: cargo cannot skip them by name, and \
                 nextest runs none",
            );
        }
        console.product(&match args.format {
            ListFormat::Table => table(&listed),
            ListFormat::Skip => skip(&listed),
            ListFormat::Filterset => filterset(&listed),
        })?;
    }
    Ok(project.exit_code())
}

/// Returns the tests of a report that tried to reach another machine.
fn listed(report: &Report) -> Vec<Listed<'_>> {
    let asks = |test: &&TestReport| !test.hosts.is_empty();
    let tests = report.tests.iter().filter(asks).map(|test| Listed {
        id: &test.id,
        binary: &test.binary,
        name: &test.name,
        needs: test.verdict == Verdict::Network,
        hosts: &test.hosts,
    });
    tests.collect()
}

/// Returns the tests that fail without the network.
fn needing<'a>(listed: &'a [Listed<'a>]) -> impl Iterator<Item = &'a Listed<'a>> {
    listed.iter().filter(|test| test.needs)
}

/// Returns a table with a line per test: its id, whether it needs the network or only tries to use
/// it, and the hosts.
fn table(listed: &[Listed<'_>]) -> String {
    let width = listed.iter().map(|test| test.id.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for test in listed {
        let word = if test.needs { "needs" } else { "asks" };
        let _ = writeln!(text, "{:width$}  {word:5}  {}", test.id, test.hosts.join(", "));
    }
    text
}

/// Returns those of them that can be skipped by name.
fn skippable<'a>(listed: &'a [Listed<'a>]) -> impl Iterator<Item = &'a Listed<'a>> {
    needing(listed).filter(|test| !test.is_doctest())
}

/// Returns arguments for libtest that skip the tests. They apply to every binary, because libtest
/// knows only names.
fn skip(listed: &[Listed<'_>]) -> String {
    let names: BTreeSet<&str> = skippable(listed).map(|test| test.name).collect();
    if names.is_empty() {
        return String::new();
    }
    let mut text = "--exact".to_owned();
    for name in names {
        let _ = write!(text, " --skip {}", shell::quote(name));
    }
    text.push('\n');
    text
}

/// Returns a filterset for nextest that leaves the tests out.
fn filterset(listed: &[Listed<'_>]) -> String {
    let tests: Vec<String> =
        skippable(listed).map(|test| of_test(test.binary, test.name)).collect();
    if tests.is_empty() { "all()\n".to_owned() } else { format!("not ({})\n", tests.join(" + ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tests_that_fail_without_the_network_are_left_out() {
        let hosts = ["example.com".to_owned()];
        let test = |name: &'static str, needs| Listed {
            id: name,
            binary: "app",
            name,
            needs,
            hosts: &hosts,
        };
        let doctest = Listed { binary: "app::doc/app", ..test("src/lib.rs - d (line 1)", true) };
        let listed = [test("a", true), test("b", false), test("c", true), doctest];
        assert_eq!(skip(&listed), "--exact --skip a --skip c\n");
        assert_eq!(
            filterset(&listed),
            "not ((binary_id(=app) & test(=a)) + (binary_id(=app) & test(=c)))\n"
        );
        assert_eq!(skip(&listed[1..2]), "");
        assert_eq!(filterset(&listed[1..2]), "all()\n");
    }
}

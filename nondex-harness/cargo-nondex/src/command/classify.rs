//! `cargo nondex classify`: determines the category of each flaky test, by the steps of figure 3 of
//! Lam et al. (OOPSLA 2020) and further ones.
//!
//! First it does everything that `check` does. Then it reruns the tests that did not fail, under
//! changed circumstances: see [`judge::reruns`](crate::judge::reruns).

use super::check;
use super::configuration::Asked;
use super::console::Console;
use super::run;
use super::session::{Session, Stages};
use crate::campaign::reruns::{Reruns, explained};
use crate::campaign::{self, SelectedTests};
use crate::cli::ClassifyArgs;
use crate::error::Result;
use crate::exit_code::ExitCode;
use crate::judge::order::OrderOptions;
use crate::project::{Suite, TestCase};
use crate::report::{Report, TestReport, combined};
use nondex_core::RunSpec;

/// Runs a campaign and other test orders, then investigates the tests that passed.
pub(super) fn classify(args: &ClassifyArgs, asked: &Asked, console: &Console) -> Result<ExitCode> {
    let is_named = args.run.testing.project.filter.is_given();
    let stages = Stages::ChoicesAndOrders;
    run::within(&args.run, asked, console, stages, |session| {
        let mut report = session.campaign()?;
        check::add_orders(&OrderOptions::default(), session, &mut report)?;
        investigate(args, is_named, session, &mut report);
        Ok(report)
    })
}

/// Investigates the tests that passed. If the user named none, investigates mainly those that
/// chance may affect.
fn investigate(args: &ClassifyArgs, is_named: bool, session: &Session<'_>, report: &mut Report) {
    let reruns = Reruns::new(
        session.directory.records(),
        session.options,
        args.limits(),
        session.plain,
        &session.tree,
        session.stop,
    );
    let tests = session.selected.iter().flat_map(SelectedTests::all);
    for ((suite, case), test) in tests.zip(&mut report.tests) {
        if !test.verdict.passes() {
            continue;
        }
        session.console.status("Rerunning", &test.id);
        if let Some(spec) = reruns.investigate(suite, case, is_named, test) {
            explain(session, suite, case, &spec, test);
        }
        session.tree.restore();
        if session.stop.is_set() {
            report.partial = true;
            break;
        }
    }
    if !session.stop.is_set() {
        together(&reruns, session, report);
    }
    combined::sum_up(report);
}

/// Runs the tests of each binary together in one process, as `cargo test` does.
fn together(reruns: &Reruns<'_>, session: &Session<'_>, report: &mut Report) {
    let mut reports = report.tests.iter_mut();
    for selected in session.selected {
        let cases = selected.all().map(|(_, case)| case);
        let mut tests: Vec<_> = cases.zip(&mut reports).collect();
        session
            .console
            .status("Running", &format!("all tests of {} together", selected.suite.binary.id));
        reruns.together(selected.suite, &mut tests);
        session.tree.restore();
        if session.stop.is_set() {
            report.partial = true;
            break;
        }
    }
}

/// Searches for the responsible calls of this failing run of a test. Without a result, `report`
/// stays unchanged.
fn explain(
    session: &Session<'_>,
    suite: &Suite,
    case: &TestCase,
    spec: &RunSpec,
    report: &mut TestReport,
) {
    let options = explained::options(session.options, &report.id, spec);
    let selected = [SelectedTests::one(suite, case)];
    let found = campaign::run(
        &selected,
        &options,
        session.directory,
        Some(session.plain),
        Some(&session.tree),
        &campaign::Silent,
        session.stop,
    );
    let tests = found.into_iter().flat_map(|report| report.tests);
    for test in tests {
        explained::adopt(report, test);
    }
}

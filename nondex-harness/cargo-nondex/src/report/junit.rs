//! Renders the report as JUnit XML in nextest's structure: a suite for each test binary, and a case
//! for each test.
//!
//! A test that fails the run is a failure, with the finding's diagnostic as its text. Sanitised
//! tests, known flakes and tests that were not run are skipped. Advice passes, with its diagnostic
//! as output. Properties have the verdict and the weakest level. The attributes `file` and `line`
//! have the place of the test, as in pytest's reports.

use std::time::Duration;

use nondex_core::Level;
use quick_junit::{NonSuccessKind, Property, TestCase, TestCaseStatus, TestSuite};

use super::human::{self, View};
use super::schema::{Report, TestReport, Timing, Verdict};
use crate::error::{OrSetup, Result};

/// The name of the report. nextest's reports have the name `nextest-run`.
const NAME: &str = "nondex-run";

/// Renders the report as XML. ANSI codes and characters that XML does not allow are left out.
///
/// # Errors
/// Returns an error when serialisation fails, which no report is known to cause.
pub fn render(report: &Report, view: &View<'_>) -> Result<String> {
    let mut junit = quick_junit::Report::new(NAME);
    junit.set_time(Duration::from_millis(report.run.elapsed_ms));
    let mut suites: Vec<TestSuite> = Vec::new();
    for test in &report.tests {
        // Tests are sorted by binary.
        if suites.last().is_none_or(|suite| suite.name.as_str() != test.binary) {
            suites.push(TestSuite::new(&*test.binary));
        }
        if let Some(suite) = suites.last_mut() {
            suite.add_test_case(case(test, report, view));
            let so_far = suite.time.unwrap_or_default();
            suite.set_time(so_far + Duration::from_millis(test.elapsed_ms));
        }
    }
    junit.add_test_suites(suites);
    junit.to_string().or_setup("failed to write JUnit's XML")
}

fn case(test: &TestReport, report: &Report, view: &View<'_>) -> TestCase {
    let mut case = TestCase::new(&*test.name, status(test, report, view));
    case.set_classname(&*test.binary);
    case.set_time(Duration::from_millis(test.elapsed_ms));
    if let Some(file) = &test.file {
        case.extra.insert("file".into(), file.as_str().into());
    }
    if let Some(line) = test.line {
        case.extra.insert("line".into(), line.to_string().as_str().into());
    }
    let properties = [
        ("verdict", Some(test.verdict.name())),
        ("reason", test.reason.map(Timing::name)),
        ("weakest-level", test.weakest_level.map(Level::name)),
        ("sanitised-by", test.sanitised_by.as_ref().map(|sanitised| &*sanitised.name)),
    ];
    for (name, value) in properties {
        case.properties.extend(value.map(|value| Property::new(name, value)));
    }
    match (&case.status, &test.output) {
        (TestCaseStatus::NonSuccess { .. }, Some(output)) => {
            case.set_system_out(output);
        }
        (TestCaseStatus::Success { .. }, _) if is_advice(test, report) => {
            case.set_system_out(human::render_test(test, report.run.strict, view));
        }
        _ => {}
    }
    case
}

fn status(test: &TestReport, report: &Report, view: &View<'_>) -> TestCaseStatus {
    if let Some(sanitised) = &test.sanitised_by {
        return skipped("sanitised", &sanitised.to_string());
    }
    if let Some(known) = &test.known {
        return skipped("known", &known.to_string());
    }
    if test.is_of_before() && !report.run.strict {
        return skipped("not-by-change", &test.notes.join("; "));
    }
    match test.verdict {
        Verdict::Stable | Verdict::Passed => TestCaseStatus::success(),
        Verdict::NotRun => {
            let why = match (test.notes.as_slice(), report.partial) {
                _ if test.cancelled => "other tests had failed".to_owned(),
                ([], true) => "the run was interrupted".to_owned(),
                // Any other reason is a note.
                ([], false) => "it is ignored".to_owned(),
                (notes, _) => notes.join("; "),
            };
            skipped("not-run", &why)
        }
        _ if is_advice(test, report) => TestCaseStatus::success(),
        verdict => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let message = test.failures.first().map(|failure| failure.message.as_str());
            status
                .set_type(verdict.name())
                .set_message(message.unwrap_or_else(|| verdict.name()))
                .set_description(human::render_test(test, report.run.strict, view));
            status
        }
    }
}

fn skipped(kind: &str, why: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_type(kind).set_message(why);
    status
}

fn is_advice(test: &TestReport, report: &Report) -> bool {
    test.advice().is_some() && !report.run.strict
}

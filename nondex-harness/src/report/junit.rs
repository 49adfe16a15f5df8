//! The report as JUnit's XML, with the structure that nextest gives it: a suite for each test binary, a case for each test.
//!
//! What fails the run is a failure, with the finding's diagnostic as its text; what was sanitised, or not run, is skipped;
//! advice passes, with its diagnostic as output. Properties have the verdict and the weakest level; where the test is written
//! stands in the attributes `file` and `line`, as pytest and others write it.

use std::time::Duration;

use camino::Utf8Path;

use super::human::{self, View};
use super::schema::{Report, TestReport, Verdict};
use super::xml::Element;
use crate::error::{Error, Result};

/// The name of the report, as nextest's is `nextest-run`.
const NAME: &str = "nondex-run";

/// How a test is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Passed,
    Failed,
    Skipped,
}

/// The report as XML. ANSI codes and characters that XML has not are left out.
#[must_use]
pub fn render(report: &Report, view: &View<'_>) -> String {
    let mut suites: Vec<&[TestReport]> = Vec::new();
    // Tests are in the order of their binaries.
    suites.extend(report.tests.chunk_by(|a, b| a.binary == b.binary));
    let elapsed = Duration::from_millis(report.run.elapsed_ms);
    let suites = suites.into_iter().map(|tests| {
        let suite = Element::new("testsuite").with("name", &tests[0].binary);
        let took: u64 = tests.iter().map(|test| test.elapsed_ms).sum();
        let suite = counted(suite, tests, report).with("time", &seconds(took));
        suite.containing(tests.iter().map(|test| case(test, report, view)))
    });
    let root = Element::new("testsuites").with("name", &NAME);
    let root = counted(root, &report.tests, report);
    let root = root.with("time", &format!("{:.3}", elapsed.as_secs_f64()));
    root.containing(suites).document()
}

/// Writes the report as XML to `path`, and makes the folders above it.
///
/// # Errors
/// When it cannot be written, a set-up error with the path.
pub fn write(report: &Report, view: &View<'_>, path: &Utf8Path) -> Result<()> {
    let failed = |e| Error::setup(format!("failed to write `{path}`: {e}"));
    if let Some(folder) = path.parent().filter(|folder| !folder.as_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(path, render(report, view)).map_err(failed)
}

/// An element with the counts of these tests.
fn counted(element: Element, tests: &[TestReport], report: &Report) -> Element {
    let count = |wanted| {
        let tests = tests.iter();
        tests.filter(|test| status(test, report) == wanted).count()
    };
    element
        .with("tests", &tests.len())
        .with("skipped", &count(Status::Skipped))
        .with("failures", &count(Status::Failed))
        .with("errors", &0)
}

fn case(test: &TestReport, report: &Report, view: &View<'_>) -> Element {
    let mut case = Element::new("testcase")
        .with("name", &test.name)
        .with("classname", &test.binary)
        .with("time", &seconds(test.elapsed_ms));
    if let Some(file) = &test.file {
        case = case.with("file", &file);
    }
    if let Some(line) = test.line {
        case = case.with("line", &line);
    }
    let property = |name: &str, value: &str| {
        Element::new("property")
            .with("name", &name)
            .with("value", &value)
    };
    let level = test.weakest_level;
    let level = level.map(|level| property("weakest-level", level.name()));
    let sanitised = test.sanitised_by.as_ref();
    let sanitised = sanitised.map(|sanitised| property("sanitised-by", &sanitised.name));
    let properties = [property("verdict", test.verdict.name())];
    let properties = properties.into_iter().chain(level).chain(sanitised);
    case = case.containing([Element::new("properties").containing(properties)]);
    let output = |text: &str| Element::new("system-out").text(text);
    let diagnostic = || human::render_test(test, report.run.strict, view);
    match status(test, report) {
        Status::Failed => {
            let verdict = test.verdict.name();
            let failures = test.failures.first();
            let message = failures.map_or(verdict, |failure| failure.message.as_str());
            let failure = Element::new("failure").with("message", &message);
            case.containing([failure.with("type", &verdict).text(&diagnostic())])
                .containing(test.output.as_deref().map(output))
        }
        Status::Skipped => {
            let (kind, why) = reason(test, report);
            let skipped = Element::new("skipped").with("message", &why);
            case.containing([skipped.with("type", &kind)])
        }
        Status::Passed if is_advice(test, report) => case.containing([output(&diagnostic())]),
        Status::Passed => case,
    }
}

fn status(test: &TestReport, report: &Report) -> Status {
    match test.verdict {
        _ if test.sanitised_by.is_some() => Status::Skipped,
        Verdict::NotRun => Status::Skipped,
        Verdict::Stable => Status::Passed,
        _ if is_advice(test, report) => Status::Passed,
        _ => Status::Failed,
    }
}

/// Why a test is skipped: the kind of reason, and the reason.
fn reason(test: &TestReport, report: &Report) -> (&'static str, String) {
    if let Some(sanitised) = &test.sanitised_by {
        return ("sanitised", sanitised.to_string());
    }
    let why = match (test.notes.as_slice(), report.partial) {
        ([], true) => "the run was interrupted".to_owned(),
        ([], false) => "it was not run".to_owned(),
        (notes, _) => notes.join("; "),
    };
    ("not-run", why)
}

fn is_advice(test: &TestReport, report: &Report) -> bool {
    test.advice().is_some() && !report.run.strict
}

/// Milliseconds as seconds.
fn seconds(milliseconds: u64) -> String {
    format!("{:.3}", Duration::from_millis(milliseconds).as_secs_f64())
}

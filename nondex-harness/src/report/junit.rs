//! The report as JUnit's XML, with the structure that nextest gives it: a suite for each test binary, a case for each test.
//!
//! What fails the run is a failure, with the finding's diagnostic as its text; what was sanitised, or not run, is skipped;
//! advice passes, with its diagnostic as output. Properties have the verdict and the weakest level; where the test is written
//! stands in the attributes `file` and `line`, as pytest and others write it.

use camino::Utf8Path;

use super::human::{self, View};
use super::schema::{Report, TestReport, Verdict};
use super::xml::Element;
use crate::error::{Error, Result};

/// The name of the report, as nextest's is `nextest-run`.
const NAME: &str = "nondex-run";

/// The report as XML. ANSI codes and characters that XML has not are left out.
#[must_use]
pub fn render(report: &Report, view: &View<'_>) -> String {
    let mut root = counted(
        Element::new("testsuites").with("name", NAME),
        &report.tests,
        report,
    )
    .with("time", &seconds(report.run.elapsed_ms));
    // Tests are in the order of their binaries.
    for tests in report.tests.chunk_by(|a, b| a.binary == b.binary) {
        let elapsed = tests.iter().map(|test| test.elapsed_ms).sum();
        let suite = Element::new("testsuite").with("name", &tests[0].binary);
        let mut suite = counted(suite, tests, report).with("time", &seconds(elapsed));
        for test in tests {
            suite.push(case(test, report, view));
        }
        root.push(suite);
    }
    root.document()
}

fn seconds(milliseconds: u64) -> String {
    format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000)
}

/// With how many tests there are, and how they ended.
fn counted(element: Element, tests: &[TestReport], report: &Report) -> Element {
    let count = |end: End| {
        tests
            .iter()
            .filter(|test| End::of(test, report) == end)
            .count()
    };
    element
        .with("tests", &tests.len())
        .with("skipped", &count(End::Skipped))
        .with("failures", &count(End::Failed))
        .with("errors", "0")
}

/// Writes the report as XML to `path`, and makes the folders above it.
///
/// # Errors
/// When it cannot be written, a set-up error with the path.
pub fn write(report: &Report, view: &View<'_>, path: &Utf8Path) -> Result<()> {
    let text = render(report, view);
    let failed = |e| Error::setup(format!("failed to write `{path}`: {e}"));
    if let Some(folder) = path.parent().filter(|folder| !folder.as_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(path, text).map_err(failed)
}

/// What JUnit calls the end of a test.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Passed,
    Failed,
    Skipped,
}

impl End {
    fn of(test: &TestReport, report: &Report) -> Self {
        match test.verdict {
            _ if test.sanitised_by.is_some() => End::Skipped,
            Verdict::NotRun => End::Skipped,
            Verdict::Stable => End::Passed,
            _ if is_advice(test, report) => End::Passed,
            _ => End::Failed,
        }
    }
}

fn case(test: &TestReport, report: &Report, view: &View<'_>) -> Element {
    let mut case = Element::new("testcase")
        .with("name", &test.name)
        .with("classname", &test.binary)
        .with("time", &seconds(test.elapsed_ms));
    if let Some(file) = &test.file {
        case = case.with("file", file);
    }
    if let Some(line) = test.line {
        case = case.with("line", &line);
    }
    let mut properties = Element::new("properties");
    let mut property = |name: &str, value: &str| {
        properties.push(
            Element::new("property")
                .with("name", name)
                .with("value", value),
        );
    };
    property("verdict", test.verdict.name());
    if let Some(level) = test.weakest_level {
        property("weakest-level", level.name());
    }
    if let Some(sanitised) = &test.sanitised_by {
        property("sanitised-by", &sanitised.name);
    }
    case.push(properties);
    let told = || human::render_test(test, report.run.strict, view);
    let mut output = None;
    match End::of(test, report) {
        End::Passed if is_advice(test, report) => output = Some(told()),
        End::Passed => {}
        End::Skipped => case.push(skipped(test, report)),
        End::Failed => {
            let verdict = test.verdict.name();
            let first = test.failures.first();
            let message = first.map_or(verdict, |failure| &failure.message);
            let failure = Element::new("failure").with("message", message);
            case.push(failure.with("type", verdict).text(&told()));
            output.clone_from(&test.output);
        }
    }
    if let Some(output) = output {
        case.push(Element::new("system-out").text(&output));
    }
    case
}

fn skipped(test: &TestReport, report: &Report) -> Element {
    let (kind, why) = match (&test.sanitised_by, test.notes.as_slice(), report.partial) {
        (Some(sanitised), ..) => ("sanitised", sanitised.to_string()),
        (None, [], true) => ("not-run", "the run was interrupted".to_owned()),
        (None, [], false) => ("not-run", "it was not run".to_owned()),
        (None, notes, _) => ("not-run", notes.join("; ")),
    };
    let skipped = Element::new("skipped").with("message", &why);
    skipped.with("type", kind)
}

fn is_advice(test: &TestReport, report: &Report) -> bool {
    test.advice().is_some() && !report.run.strict
}

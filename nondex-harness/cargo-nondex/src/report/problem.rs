//! Findings in the form that CI systems use: a rule, a severity, a line of the repository, and a
//! sentence.
//!
//! SARIF, code quality reports, annotations, job summaries and skip lists are rendered from this
//! list. Its texts are those of the report [for people](super::human).

mod rule;

use std::collections::BTreeMap;
use std::hash::Hasher;

use anstream::adapter::strip_str;
use camino::{Utf8Path, Utf8PathBuf};
use nondex_core::hash::FixedHasher;
use serde::Serialize;

pub use self::rule::Rule;
use super::cause::cause;
pub use super::human::Severity;
use super::human::{self, Diagnostic, Entry, Sources, View};
use super::schema::{Report, TestReport, Verdict};

/// A finding of a report.
#[derive(Clone, Debug)]
pub struct Problem<'r> {
    /// The tests of the finding, the one with the most evidence first. Never empty.
    pub tests: Vec<&'r TestReport>,
    /// Whether the finding fails the run.
    pub severity: Severity,
    /// The kind of the finding.
    pub rule: Rule,
    /// A sentence about the finding, with the name of the first test.
    pub headline: String,
    /// The same sentence without the test.
    pub cause: String,
    /// The responsible line of the user's own code, or else the line of the test, or else the first
    /// line of the workspace's manifest.
    pub place: SourceLine,
    /// Other lines: the other side of a race, where the test fails, and the tests themselves.
    pub related: Vec<SourceLine>,
    /// Advice on how to fix it.
    pub help: Option<String>,
    /// The command that reproduces it.
    pub reproduce: Option<&'r str>,
    /// A hash that stays the same when lines move. It is unique within a report.
    pub fingerprint: String,
}

/// A line of the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceLine {
    /// Path, relative to the root of the repository.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1, if known.
    pub column: Option<u32>,
    /// What the line shows.
    pub label: String,
}

impl Problem<'_> {
    /// Returns the test with the most evidence.
    pub fn first(&self) -> &TestReport {
        self.tests[0]
    }

    /// Returns whether the finding needs attention: it fails the run, and may be caused by the
    /// change at hand.
    pub fn needs_attention(&self) -> bool {
        self.severity == Severity::Error && !self.tests.iter().all(|test| test.is_of_before())
    }

    /// Returns the sentence. Further lines have what decides, the advice, and the command to
    /// reproduce it.
    pub fn text(&self) -> String {
        let label = Some(self.place.label.clone()).filter(|label| !label.is_empty());
        let help = self.help.iter().map(|help| format!("help: {help}"));
        let again = self.reproduce.iter().map(|line| format!("reproduce: {line}"));
        let lines = [self.headline.clone()].into_iter().chain(label).chain(help).chain(again);
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Returns the findings of a report, the most important first. The list includes advice, and tests
/// that do not fail the run. These are known flakes, failed before the change, or lack a
/// prerequisite.
pub fn problems<'r>(report: &'r Report, sources: &Sources) -> Vec<Problem<'r>> {
    problems_of(&report.tests, report.run.strict, sources)
}

/// Returns the findings about these tests, like [`problems`].
pub fn problems_of<'r>(
    tests: &'r [TestReport],
    strict: bool,
    sources: &Sources,
) -> Vec<Problem<'r>> {
    let view = View::brief(sources);
    let repository = Repository::around(sources);
    let mut problems: Vec<Problem<'r>> = human::entries(tests, strict, &view)
        .into_iter()
        .filter_map(|entry| problem(entry, &repository))
        .collect();
    let mut same: BTreeMap<String, u32> = BTreeMap::new();
    for problem in &mut problems {
        let number = same.entry(problem.fingerprint.clone()).or_default();
        *number += 1;
        problem.fingerprint = format!("{}:{number}", problem.fingerprint);
    }
    problems
}

fn problem<'r>(entry: Entry<'r, '_>, repository: &Repository<'_>) -> Option<Problem<'r>> {
    let Entry { tests, mut first, diagnostic } = entry;
    let test = tests[0];
    if diagnostic.is_none() {
        if test.verdict == Verdict::NotRun {
            return None;
        }
        first = strip_str(&first).to_string();
    }
    let rule = Rule::of(test);
    let marks: Vec<(bool, SourceLine)> = diagnostic
        .iter()
        .flat_map(Diagnostic::marks)
        .filter_map(|mark| {
            let place = (mark.file.as_str(), mark.line, mark.column);
            Some((mark.is_primary, repository.place(place, &mark.label)?))
        })
        .collect();
    let primary = marks.iter().position(|(is_primary, _)| *is_primary);
    let mut places: Vec<SourceLine> = marks.into_iter().map(|(_, place)| place).collect();
    let own = |test: &TestReport| {
        let line = (test.file.as_deref()?, test.line?, None);
        repository.place(line, &format!("the test `{}`", test.name))
    };
    let place = if places.is_empty() {
        own(test).unwrap_or_else(|| repository.manifest())
    } else {
        places.remove(primary.unwrap_or(0))
    };
    places.extend(tests.iter().filter_map(|test| own(test)));
    let mut related: Vec<SourceLine> = Vec::new();
    for other in places {
        let same = |known: &SourceLine| (&known.file, known.line) == (&other.file, other.line);
        if !same(&place) && !related.iter().any(same) {
            related.push(other);
        }
    }
    let headline = diagnostic.as_ref().map(|one| one.headline().to_owned());
    let cause = first.strip_prefix(&format!("`{}`", test.id));
    Some(Problem {
        severity: diagnostic.as_ref().map_or(Severity::Note, Diagnostic::severity),
        cause: cause.unwrap_or(&first).trim_start_matches([':', ' ']).to_owned(),
        headline: headline.unwrap_or(first),
        place,
        related,
        help: diagnostic.and_then(|one| one.remark("help").map(str::to_owned)),
        reproduce: test.reproduce.as_deref(),
        fingerprint: fingerprint(&rule, test, repository.sources),
        rule,
        tests,
    })
}

/// Returns a hash of a rule and a cause. Tests with the same responsible calls share it. Any other
/// cause belongs to a test or, for test orders, to a binary.
fn fingerprint(rule: &Rule, test: &TestReport, sources: &Sources) -> String {
    let owner = match () {
        () if test.is_dependent() && !test.culprits.is_empty() => "",
        () if test.order.is_some() => test.binary.as_str(),
        () => test.id.as_str(),
    };
    let cause = cause(test, sources);
    let texts = [rule.id.as_str(), owner].into_iter();
    let mut hasher = FixedHasher::default();
    for text in texts.chain(cause.iter().map(String::as_str)) {
        hasher.write_usize(text.len());
        hasher.write(text.as_bytes());
    }
    format!("{:016x}", hasher.finish())
}

/// The position of the workspace in its repository.
struct Repository<'s> {
    sources: &'s Sources,
    /// Path of the workspace, relative to the repository.
    workspace: Utf8PathBuf,
}

impl<'s> Repository<'s> {
    /// Finds the repository around the workspace: the nearest directory with a `.git`, or else the
    /// workspace itself.
    fn around(sources: &'s Sources) -> Self {
        let root = sources.root();
        let top = root.ancestors().find(|folder| folder.join(".git").exists());
        let workspace = top.and_then(|top| root.strip_prefix(top).ok());
        Repository { sources, workspace: workspace.unwrap_or(Utf8Path::new("")).to_owned() }
    }

    /// Returns the place of findings without a known line.
    fn manifest(&self) -> SourceLine {
        SourceLine {
            file: self.workspace.join("Cargo.toml").into_string(),
            line: 1,
            column: None,
            label: String::new(),
        }
    }

    /// Returns a place in the user's own code, or `None` for other places.
    fn place(&self, place: (&str, u32, Option<u32>), label: &str) -> Option<SourceLine> {
        let (file, line, column) = place;
        let is_shown = line > 0 && self.sources.is_users(file);
        is_shown.then(|| SourceLine {
            // Places in doctests begin with `./`.
            file: self.workspace.join(file.trim_start_matches("./")).into_string(),
            line,
            column,
            label: label.to_owned(),
        })
    }
}

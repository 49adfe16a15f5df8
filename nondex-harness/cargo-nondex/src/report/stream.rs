//! The stream of events for programs that read them during the run, one event per line.
//!
//! [`VERSION`] stays the same while events and fields are only added. A reader must ignore unknown
//! ones.

mod refutation;

use std::collections::BTreeMap;

use nondex_core::Level;
use serde::Serialize;

use self::refutation::refutations;
use super::human::{Sources, proof};
use super::problem::{Problem, SourceLine, problems, problems_of};
use super::schema::{Report, Summary, TestReport, Verdict};
use crate::exit_code::ExitCode;

/// Version of the events.
pub const VERSION: u64 = 1;

/// One event, which is one line of the stream.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The command begins. This is always the first event.
    RunStarted(RunStarted),
    /// The build of the tests begins.
    BuildStarted,
    /// The tests are built and selected.
    BuildFinished(BuildFinished),
    /// The first run of a test begins.
    TestStarted(TestStarted),
    /// The progress of the command.
    Progress(Counts),
    /// A stage has judged a test.
    TestFinished(TestFinished),
    /// Something was found.
    Finding(Box<Finding>),
    /// The command ends. This is always the last event.
    RunFinished(Box<RunFinished>),
}

/// Event `run-started`: the command begins. It is always the first one.
#[derive(Clone, Debug, Serialize)]
pub struct RunStarted {
    /// Version of the events, `1`.
    pub version: u64,
    /// Version of `cargo-nondex`.
    pub tool: String,
    /// Command line.
    pub command: String,
}

/// Event `build-finished`: the tests are built and selected. The event `build-started` comes before
/// it and has no fields.
#[derive(Clone, Debug, Serialize)]
pub struct BuildFinished {
    /// Number of test binaries.
    pub binaries: usize,
    /// Number of tests that will run.
    pub tests: usize,
    /// Duration of the build in milliseconds.
    pub elapsed_ms: u64,
}

/// What is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Each test alone, with other choices.
    Choices,
    /// Tests after and together with others.
    Orders,
}

/// Event `test-started`: the first run of a test begins. Further runs have no event.
#[derive(Clone, Debug, Serialize)]
pub struct TestStarted {
    /// Id of the test.
    pub test: String,
}

/// Event `progress`: how far the command is, at most once in a second.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Counts {
    /// What is tried; `check` has both stages.
    pub stage: Stage,
    /// Tests that are judged.
    pub judged: usize,
    /// All tests that run in this stage.
    pub tests: usize,
    /// Test processes that have ended.
    pub runs: u64,
}

/// Event `test-finished`: a test is judged by one stage. The report has one verdict by both.
#[derive(Clone, Debug, Serialize)]
pub struct TestFinished {
    /// Id of the test.
    pub test: String,
    /// What was tried.
    pub stage: Stage,
    /// Conclusion.
    pub verdict: Verdict,
    /// Most realistic level at which the outcome depends on the seed.
    pub weakest_level: Option<Level>,
    /// Number of its runs.
    pub runs: u64,
    /// Duration of all its runs, in milliseconds.
    pub elapsed_ms: u64,
}

/// Event `finding`: something was found. It is sent when a test is judged. At the end, it is sent
/// again as final: tests with the same cause are then one finding, and known flakes are marked.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Whether it is the final state.
    pub is_final: bool,
    /// Hash of the cause, which stays the same while lines move.
    pub fingerprint: String,
    /// `error` if it fails the run, otherwise `warning` or `note`.
    pub severity: String,
    /// Its kind, as in SARIF.
    pub rule: String,
    /// Verdict of the first test.
    pub verdict: Verdict,
    /// Ids of the tests, the one with the most evidence first.
    pub tests: Vec<String>,
    /// The finding in a sentence.
    pub headline: String,
    /// The lines that matter: the responsible one, then the other side and where the test fails.
    pub lines: Vec<SourceLine>,
    /// Evidence for it.
    pub proof: Proof,
    /// What to do about it.
    pub help: Option<String>,
    /// Command that reproduces it.
    pub reproduce: Option<String>,
    /// Observations that would refute it.
    pub disproved_by: Vec<Refutation>,
}

/// Evidence for a finding, from its first test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proof {
    /// Whether the responsible calls are confirmed: with only these changed, the outcome always
    /// changes, and without them never. Null without such calls.
    pub confirmed: Option<bool>,
    /// The same in a sentence.
    pub explanation: Option<String>,
    /// Most realistic level at which the outcome depends on the seed.
    pub weakest_level: Option<Level>,
    /// Number of failing seeds and of tried seeds at each level.
    pub failure_rate: BTreeMap<Level, [u64; 2]>,
    /// Number of failing runs and of all runs of a plain build, if there were some.
    pub plain: Option<[u64; 2]>,
    /// Whether it is known to fail by chance today.
    pub flaky_today: bool,
    /// Number of runs that were made.
    pub runs: u64,
    /// Message of the first failing run.
    pub message: Option<String>,
}

/// Observation that would refute a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refutation {
    /// What would be observed.
    pub observation: String,
    /// Command that tries it.
    pub command: Option<String>,
}

/// Event `run-finished`: the command ends. It is always the last one.
#[derive(Clone, Debug, Serialize)]
pub struct RunFinished {
    /// Exit code.
    pub exit_code: u8,
    /// Path of the report; null if there is none.
    pub report: Option<String>,
    /// Counts of the report.
    pub summary: Option<Summary>,
    /// Whether it was interrupted.
    pub partial: bool,
    /// Why there is no report.
    pub error: Option<String>,
}

impl RunStarted {
    /// Creates the event for this command line.
    pub fn new(command: &str) -> Self {
        RunStarted {
            version: VERSION,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            command: command.to_owned(),
        }
    }
}

impl RunFinished {
    /// Creates the event for an end with this code, without a report.
    pub const fn new(code: ExitCode) -> Self {
        RunFinished {
            exit_code: code as u8,
            report: None,
            summary: None,
            partial: false,
            error: None,
        }
    }
}

impl TestFinished {
    /// Creates the event for a test that this stage has judged.
    pub fn new(test: &TestReport, stage: Stage) -> Self {
        TestFinished {
            test: test.id.clone(),
            stage,
            verdict: test.verdict,
            weakest_level: test.weakest_level,
            runs: test.runs,
            elapsed_ms: test.elapsed_ms,
        }
    }
}

/// Returns the findings about one test when it is judged.
pub fn findings_of(test: &TestReport, strict: bool, sources: &Sources) -> Vec<Finding> {
    let problems = problems_of(std::slice::from_ref(test), strict, sources);
    problems.iter().map(|one| Finding::new(one, false)).collect()
}

/// Returns the final findings of a report.
pub fn findings(report: &Report, sources: &Sources) -> Vec<Finding> {
    problems(report, sources).iter().map(|one| Finding::new(one, true)).collect()
}

impl Finding {
    fn new(problem: &Problem<'_>, is_final: bool) -> Self {
        let test = problem.first();
        let lines = [&problem.place].into_iter().chain(&problem.related);
        Finding {
            is_final,
            fingerprint: problem.fingerprint.clone(),
            severity: problem.severity.name().to_owned(),
            rule: problem.rule.id.clone(),
            verdict: test.verdict,
            tests: problem.tests.iter().map(|test| test.id.clone()).collect(),
            headline: problem.headline.clone(),
            lines: lines.cloned().collect(),
            proof: Proof::new(test),
            help: problem.help.clone(),
            reproduce: problem.reproduce.map(str::to_owned),
            disproved_by: refutations(test),
        }
    }
}

impl Proof {
    fn new(test: &TestReport) -> Self {
        Proof {
            confirmed: (!test.culprits.is_empty()).then(|| test.has_confirmed_culprits()),
            explanation: proof(test).map(str::to_owned),
            weakest_level: test.weakest_level,
            failure_rate: test.failure_rate.clone(),
            plain: test.plain,
            flaky_today: test.flaky_today,
            runs: test.runs,
            message: test.failures.first().map(|one| one.message.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;

    use super::super::schema::tests::{report, test};
    use super::*;

    #[test]
    fn an_event_is_an_object_with_its_name() {
        let finished = TestFinished::new(&test(Verdict::Stable), Stage::Orders);
        let json = serde_json::to_value(Event::TestFinished(finished)).unwrap();
        assert_eq!(json["event"], "test-finished");
        assert_eq!((&json["verdict"], &json["stage"]), (&"stable".into(), &"orders".into()));
        let json = serde_json::to_value(Event::BuildStarted).unwrap();
        assert_eq!(json, serde_json::json!({ "event": "build-started" }));
    }

    #[test]
    fn the_finding_of_a_test_and_that_of_its_report_are_one() {
        let mut found = test(Verdict::NonDeterministic);
        found.reproduce = Some("cargo nondex replay a --clean".to_owned());
        let sources = Sources::of_user(Utf8Path::new("/nowhere"));
        let early = findings_of(&found, false, &sources);
        let last = findings(&report(vec![found]), &sources);
        let [early, last] = [&early, &last].map(|found| match found.as_slice() {
            [one] => serde_json::to_value(one).unwrap(),
            other => panic!("{other:#?}"),
        });
        assert_eq!((&early["is_final"], &last["is_final"]), (&false.into(), &true.into()));
        assert_eq!(early["fingerprint"], last["fingerprint"]);
        assert_eq!(early["severity"], "error");
    }
}

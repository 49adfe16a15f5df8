//! Results of an ended process: converts its record to a [`Run`] of each test.

use std::io;
use std::time::Duration;

use camino::Utf8PathBuf;
use nondex_core::{Failure, Frame, Outcome, RunRecord, RunSpec, ScheduleEndKind, Selection};

use super::experiment::records;
use super::message::{self, Limit};
use super::output::Output;
use super::process::End;
use super::record::Recorded;
use crate::judge::run::Run;
use crate::project::{Harness, TestBinary, TestCase};
use crate::report::difference;

/// Exit code of libtest when a test failed, and of a program whose `main` panicked.
const PANICKED: i32 = 101;

/// Ended process with its record.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) record: Utf8PathBuf,
    pub(super) process_end: Outcome,
    pub(super) left_child: bool,
    pub(super) output: Output,
    /// Stacks of its threads, if it exceeded the time limit.
    pub(super) stacks: Vec<Vec<Frame>>,
    pub(super) took: Duration,
    /// Processor time that it took itself, without its children.
    pub(super) busy: Duration,
    pub(super) recorded: Recorded,
    /// Reason why the record cannot be read.
    pub(super) problem: Option<String>,
}

impl Ended {
    /// Returns a run of each of `tests`, which are the tests of `named`. Keeps the record as text
    /// if one of them failed, and removes it otherwise.
    pub(super) fn runs(
        self,
        named: &RunSpec,
        tests: &[&TestCase],
        limits: &[Duration],
    ) -> Vec<Run> {
        let complete = self.problem.is_none() && self.recorded.is_complete();
        let lost = self.recorded.lost;
        let left_child = self.left_child.then(|| "it left a child process running".to_owned());
        let (took, busy) = (self.took, self.busy);
        // A process that a limit ended before its time limit had been busy for too long.
        let limit = |timeout| {
            if took < timeout { Limit::Busy(busy) } else { Limit::Elapsed(timeout) }
        };
        let mut runs = Vec::new();
        let records = records(named, self.recorded.events, self.process_end);
        for ((mut folded, test), &timeout) in records.into_iter().zip(tests).zip(limits) {
            let mut notes: Vec<String> = left_child.iter().cloned().collect();
            if lost > 0 {
                notes.push(format!(
                    "the record of a run is incomplete: {lost} events did not fit into it"
                ));
            }
            if let Some(message) = &self.problem {
                // Without a record, it is unknown what the test reached. With this tool's harness,
                // it is also unknown how the test ended, so a pass is not accepted.
                let record = &self.record;
                notes.push(format!("the record `{record}` cannot be read: {message}"));
                if folded.outcome.passed() {
                    folded.outcome = Outcome::Failed;
                }
                folded.failure = Some(Failure {
                    message: format!("the record of the run cannot be read: {message}"),
                    ..Failure::default()
                });
            }
            let mut is_after_panic = false;
            let schedule = folded.schedule.as_ref();
            if folded.outcome.passed() && schedule.is_some_and(|schedule| schedule.end.is_some()) {
                // A doctest that must panic passes with the exit code of a panic.
                folded.outcome = Outcome::Failed;
            }
            let passed = folded.outcome.passed();
            let output = || self.output.to_text();
            let is_written = passed && !self.output.is_empty();
            if !passed {
                let schedule = folded.schedule.as_ref();
                let end = schedule.and_then(|schedule| schedule.end.as_ref());
                let is_deadlock = end.is_some_and(|end| end.kind == ScheduleEndKind::Deadlock);
                if is_deadlock {
                    let panic = message::panic_before_end(&output());
                    is_after_panic = panic.is_some();
                    notes.extend(panic);
                }
                let ended = end.map(message::of_schedule);
                folded.failure = Some(match ended.or(folded.failure.take()) {
                    Some(failure) => message::clarify(failure, &output()),
                    None => explain(test, &folded.outcome, &output(), limit(timeout)),
                });
            }
            let run = run_of(folded, (self.took, timeout), complete, notes);
            runs.push(Run {
                lost: lost > 0,
                is_after_panic,
                busy: self.busy,
                stacks: if run.outcome == Outcome::TimedOut {
                    self.stacks.clone()
                } else {
                    Vec::new()
                },
                written: if is_written { difference::fingerprint(&output()) } else { 0 },
                output: (!passed || is_reference(named)).then(output),
                ..run
            });
        }
        if runs.iter().all(Run::passed) {
            let _ = std::fs::remove_file(&self.record);
        } else {
            Recorded::keep(&self.recorded.text, &self.record);
        }
        runs
    }
}

/// Returns the run with this record, duration and time limit, and without any output.
pub(super) fn run_of(
    folded: RunRecord,
    (took, limit): (Duration, Duration),
    complete: bool,
    notes: Vec<String>,
) -> Run {
    Run { took, limit, complete, notes, ..Run::from(folded) }
}

/// Returns whether a passing run of `spec` may be the reference for a failing one. Runs of seeds
/// are no references: a batch of them would hold many outputs in memory.
fn is_reference(spec: &RunSpec) -> bool {
    matches!(spec.selection(), None | Some(Selection::Except(_))) && spec.given().is_empty()
}

/// Returns the outcome of a run of `test` whose record does not have it. Returns `None` if the run
/// was stopped.
pub fn outcome_of(binary: &TestBinary, test: &TestCase, end: End) -> Option<Outcome> {
    let outcome = outcome(binary.harness, end)?;
    Some(match outcome {
        Outcome::TimedOut => Outcome::TimedOut,
        Outcome::Passed if should_panic(test) => Outcome::Failed,
        // rustdoc accepts any failure here.
        _ if should_panic(test) => Outcome::Passed,
        other => other,
    })
}

/// Returns whether the program of a test must fail for the test to pass.
fn should_panic(test: &TestCase) -> bool {
    let doctest = test.doctest.as_ref();
    doctest.is_some_and(|doctest| doctest.should_panic)
}

/// Returns the failure of a run of `test` whose record does not have it.
pub fn explain(
    test: &TestCase,
    outcome: &Outcome,
    output: &str,
    limit: impl Into<Limit>,
) -> Failure {
    if should_panic(test) && *outcome == Outcome::Failed {
        return Failure {
            message: "test did not panic as expected".to_owned(),
            ..Failure::default()
        };
    }
    // A doctest is a whole program. std prints the error that its `main` returns.
    let of_main = || (*outcome == Outcome::Exited(1)).then(|| message::returned(output)).flatten();
    let returned = test.doctest.as_ref().and_then(|_| of_main());
    let of_trial = || message::of_trial(&test.name, output);
    let has_trials = *outcome == Outcome::Failed;
    returned.or_else(|| has_trials.then(of_trial).flatten()).map_or_else(
        || message::explain(outcome, output, limit),
        |message| Failure { message, ..Failure::default() },
    )
}

/// Returns the outcome of a test with this harness from the end of its process. Returns `None` if
/// the process was stopped.
pub const fn outcome(harness: Harness, end: End) -> Option<Outcome> {
    Some(match (harness, end) {
        (_, End::Stopped) => return None,
        (_, End::TimedOut) => Outcome::TimedOut,
        (_, End::Signalled(signal)) => Outcome::Signalled(signal),
        (Harness::Nondex, End::Exited(code)) => Outcome::Exited(code),
        (_, End::Exited(0)) => Outcome::Passed,
        (Harness::Opaque, End::Exited(code)) => Outcome::Exited(code),
        (_, End::Exited(PANICKED)) => Outcome::Failed,
        (_, End::Exited(code)) => Outcome::Exited(code),
    })
}

/// Returns the run of a test whose process could not be started.
pub(super) fn not_started(binary: &TestBinary, test: &TestCase, error: &io::Error) -> Run {
    let program = binary.runner.first().map_or_else(
        || binary.executable_of(test).to_string(),
        |runner| runner.display().to_string(),
    );
    Run {
        failure: Some(Failure {
            message: format!("failed to start `{program}` in `{}`: {error}", binary.cwd),
            ..Failure::default()
        }),
        is_missing: true,
        complete: false,
        ..Run::ended(Outcome::Failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_process_is_read_as_its_harness_means_it() {
        use Harness::{Doctest, Libtest, Nondex, Opaque, Serial};
        for (harness, end, expected) in [
            (Nondex, End::Exited(0), Some(Outcome::Exited(0))),
            (Nondex, End::Exited(101), Some(Outcome::Exited(101))),
            (Libtest, End::Exited(0), Some(Outcome::Passed)),
            (Libtest, End::Exited(101), Some(Outcome::Failed)),
            (Libtest, End::Exited(1), Some(Outcome::Exited(1))),
            (Serial, End::Exited(0), Some(Outcome::Passed)),
            (Serial, End::Exited(101), Some(Outcome::Failed)),
            (Doctest, End::Exited(0), Some(Outcome::Passed)),
            (Doctest, End::Exited(101), Some(Outcome::Failed)),
            (Doctest, End::Exited(1), Some(Outcome::Exited(1))),
            (Opaque, End::Exited(0), Some(Outcome::Passed)),
            (Opaque, End::Exited(101), Some(Outcome::Exited(101))),
            (Opaque, End::Signalled(6), Some(Outcome::Signalled(6))),
            (Libtest, End::TimedOut, Some(Outcome::TimedOut)),
            (Nondex, End::Stopped, None),
        ] {
            assert_eq!(outcome(harness, end), expected, "{harness:?} {end:?}");
        }
    }
}

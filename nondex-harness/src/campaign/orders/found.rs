//! What was found in one binary.

use nondex_core::{RunSpec, Threads};

use crate::campaign::order::Processes;
use crate::judge::order::experiments::Experiments;
use crate::judge::order::{Conclusion, Dependence, Detection, End};
use crate::report::judged::{self, order};
use crate::report::{TestReport, Verdict};

/// What was found in one binary.
pub(super) struct Found {
    /// The tests that end otherwise when they run twice.
    pub(super) repeated: Vec<usize>,
    /// How each test ended alone.
    pub(super) alone: Vec<Option<End>>,
    /// What is concluded of those that ended otherwise in some order.
    pub(super) suspects: Vec<Suspect>,
    /// Those of them that depend on others only with a thread for each test.
    pub(super) needs_each: Vec<usize>,
    pub(super) detection: Detection,
}

impl Found {
    /// The report of a test, which is one of the suspects or none.
    pub(super) fn report(
        &self,
        processes: &Processes<'_>,
        test: usize,
        suspect: Option<&Suspect>,
        names: &[&str],
        experiments: &Experiments,
    ) -> TestReport {
        let suite = processes.suite;
        let mut report = judged::not_run(suite, processes.tests[test]);
        let options = processes.options_of(test);
        // How it failed behind these tests.
        let fail = |report: &mut TestReport, before: &[usize]| {
            let spec = RunSpec {
                before: before.iter().map(|test| names[*test].to_owned()).collect(),
                ..processes.spec(test)
            };
            order::fail(
                report,
                suite,
                &spec,
                experiments.failing(before, test),
                &options,
            );
        };
        let alone = self.alone[test].as_ref();
        match suspect.map(|suspect| &suspect.conclusion) {
            Some(Conclusion::Dependent(dependence)) => {
                order::dependent(&mut report, dependence, names, &options, processes.threads);
                let before = match dependence.passes_alone {
                    true => dependence.sets[0].clone(),
                    false => Vec::new(),
                };
                fail(&mut report, &before);
            }
            Some(Conclusion::NonDeterministic { before, failures }) => {
                report.verdict = Verdict::NonDeterministic;
                report.notes.push(order::disagreeing(before, *failures));
                fail(&mut report, before);
            }
            _ => match alone.and_then(End::passed) {
                Some(true) => {
                    report.verdict = Verdict::Stable;
                    if self.detection.unknown.contains(&test) {
                        report.notes.push(
                            "in some orders too many tests before it ended the process: it was not started there".to_owned(),
                        );
                    }
                }
                Some(false) => {
                    report.verdict = Verdict::Broken;
                    report
                        .notes
                        .push("it fails alone and in every order that was tried".to_owned());
                    fail(&mut report, &[]);
                }
                None => {
                    if let Some(explanation) = alone.and_then(|end| end.explanation.as_ref()) {
                        fail(&mut report, &[]);
                        order::explained(&mut report, explanation);
                    }
                }
            },
        }
        if self.needs_each.contains(&test) {
            report.notes.push(
                "when all tests run on one thread, as with `--test-threads=1`, it does not depend on them"
                    .to_owned(),
            );
        }
        let repeated = experiments.hint(test, test);
        let repeated = repeated.filter(|_| report.verdict != Verdict::NonDeterministic);
        report.idempotent = repeated.map(|_| !self.repeated.contains(&test));
        if report.idempotent == Some(false) {
            report.notes.push(
                "it is not idempotent: run twice in one process, it ends otherwise the second time"
                    .to_owned(),
            );
        }
        report
    }
}

/// A test that ended otherwise in some order.
pub(super) struct Suspect {
    pub(super) test: usize,
    pub(super) conclusion: Conclusion,
    /// The threads with which it did.
    pub(super) threads: Threads,
}

impl Suspect {
    /// Those of these tests that are not independent.
    pub(super) fn of(tests: Vec<usize>, concluded: Vec<Conclusion>, threads: Threads) -> Vec<Self> {
        let all = tests.into_iter().zip(concluded);
        let all = all.filter(|(_, conclusion)| *conclusion != Conclusion::Independent);
        let suspects = all.map(|(test, conclusion)| Suspect {
            test,
            conclusion,
            threads,
        });
        suspects.collect()
    }

    /// What it depends on.
    pub(super) const fn dependence(&self) -> Option<&Dependence> {
        match &self.conclusion {
            Conclusion::Dependent(dependence) => Some(dependence),
            _ => None,
        }
    }
}

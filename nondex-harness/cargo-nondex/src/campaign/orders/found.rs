//! Results of the search in one binary.

use std::sync::Arc;
use std::time::Duration;

use nondex_core::Level;

use super::chance::Chance;
use super::crossed::Crossed;

use crate::campaign::order::Processes;
use crate::judge::order::experiments::Experiments;
use crate::judge::order::{Detection, OrderConclusion, OrderDependence};
use crate::judge::{Fact, Run};
use crate::report::judged::{self, order};
use crate::report::{TestReport, TriedOrder, Verdict};

/// Results of the search in one binary.
pub(super) struct BinaryResult {
    /// Tests whose outcome changes when they run twice.
    pub(super) repeated: Vec<usize>,
    /// Run of each test alone.
    pub(super) alone: Vec<Option<Arc<Run>>>,
    /// Conclusions about the tests whose outcome differs in some order.
    pub(super) suspects: Vec<Suspect>,
    /// Tests without a conclusion, because the search was stopped.
    pub(super) open: Vec<usize>,
    /// Whether all orders were run.
    pub(super) is_tried: bool,
    /// Tests whose outcome depends on choices or chance, not on earlier tests.
    pub(super) chances: Vec<Chance>,
    /// Tests whose outcome depends on other tests and choices together.
    pub(super) crossed: Vec<Crossed>,
    pub(super) detection: Detection,
    /// Orders of all tests that were run.
    pub(super) tried: Vec<TriedOrder>,
    /// Duration of one run of all tests divided by the number of jobs; `None` without a time limit.
    pub(super) suite: Option<Duration>,
}

impl BinaryResult {
    /// Returns the report of a test. `suspect` is its entry among the suspects, if any.
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
        // Reports how the test failed after these tests.
        let fail = |report: &mut TestReport, before: &[usize]| {
            let before_it = before.iter().map(|test| names[*test].to_owned());
            let spec = processes.spec(test).after(before_it.collect());
            order::fail(report, suite, &spec, experiments.failing(before, test), &options);
        };
        if let Some(chance) = self.chances.iter().find(|known| known.test == test) {
            let spec = match chance.seed {
                Some(seed) => options.seed_spec(&report.name, Level::Std, seed),
                None => processes.spec(test),
            };
            order::fail(&mut report, suite, &spec, chance.run.as_ref(), &options);
            if chance.is_chosen {
                order::decided_by_choices(&mut report, chance.failures);
            } else {
                order::varying(&mut report, &[], chance.failures);
            }
            return report;
        }
        if let Some(crossed) = self.crossed.iter().find(|known| known.test == test) {
            order::dependent(&mut report, &crossed.dependence, names, &options);
            let before = crossed.dependence.sets[0].iter();
            let spec = options
                .seed_spec(&report.name, crossed.level, crossed.seed)
                .after(before.map(|test| names[*test].to_owned()).collect());
            order::fail(&mut report, suite, &spec, crossed.run.as_ref(), &options);
            order::crossed(&mut report, crossed.choices.clone());
            return report;
        }
        match suspect.map(|suspect| &suspect.conclusion) {
            Some(OrderConclusion::Dependent(dependence)) => {
                order::dependent(&mut report, dependence, names, &options);
                let before =
                    if dependence.passes_alone { dependence.sets[0].clone() } else { Vec::new() };
                fail(&mut report, &before);
            }
            Some(OrderConclusion::NonDeterministic { before, failures }) => {
                order::varying(&mut report, before, *failures);
                fail(&mut report, before);
            }
            _ if !self.is_settled(test) => {
                report.notes.extend(self.so_far(processes, test));
            }
            _ => match self.passed_alone(processes, test) {
                Some(true) => {
                    report.rule(Fact::Passes);
                    if self.detection.unknown.contains(&test) {
                        report.notes.push(
                            "it was not started in some orders, because too many tests before it \
                             ended the process"
                                .to_owned(),
                        );
                    }
                    order::disturbed(&mut report, experiments.failures(test));
                }
                Some(false) => {
                    order::failing(
                        &mut report,
                        experiments.failures(test),
                        experiments.failures_in_forks(test),
                    );
                    fail(&mut report, &[]);
                }
                None => {
                    let run = self.alone[test].as_ref();
                    if let Some(explanation) = run.and_then(|run| options.explanation(run)) {
                        fail(&mut report, &[]);
                        order::explained(&mut report, &explanation);
                    }
                }
            },
        }
        let repeated =
            experiments.hint(test, test).filter(|_| report.verdict != Verdict::NonDeterministic);
        report.idempotent = repeated.map(|_| !self.repeated.contains(&test));
        if report.idempotent == Some(false) {
            report.notes.push(
                "it is not idempotent: run twice in one process, it has another outcome the \
                 second time"
                    .to_owned(),
            );
        }
        report
    }

    /// Returns whether everything was tried that decides about a test without suspicion.
    fn is_settled(&self, test: usize) -> bool {
        self.is_tried && !self.open.contains(&test)
    }

    /// Returns whether a test passes alone, if its run alone is evidence.
    fn passed_alone(&self, processes: &Processes<'_>, test: usize) -> Option<bool> {
        processes.passed(test, self.alone[test].as_ref()?)
    }

    /// Returns a note with what is known about an undecided test.
    fn so_far(&self, processes: &Processes<'_>, test: usize) -> Option<String> {
        let passes = self.passed_alone(processes, test)?;
        let alone = if passes { "passes" } else { "fails" };
        Some(if self.open.contains(&test) {
            format!(
                "it {alone} alone and had another outcome after other tests: the search for these \
                 tests was stopped early"
            )
        } else {
            format!("it {alone} alone: not all orders were tried")
        })
    }

    /// Returns a note about the results that are missing for this binary, because it was stopped.
    pub(super) fn left_out(&self, binary: &str, requested: &[usize], names: &[&str]) -> String {
        let is_decided = |test: &&usize| {
            self.is_settled(**test) || self.suspects.iter().any(|known| known.test == **test)
        };
        let decided = requested.iter().filter(is_decided).count();
        let open: Vec<String> =
            self.open.iter().map(|test| format!("`{}`", names[*test])).collect();
        let mut note = format!(
            "the orders of `{binary}` were stopped early: {decided} of {} tests are judged, and \
             shared state and races may be missing",
            requested.len()
        );
        if !open.is_empty() {
            let depend = if open.len() == 1 { "depends" } else { "depend" };
            let open = open.join(", ");
            note += &format!("; the tests that {open} {depend} on are not known yet");
        }
        note
    }
}

/// A test whose outcome differs in some order.
pub(super) struct Suspect {
    pub(super) test: usize,
    pub(super) conclusion: OrderConclusion,
}

impl Suspect {
    /// Splits these tests into those that depend on something and those without a conclusion.
    pub(super) fn of(
        tests: Vec<usize>,
        concluded: Vec<Option<OrderConclusion>>,
    ) -> (Vec<Self>, Vec<usize>) {
        let (mut suspects, mut open) = (Vec::new(), Vec::new());
        for (test, conclusion) in tests.into_iter().zip(concluded) {
            match conclusion {
                None => open.push(test),
                Some(OrderConclusion::Independent) => {}
                Some(conclusion) => suspects.push(Suspect { test, conclusion }),
            }
        }
        (suspects, open)
    }

    /// Returns the tests that it depends on.
    pub(super) const fn dependence(&self) -> Option<&OrderDependence> {
        match &self.conclusion {
            OrderConclusion::Dependent(dependence) => Some(dependence),
            _ => None,
        }
    }
}

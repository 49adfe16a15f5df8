//! What fails whenever it runs alone in canonical order is run again: after the other tests of its
//! binary, and in a plain build.

use std::collections::BTreeMap;

use super::Campaign;
use super::brittle::{self, BrittleSearch};
use super::comparison::{Builder, Comparison, as_plain};
use super::external_files::{self, Changed};
use super::queue::{Concluded, Workload};
use super::stop::StopFlag;
use super::written_paths::WrittenPaths;
use crate::judge::conclusion::Conclusion;
use crate::judge::isolation::Judgement;
use crate::judge::plain::{self, PlainBuild};
use crate::judge::{deadlock, specs};
use crate::project::{Harness, Suite, TestCase};
use crate::report::judged;

impl Campaign<'_> {
    /// Whether a test that fails alone is to be run after the others of its binary.
    pub(super) fn is_tried_after_others(&self, test: usize, judgement: &Judgement) -> bool {
        let (suite, case) = self.tests[test];
        is_broken(judgement) && brittle::has_others(suite, case)
    }

    /// Runs the tests that fail alone after the others of their binaries, and has them judged with
    /// that. Whether there are any.
    pub(super) fn try_after_others(&self, concluded: &mut [Concluded], stop: &StopFlag) -> bool {
        let mut broken: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (test, concluded) in concluded.iter().enumerate() {
            let judgement = concluded.judgement.as_ref();
            if judgement.is_some_and(|judgement| self.is_tried_after_others(test, judgement)) {
                let (suite, _) = self.tests[test];
                broken.entry(&suite.binary.id).or_default().push(test);
            }
        }
        for tests in broken.values() {
            let (suite, _) = self.tests[tests[0]];
            let clean = |case: &TestCase| {
                let known = |(known, other): &(&Suite, &TestCase)| {
                    known.binary.id == suite.binary.id && other.name == case.name
                };
                let test = self.tests.iter().position(known)?;
                let spec = specs::clean_spec(&case.name, &self.options[test]);
                concluded[test].runs.together.of(&spec).first().cloned()
            };
            let options = self.options[tests[0]].with_real_threads();
            let search = BrittleSearch {
                launcher: &self.launcher,
                options: &options,
                progress: self.progress,
                stop,
            };
            let cases: Vec<&TestCase> = tests.iter().map(|test| self.tests[*test].1).collect();
            let found = search.run(suite, &cases, &clean);
            for (test, found) in tests.iter().zip(found.into_iter().flatten()) {
                concluded[*test].runs.after_others = Some(found);
            }
            for test in tests {
                let concluded = &mut concluded[*test];
                let judged = self.conclude(*test, &concluded.runs);
                if !judged.is_ok_and(|judgement| self.is_compared(&judgement)) {
                    self.judge_again(*test, concluded);
                }
            }
        }
        !broken.is_empty()
    }

    /// Whether a judgement is not the last word.
    pub(super) fn is_compared(&self, judgement: &Judgement) -> bool {
        self.compares && plain::is_wanted(&judgement.conclusion)
    }

    /// Compares the tests that fail in canonical order with a plain build, and has them judged with
    /// that. Whether any was.
    pub(super) fn compare(
        &self,
        concluded: &mut [Concluded],
        builder: &dyn Builder,
        stop: &StopFlag,
    ) -> bool {
        let mut broken = Vec::new();
        for (test, concluded) in concluded.iter_mut().enumerate() {
            let judgement = concluded.judgement.as_ref();
            let Some(judgement) = judgement.filter(|judgement| self.is_compared(judgement)) else {
                continue;
            };
            let evidence = concluded.runs.judged_by(Some(judgement));
            match plain::no_comparison(evidence, &self.options[test]) {
                Some(reason) => {
                    concluded.runs.plain = Some(PlainBuild::Not(reason.to_owned()));
                    self.judge_again(test, concluded);
                }
                None => broken.push((test, concluded)),
            }
        }
        if broken.is_empty() {
            return false;
        }
        self.progress.comparing(broken.len());
        as_plain(|| {
            let comparison = Comparison::new(builder, stop);
            for (test, concluded) in broken {
                let (suite, case) = self.tests[test];
                let evidence = concluded.runs.judged_by(concluded.judgement.as_ref());
                let usual = self.options[test].timeout;
                let limit = deadlock::limit(usual, evidence).unwrap_or(usual);
                let compared = comparison.compare(suite, case, limit);
                self.launcher.note(WrittenPaths::add_plain);
                let is_known = matches!(compared, PlainBuild::Runs(_));
                let is_broken = concluded.judgement.as_ref().is_some_and(is_broken);
                if stop.is_set() && !is_known && is_broken {
                    // It may pass without this tool: it is not judged.
                    concluded.judgement = None;
                    self.lock_reports()[test] = None;
                    continue;
                }
                concluded.runs.plain = Some(compared);
                self.judge_again(test, concluded);
            }
        });
        true
    }

    /// Says of the tests that fail for no known reason which files outside may be why. One that
    /// failed at first, and passes since a file is there that another one has left, is not stable.
    pub(super) fn look_at_external_files(&self, concluded: &[Concluded], stop: &StopFlag) {
        for (test, report) in self.lock_reports().iter_mut().enumerate() {
            let (suite, case) = self.tests[test];
            let Some(report) = report.as_mut().filter(|_| !stop.is_set()) else {
                continue;
            };
            let has_changed = report.run_alone && report.verdict.passes();
            let is_wanted = has_changed || external_files::is_wanted(report);
            if !is_wanted || suite.binary.harness != Harness::Nondex {
                continue;
            }
            let clean = specs::clean_spec(&case.name, &self.options[test]);
            let limit = external_files::limit(report, self.options[test].timeout);
            let spec = external_files::spec(clean.clone());
            let Some(run) = self.launcher.run_fresh(limit, &suite.binary, case, &spec) else {
                continue;
            };
            report.runs += 1;
            if has_changed {
                let mut together = concluded[test].runs.together.of(&clean).iter();
                let failed = together.find(|run| !run.passed());
                let note = external_files::note_of_passing(&run, self.begun, &self.workspace);
                if let Some((failed, note)) = failed.zip(note) {
                    judged::passes_since(report, failed, note);
                }
                continue;
            }
            // Whether what is in the folder for temporary files makes it fail was tried.
            let note = external_files::note(report, &run, &Changed::new(), &|_| false);
            report.notes.extend(note);
        }
    }

    /// Judges a test that was compared.
    fn judge_again(&self, test: usize, concluded: &mut Concluded) {
        if let Ok(judgement) = self.conclude(test, &concluded.runs) {
            let report = self.report(test, &concluded.runs, Some(&judgement));
            self.progress.judged(&report);
            self.lock_reports()[test] = Some(report);
            concluded.judgement = Some(judgement);
        }
    }
}

/// Whether it failed in all runs.
fn is_broken(judgement: &Judgement) -> bool {
    judgement.conclusion == Conclusion::Broken
}

//! What the report of a test is written from.

use camino::Utf8Path;
use nondex_core::{Level, RunSpec};

use super::runs::failing_runs;
use crate::judge::conclusion::Conclusion;
use crate::judge::evidence::Evidence;
use crate::judge::isolation::{Judgement, Runs};
use crate::judge::prerequisite::Explanation;
use crate::judge::run::Run;
use crate::judge::{Options, Question};
use crate::project::{Suite, TestCase};
use crate::report::workspace::Workspace;

/// A test, its runs, and what was judged from them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Basis<'a> {
    pub(super) suite: &'a Suite,
    pub(super) test: &'a TestCase,
    /// By which it was judged: with real threads, where scheduled ones did not do.
    pub(super) options: &'a Options,
    /// By which it was to be judged.
    pub(super) asked: &'a Options,
    pub(super) workspace: &'a Workspace,
    pub(super) runs: &'a Runs,
    /// Those of the runs that it was judged by.
    pub(super) evidence: &'a Evidence,
    /// `None` when the campaign was stopped before it was judged.
    pub(super) judgement: Option<&'a Judgement>,
}

impl<'a> Basis<'a> {
    /// What is shown as its conclusion.
    pub(super) fn conclusion(&self) -> Option<&'a Conclusion> {
        match self.judgement.map(|judgement| &judgement.conclusion) {
            Some(Conclusion::Explained(found)) => Some(&found.shown),
            other => other,
        }
    }

    /// What explains its failures.
    pub(super) fn explanation(&self) -> Option<&'a Explanation> {
        match self.judgement.map(|judgement| &judgement.conclusion) {
            Some(Conclusion::Explained(found)) => Some(&found.explanation),
            _ => None,
        }
    }

    /// What was asked about it.
    pub(super) fn question(&self) -> Question<'a> {
        Question::new(&self.test.name, self.options, self.evidence)
    }

    pub(super) fn cwd(&self) -> &'a Utf8Path {
        &self.suite.binary.cwd
    }

    /// Its clean run.
    pub(super) fn clean(&self) -> RunSpec {
        self.question().clean_spec()
    }

    /// The strongest level of which runs tell a rate: above the weakest one that fails only what
    /// other runs imply is known.
    pub(super) fn highest(&self) -> Level {
        match self.conclusion() {
            Some(Conclusion::Dependent(dependence) | Conclusion::Artefact(dependence))
                if !self.options.all_levels =>
            {
                dependence.spec.level()
            }
            Some(Conclusion::NonDeterministic { spec }) => spec.level(),
            _ => Level::Full,
        }
    }

    /// The failing runs that are shown: those above the [highest](Self::highest) level show the
    /// same again, less realistically.
    pub(super) fn failing(&self) -> Vec<(&'a RunSpec, &'a Run)> {
        let mut failing = failing_runs(self.evidence, self.options);
        let highest = self.highest();
        failing.retain(|(spec, _)| spec.is_clean() || spec.level() <= highest);
        failing
    }
}

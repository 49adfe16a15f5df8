//! The basis of a test's report.

use nondex_core::{Level, RunSpec};

use super::runs::failing_runs;
use crate::judge::{Conclusion, Evidence, Explanation, Judgement, Options, Question, Run, Runs};
use crate::project::{Suite, TestCase};
use crate::report::workspace::Workspace;

/// A test, its runs, and its judgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Basis<'a> {
    pub(super) suite: &'a Suite,
    pub(super) test: &'a TestCase,
    /// The options of the judgement. They have real threads if scheduled runs were not usable.
    pub(super) options: &'a Options,
    /// The requested options.
    pub(super) requested: &'a Options,
    /// The workspace, with the directory in which the test runs.
    pub(super) workspace: &'a Workspace,
    pub(super) runs: &'a Runs,
    /// The runs that the judgement is based on.
    pub(super) evidence: &'a Evidence,
    /// `None` if the campaign was stopped before the judgement.
    pub(super) judgement: Option<&'a Judgement>,
}

impl<'a> Basis<'a> {
    /// Returns the conclusion to report.
    pub(super) fn conclusion(&self) -> Option<&'a Conclusion> {
        match self.judgement.map(|judgement| &judgement.conclusion) {
            Some(Conclusion::Explained(found)) => Some(&found.shown),
            other => other,
        }
    }

    /// Returns the sanitiser's explanation of the failures, if there is one.
    pub(super) fn explanation(&self) -> Option<&'a Explanation> {
        match self.judgement.map(|judgement| &judgement.conclusion) {
            Some(Conclusion::Explained(found)) => Some(&found.explanation),
            _ => None,
        }
    }

    /// Returns the question that the judgement answers.
    pub(super) fn question(&self) -> Question<'a> {
        Question::new(&self.test.name, self.options, self.evidence)
    }

    /// Returns the spec of the clean run.
    pub(super) fn clean(&self) -> RunSpec {
        self.question().clean_spec()
    }

    /// Returns the strongest level with a meaningful failure rate. Above the weakest level that
    /// fails, only runs implied by other runs are known.
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

    /// Returns the failing runs to report. Runs above the [highest](Self::highest) level show the
    /// same failure less realistically.
    pub(super) fn failing(&self) -> Vec<(&'a RunSpec, &'a Run)> {
        let mut failing = failing_runs(self.evidence, self.options);
        let highest = self.highest();
        failing.retain(|(spec, _)| spec.is_clean() || spec.level() <= highest);
        failing
    }
}

//! Runs of one test: together with other tests, alone, and in a plain build.

use std::collections::BTreeSet;
use std::time::Duration;

use nondex_core::{Failure, Family, Outcome};

use super::{ExternalFiles, Judgement, Reason};
use crate::evidence::{Evidence, JointRuns};
use crate::missing::Spent;
use crate::order;
use crate::plain::PlainBuild;
use crate::run::Run;

/// Runs of one test.
#[derive(Clone, Debug)]
pub struct Runs {
    /// Runs during which other tests may have run.
    pub together: Evidence,
    /// Runs during which no other test ran.
    pub alone: Evidence,
    /// Runs in a plain build, if the test was compared with one.
    pub plain: Option<PlainBuild>,
    /// Reason for the first failure in a plain build.
    pub plain_failure: Option<Failure>,
    /// File that the build script of its package wrote with other contents in the plain build.
    pub generated: Option<String>,
    /// Result after the other tests of its binary, if the test fails alone.
    pub after_others: Option<order::AfterOthers>,
    /// Effect of files that no process restores, if they may decide the outcome.
    pub files: Option<ExternalFiles>,
    /// Whether the campaign runs several tests at once.
    pub(super) is_shared: bool,
}

impl Runs {
    /// Returns a store without runs. See [`Evidence::new`] for `prune`. Unless `is_shared`, every
    /// run is alone already, and runs are only repeated because of random names.
    pub fn new(prune: bool, is_shared: bool) -> Self {
        Runs {
            together: Evidence::new(prune),
            alone: Evidence::new(prune),
            plain: None,
            plain_failure: None,
            generated: None,
            after_others: None,
            files: None,
            is_shared,
        }
    }

    /// Records which budgets are [spent](Evidence::spend).
    pub fn spend(&mut self, spent: Spent) {
        self.together.spend(spent);
        self.alone.spend(spent);
    }

    /// Records what runs in one process with other tests showed.
    pub const fn note_joint_runs(&mut self, found: JointRuns) {
        self.together.note_joint_runs(found);
        self.alone.note_joint_runs(found);
    }

    /// Returns the runs alone, or those together with other tests.
    pub fn of_mut(&mut self, alone: bool) -> &mut Evidence {
        if alone { &mut self.alone } else { &mut self.together }
    }

    /// Returns the runs from which `judgement` follows.
    pub fn judged_by(&self, judgement: Option<&Judgement>) -> &Evidence {
        if judgement.is_some_and(|judgement| judgement.from_alone) {
            &self.alone
        } else {
            &self.together
        }
    }

    /// Returns the number of runs.
    pub fn count(&self) -> usize {
        self.together.count() + self.alone.count()
    }

    /// Returns whether a run drew a random value, which may be part of a file name.
    pub(super) fn draw(&self) -> bool {
        self.together.all().any(|(_, run)| run.draws_random())
    }

    /// Returns the likely reason why the runs alone have a different outcome.
    pub(super) fn reason(&self) -> Reason {
        let mut failed = self.together.all().filter(|(_, run)| !run.passed());
        if failed.all(|(_, run)| run.outcome == Outcome::TimedOut) {
            Reason::Time
        } else if self.draw() {
            Reason::RandomName
        } else {
            Reason::Shared
        }
    }

    /// Returns whether all runs together with other tests hang.
    pub(super) fn hang_together(&self) -> bool {
        let mut runs = self.together.all();
        self.together.count() > 0 && runs.all(|(_, run)| run.outcome == Outcome::TimedOut)
    }

    /// Returns whether the test is known to hang independent of what else the machine does. It
    /// hangs in all runs together with others and fails in each run of a plain build, which may
    /// take the whole limit.
    pub fn hang(&self) -> bool {
        let fails_plainly =
            matches!(self.plain, Some(PlainBuild::Runs([failures, runs])) if failures == runs);
        fails_plainly && self.hang_together()
    }

    fn all(&self) -> impl Iterator<Item = &Run> {
        self.together.all().chain(self.alone.all()).map(|(_, run)| run)
    }

    /// Returns the total duration of the runs.
    pub fn took(&self) -> Duration {
        self.all().map(|run| run.took).sum()
    }

    /// Returns the longest virtual time of a run: what one takes at least in real time.
    pub fn virtual_time(&self) -> Duration {
        self.all().map(Run::virtual_time).max().unwrap_or_default()
    }

    /// Returns the names of the models that the runs reached.
    pub fn models(&self) -> impl Iterator<Item = String> {
        let points = self.all().flat_map(|run| run.points.iter());
        let models: BTreeSet<(Family, &str)> =
            points.map(|point| (point.site.family, &*point.site.api)).collect();
        models.into_iter().map(|(family, api)| format!("{family}/{api}"))
    }
}

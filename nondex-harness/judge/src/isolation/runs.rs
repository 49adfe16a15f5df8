//! All runs of one test: together with other tests, alone, and in a plain build.

use std::collections::BTreeSet;
use std::time::Duration;

use nondex_core::{Family, Outcome};

use super::{ExternalFiles, Judgement, Reason};
use crate::evidence::Evidence;
use crate::missing::Spent;
use crate::order;
use crate::plain::PlainBuild;
use crate::run::Run;

/// All runs of one test.
#[derive(Clone, Debug)]
pub struct Runs {
    /// Those at the time of which other tests may have run.
    pub together: Evidence,
    /// Those at the time of which none did.
    pub alone: Evidence,
    /// Those of a plain build, when it was compared with one.
    pub plain: Option<PlainBuild>,
    /// A file that the build script of its package wrote with other contents in that build.
    pub generated: Option<String>,
    /// Its result after the other tests of its binary, when it fails alone.
    pub after_others: Option<order::AfterOthers>,
    /// What it does with files that nobody puts back, if that may decide.
    pub files: Option<ExternalFiles>,
    /// Whether the campaign runs tests at once at all.
    pub(super) is_shared: bool,
}

impl Runs {
    /// No runs yet. See [`Evidence::new`] for `prune`. Unless tests are run at once, every run is
    /// made alone, and none is repeated except for a random name.
    pub fn new(prune: bool, is_shared: bool) -> Self {
        Runs {
            together: Evidence::new(prune),
            alone: Evidence::new(prune),
            plain: None,
            generated: None,
            after_others: None,
            files: None,
            is_shared,
        }
    }

    /// Takes note of the budgets that are [spent](Evidence::spend).
    pub fn spend(&mut self, spent: Spent) {
        self.together.spend(spent);
        self.alone.spend(spent);
    }

    /// The runs of this kind.
    pub fn of_mut(&mut self, alone: bool) -> &mut Evidence {
        if alone { &mut self.alone } else { &mut self.together }
    }

    /// The runs that `judgement` follows from.
    pub fn judged_by(&self, judgement: Option<&Judgement>) -> &Evidence {
        if judgement.is_some_and(|judgement| judgement.from_alone) {
            &self.alone
        } else {
            &self.together
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.together.count() + self.alone.count()
    }

    /// Whether any run drew a random value, which may name a file.
    pub(super) fn draw(&self) -> bool {
        let mut points = self.together.all().flat_map(|(_, run)| run.points.iter());
        points.any(|point| matches!(point.site.family, Family::Entropy | Family::HashKeys))
    }

    /// Why the runs alone have a different outcome.
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

    /// Whether all runs together with others hang.
    pub(super) fn hang_together(&self) -> bool {
        let mut runs = self.together.all();
        self.together.count() > 0 && runs.all(|(_, run)| run.outcome == Outcome::TimedOut)
    }

    /// Whether it is known to hang whatever else the machine does: it does so together with others,
    /// and fails in each run of a plain build, one of which may take the whole limit.
    pub fn hang(&self) -> bool {
        let fails_plainly =
            matches!(self.plain, Some(PlainBuild::Runs([failures, runs])) if failures == runs);
        fails_plainly && self.hang_together()
    }

    fn all(&self) -> impl Iterator<Item = &Run> {
        self.together.all().chain(self.alone.all()).map(|(_, run)| run)
    }

    /// How long they took together.
    pub fn took(&self) -> Duration {
        self.all().map(|run| run.took).sum()
    }

    /// The names of the models that they reached.
    pub fn models(&self) -> impl Iterator<Item = String> {
        let points = self.all().flat_map(|run| run.points.iter());
        let models: BTreeSet<(Family, &str)> =
            points.map(|point| (point.site.family, &*point.site.api)).collect();
        models.into_iter().map(|(family, api)| format!("{family}/{api}"))
    }
}

//! Findings that no implementation is likely to show: advice, not failures, unless the run is
//! strict.

use nondex_core::choice::clock;
use nondex_core::{Family, Level, Model};

use super::{Culprit, TestReport};
use crate::judge::timing::is_of_timing;

/// Why a finding is advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// It fails only when what nobody changed has another order when it is read again.
    ReadAgain,
    /// It fails only when a thread waits longer than any machine makes it wait.
    Starved,
    /// It fails only under chosen delays, and it is only suspected which of them matters: no plain
    /// run shows it.
    Suspected,
    /// It fails when threads wait for seconds, and it is not known whether less would do.
    Unmeasured,
    /// It fails only when the clock is set, or stands still while much is computed.
    Clock,
    /// It fails only when the order with a hasher other than `RandomState` does not follow from its
    /// hashes and from what was inserted and removed.
    FixedHasher,
}

impl Advice {
    /// The reason, a sentence for the diagnostic.
    pub const fn reason(self) -> &'static str {
        match self {
            Advice::ReadAgain => {
                "what nobody changes keeps its order today, though nothing promises it: this fails \
                 the run only with `--strict`"
            }
            Advice::Starved => {
                "a machine delays a thread that long only when it stands still itself: this fails \
                 the run only with `--strict`"
            }
            Advice::Suspected => {
                "it needs an injected delay, no plain run shows it, and the responsible call is \
                 only suspected: this fails the run only \
                 with `--strict`"
            }
            Advice::Unmeasured => {
                "no delays of a second or less are known to do it, nor that none do: this fails \
                 the run only with `--strict`"
            }
            Advice::Clock => {
                "no clock of a machine that works does so but when it is set, and no file system \
                 of today: this fails the run only with `--strict`"
            }
            Advice::FixedHasher => {
                "the hasher is not `RandomState`, so in every implementation there is the order \
                 follows from its hashes and from what was \
                 inserted and removed: this fails the run only with `--strict`"
            }
        }
    }
}

impl TestReport {
    /// Whether nothing is responsible but what a clock, or a file's time, shows.
    pub fn depends_on_clocks(&self) -> bool {
        let is_clock = |culprit: &Culprit| {
            let model = Model::by_api(&culprit.api);
            culprit.family == Family::Time && model.is_some_and(clock::is_clock)
        };
        !self.culprits.is_empty() && self.culprits.iter().all(is_clock)
    }

    /// Whether what is responsible is known, or all that is suspected is of one kind and family, so
    /// that the same statement holds for each.
    pub fn has_one_kind_of_culprits(&self) -> bool {
        let kind = |culprit: &Culprit| (culprit.kind, culprit.family);
        let first = self.culprits.first().map(kind);
        self.culprits.iter().all(|culprit| culprit.confirmed || Some(kind(culprit)) == first)
    }

    /// Whether delays may be responsible, though it is not known that nothing else is.
    fn may_be_delays(&self) -> bool {
        let mut culprits = self.culprits.iter();
        self.reason.is_none() && culprits.any(|c| !c.confirmed && is_of_timing(c.family))
    }

    /// Whether it needs an injected delay, no plain run shows it, and the responsible call is not
    /// confirmed. That every thread waits for another one needs no culprit.
    fn is_only_suspected(&self) -> bool {
        let is_known = self.has_confirmed_culprits() || self.end() == Some("deadlock");
        let is_seen = self.plain.is_some_and(|[failures, _]| failures > 0);
        self.needs_schedule() && !is_known && !is_seen
    }

    /// Whether a run without any choice failed.
    pub fn fails_in_canonical_order(&self) -> bool {
        self.failures.iter().any(|failure| failure.level.is_none())
    }

    /// Why this finding is advice; `None` when it is none, or no finding. A test that fails in base
    /// order fails today, whatever else it depends on.
    pub fn advice(&self) -> Option<Advice> {
        if !self.is_dependent() || self.fails_in_canonical_order() {
            return None;
        }
        if self.is_only_suspected() {
            return Some(Advice::Suspected);
        }
        // The project itself marks each of these calls as unspecified.
        if self.culprits.iter().any(|one| one.family.is_own()) {
            return None;
        }
        // The length of a delay shows how real it is, whatever its seed drew.
        let level = self.delay_level.or(self.weakest_level)?;
        let is_clock = self.depends_on_clocks();
        let is_delay = self.reason.is_some() && !is_clock;
        match level {
            Level::Id | Level::Full if self.may_be_delays() => Some(Advice::Unmeasured),
            Level::Full if is_clock => Some(Advice::Clock),
            Level::Full if is_delay => Some(Advice::Starved),
            Level::Full => Some(Advice::ReadAgain),
            // Limits of several seconds are there to end what hangs.
            Level::Id if is_delay => Some(match self.delay_level {
                Some(_) => Advice::Starved,
                None => Advice::Unmeasured,
            }),
            Level::Eq | Level::Id => {
                let mut culprits = self.culprits.iter();
                let is_fixed = !self.culprits.is_empty()
                    && culprits.all(|c| c.confirmed && c.family == Family::FixedHasher);
                is_fixed.then_some(Advice::FixedHasher)
            }
            Level::Std | Level::One => None,
        }
    }
}

//! Findings that are unlikely with any implementation. They are advice, and fail only a strict run.

use nondex_core::choice::clock;
use nondex_core::{Family, Level, Model};

use super::{Culprit, TestReport};
use crate::judge::is_of_timing;

/// Why a finding is advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// The test fails only if an unmodified collection has another order when it is read again.
    ReadAgain,
    /// The test fails only if a thread waits longer than on any working machine.
    Starved,
    /// The test fails only with an injected delay, the responsible delay is only suspected, and no
    /// plain run fails.
    Suspected,
    /// The test fails if threads wait for seconds. It is unknown whether shorter delays are enough.
    Unmeasured,
    /// The test fails only if the clock is set, or stands still during a long computation.
    Clock,
    /// The test fails only if the order with a hasher other than `RandomState` does not follow from
    /// its hashes, insertions and removals.
    FixedHasher,
}

impl Advice {
    /// Returns the reason as a sentence for the diagnostic.
    pub const fn reason(self) -> &'static str {
        match self {
            Advice::ReadAgain => {
                "unmodified data keeps its order today, although this is not guaranteed: this \
                 fails the run only with `--strict`"
            }
            Advice::Starved => {
                "a thread is delayed that long only when the whole machine stops: this fails the \
                 run only with `--strict`"
            }
            Advice::Suspected => {
                "it needs an injected delay, no plain run is known to fail, and the responsible \
                 call is only suspected: this fails the run only with `--strict`"
            }
            Advice::Unmeasured => {
                "whether delays of one second or less suffice is not known: this fails the run \
                 only with `--strict`"
            }
            Advice::Clock => {
                "clocks do this only when they are set, and current file systems never do: this \
                 fails the run only with `--strict`"
            }
            Advice::FixedHasher => {
                "the hasher is not `RandomState`, so its hashes and the insertions and removals \
                 determine the order in all known implementations: this fails the run only with \
                 `--strict`"
            }
        }
    }
}

impl TestReport {
    /// Returns whether only the values of clocks, or the times of files, are responsible.
    pub fn depends_on_clocks(&self) -> bool {
        let is_clock = |culprit: &Culprit| {
            let model = Model::by_api(&culprit.api);
            culprit.family == Family::Time && model.is_some_and(clock::is_clock)
        };
        !self.culprits.is_empty() && self.culprits.iter().all(is_clock)
    }

    /// Returns whether one statement applies to all culprits: they are confirmed, or all suspects
    /// have the kind and family of the first one.
    pub fn has_one_kind_of_culprits(&self) -> bool {
        let kind = |culprit: &Culprit| (culprit.kind, culprit.family);
        let first = self.culprits.first().map(kind);
        self.culprits.iter().all(|culprit| culprit.confirmed || Some(kind(culprit)) == first)
    }

    /// Returns whether delays may be responsible, besides other suspects.
    fn may_be_delays(&self) -> bool {
        let mut culprits = self.culprits.iter();
        self.reason.is_none() && culprits.any(|c| !c.confirmed && is_of_timing(c.family))
    }

    /// Returns whether the test needs an injected delay, no plain run fails, and the responsible
    /// call is not confirmed. A deadlock needs no culprit, unless it follows a panic: the threads
    /// may only wait for the one that panicked.
    fn is_only_suspected(&self) -> bool {
        let is_deadlock = self.end() == Some("deadlock") && !self.is_after_panic();
        let is_known = self.has_confirmed_culprits() || is_deadlock;
        let is_seen = self.plain.is_some_and(|[failures, _]| failures > 0);
        self.needs_schedule() && !is_known && !is_seen
    }

    /// Returns whether a run without any choice failed.
    pub fn fails_in_canonical_order(&self) -> bool {
        self.failures.iter().any(|failure| failure.level.is_none())
    }

    /// Returns why this finding is advice. Returns `None` if it is not advice, or not a finding. A
    /// test that fails in canonical order fails today, so it is never advice.
    pub fn advice(&self) -> Option<Advice> {
        if !self.is_dependent() || self.fails_in_canonical_order() {
            return None;
        }
        if self.is_only_suspected() {
            return Some(Advice::Suspected);
        }
        // The project's own code marks each of these calls as unspecified.
        if self.culprits.iter().any(|one| one.family.is_own()) {
            return None;
        }
        // The necessary length of a delay shows how realistic it is, whatever the seed drew.
        let level = self.delay_level.or(self.weakest_level)?;
        let is_clock = self.depends_on_clocks();
        let is_delay = self.reason.is_some() && !is_clock;
        match level {
            Level::Id | Level::Full if self.may_be_delays() => Some(Advice::Unmeasured),
            Level::Full if is_clock => Some(Advice::Clock),
            Level::Full if is_delay => Some(Advice::Starved),
            Level::Full => Some(Advice::ReadAgain),
            // Code often has limits of several seconds, to stop what hangs.
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

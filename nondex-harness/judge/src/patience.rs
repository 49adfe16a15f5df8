//! How long a run may take before it is called a hang.
//!
//! The choices that this tool makes cost time, some levels more than others, so a run that reaches
//! its time limit where the clean runs end may only be slow. Unless that limit is some hundred
//! times what the others took, it is no result until the run was made again with a longer one; if
//! it ends then, that is its outcome. The longer limit applies once at each level. After that,
//! twenty times as long as its longest run that ended will do for the same test there. The limit is
//! longer if its clean run takes a good part of the usual one. A run in real time may also take as
//! long as the test sleeps in virtual time. A test is not waited for longer if it ends in no run,
//! or if the scheduler ends it because it would not end. It is ended as it would be in canonical
//! order. Nor is one with real threads whose scheduled runs [prove](deadlock) why it does not end.

use std::borrow::Cow;
use std::time::Duration;

use nondex_core::{Level, Outcome, RunSpec};

use super::deadlock;
use super::evidence::Evidence;
use super::missing::Missing;
use super::run::Run;

/// How many times the time limit the first run gets that seems to hang.
pub const LONGER: u32 = 5;

/// How many times as long as the longest run that ended makes a longer limit needless: contended
/// operations under a seed cost some fifty times what they do in canonical order.
const PROPORTION_BEYOND_DOUBT: u32 = 200;

/// How long that is at least.
const BEYOND_DOUBT: Duration = Duration::from_secs(20);

/// How many times as long as the clean run it gets at least.
const PROPORTION: u32 = 10;

/// How many times as long as the clean run the others get at least once one hangs for certain.
const PROPORTION_OF_OTHERS: u32 = 5;

/// How many times as long as the longest run that ended they get, up to the usual limit.
const PROPORTION_TO_LONGEST: u32 = 20;

/// How long they get at least, if the usual limit is not shorter: a busy machine may stop a process
/// for seconds.
const LEAST: Duration = Duration::from_secs(5);

/// How long is enough for one more run of a test that has hung for its `usual` limit as often as it
/// takes to know that.
pub fn once_more(usual: Duration) -> Duration {
    usual / 10
}

/// The limit of the next runs of a test that hangs for its `usual` limit, and of which the longest
/// run that ended took this long.
pub fn once_hung(usual: Duration, longest: Duration) -> Duration {
    of_others(usual, longest).max(once_more(usual))
}

/// What will do for the others once one hangs for certain: in proportion to the longest run that
/// ended, at most the usual limit.
fn of_others(usual: Duration, longest: Duration) -> Duration {
    (longest * PROPORTION_TO_LONGEST).max(LEAST).min(usual)
}

/// The conclusion of `conclude` from the evidence, once no time-out in it is doubtful.
///
/// # Errors
/// The runs to make first.
pub fn patiently<T>(
    usual: Duration,
    evidence: &Evidence,
    conclude: impl FnOnce() -> Result<T, Missing>,
) -> Result<T, Missing> {
    let limits = Limits::new(usual, evidence);
    if let Some(spec) = limits.doubtful(evidence) {
        return Err(Missing {
            limit: Some(limits.sufficient(spec)),
            ..Missing::new(vec![spec.clone()])
        });
    }
    conclude().map_err(|missing| {
        let specs = &missing.experiments;
        let limit = deadlock::limit_of(specs, usual, evidence).or_else(|| limits.next(specs));
        Missing { limit, ..missing }
    })
}

/// The limit of a run in real time. It is longer than usual where the clean runs show that the test
/// sleeps for a good part of that in virtual time. A sleep that counts as a hang changes nothing.
pub(super) fn of_real_time(usual: Duration, evidence: &Evidence) -> Duration {
    let clean = evidence.all().filter(|(spec, run)| spec.is_clean() && run.passed());
    let slept = clean.map(|(_, run)| run.virtual_time()).max().unwrap_or_default();
    if slept > usual / 2 && slept <= usual * LONGER {
        usual + Duration::from_secs(slept.as_secs() + 1)
    } else {
        usual
    }
}

/// What is known when the runs are stopped: the evidence without time-outs that are doubtful still.
pub(super) fn certain(usual: Duration, evidence: &Evidence) -> Cow<'_, Evidence> {
    let limits = Limits::new(usual, evidence);
    match limits.doubtful(evidence) {
        None => Cow::Borrowed(evidence),
        Some(_) => Cow::Owned(evidence.without(|spec, run| limits.is_too_short(spec, run))),
    }
}

/// Whether a run ended, but only after the usual time limit.
pub fn is_late(run: &Run, usual: Duration) -> bool {
    !timed_out(run) && run.took > usual
}

/// The longer limit that a run needs so that it ends as it did: that of a run which ended late or,
/// of one that hangs, that at which a hang at its level was proven.
pub fn needed(spec: &RunSpec, run: &Run, usual: Duration, evidence: &Evidence) -> Option<Duration> {
    if is_late(run, usual) {
        return Some(run.limit);
    }
    let kind = |spec: &RunSpec| (spec.is_clean(), spec.level());
    let alike = evidence.all().filter(|(other, _)| kind(other) == kind(spec));
    let proven = alike.filter(|(_, run)| timed_out(run)).map(|(_, run)| run.limit).max();
    proven.filter(|limit| timed_out(run) && *limit > usual)
}

/// Whether the time limit ended it.
fn timed_out(run: &Run) -> bool {
    run.outcome == Outcome::TimedOut
}

/// Whether it ended by itself: neither the limit nor the scheduler ended it.
fn has_ended(run: &Run) -> bool {
    !timed_out(run) && (run.schedule_end().is_none() || run.has_no_outcome())
}

/// The time limits for the runs of one test.
#[derive(Clone, Debug)]
struct Limits {
    usual: Duration,
    /// What runs in real time get at least.
    of_real_time: Duration,
    /// A run that did not end within this limit hangs.
    long: Duration,
    /// What will do for the others once one hangs for certain.
    of_others: Duration,
    /// Whether a run ended after the usual limit: others will.
    is_slow: bool,
    /// The levels at which a run hangs for certain.
    proven: Vec<Level>,
    /// Whether it is known why runs with real threads do not end.
    is_deadlock: bool,
}

impl Limits {
    fn new(usual: Duration, evidence: &Evidence) -> Self {
        let ended = || evidence.all().filter(|(_, run)| has_ended(run));
        // The first one, so that what was sufficient stays so.
        let clean = ended().find(|(spec, _)| spec.is_clean());
        let clean = clean.map_or(Duration::ZERO, |(_, run)| run.took.min(usual));
        let longest = ended().map(|(_, run)| run.took).max().unwrap_or(usual);
        let long = if BEYOND_DOUBT.max(longest * PROPORTION_BEYOND_DOUBT) <= usual {
            usual
        } else {
            (usual * LONGER).max(clean * PROPORTION)
        };
        let hanging = evidence.all().filter(|(_, run)| timed_out(run) && run.limit >= long);
        Limits {
            usual,
            of_real_time: of_real_time(usual, evidence),
            long,
            of_others: of_others(usual, longest).max(clean * PROPORTION_OF_OTHERS),
            is_slow: ended().any(|(_, run)| is_late(run, usual)),
            proven: hanging.map(|(spec, _)| spec.level()).collect(),
            is_deadlock: deadlock::limit(usual, evidence).is_some(),
        }
    }

    /// How long a run must have been given before it counts as a hang.
    fn sufficient(&self, spec: &RunSpec) -> Duration {
        let limit = if self.proven.contains(&spec.level()) && !self.is_slow {
            self.of_others
        } else {
            self.long
        };
        limit.max(self.least(spec))
    }

    /// What a run gets at least, whatever is known of others.
    fn least(&self, spec: &RunSpec) -> Duration {
        if spec.is_scheduled() { Duration::ZERO } else { self.of_real_time }
    }

    /// The first spec with a run that the limit ended too soon, of a test that ended in another
    /// run.
    fn doubtful<'a>(&self, evidence: &'a Evidence) -> Option<&'a RunSpec> {
        if !evidence.all().any(|(_, run)| has_ended(run)) {
            return None;
        }
        evidence.all().find(|(spec, run)| self.is_too_short(spec, run)).map(|(spec, _)| spec)
    }

    /// Whether a run was ended before it is known that it hangs.
    fn is_too_short(&self, spec: &RunSpec, run: &Run) -> bool {
        let is_understood = self.is_deadlock && deadlock::is_natural(spec);
        timed_out(run) && !is_understood && run.limit < self.sufficient(spec)
    }

    /// The limit of the next runs, when it is not the usual one.
    fn next(&self, specs: &[RunSpec]) -> Option<Duration> {
        let is_proven = |spec: &RunSpec| self.proven.contains(&spec.level());
        let limit = match self.is_slow {
            true => self.long,
            false if specs.iter().all(is_proven) => self.of_others,
            false if specs.iter().any(is_proven) => self.usual.max(self.of_others),
            false => self.usual,
        };
        let limit = specs.iter().map(|spec| self.least(spec)).fold(limit, Duration::max);
        (limit != self.usual).then_some(limit)
    }
}

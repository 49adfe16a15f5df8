//! Decides how long a run may take before it counts as a hang.
//!
//! The choices of this tool cost time, at some levels more than at others. So a run that reaches
//! its time limit may only be slow if the clean runs end. Such a time-out is doubtful until another
//! run was made with a longer limit; if that run ends, its outcome counts. It is not doubtful if
//! the limit is hundreds of times the duration of the other runs.
//!
//! A test in an endless loop shows that sooner. The processor time that a process takes does not
//! depend on how busy the machine is. So a run that took a thousand times as much processor time as
//! any run that ended is a hang, before its time limit is over.
//!
//! The longer limit applies once at each level. After that, further runs of the test at this level
//! get twenty times the duration of its longest run that ended. The limits are longer if the clean
//! run takes a large part of the usual limit. They are also longer for a run in real time of a test
//! that sleeps for long.
//!
//! No longer limit is tried for a test of which no run ended by itself. Runs that the scheduler
//! ended do not count as such. Once two of its runs took the whole limit, others only show that it
//! hangs again, and get less. No longer limit is tried either for a test with real threads whose
//! scheduled runs [prove](deadlock) why it hangs.

use std::borrow::Cow;
use std::time::Duration;

use nondex_core::{Level, Outcome, RunSpec};

use super::deadlock;
use super::evidence::Evidence;
use super::missing::{Missing, RunLimits};
use super::run::Run;

/// Factor of the usual time limit for the repetition of the first run that seems to hang.
pub const LONGER: u32 = 5;

/// Multiple of the longest run that ended from which the usual limit is long enough. Contended
/// operations under a seed cost some fifty times what they cost in canonical order.
const PROPORTION_BEYOND_DOUBT: u32 = 200;

/// Minimum duration of a usual limit that is long enough.
const BEYOND_DOUBT: Duration = Duration::from_secs(20);

/// Multiple of the busiest run that ended from which processor time is beyond doubt. No longer
/// limit is tried, so this is far beyond what choices cost.
const BUSY_PROPORTION: u32 = 1000;

/// Minimum processor time that is beyond doubt. A run whose failure is described may need seconds
/// for that.
const BUSY_BEYOND_DOUBT: Duration = Duration::from_secs(10);

/// The same once a hang is proven at another level.
const BUSY_AT_FURTHER_LEVELS: Duration = Duration::from_secs(2);

/// Minimum processor time of a hang, once one is proven at its level.
const LEAST_BUSY: Duration = Duration::from_secs(1);

/// Smallest processor time that is measured.
const STEP_OF_BUSY: Duration = Duration::from_millis(10);

/// Minimum of the longer limit, as a multiple of the clean run.
const PROPORTION: u32 = 10;

/// Minimum of the limit of further runs once a hang is proven, as a multiple of the clean run.
const PROPORTION_OF_OTHERS: u32 = 5;

/// Number of runs that take the whole limit after which a test is known to hang, if none ended.
const HANGS: usize = 2;

/// Limit of further runs, as a multiple of the longest run that ended, up to the usual limit.
const PROPORTION_TO_LONGEST: u32 = 20;

/// Minimum limit of further runs unless the usual limit is shorter: a busy machine may stop a
/// process for seconds.
const LEAST: Duration = Duration::from_secs(5);

/// Returns the limit of one more run of a test that is known to hang for its `usual` limit.
pub fn once_more(usual: Duration) -> Duration {
    usual / 10
}

/// Returns the limit of the next runs of a test that hangs for its `usual` limit, and whose longest
/// run that ended took `longest`.
pub fn once_hung(usual: Duration, longest: Duration) -> Duration {
    of_others(usual, longest).max(once_more(usual))
}

/// Returns the limit of further runs once a hang is proven: in proportion to the longest run that
/// ended, at most the usual limit.
fn of_others(usual: Duration, longest: Duration) -> Duration {
    (longest * PROPORTION_TO_LONGEST).max(LEAST).min(usual)
}

/// Returns what `conclude` returns, once no time-out in the evidence is doubtful. Sets the time
/// limit of the runs that it requests.
///
/// # Errors
/// Returns the runs to make first.
pub fn patiently<T>(
    usual: Duration,
    evidence: &Evidence,
    conclude: impl FnOnce() -> Result<T, Missing>,
) -> Result<T, Missing> {
    let limits = Limits::new(usual, evidence);
    if let Some(spec) = limits.doubtful(evidence) {
        let elapsed = Some(limits.sufficient(spec));
        let limits = RunLimits { elapsed, busy: limits.busy(spec) };
        return Err(Missing { limits, ..Missing::new(vec![spec.clone()]) });
    }
    conclude().map_err(|missing| {
        let specs = &missing.experiments;
        let elapsed = deadlock::limit_of(specs, usual, evidence).or_else(|| limits.next(specs));
        let busy = specs.iter().filter(|spec| !spec.is_clean()).map(|spec| limits.busy(spec)).max();
        Missing { limits: RunLimits { elapsed, busy: busy.flatten() }, ..missing }
    })
}

/// Returns the limit of a run in real time. It exceeds the usual limit if the clean runs sleep for
/// more than half of that limit in virtual time. Sleeps so long that they count as hangs change
/// nothing.
pub(super) fn of_real_time(usual: Duration, evidence: &Evidence) -> Duration {
    let slept = slept(evidence);
    if slept > usual / 2 && slept <= usual * LONGER {
        usual + Duration::from_secs(slept.as_secs() + 1)
    } else {
        usual
    }
}

/// Returns the virtual time of a test that passes in canonical order, if that is more than any
/// limit of a run in real time. Then no such run can end.
pub fn beyond_real_time(usual: Duration, evidence: &Evidence) -> Option<Duration> {
    let slept = slept(evidence);
    (slept > usual * LONGER).then_some(slept)
}

/// Returns the longest virtual time of a clean run that passed.
fn slept(evidence: &Evidence) -> Duration {
    let clean = evidence.all().filter(|(spec, run)| spec.is_clean() && run.passed());
    clean.map(|(_, run)| run.virtual_time()).max().unwrap_or_default()
}

/// Returns the evidence without time-outs that are still doubtful, for a campaign that is stopped.
pub(super) fn certain(usual: Duration, evidence: &Evidence) -> Cow<'_, Evidence> {
    let limits = Limits::new(usual, evidence);
    match limits.doubtful(evidence) {
        None => Cow::Borrowed(evidence),
        Some(_) => Cow::Owned(evidence.without(|spec, run| limits.is_too_short(spec, run))),
    }
}

/// Returns whether a run ended, but only after the usual time limit.
pub fn is_late(run: &Run, usual: Duration) -> bool {
    !timed_out(run) && run.took > usual
}

/// Returns the longer limit that `run` needs to end the same way, if any. For a run that ended
/// late, this is its own limit. For a hang, it is the limit at which a hang at its level was
/// proven.
pub fn needed(spec: &RunSpec, run: &Run, usual: Duration, evidence: &Evidence) -> Option<Duration> {
    if is_late(run, usual) {
        return Some(run.limit);
    }
    let kind = |spec: &RunSpec| (spec.is_clean(), spec.level());
    let alike = evidence.all().filter(|(other, _)| kind(other) == kind(spec));
    let proven = alike.filter(|(_, run)| timed_out(run)).map(|(_, run)| run.limit).max();
    proven.filter(|limit| timed_out(run) && *limit > usual)
}

/// Returns whether the time limit ended the run.
fn timed_out(run: &Run) -> bool {
    run.outcome == Outcome::TimedOut
}

/// Returns whether the limit on processor time ended the run, before its time limit. That limit was
/// sufficient when the run was requested, whatever other runs took later. A run that slept for
/// longer than its time limit allows ended early, too, but by itself.
fn was_too_busy(run: &Run) -> bool {
    timed_out(run) && !run.oversleeps() && !run.busy.is_zero() && run.took < run.limit
}

/// Returns whether the run ended without the time limit and without the scheduler.
fn has_ended(run: &Run) -> bool {
    !timed_out(run) && (run.schedule_end().is_none() || run.has_no_outcome())
}

/// Time limits for the runs of one test.
#[derive(Clone, Debug)]
struct Limits {
    usual: Duration,
    /// Minimum for runs in real time.
    of_real_time: Duration,
    /// Limit after which a run counts as a hang.
    long: Duration,
    /// Limit of further runs once a hang is proven.
    of_others: Duration,
    /// Processor time after which a run counts as a hang. `None` if no run ended.
    busy: Option<Duration>,
    /// Same limit of further runs once a hang is proven.
    busy_of_others: Option<Duration>,
    /// Whether a run ended after the usual limit: others may too.
    is_slow: bool,
    /// Levels at which a hang is proven.
    proven: Vec<Level>,
    /// Whether it is known why runs with real threads do not end.
    is_deadlock: bool,
    /// Whether no run ended, and enough of them took the whole limit.
    always_hangs: bool,
}

impl Limits {
    fn new(usual: Duration, evidence: &Evidence) -> Self {
        let ended = || evidence.all().filter(|(_, run)| has_ended(run));
        // The first clean run, so that a limit that was sufficient remains so.
        let first = ended().find(|(spec, _)| spec.is_clean());
        let clean = first.map_or(Duration::ZERO, |(_, run)| run.took.min(usual));
        let longest = ended().map(|(_, run)| run.took).max().unwrap_or(usual);
        let long = if BEYOND_DOUBT.max(longest * PROPORTION_BEYOND_DOUBT) <= usual {
            usual
        } else {
            (usual * LONGER).max(clean * PROPORTION)
        };
        let busiest = ended().map(|(_, run)| run.busy.max(STEP_OF_BUSY)).max();
        let busy = |proportion, least: Duration| Some((busiest? * proportion).max(least));
        let busy_beyond_doubt = busy(BUSY_PROPORTION, BUSY_BEYOND_DOUBT);
        let is_busy = |run: &Run| busy_beyond_doubt.is_some_and(|limit| run.busy >= limit);
        let is_proven = |run: &Run| run.limit >= long || was_too_busy(run) || is_busy(run);
        let hanging = evidence.all().filter(|(_, run)| timed_out(run) && is_proven(run));
        let proven: Vec<Level> = hanging.map(|(spec, _)| spec.level()).collect();
        Limits {
            usual,
            of_real_time: of_real_time(usual, evidence),
            long,
            of_others: of_others(usual, longest).max(clean * PROPORTION_OF_OTHERS),
            busy: if proven.is_empty() {
                busy_beyond_doubt
            } else {
                busy(PROPORTION_BEYOND_DOUBT, BUSY_AT_FURTHER_LEVELS)
            },
            busy_of_others: busy(PROPORTION_TO_LONGEST, LEAST_BUSY),
            is_slow: ended().any(|(_, run)| is_late(run, usual)),
            proven,
            is_deadlock: deadlock::limit(usual, evidence).is_some(),
            always_hangs: ended().all(|(_, run)| run.has_no_outcome())
                && evidence.all().filter(|(_, run)| timed_out(run) && run.took >= usual).count()
                    >= HANGS,
        }
    }

    /// Returns the limit that a run must have had to count as a hang.
    fn sufficient(&self, spec: &RunSpec) -> Duration {
        let limit = if self.proven.contains(&spec.level()) && !self.is_slow {
            self.of_others
        } else {
            self.long
        };
        limit.max(self.least(spec))
    }

    /// Returns the processor time that a run must have taken to count as a hang whatever its time
    /// limit was. A clean run has no such limit.
    fn busy(&self, spec: &RunSpec) -> Option<Duration> {
        if spec.is_clean() || self.is_slow {
            None
        } else if self.proven.contains(&spec.level()) {
            self.busy_of_others
        } else {
            self.busy
        }
    }

    /// Returns the minimum limit of a run, independent of other runs.
    fn least(&self, spec: &RunSpec) -> Duration {
        if spec.is_scheduled() { Duration::ZERO } else { self.of_real_time }
    }

    /// Returns the first spec with a run that the limit ended too soon. Returns `None` for a test
    /// that ended in no run.
    fn doubtful<'a>(&self, evidence: &'a Evidence) -> Option<&'a RunSpec> {
        if !evidence.all().any(|(_, run)| has_ended(run)) {
            return None;
        }
        evidence.all().find(|(spec, run)| self.is_too_short(spec, run)).map(|(spec, _)| spec)
    }

    /// Returns whether the limit ended a run before it is known that it hangs.
    fn is_too_short(&self, spec: &RunSpec, run: &Run) -> bool {
        let is_understood = self.is_deadlock && deadlock::is_natural(spec);
        let is_busy = || self.busy(spec).is_some_and(|limit| run.busy >= limit);
        timed_out(run)
            && !is_understood
            && !was_too_busy(run)
            && run.limit < self.sufficient(spec)
            && !is_busy()
    }

    /// Returns the limit of the next runs, if it is not the usual one.
    fn next(&self, specs: &[RunSpec]) -> Option<Duration> {
        let is_proven = |spec: &RunSpec| self.proven.contains(&spec.level());
        let common = if self.always_hangs {
            once_hung(self.usual, Duration::ZERO)
        } else if self.is_slow {
            self.long
        } else if specs.iter().all(is_proven) {
            self.of_others
        } else if specs.iter().any(is_proven) {
            self.usual.max(self.of_others)
        } else {
            self.usual
        };
        let limit = specs.iter().map(|spec| self.least(spec)).fold(common, Duration::max);
        (limit != self.usual).then_some(limit)
    }
}

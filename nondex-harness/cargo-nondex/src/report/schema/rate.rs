//! The meaning of a failure rate: a probability, or a share of selected schedules.

use std::collections::BTreeMap;

use nondex_core::{Family, Kind, Level};
use serde::{Deserialize, Serialize};

use super::{TestReport, Verdict};
use crate::judge::is_of_timing;

/// What a rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RateOf {
    /// Independent runs: their share estimates a probability.
    Runs,
    /// Schedules that were chosen to show defects: their share is not a probability.
    Schedules,
}

/// The delays that are necessary to change the outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeededDelays {
    /// Total delay of the most delayed thread, in nanoseconds.
    pub longest: u64,
    /// Number of delays of all threads.
    pub delays: usize,
    /// Number of delayed threads.
    pub threads: usize,
}

impl TestReport {
    /// Sets the meaning of the rate. Verdict, culprits and the runs of a plain build must be known.
    pub fn describe_rate(&mut self) {
        let of = if self.needs_schedule() { RateOf::Schedules } else { RateOf::Runs };
        self.rate_of = (!self.failure_rate.is_empty()).then_some(of);
        self.needed_delay_ns = self.needed_delays().map(|needed| needed.longest);
        self.flaky_today = self.is_flaky_today();
    }

    /// Returns whether a delay of a thread, or an old time, is responsible or suspected.
    pub fn needs_schedule(&self) -> bool {
        let mut culprits = self.culprits.iter();
        let is_of_level = self.verdict == Verdict::NonDeterministic && self.weakest_level.is_some();
        self.reason.is_some() || is_of_level || culprits.any(|one| is_of_timing(one.family))
    }

    /// Returns the necessary delays, each as short as possible. Returns `None` if the length of one
    /// is unknown.
    pub fn needed_delays(&self) -> Option<NeededDelays> {
        if self.reason.is_none() || self.depends_on_clocks() {
            return None;
        }
        self.delays()
    }

    /// Returns the delays among the culprits, which may include orders and values. Returns `None`
    /// if there is no delay, or if the length of one is unknown.
    pub fn delays(&self) -> Option<NeededDelays> {
        let mut delayed: BTreeMap<Option<&str>, u64> = BTreeMap::new();
        let mut delays = 0;
        for one in &self.culprits {
            if is_of_timing(one.family) && one.kind == Kind::Extend {
                let thread = one.call.as_ref().map(|call| call.thread.as_str());
                let nanoseconds = delayed.entry(thread).or_default();
                *nanoseconds = nanoseconds.saturating_add(one.number?.value);
                delays += 1;
            }
        }
        let threads = delayed.len();
        delayed.into_values().max().map(|longest| NeededDelays { longest, delays, threads })
    }

    /// Returns whether the test is known to fail by chance today. Computes
    /// [`flaky_today`](Self::flaky_today), since reports of earlier versions do not have that
    /// field.
    pub fn is_flaky_today(&self) -> bool {
        if self.plain.is_some_and(|[failures, _]| failures > 0) {
            return self.verdict.is_flaky();
        }
        // Other families do not count: a directory keeps its order on one machine, and a sufficient
        // delay may never occur.
        let is_drawn = |family| {
            use Family::{Entropy, HashKeys, HashMap, HashSet};
            matches!(family, HashMap | HashSet | HashKeys | Entropy)
        };
        let mut suspects: Vec<Family> = self.culprits.iter().map(|one| one.family).collect();
        if suspects.is_empty() {
            let points = self.points.iter().map(|point| point.family);
            suspects.extend(points.filter(|family| family.varies(Level::Std)));
        }
        self.verdict == Verdict::ImplementationDependent
            && self.weakest_level == Some(Level::Std)
            && !suspects.is_empty()
            && suspects.into_iter().all(is_drawn)
    }
}

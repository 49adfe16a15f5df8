//! What the rate of a finding means: a probability, or a share of schedules that were chosen.

use std::collections::BTreeMap;

use nondex_core::{Family, Kind, Level};
use serde::{Deserialize, Serialize};

use super::{TestReport, Verdict};
use crate::judge::timing::is_of_timing;

/// What a rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RateOf {
    /// Independent runs: their share estimates a probability.
    Runs,
    /// Schedules that were chosen to show defects: their share is no probability.
    Schedules,
}

/// Delays without which the outcome does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeededDelays {
    /// How long the most delayed thread is delayed in all, in nanoseconds.
    pub longest: u64,
    /// Number of delays, of all threads.
    pub delays: usize,
    /// Number of threads that are delayed.
    pub threads: usize,
}

impl TestReport {
    /// Writes what the rate means, once verdict, culprits and the runs of a plain build are known.
    pub fn describe_rate(&mut self) {
        let of = if self.needs_schedule() { RateOf::Schedules } else { RateOf::Runs };
        self.rate_of = (!self.failure_rate.is_empty()).then_some(of);
        self.needed_delay_ns = self.needed_delays().map(|needed| needed.longest);
        self.flaky_today = self.is_flaky_today();
    }

    /// Whether a delay of a thread, or an old time, is responsible or suspected.
    pub fn needs_schedule(&self) -> bool {
        let mut culprits = self.culprits.iter();
        let is_of_level = self.verdict == Verdict::NonDeterministic && self.weakest_level.is_some();
        self.reason.is_some() || is_of_level || culprits.any(|one| is_of_timing(one.family))
    }

    /// The delays that are needed, each as short as possible; `None` when one is not known.
    pub fn needed_delays(&self) -> Option<NeededDelays> {
        if self.reason.is_none() || self.depends_on_clocks() {
            return None;
        }
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

    /// Whether it is known to fail today by chance, as [`flaky_today`](Self::flaky_today) has it,
    /// which reports of earlier versions have not.
    pub fn is_flaky_today(&self) -> bool {
        if self.plain.is_some_and(|[failures, _]| failures > 0) {
            return self.verdict.is_flaky();
        }
        // A directory keeps its order on one machine, and a delay may never be as long as needed.
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

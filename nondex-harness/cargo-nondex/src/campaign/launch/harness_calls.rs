//! Choices of time that a harness reaches without a test.
//!
//! Such a harness reads the clock before and after its tests, to print how long they took. A delay
//! there is no choice of the test. Each would cost as many runs as a test that measures time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use nondex_core::{Event, PointRecord, RunSpec, Site};

use super::{Launch, Launcher};
use crate::campaign::process::Limits;
use crate::judge::timing::is_timing;
use crate::locked::Locked;
use crate::project::{Harness, TestCase};

/// Name of a test that no binary has.
const NO_TEST: &str = "a test of cargo nondex that does not exist";

/// Number of calls at each site, by each thread.
type Calls = BTreeMap<(Site, String), u64>;

/// Calls of each harness, by the id of its binary.
#[derive(Debug, Default)]
pub(super) struct HarnessCalls(Mutex<BTreeMap<String, Arc<OnceLock<Calls>>>>);

impl HarnessCalls {
    /// Removes the calls of the harness from the events of a run. Runs the harness without a test
    /// first, if it has not yet done so. A site stays if the test may have reached it, too: there
    /// were more calls than without a test, or their number is not known.
    pub(super) fn remove(
        &self,
        launcher: &Launcher<'_>,
        launch: &Launch<'_>,
        events: &mut Vec<Event>,
    ) {
        // A harness with a pool chooses a thread for the test, which matters.
        let is_measured = launch.binary.harness == Harness::Serial && launch.spec.is_scheduled();
        if !is_measured || launch.test.name == NO_TEST || launcher.is_confined {
            return;
        }
        let known = {
            let mut known = self.0.locked();
            Arc::clone(known.entry(launch.binary.id.clone()).or_default())
        };
        let known = known.get_or_init(|| found(launcher, launch).unwrap_or_default());
        if !known.is_empty() {
            remove(known, events);
        }
    }
}

/// Removes the sites with no more calls than `known`.
fn remove(known: &Calls, events: &mut Vec<Event>) {
    let calls = calls(events);
    let is_of_test = |point: &PointRecord| {
        let key = (point.site.clone(), point.thread.clone());
        known.get(&key).zip(calls.get(&key)).is_none_or(|(known, calls)| calls > known)
    };
    events.retain_mut(|event| match event {
        Event::Site { point, .. } => is_of_test(point),
        Event::Points { points, .. } => {
            points.retain(is_of_test);
            true
        }
        _ => true,
    });
}

/// Counts the calls of the threads that ended.
fn calls(events: &[Event]) -> Calls {
    let mut calls = Calls::new();
    for event in events {
        let Event::Points { points, .. } = event else { continue };
        for point in points {
            *calls.entry((point.site.clone(), point.thread.clone())).or_default() += point.count;
        }
    }
    calls
}

/// Returns the choices of time that the harness reaches without a test. Returns `None` if the run
/// does not show them.
fn found(launcher: &Launcher<'_>, launch: &Launch<'_>) -> Option<Calls> {
    let spec = RunSpec {
        trace: Vec::new(),
        cover: false,
        network: launch.spec.network.clone(),
        files: launch.spec.files.clone(),
        models_off: launch.spec.models_off.clone(),
        ..RunSpec::clean(NO_TEST).with_scheduler(launch.spec.max_steps())
    };
    let launcher = Launcher { is_shown: false, written: None, ..launcher.clone() };
    let (spec, record) = launcher.named(&spec, &[]);
    let test = TestCase::new(NO_TEST);
    let alone = Launch {
        temporary: launch.temporary,
        limits: Limits { busy: launch.limits.busy, ..Limits::fixed(launch.limits.elapsed) },
        binary: launch.binary,
        test: &test,
        spec: &spec,
        record: &record,
    };
    let ended = launcher.launch_only(&alone)?.ok()?;
    let _ = std::fs::remove_file(&ended.record);
    let has_threads =
        |event: &Event| matches!(event, Event::Schedule { schedule, .. } if schedule.threads > 1);
    let events = ended.recorded.events;
    if events.iter().any(has_threads) {
        return None;
    }
    let mut calls = calls(&events);
    calls.retain(|(site, _), _| is_timing(site));
    Some(calls)
}

#[cfg(test)]
mod tests {
    use nondex_core::{Caller, Family, model};

    use super::*;

    /// Returns a point of a reading of the clock.
    fn reading(line: u32, count: u64) -> PointRecord {
        let caller = Caller { file: "tests/main.rs", line, column: 1 };
        PointRecord {
            site: Site::new(&model::INSTANT_NOW, Family::Time, caller),
            thread: "0".to_owned(),
            count,
            max_len: 2,
            keys: 0,
            stack: Vec::new(),
        }
    }

    fn events(points: &[PointRecord], has_ended: bool) -> Vec<Event> {
        let test = || "t".to_owned();
        let first = |point: &PointRecord| Event::Site {
            test: test(),
            point: PointRecord { count: 1, ..point.clone() },
        };
        let ended =
            Event::Points { test: test(), points: points.to_vec(), choices: Vec::default() };
        points.iter().map(first).chain(has_ended.then_some(ended)).collect()
    }

    #[test]
    fn what_a_harness_reaches_without_a_test_is_removed_unless_the_test_may_reach_it_too() {
        let known = calls(&events(&[reading(1, 2), reading(2, 1)], true));
        let of_test = [reading(2, 3), reading(3, 1)];
        let [shared, own] = of_test.clone();
        let mut found = events(&[reading(1, 2), shared, own], true);
        remove(&known, &mut found);
        assert_eq!(found, events(&of_test, true));
        // In a process that was killed, it is not known how often a site was reached.
        let killed = events(&[reading(1, 1)], false);
        let mut found = killed.clone();
        remove(&known, &mut found);
        assert_eq!(found, killed);
    }
}

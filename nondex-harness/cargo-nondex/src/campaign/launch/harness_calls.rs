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

/// Call sites of one harness.
type Sites = Arc<OnceLock<Vec<Site>>>;

/// Call sites of each harness, by the id of its binary.
#[derive(Debug, Default)]
pub(super) struct HarnessCalls(Mutex<BTreeMap<String, Sites>>);

impl HarnessCalls {
    /// Removes the calls of the harness from the events of a run. Runs the harness without a test
    /// first, if it has not yet done so.
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
        let sites = {
            let mut known = self.0.locked();
            Arc::clone(known.entry(launch.binary.id.clone()).or_default())
        };
        let sites = sites.get_or_init(|| found(launcher, launch).unwrap_or_default());
        let is_of_test = |point: &PointRecord| !sites.contains(&point.site);
        events.retain_mut(|event| match event {
            Event::Site { point, .. } => is_of_test(point),
            Event::Points { points, .. } => {
                points.retain(is_of_test);
                true
            }
            _ => true,
        });
    }
}

/// Returns the sites that the harness reaches without a test. Returns `None` if the run does not
/// show them.
fn found(launcher: &Launcher<'_>, launch: &Launch<'_>) -> Option<Vec<Site>> {
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
    let points = events.into_iter().filter_map(|event| match event {
        Event::Points { points, .. } => Some(points),
        _ => None,
    });
    Some(points.flatten().map(|point| point.site).filter(is_timing).collect())
}

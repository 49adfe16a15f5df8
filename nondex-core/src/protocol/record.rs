//! The record of one run, folded from the [events](super::event) of its process. It is the only
//! output of the runtime.

use std::collections::{BTreeMap, BTreeSet};

use crate::json;

use super::covered::CoveredRecord;
use super::event::Event;
use super::network::NetworkRecord;
use super::network::fold::{Seen, fold as fold_network};
use super::operation::{self, OperationRecord};
use super::outcome::{Failure, Outcome};
use super::point::{ChoiceRecord, PointRecord, StepRecord};
use super::scheduling::ScheduleRecord;
use super::site::Site;
use super::source::Source;
use super::spec::{ALGORITHM, PROTOCOL, RunSpec};
use super::state::{AccessRecord, StateChange};

/// Record of one run of one test. The same [`RunSpec`] and binary give the same record, byte for
/// byte. This holds if the test is single-threaded or its threads share nothing before they are
/// joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRecord {
    /// Protocol version: [`PROTOCOL`].
    pub protocol: u32,
    /// Version of the choice algorithm: [`ALGORITHM`].
    pub algorithm: u32,
    /// Name of the test.
    pub test: String,
    /// How the test ended.
    pub outcome: Outcome,
    /// Why the test failed, if it failed and reported a reason.
    pub failure: Option<Failure>,
    /// The choice points that the test reached, ordered by site and thread.
    pub points: Vec<PointRecord>,
    /// The first choices of an order of each thread, in the order in which they were made, thread
    /// by thread.
    pub choices: Vec<ChoiceRecord>,
    /// The calls whose order was given as steps.
    pub steps: Vec<StepRecord>,
    /// Its network operations, in a fixed order.
    pub network: Vec<NetworkRecord>,
    /// Operations that failed in a way that the spec observes, in a fixed order.
    pub failed_operations: Vec<OperationRecord>,
    /// The sources of nondeterminism that the test used and no choice controls. Empty if the test
    /// did not end, or its harness is not this tool's.
    pub sources: Vec<Source>,
    /// The actions of the scheduler, if the test was scheduled and the process could still report
    /// them.
    pub schedule: Option<ScheduleRecord>,
    /// The state that the test left changed.
    pub states: Vec<StateChange>,
    /// Its accesses to the watched state, in the order in which they happened.
    pub accesses: Vec<AccessRecord>,
    /// The code that its programs ran, if they were compiled to record it and could still report
    /// it.
    pub covered: Vec<CoveredRecord>,
}

json::object!(strict RunRecord {
    protocol,
    algorithm,
    test,
    outcome,
    failure = optional,
    points,
    choices = optional,
    steps = optional,
    network = optional,
    failed_operations = optional,
    sources = optional,
    schedule = optional,
    states = optional,
    accesses = optional,
    covered = optional,
});

impl RunRecord {
    /// Folds the events of a process into a record. `process_end` is the outcome if the test
    /// function did not end.
    #[inline]
    pub fn fold(
        spec: &RunSpec,
        events: impl IntoIterator<Item = Event>,
        process_end: Outcome,
    ) -> Self {
        // The `points` of a thread that ended replace its `site` events. Other threads have only
        // the latter.
        let mut points: BTreeMap<(Site, String), PointRecord> = BTreeMap::new();
        let mut ended: BTreeMap<(Site, String), PointRecord> = BTreeMap::new();
        let mut choices = BTreeMap::new();
        let mut steps = Vec::new();
        let mut operations = Vec::new();
        let mut failed_operations = Vec::new();
        let mut sources = BTreeSet::new();
        let mut schedule = None;
        let mut states = Vec::new();
        let mut accesses = Vec::new();
        let mut covered = Vec::new();
        let mut failure = None;
        let mut end = None;
        for event in events.into_iter().filter(|event| event.test() == spec.test) {
            match event {
                Event::Site { point, .. } => {
                    points.entry((point.site.clone(), point.thread.clone())).or_insert(point);
                }
                Event::Points { points: flushed, choices: made, .. } => {
                    if let Some(point) = flushed.first() {
                        let of_thread: &mut Vec<_> =
                            choices.entry(point.thread.clone()).or_default();
                        of_thread.extend(made);
                    }
                    for point in flushed {
                        let key = (point.site.clone(), point.thread.clone());
                        match ended.entry(key) {
                            std::collections::btree_map::Entry::Vacant(vacant) => {
                                vacant.insert(point);
                            }
                            std::collections::btree_map::Entry::Occupied(mut occupied) => {
                                occupied.get_mut().merge(point);
                            }
                        }
                    }
                }
                Event::Step { step, .. } => steps.push(step),
                Event::Network { id, socket, network, .. } => {
                    operations.push(Seen::Operation(id, socket, network));
                }
                Event::Received { socket, .. } => operations.push(Seen::Received(socket)),
                Event::Operation { operation, .. } => failed_operations.push(operation),
                // A process that runs `exec` records its sources before, and more if that fails.
                Event::Sources { sources: used, .. } => sources.extend(used),
                Event::Schedule { schedule: found, .. } => schedule = Some(found),
                Event::Panic { failure: found, .. } => failure = Some(found),
                Event::States { changes, .. } => states = changes,
                Event::Access { access, .. } => accesses.push(access),
                Event::Covered { covered: found, .. } => covered.push(found),
                Event::Written { .. } | Event::Forked { .. } | Event::Unforked { .. } => {}
                Event::End { passed, failure: found, .. } => {
                    end = Some(if passed { Outcome::Passed } else { Outcome::Failed });
                    failure = if passed { None } else { found.or(failure) };
                }
            }
        }
        points.append(&mut ended);
        // A process that was killed after the end of its test did not pass. Examples are a hang in
        // a destructor and a crash at exit.
        let is_ended = |schedule: &ScheduleRecord| schedule.end.is_some();
        let outcome = match (end, process_end) {
            // The scheduler ended the process because the test would never have ended.
            (None, Outcome::Exited(_)) if schedule.as_ref().is_some_and(is_ended) => {
                Outcome::Failed
            }
            (Some(Outcome::Passed), Outcome::Exited(0))
            | (Some(Outcome::Passed), Outcome::Passed) => Outcome::Passed,
            (Some(Outcome::Failed), _) => Outcome::Failed,
            (_, process_end) => process_end,
        };
        RunRecord {
            protocol: PROTOCOL,
            algorithm: ALGORITHM,
            test: spec.test.clone(),
            outcome,
            failure,
            points: points.into_values().collect(),
            choices: choices.into_values().flatten().collect(),
            steps,
            network: fold_network(operations),
            failed_operations: operation::fold(failed_operations),
            sources: sources.into_iter().collect(),
            schedule,
            states,
            accesses,
            covered,
        }
    }

    /// Parses the events of a record, each a JSON object.
    ///
    /// # Errors
    /// Returns a message with the number of the first item that is not an event.
    #[inline]
    pub fn parse_events(
        events: impl IntoIterator<Item: AsRef<[u8]>>,
    ) -> Result<Vec<Event>, String> {
        let parse = |event: &[u8]| {
            let text = std::str::from_utf8(event).map_err(|e| e.to_string())?;
            json::from_str(text).map_err(|e| e.to_string())
        };
        (1..)
            .zip(events)
            .map(|(number, event): (u64, _)| {
                parse(event.as_ref())
                    .map_err(|e| format!("item {number} of the record is not an event: {e}"))
            })
            .collect()
    }

    /// Returns the number of choices of the run, over all sites and threads.
    pub fn choice_points(&self) -> u64 {
        self.points.iter().map(|point| point.count).sum()
    }
}

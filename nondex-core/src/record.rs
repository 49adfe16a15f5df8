//! What one run did: the only output of the runtime.
//!
//! A test process appends [`Event`]s to its record file, one JSON object on a line, each in one write, so that what
//! happened before a crash is kept. The driver folds them into a [`RunRecord`]:
//!
//! - `site`: a thread reached a site with a choice for the first time.
//! - `points`: a thread ended, or the test did: how often it reached each site. Supersedes its `site` events.
//! - `panic`: the test's own thread panicked: message and place. The last one counts.
//! - `network`: an operation on another machine began, or ended: the last one with its `id` counts.
//! - `end`: the test function ended, with its outcome. Its absence means that the process ended first.

use std::collections::BTreeMap;

use serde_derive::{Deserialize, Serialize};

use crate::json;
use crate::network::{self, NetworkRecord};
use crate::site::Site;
use crate::spec::{ALGORITHM, PROTOCOL, RunSpec};

/// How often one thread made choices at one site.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PointRecord {
    /// The call site.
    pub site: Site,
    /// The logical thread path: `0` is the test's own thread, `0.1` the second thread it spawned; `?` a thread that no
    /// shim saw start.
    pub thread: String,
    /// How many calls there had a choice (two or more elements).
    pub count: u64,
    /// The largest number of elements.
    pub max_len: u64,
    /// The stack of the first call, innermost frame first, when the spec asked for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<Frame>,
}

/// One frame of a stack.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Frame {
    /// The function's path.
    pub function: String,
    /// The source file, as in [`Site::file`].
    pub file: String,
    /// Line, from 1.
    pub line: u32,
}

/// Why a test failed, in its own words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The panic message, or the error a test returned.
    pub message: String,
    /// Where it panicked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The test function ended as it should.
    Passed,
    /// The test function panicked, returned an error, or did not panic though it should.
    Failed,
    /// The process ended itself before the test function did, with this exit code.
    Exited(i32),
    /// A signal ended the process.
    Signalled(i32),
    /// The run took longer than its time limit and was killed.
    TimedOut,
}

impl Outcome {
    /// Whether the test passed.
    #[must_use]
    pub const fn passed(&self) -> bool {
        matches!(self, Outcome::Passed)
    }
}

/// One line of a record file; see the [module](self).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// First reach of a site by a thread.
    Site {
        /// The test it happened in.
        test: String,
        /// The point, with a count of one.
        point: PointRecord,
    },
    /// All points of a thread that ended.
    Points {
        /// The test it happened in.
        test: String,
        /// The points.
        points: Vec<PointRecord>,
    },
    /// A panic on the test's own thread.
    Panic {
        /// The test it happened in.
        test: String,
        /// Message and place.
        failure: Failure,
    },
    /// The begin or the end of an operation on another machine.
    Network {
        /// The test it happened in.
        test: String,
        /// The operation, unique in the run.
        id: u64,
        /// What is known of it so far.
        network: NetworkRecord,
    },
    /// The end of the test function.
    End {
        /// The test that ended.
        test: String,
        /// Whether it passed.
        passed: bool,
        /// The reason when it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Failure>,
    },
}

impl Event {
    /// The test an event belongs to.
    #[must_use]
    pub fn test(&self) -> &str {
        match self {
            Event::Site { test, .. }
            | Event::Points { test, .. }
            | Event::Panic { test, .. }
            | Event::Network { test, .. }
            | Event::End { test, .. } => test,
        }
    }
}

/// What one run of one test did. The same [`RunSpec`] and binary give the same record, byte for byte, when the test is
/// single-threaded or its threads share nothing before they are joined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// [`ALGORITHM`].
    pub algorithm: u32,
    /// The test's name.
    pub test: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it failed, when it did and said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// The choice points it reached, ordered by site and thread.
    pub points: Vec<PointRecord>,
    /// Its operations on other machines, in a fixed order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub network: Vec<NetworkRecord>,
}

impl RunRecord {
    /// Folds the events of a process that ended with `process_end` when its test function did not end.
    #[must_use]
    pub fn fold(
        spec: &RunSpec,
        events: impl IntoIterator<Item = Event>,
        process_end: Outcome,
    ) -> Self {
        let mut points: BTreeMap<(Site, String), PointRecord> = BTreeMap::new();
        let mut ended: BTreeMap<(Site, String), PointRecord> = BTreeMap::new();
        let mut operations = Vec::new();
        let mut failure = None;
        let mut end = None;
        for event in events.into_iter().filter(|event| event.test() == spec.test) {
            match event {
                Event::Site { point, .. } => {
                    points
                        .entry((point.site.clone(), point.thread.clone()))
                        .or_insert(point);
                }
                Event::Points {
                    points: flushed, ..
                } => {
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
                Event::Network { id, network, .. } => operations.push((id, network)),
                Event::Panic { failure: found, .. } => failure = Some(found),
                Event::End {
                    passed,
                    failure: found,
                    ..
                } => {
                    end = Some(if passed {
                        Outcome::Passed
                    } else {
                        Outcome::Failed
                    });
                    failure = if passed { None } else { found.or(failure) };
                }
            }
        }
        points.append(&mut ended);
        // A process that was killed after its test had ended (a hang in a destructor, a crash at exit) did not pass.
        let outcome = match (end, process_end) {
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
            network: network::fold(operations),
        }
    }

    /// Parses the lines of a record file. A last line that was cut short by a crash is left out.
    ///
    /// # Errors
    /// When a complete line is not an event; the message has its number.
    pub fn parse_events(text: &str) -> Result<Vec<Event>, String> {
        let mut events = Vec::new();
        for (index, line) in text.split_inclusive('\n').enumerate() {
            let Some(line) = line.strip_suffix('\n') else {
                break;
            };
            events.push(
                json::from_str(line).map_err(|e| {
                    format!("line {} of the record is not an event: {e}", index + 1)
                })?,
            );
        }
        Ok(events)
    }

    /// How many choices the run had, over all sites and threads.
    #[must_use]
    pub fn choice_points(&self) -> u64 {
        self.points.iter().map(|point| point.count).sum()
    }
}

impl PointRecord {
    fn merge(&mut self, other: PointRecord) {
        self.count += other.count;
        self.max_len = self.max_len.max(other.max_len);
        if self.stack.is_empty() {
            self.stack = other.stack;
        }
    }
}

//! What one run did: the only output of the runtime.
//!
//! A test process appends [`Event`]s to its record file, one JSON object on a line, each in one write, so that what
//! happened before a crash is kept. The driver folds them into a [`RunRecord`]:
//!
//! - `site`: a thread reached a site with a choice for the first time.
//! - `points`: a thread ended, or the test did: how often it reached each site. Supersedes its `site` events.
//! - `step`: a call whose order was given as steps.
//! - `panic`: the test's own thread panicked: message and place. The last one counts.
//! - `operation`: an operation failed in a way that the spec asks for; with its stack once the test has failed.
//! - `network`: an operation on another machine began, or ended: the last one with its `id` counts.
//! - `end`: the test function ended, with its outcome. Its absence means that the process ended first.

use std::collections::BTreeMap;

use crate::json;
use crate::level::Level;
use crate::network::{self, NetworkRecord, Seen};
use crate::operation::{self, OperationRecord};
use crate::site::Site;
use crate::spec::{ALGORITHM, PROTOCOL, RunSpec};

/// How often one thread made choices at one site.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PointRecord {
    /// The call site.
    pub site: Site,
    /// The logical thread path: `0` is the test's own thread, `0.1` the second thread it started, `0/1` the main thread of
    /// the second process it started; `?` a thread that was not seen to start.
    pub thread: String,
    /// How many calls there had a choice (two or more elements).
    pub count: u64,
    /// The largest number of elements.
    pub max_len: u64,
    /// The stack of the first call, innermost frame first, when the spec asked for it.
    pub stack: Vec<Frame>,
}

json::object!(PointRecord { site, thread, count, max_len, stack = optional });

/// One frame of a stack.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Frame {
    /// The function's path.
    pub function: String,
    /// The source file, as in [`Site::file`].
    pub file: String,
    /// Line, from 1.
    pub line: u32,
}

json::object!(Frame {
    function,
    file,
    line
});

/// One choice of an order, with what its orders are drawn from: see [`choice::draw`](crate::choice::draw).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChoiceRecord {
    /// A hash of test, site and thread: see [`context::place`](crate::context::place).
    pub place: u64,
    /// Which call at this place it was, from 0.
    pub ordinal: u64,
    /// How many elements.
    pub len: u64,
    /// What its level looked at, if it did: the content at EQ, object and modification at ID.
    pub aspect: Option<u64>,
    /// Of a reading of the environment: how it follows others.
    pub reading: Option<Reading>,
}

/// How one reading of the environment follows others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reading {
    /// The thread's first one, of what the process read first.
    First,
    /// Another one of that.
    Again,
    /// One of something else, after a variable was changed.
    Changed,
}

impl Reading {
    /// Every one.
    pub const ALL: [Reading; 3] = [Reading::First, Reading::Again, Reading::Changed];

    /// The name used in records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Reading::First => "first",
            Reading::Again => "again",
            Reading::Changed => "changed",
        }
    }
}

json::words!(Reading);

impl ChoiceRecord {
    /// Whether a run at `level` has the base order here, whatever the seed. That the environment has another order is what STD shows.
    /// Beyond that a level only says which readings agree with each other, so one that agrees with all before has nothing to vary.
    #[must_use]
    pub fn keeps_base(&self, level: Level) -> bool {
        match (self.reading, level) {
            (None, _) | (_, Level::Std) => false,
            (_, Level::One) | (Some(Reading::First), _) => true,
            (Some(Reading::Again), _) => level != Level::Full,
            (Some(Reading::Changed), _) => false,
        }
    }
}

json::object!(ChoiceRecord {
    place as "p",
    ordinal as "o" = optional,
    len as "n",
    aspect as "a" = optional,
    reading as "r" = optional,
});

/// A call whose order was [given as steps](crate::spec::GivenOrder::Steps).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRecord {
    /// The call site.
    pub site: Site,
    /// The logical thread path.
    pub thread: String,
    /// Which call of the thread at the site, from 0.
    pub ordinal: u64,
    /// How many elements.
    pub len: u64,
    /// How many steps there are to the order that was drawn.
    pub steps: u64,
    /// The position that the first of the exchanged elements has now.
    pub position: u64,
    /// The two elements that the last step exchanged, in the order they have now. None in base order.
    pub exchanged: Vec<ElementRecord>,
    /// Where the collection is from, innermost frame first: where it was created or, when that is not known, where its first
    /// element was inserted. Only for sites to be [traced](RunSpec::trace).
    pub created: Vec<Frame>,
}

json::object!(StepRecord {
    site,
    thread,
    ordinal,
    len,
    steps,
    position,
    exchanged = optional,
    created = optional,
});

/// An element of a collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElementRecord {
    /// Its position in base order, from 0.
    pub rank: u64,
    /// How many elements were inserted before it that are still there, for a collection.
    pub index: Option<u64>,
    /// Its name, for entries of a directory and variables.
    pub name: Option<String>,
    /// Where it was inserted, innermost frame first. Only for sites to be [traced](RunSpec::trace).
    pub stack: Vec<Frame>,
}

json::object!(ElementRecord { rank, index = optional, name = optional, stack = optional });

/// Why a test failed, in its own words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// The panic message, or the error a test returned.
    pub message: String,
    /// Where it panicked.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
}

json::object!(Failure { message, file = optional, line = optional });

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
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

json::variants!(Outcome {
    Passed = "passed",
    Failed = "failed",
    Exited(code) = "exited",
    Signalled(signal) = "signalled",
    TimedOut = "timed_out",
});

impl Outcome {
    /// Whether the test passed.
    #[must_use]
    pub const fn passed(&self) -> bool {
        matches!(self, Outcome::Passed)
    }
}

/// One line of a record file; see the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
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
        /// Its first choices, in the order they were made.
        choices: Vec<ChoiceRecord>,
    },
    /// A call whose order was given.
    Step {
        /// The test it happened in.
        test: String,
        /// The call.
        step: StepRecord,
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
        /// The socket it is on, by a number that is the same in every process, where processes may share it.
        socket: Option<u64>,
        /// What is known of it so far.
        network: NetworkRecord,
    },
    /// Something was received through a socket, on which another process may have an operation.
    Received {
        /// The test it happened in.
        test: String,
        /// The socket, as in [`Event::Network`].
        socket: u64,
    },
    /// An operation failed in a way that the spec asks for.
    Operation {
        /// The test it happened in.
        test: String,
        /// What failed, and how.
        operation: OperationRecord,
    },
    /// The end of the test function.
    End {
        /// The test that ended.
        test: String,
        /// Whether it passed.
        passed: bool,
        /// The reason when it failed.
        failure: Option<Failure>,
    },
}

json::tagged!(Event by "event" {
    Site = "site" { test, point },
    Points = "points" { test, points, choices = optional },
    Step = "step" { test, step },
    Panic = "panic" { test, failure },
    Network = "network" { test, id, socket = optional, network },
    Received = "received" { test, socket },
    Operation = "operation" { test, operation },
    End = "end" { test, passed, failure = optional },
});

impl Event {
    /// The test an event belongs to.
    #[must_use]
    pub fn test(&self) -> &str {
        match self {
            Event::Site { test, .. }
            | Event::Points { test, .. }
            | Event::Step { test, .. }
            | Event::Panic { test, .. }
            | Event::Network { test, .. }
            | Event::Received { test, .. }
            | Event::Operation { test, .. }
            | Event::End { test, .. } => test,
        }
    }
}

/// What one run of one test did. The same [`RunSpec`] and binary give the same record, byte for byte, when the test is
/// single-threaded or its threads share nothing before they are joined.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    pub failure: Option<Failure>,
    /// The choice points it reached, ordered by site and thread.
    pub points: Vec<PointRecord>,
    /// The first choices of an order that each thread made, in the order they were made, thread by thread.
    pub choices: Vec<ChoiceRecord>,
    /// The calls whose order was given as steps.
    pub steps: Vec<StepRecord>,
    /// Its operations on other machines, in a fixed order.
    pub network: Vec<NetworkRecord>,
    /// Operations that failed in a way that the spec asks for, in a fixed order.
    pub failed_operations: Vec<OperationRecord>,
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
});

impl RunRecord {
    /// Folds the events of a process that ended with `process_end` when its test function did not end.
    #[must_use]
    #[inline]
    pub fn fold(
        spec: &RunSpec,
        events: impl IntoIterator<Item = Event>,
        process_end: Outcome,
    ) -> Self {
        let mut points: BTreeMap<(Site, String), PointRecord> = BTreeMap::new();
        let mut ended: BTreeMap<(Site, String), PointRecord> = BTreeMap::new();
        let mut choices = BTreeMap::new();
        let mut steps = Vec::new();
        let mut operations = Vec::new();
        let mut failed_operations = Vec::new();
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
                    points: flushed,
                    choices: made,
                    ..
                } => {
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
                Event::Network {
                    id,
                    socket,
                    network,
                    ..
                } => operations.push(Seen::Operation(id, socket, network)),
                Event::Received { socket, .. } => operations.push(Seen::Received(socket)),
                Event::Operation { operation, .. } => failed_operations.push(operation),
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
            choices: choices.into_values().flatten().collect(),
            steps,
            network: network::fold(operations),
            failed_operations: operation::fold(failed_operations),
        }
    }

    /// Parses the lines of a record file. A last line that was cut short by a crash is left out.
    ///
    /// # Errors
    /// When a complete line is not an event; the message has its number.
    #[inline]
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

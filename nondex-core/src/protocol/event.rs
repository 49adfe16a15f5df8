//! The events that a test process appends to its record.
//!
//! Each [`Event`] is a JSON object. The process appends events to memory that it shares with the
//! driver, so that events before a crash survive. The driver folds them into a
//! [`RunRecord`](crate::RunRecord):
//!
//! - `site`: a thread reached a site with a choice for the first time.
//! - `points`: a thread or the test ended, with how often it reached each site. Supersedes its
//!   `site` events.
//! - `step`: a call whose order was given as steps.
//! - `panic`: the test's own thread panicked, with message and place. The last one counts.
//! - `operation`: an operation failed in a way that the spec observes; recorded again with its
//!   stack if the test failed.
//! - `sources`: the sources of nondeterminism that the test used and no choice controls, before its
//!   `end`.
//! - `network`: a network operation began or ended. The last one with its `id` counts.
//! - `schedule`: the actions of the scheduler, before the `end` of the test or before the process
//!   exits.
//! - `end`: the test function ended, with its outcome. Its absence means that the process ended
//!   first.
//! - `states`: the state that the test left changed, if the spec requests it.
//! - `access`: the test read or changed state that the spec watches.
//! - `written`: a process of the test created a file or folder, or opened a file for writing, if
//!   the spec requests it.
//! - `covered`: the code that a process of the test ran, if the spec requests it. The last one of
//!   each process counts.
//! - `forked`: a fork that was made after the test ended. It follows the events of the fork, in the
//!   record of the [forks](Forks).
//! - `unforked`: no forks could be made after the test, and why.

use crate::json;

use super::covered::CoveredRecord;
use super::fork::ForkRecord;
#[cfg(doc)]
use super::fork::Forks;
use super::network::NetworkRecord;
use super::operation::OperationRecord;
use super::outcome::Failure;
use super::point::{ChoiceRecord, PointRecord, StepRecord};
use super::scheduling::ScheduleRecord;
use super::source::Source;
use super::state::{AccessRecord, StateChange};

/// One event of a record; see the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A thread reached a site for the first time.
    Site {
        /// Test in which it happened.
        test: String,
        /// Point, with a count of one.
        point: PointRecord,
    },
    /// All points of a thread that ended.
    Points {
        /// Test in which it happened.
        test: String,
        /// Points of the thread.
        points: Vec<PointRecord>,
        /// Its first choices, in the order in which they were made.
        choices: Vec<ChoiceRecord>,
    },
    /// A call whose order was given.
    Step {
        /// Test in which it happened.
        test: String,
        /// Record of the call.
        step: StepRecord,
    },
    /// A panic on the test's own thread.
    Panic {
        /// Test in which it happened.
        test: String,
        /// Message and place.
        failure: Failure,
    },
    /// The start or the end of a network operation.
    Network {
        /// Test in which it happened.
        test: String,
        /// Identifier of the operation, unique in the run.
        id: u64,
        /// Number of its socket, the same in every process, if processes may share the socket.
        socket: Option<u64>,
        /// State of the operation so far.
        network: NetworkRecord,
    },
    /// Data arrived through a socket on which another process may have an operation.
    Received {
        /// Test in which it happened.
        test: String,
        /// Number of the socket, as in [`Event::Network`].
        socket: u64,
    },
    /// An operation failed in a way that the spec observes.
    Operation {
        /// Test in which it happened.
        test: String,
        /// The failed operation and its error.
        operation: OperationRecord,
    },
    /// Sources of nondeterminism that the test used and no choice controls.
    Sources {
        /// Test that used them.
        test: String,
        /// The sources, in the order of [`Source::ALL`].
        sources: Vec<Source>,
    },
    /// The actions of the scheduler.
    Schedule {
        /// Test that was scheduled.
        test: String,
        /// Record of the schedule.
        schedule: ScheduleRecord,
    },
    /// The end of the test function.
    End {
        /// Test that ended.
        test: String,
        /// Whether it passed.
        passed: bool,
        /// Reason for the failure, if it failed.
        failure: Option<Failure>,
    },
    /// The state that the test left changed.
    States {
        /// Test that ended.
        test: String,
        /// The changes, in a fixed order.
        changes: Vec<StateChange>,
    },
    /// An access to a watched part of the state.
    Access {
        /// Test in which it happened.
        test: String,
        /// The access.
        access: AccessRecord,
    },
    /// A file or folder that was created or opened for writing.
    Written {
        /// Test in which it happened, or another one of its process.
        test: String,
        /// Absolute path without symbolic links. Without a path, the process may have written more
        /// files than it reports.
        path: Option<String>,
    },
    /// The code that ran.
    Covered {
        /// Test in which it ran.
        test: String,
        /// Record of the code.
        covered: CoveredRecord,
    },
    /// The end of a fork.
    Forked {
        /// Test that ran before the fork.
        test: String,
        /// The test of the fork, and how the fork ended.
        fork: ForkRecord,
    },
    /// No forks were made, because a fork would lack threads or children of its process.
    Unforked {
        /// Test that ran before.
        test: String,
        /// Number of threads of the process.
        threads: u64,
        /// Whether the process had children.
        has_children: bool,
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
    Sources = "sources" { test, sources },
    Schedule = "schedule" { test, schedule },
    End = "end" { test, passed, failure = optional },
    States = "states" { test, changes },
    Access = "access" { test, access },
    Written = "written" { test, path = optional },
    Covered = "covered" { test, covered },
    Forked = "forked" { test, fork },
    Unforked = "unforked" { test, threads, has_children },
});

impl Event {
    /// Returns the test to which an event belongs.
    pub fn test(&self) -> &str {
        match self {
            Event::Site { test, .. }
            | Event::Points { test, .. }
            | Event::Step { test, .. }
            | Event::Panic { test, .. }
            | Event::Network { test, .. }
            | Event::Received { test, .. }
            | Event::Operation { test, .. }
            | Event::Sources { test, .. }
            | Event::Schedule { test, .. }
            | Event::End { test, .. }
            | Event::States { test, .. }
            | Event::Access { test, .. }
            | Event::Written { test, .. }
            | Event::Covered { test, .. }
            | Event::Forked { test, .. }
            | Event::Unforked { test, .. } => test,
        }
    }
}

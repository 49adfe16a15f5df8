//! What a test process appends to its record.
//!
//! A test process appends [`Event`]s to its record, each a JSON object, into memory that it shares
//! with the driver, so that what happened before a crash is kept. The driver folds them into a
//! [`RunRecord`](crate::RunRecord):
//!
//! - `site`: a thread reached a site with a choice for the first time.
//! - `points`: a thread ended, or the test did: how often it reached each site. Supersedes its
//!   `site` events.
//! - `step`: a call whose order was given as steps.
//! - `panic`: the test's own thread panicked: message and place. The last one counts.
//! - `operation`: an operation failed in a way that the spec asks for; with its stack once the test
//!   has failed.
//! - `sources`: what no choice controls and the test used, before its `end`.
//! - `network`: an operation on another machine began, or ended: the last one with its `id` counts.
//! - `schedule`: what the scheduler did, before its `end` or before the process ends itself.
//! - `end`: the test function ended, with its outcome. Its absence means that the process ended
//!   first.
//! - `states`: what the test left changed, if the spec asks for it.
//! - `access`: the test has read or changed what the spec watches.
//! - `written`: a process of the test made a file or folder, or opened a file to write into it, if
//!   the spec asks for it.
//! - `covered`: which code a process of the test ran, if the spec asks for it: the last one of each
//!   process counts.
//! - `forked`: a fork ended that was made after the test. It follows the events of the fork, in the
//!   record of the [forks](Forks).
//! - `unforked`: no forks were made after the test, and why.

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
        /// The socket it is on, by a number that is the same in every process, where processes may
        /// share it.
        socket: Option<u64>,
        /// What is known of it until now.
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
    /// What no choice controls, as far as the test used it.
    Sources {
        /// The test.
        test: String,
        /// What it used, in the order of [`Source::ALL`].
        sources: Vec<Source>,
    },
    /// What the scheduler did.
    Schedule {
        /// The test.
        test: String,
        /// What it did.
        schedule: ScheduleRecord,
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
    /// What the test left changed.
    States {
        /// The test that ended.
        test: String,
        /// The changes, in a fixed order.
        changes: Vec<StateChange>,
    },
    /// An access to a part of the state that is watched.
    Access {
        /// The test it happened in.
        test: String,
        /// The access.
        access: AccessRecord,
    },
    /// A file or folder that was made, or opened to be written into.
    Written {
        /// The test it happened in, or another one of its process.
        test: String,
        /// The path, absolute and without links. Without one, more may have been written than is
        /// told.
        path: Option<String>,
    },
    /// Which code ran.
    Covered {
        /// The test it ran in.
        test: String,
        /// What ran.
        covered: CoveredRecord,
    },
    /// The end of a fork.
    Forked {
        /// The test that ran before.
        test: String,
        /// What ran in the fork, and how it ended.
        fork: ForkRecord,
    },
    /// There are no forks: a fork has neither the threads nor the children of its process.
    Unforked {
        /// The test that ran before.
        test: String,
        /// How many threads the process had.
        threads: u64,
        /// Whether it had children.
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
    /// The test an event belongs to.
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

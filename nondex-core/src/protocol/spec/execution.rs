//! The execution of a run: accessors, and methods that return the spec with another kind of
//! execution.

use super::RunSpec;
use crate::protocol::execution::{Execution, Interleaving, ScheduledTest, TestSequence};
use crate::protocol::fork::Forks;
use crate::protocol::state::StateId;

impl RunSpec {
    /// Returns the spec for the test alone, with scheduled threads and virtual time, for at most
    /// `max_steps` operations. 0 means the default maximum.
    #[must_use]
    pub fn with_scheduler(self, max_steps: u64) -> Self {
        let test = ScheduledTest { max_steps, ..ScheduledTest::default() };
        RunSpec { execution: Execution::Scheduled(test), ..self }
    }

    /// Returns the spec with real threads and real time.
    #[must_use]
    pub fn with_real_threads(self) -> Self {
        self.in_order(|_| {})
    }

    /// Returns the spec with its test after these tests, in one process. Unless `before` is empty,
    /// the threads are real: the scheduler needs a separate process for each test. Two interleaved
    /// tests stay as they are.
    #[must_use]
    pub fn after(self, before: Vec<String>) -> Self {
        match self.execution {
            Execution::Scheduled(_) if before.is_empty() => self,
            Execution::Interleaved(_) => self,
            _ => self.in_order(|tests| tests.before = before),
        }
    }

    /// Returns the spec with these parts of the state watched. Unless `watch` is empty, the threads
    /// are real: the scheduler would see the accesses of the watching code.
    #[must_use]
    pub fn watching(self, watch: Vec<StateId>) -> Self {
        match self.execution {
            Execution::Scheduled(_) if watch.is_empty() => self,
            _ => self.in_order(|tests| tests.watch = watch),
        }
    }

    /// Returns the spec with its tests one after the other, with real threads and real time, after
    /// applying `change` to the sequence.
    #[must_use]
    pub fn in_order(self, change: impl FnOnce(&mut TestSequence)) -> Self {
        let mut tests = match self.execution {
            Execution::Scheduled(_) => TestSequence::default(),
            Execution::InOrder(tests) => tests,
            Execution::Interleaved(tests) => {
                TestSequence { before: vec![tests.with], ..TestSequence::default() }
            }
        };
        change(&mut tests);
        RunSpec { execution: Execution::InOrder(tests), ..self }
    }

    /// Returns the spec with its test and another one interleaved.
    #[must_use]
    pub fn interleaved(self, tests: Interleaving) -> Self {
        RunSpec { execution: Execution::Interleaved(tests), ..self }
    }

    /// Returns the spec for `test` in a fork of this spec's process.
    pub fn in_fork(&self, test: &str) -> Self {
        let before = self.tests().map(str::to_owned).collect();
        let forked = self.clone().in_order(|tests| {
            tests.before = before;
            tests.forks = None;
        });
        RunSpec { test: test.to_owned(), ..forked }
    }

    /// Returns the spec with at most this number of operations recorded, the last ones. Only a
    /// scheduled run records operations.
    #[must_use]
    pub fn with_operations(mut self, operations: u64) -> Self {
        if let Execution::Scheduled(test) = &mut self.execution {
            test.operations = operations;
        }
        self
    }

    /// Returns the spec without a record of the first operations of a run that has `count`
    /// operations. Only about twice as many operations as [`operations`](Self::operations) are then
    /// traced.
    #[must_use]
    pub fn with_last_operations_of(mut self, count: u64) -> Self {
        if let Execution::Scheduled(test) = &mut self.execution {
            test.skipped = count.saturating_sub(test.operations.saturating_mul(2));
        }
        self
    }

    /// Returns how its threads and time are scheduled; `None` if they are real.
    pub const fn scheduled(&self) -> Option<&ScheduledTest> {
        match &self.execution {
            Execution::Scheduled(test) => Some(test),
            _ => None,
        }
    }

    /// Returns whether its threads and time are scheduled.
    pub const fn is_scheduled(&self) -> bool {
        self.scheduled().is_some()
    }

    /// Returns the maximum number of operations of its threads; 0 means the default, or that
    /// threads are real.
    pub fn max_steps(&self) -> u64 {
        self.scheduled().map_or(0, |test| test.max_steps)
    }

    /// Returns how many operations are recorded; 0 if threads are real.
    pub fn operations(&self) -> u64 {
        self.scheduled().map_or(0, |test| test.operations)
    }

    /// Returns the tests that run one after the other, if the run is of that kind.
    pub const fn sequence(&self) -> Option<&TestSequence> {
        match &self.execution {
            Execution::InOrder(tests) => Some(tests),
            _ => None,
        }
    }

    /// Returns how two tests are interleaved, if they are.
    pub const fn interleaving(&self) -> Option<&Interleaving> {
        match &self.execution {
            Execution::Interleaved(tests) => Some(tests),
            _ => None,
        }
    }

    /// Returns the test that runs while another one is suspended.
    pub fn inner(&self) -> Option<&str> {
        let tests = self.interleaving()?;
        Some(if tests.is_inner { &self.test } else { &tests.with })
    }

    /// Returns the other tests of its process in the order in which they run: those before it, or
    /// the test with which it is interleaved.
    pub fn before(&self) -> &[String] {
        match &self.execution {
            Execution::Scheduled(_) => &[],
            Execution::InOrder(tests) => &tests.before,
            Execution::Interleaved(tests) => std::slice::from_ref(&tests.with),
        }
    }

    /// Returns the tests that run in forks of its process.
    pub fn forks(&self) -> Option<&Forks> {
        self.sequence()?.forks.as_ref()
    }

    /// Returns the parts of the state to which accesses are recorded.
    pub fn watch(&self) -> &[StateId] {
        match &self.execution {
            Execution::Scheduled(_) => &[],
            Execution::InOrder(tests) => &tests.watch,
            Execution::Interleaved(tests) => std::slice::from_ref(&tests.state),
        }
    }

    /// Returns whether accesses are recorded with their stacks.
    pub const fn has_lines(&self) -> bool {
        match &self.execution {
            Execution::Scheduled(_) => false,
            Execution::InOrder(tests) => tests.lines,
            Execution::Interleaved(tests) => tests.lines,
        }
    }

    /// Returns the parts of the state that are restored.
    pub fn put_back(&self) -> &[StateId] {
        match &self.execution {
            Execution::Scheduled(_) => &[],
            Execution::InOrder(tests) => &tests.put_back,
            Execution::Interleaved(tests) if tests.put_back => std::slice::from_ref(&tests.state),
            Execution::Interleaved(_) => &[],
        }
    }

    /// Returns whether the changes that remain after each test are recorded.
    pub fn records_changes(&self) -> bool {
        self.sequence().is_some_and(|tests| tests.changes)
    }

    /// Returns whether these changes include those of files.
    pub fn records_files(&self) -> bool {
        self.sequence().is_some_and(|tests| tests.changes && !tests.without_files)
    }

    /// Returns the tests of the experiment, in the order in which they run.
    pub fn tests(&self) -> impl Iterator<Item = &str> {
        self.before().iter().map(String::as_str).chain([self.test.as_str()])
    }
}

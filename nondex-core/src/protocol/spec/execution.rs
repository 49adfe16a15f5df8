//! What runs in the process of a run, and the same run in a process of another kind.

use super::RunSpec;
use crate::protocol::execution::{Execution, Interleaving, ScheduledTest, TestSequence};
use crate::protocol::fork::Forks;
use crate::protocol::state::StateId;

impl RunSpec {
    /// The same test alone, with its threads and its time scheduled, for at most this number of
    /// operations; 0 is the default.
    #[must_use]
    pub fn with_scheduler(self, max_steps: u64) -> Self {
        let test = ScheduledTest { max_steps, ..ScheduledTest::default() };
        RunSpec { execution: Execution::Scheduled(test), ..self }
    }

    /// The same with real threads and real time.
    #[must_use]
    pub fn with_real_threads(self) -> Self {
        self.in_order(|_| {})
    }

    /// The same after these tests in one process. Where there are some, threads are real: the
    /// scheduler needs a separate process for each test. Two interleaved tests stay these two.
    #[must_use]
    pub fn after(self, before: Vec<String>) -> Self {
        match self.execution {
            Execution::Scheduled(_) if before.is_empty() => self,
            Execution::Interleaved(_) => self,
            _ => self.in_order(|tests| tests.before = before),
        }
    }

    /// The same with these parts of the state watched. Where there are some, threads are real: the
    /// scheduler would see the accesses of what watches.
    #[must_use]
    pub fn watching(self, watch: Vec<StateId>) -> Self {
        match self.execution {
            Execution::Scheduled(_) if watch.is_empty() => self,
            _ => self.in_order(|tests| tests.watch = watch),
        }
    }

    /// The same with its tests one after the other, with real threads and real time, and `change`
    /// made to them.
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

    /// The same with its test and another one interleaved.
    #[must_use]
    pub fn interleaved(self, tests: Interleaving) -> Self {
        RunSpec { execution: Execution::Interleaved(tests), ..self }
    }

    /// The same for `test` in a fork of its process.
    pub fn in_fork(&self, test: &str) -> Self {
        let before = self.tests().map(str::to_owned).collect();
        let forked = self.clone().in_order(|tests| {
            tests.before = before;
            tests.forks = None;
        });
        RunSpec { test: test.to_owned(), ..forked }
    }

    /// The same with the last operations recorded, at most this number, where they are scheduled.
    #[must_use]
    pub fn with_operations(mut self, operations: u64) -> Self {
        if let Execution::Scheduled(test) = &mut self.execution {
            test.operations = operations;
        }
        self
    }

    /// The same without a record of the first operations of a run that has `count` of them: only
    /// about as many before its last ones as are recorded of those.
    #[must_use]
    pub fn with_last_operations_of(mut self, count: u64) -> Self {
        if let Execution::Scheduled(test) = &mut self.execution {
            test.skipped = count.saturating_sub(test.operations.saturating_mul(2));
        }
        self
    }

    /// How its threads and its time are scheduled; `None` where they are real.
    pub const fn scheduled(&self) -> Option<&ScheduledTest> {
        match &self.execution {
            Execution::Scheduled(test) => Some(test),
            _ => None,
        }
    }

    /// Whether its threads and its time are scheduled.
    pub const fn is_scheduled(&self) -> bool {
        self.scheduled().is_some()
    }

    /// Maximum number of operations of its threads; 0 is the default, or where they are real.
    pub fn max_steps(&self) -> u64 {
        self.scheduled().map_or(0, |test| test.max_steps)
    }

    /// How many operations are recorded; 0 where threads are real.
    pub fn operations(&self) -> u64 {
        self.scheduled().map_or(0, |test| test.operations)
    }

    /// The tests that run one after the other, if that is what runs.
    pub const fn sequence(&self) -> Option<&TestSequence> {
        match &self.execution {
            Execution::InOrder(tests) => Some(tests),
            _ => None,
        }
    }

    /// How two tests are interleaved, if they are.
    pub const fn interleaving(&self) -> Option<&Interleaving> {
        match &self.execution {
            Execution::Interleaved(tests) => Some(tests),
            _ => None,
        }
    }

    /// The test that runs while another one is stopped.
    pub fn inner(&self) -> Option<&str> {
        let tests = self.interleaving()?;
        Some(if tests.is_inner { &self.test } else { &tests.with })
    }

    /// The other tests of its process, in the order in which they run: those before it, or the one
    /// with which it is interleaved.
    pub fn before(&self) -> &[String] {
        match &self.execution {
            Execution::Scheduled(_) => &[],
            Execution::InOrder(tests) => &tests.before,
            Execution::Interleaved(tests) => std::slice::from_ref(&tests.with),
        }
    }

    /// What runs in forks of its process.
    pub fn forks(&self) -> Option<&Forks> {
        self.sequence()?.forks.as_ref()
    }

    /// The parts of the state to which accesses are recorded.
    pub fn watch(&self) -> &[StateId] {
        match &self.execution {
            Execution::Scheduled(_) => &[],
            Execution::InOrder(tests) => &tests.watch,
            Execution::Interleaved(tests) => std::slice::from_ref(&tests.state),
        }
    }

    /// Whether these are recorded with their stacks.
    pub const fn has_lines(&self) -> bool {
        match &self.execution {
            Execution::Scheduled(_) => false,
            Execution::InOrder(tests) => tests.lines,
            Execution::Interleaved(tests) => tests.lines,
        }
    }

    /// The parts of the state that are put back.
    pub fn put_back(&self) -> &[StateId] {
        match &self.execution {
            Execution::Scheduled(_) => &[],
            Execution::InOrder(tests) => &tests.put_back,
            Execution::Interleaved(tests) if tests.put_back => std::slice::from_ref(&tests.state),
            Execution::Interleaved(_) => &[],
        }
    }

    /// Whether what each test leaves changed is recorded.
    pub fn records_changes(&self) -> bool {
        self.sequence().is_some_and(|tests| tests.changes)
    }

    /// The tests of the experiment, in the order in which they run.
    pub fn tests(&self) -> impl Iterator<Item = &str> {
        self.before().iter().map(String::as_str).chain([self.test.as_str()])
    }
}

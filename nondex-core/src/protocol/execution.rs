//! What runs in the process of a run, with which threads and clocks.

use crate::json;

use super::fork::Forks;
use super::state::StateId;

/// What runs in the process of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Execution {
    /// The test alone, with scheduled threads and virtual time.
    Scheduled(ScheduledTest),
    /// Tests one after the other, with real threads and real time. The test of the spec is the last
    /// one.
    InOrder(TestSequence),
    /// The test and another one, with real threads and real time. One test runs while the other one
    /// is suspended.
    Interleaved(Interleaving),
}

json::variants!(Execution {
    Scheduled(test) = "scheduled",
    InOrder(tests) = "in_order",
    Interleaved(tests) = "interleaved",
});

impl Default for Execution {
    /// Returns the test alone, with real threads and real time.
    fn default() -> Self {
        Execution::InOrder(TestSequence::default())
    }
}

impl Execution {
    /// Returns the parts of the state that are watched or restored.
    pub fn states_mut(&mut self) -> impl Iterator<Item = &mut StateId> {
        let (tests, state) = match self {
            Execution::Scheduled(_) => (None, None),
            Execution::InOrder(tests) => (Some(tests), None),
            Execution::Interleaved(tests) => (None, Some(&mut tests.state)),
        };
        let of_tests = tests.map(|tests| tests.watch.iter_mut().chain(&mut tests.put_back));
        of_tests.into_iter().flatten().chain(state)
    }
}

/// A test with scheduled threads and virtual time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScheduledTest {
    /// Maximum number of operations of its threads; 0 means
    /// [`MAX_STEPS`](super::scheduling::MAX_STEPS).
    pub max_steps: u64,
    /// Number of operations that are recorded with their stacks, the last ones.
    pub operations: u64,
    /// Number of operations that are not recorded, the first ones. A stack takes a tenth of a
    /// millisecond.
    pub skipped: u64,
}

json::object!(strict ScheduledTest {
    max_steps = optional,
    operations = optional,
    skipped = optional,
});

/// Tests that run one after the other, and the observation of the state that they share. The fields
/// are independent of each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestSequence {
    /// Tests before the test of the spec, in the order in which they run.
    pub before: Vec<String>,
    /// Tests that run in forks of the process afterwards.
    pub forks: Option<Forks>,
    /// Whether to record the state that each test leaves changed.
    pub changes: bool,
    /// Whether only statics and variables are compared for that, without files.
    pub without_files: bool,
    /// Parts of the state to which accesses are recorded. An empty name of a variable or file means
    /// all of them.
    pub watch: Vec<StateId>,
    /// Whether accesses are recorded with their stacks, which is slow.
    pub lines: bool,
    /// State that is restored to what it was before the first test. This happens before the last
    /// test and before the test of each fork.
    pub put_back: Vec<StateId>,
}

json::object!(strict TestSequence {
    before = optional,
    forks = optional,
    changes = optional,
    without_files = optional,
    watch = optional,
    lines = optional,
    put_back = optional,
});

/// Two tests, of which the inner one runs while the outer one is suspended. It runs on another
/// thread, at an access of the outer test to a part of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interleaving {
    /// The other test.
    pub with: String,
    /// Whether the test of the spec is the inner one.
    pub is_inner: bool,
    /// The part of the state.
    pub state: StateId,
    /// The access of the outer test at which the inner one runs, from 0.
    pub interrupt_at: u64,
    /// The access of the inner test, from 0, at which it waits until the outer one has ended.
    /// `None` lets it run to its end.
    pub pause_at: Option<u64>,
    /// Whether accesses are recorded with their stacks, which is slow.
    pub lines: bool,
    /// Whether the part of the state is restored for the test of the spec, as if the other test had
    /// not changed it.
    pub put_back: bool,
    /// If not 0, the outer test only waits for this number of milliseconds at its access. The inner
    /// test then runs afterwards. 0 lets the inner test run at the access.
    pub waits_ms: u64,
}

json::object!(strict Interleaving {
    with,
    is_inner as "inner" = optional,
    state,
    interrupt_at,
    pause_at = optional,
    lines = optional,
    put_back = optional,
    waits_ms = optional,
});

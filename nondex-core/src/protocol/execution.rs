//! What runs in the process of a run, and on which threads and clocks.

use crate::json;

use super::fork::Forks;
use super::state::StateId;

/// What runs in the process of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Execution {
    /// The test alone. Its threads and its time are scheduled.
    Scheduled(ScheduledTest),
    /// Tests one after the other, with real threads and real time. The test is the last one.
    InOrder(TestSequence),
    /// The test and another one, of which one runs while the other one is stopped; with real
    /// threads and real time.
    Interleaved(Interleaving),
}

json::variants!(Execution {
    Scheduled(test) = "scheduled",
    InOrder(tests) = "in_order",
    Interleaved(tests) = "interleaved",
});

impl Default for Execution {
    /// The test alone, with real threads and real time.
    fn default() -> Self {
        Execution::InOrder(TestSequence::default())
    }
}

impl Execution {
    /// The parts of the state that are watched or put back.
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

/// A test whose threads and time are scheduled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScheduledTest {
    /// Maximum number of operations of its threads; 0 is
    /// [`MAX_STEPS`](super::scheduling::MAX_STEPS).
    pub max_steps: u64,
    /// How many of these operations, the last ones, are recorded, each with its stack.
    pub operations: u64,
    /// How many of them are not, the first ones: a stack takes a tenth of a millisecond.
    pub skipped: u64,
}

json::object!(strict ScheduledTest {
    max_steps = optional,
    operations = optional,
    skipped = optional,
});

/// Tests that run one after the other, and what is observed of the state that they share. Each
/// field counts without the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestSequence {
    /// The tests before the test of the spec, in the order in which they run.
    pub before: Vec<String>,
    /// What runs in forks of the process afterwards.
    pub forks: Option<Forks>,
    /// Whether what each test leaves changed is recorded.
    pub changes: bool,
    /// The parts of the state to which accesses are recorded. Of variables and files, an empty name
    /// means all.
    pub watch: Vec<StateId>,
    /// Whether these are recorded with their stacks, which takes long.
    pub lines: bool,
    /// What is put back, before the last test and before that of each fork, to what it was before
    /// the first test.
    pub put_back: Vec<StateId>,
}

json::object!(strict TestSequence {
    before = optional,
    forks = optional,
    changes = optional,
    watch = optional,
    lines = optional,
    put_back = optional,
});

/// Two tests, of which the inner one runs, on another thread, at an access of the outer one to a
/// part of the state.
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
    /// The access of the inner test at which it waits until the outer one has ended, from 0; `None`
    /// lets it run to its end.
    pub pause_at: Option<u64>,
    /// Whether the accesses are recorded with their stacks, which takes long.
    pub lines: bool,
    /// Whether the test of the spec finds the part of the state as if the other one had not changed
    /// it.
    pub put_back: bool,
    /// How many milliseconds the outer test only waits at its access, while the inner one does not
    /// run: that runs afterwards. 0 lets it run there.
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

//! What the machine asks of the system outside of the test's threads.

use super::looks::Looks;
use super::thread::{ThreadId, Threads};

/// State of the harness's own thread. The thread may hold a lock of the test's allocator until it
/// waits for the test's thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harness {
    /// It waits for another thread.
    Waits,
    /// It waits for something else.
    Sleeps,
    /// It runs.
    Runs,
}

/// The system outside of the test's threads, as far as a decision of the machine depends on it.
///
/// The machine asks while its lock is held, so no answer may wait for a thread of the test.
pub trait World {
    /// Returns the real time in nanoseconds, on a monotonic clock.
    fn real_time(&self) -> u64;

    /// Returns whether the condition holds for which a thread waits by polling.
    fn is_true(&mut self, thread: ThreadId) -> bool;

    /// Returns whether the futex at which a thread waits has another value than the thread expects.
    fn has_changed(&self, thread: ThreadId, address: usize) -> bool;

    /// Returns the looks of a thread that does not run, or is the running one.
    fn looks(&self, thread: ThreadId) -> &Looks;

    /// Prepares for a jump of virtual time from `now` by `passed`.
    fn will_jump(&mut self, now: u64, passed: u64);

    /// Lets other threads of the computer run.
    fn yield_processor(&self);

    /// Returns whether the last process that children have left running has ended since the last
    /// call. Until then it counts as one that is outside.
    fn have_orphans_ended(&mut self) -> bool;

    /// Returns whether a thread exists whose scheduled life has ended, but not its real one.
    fn is_any_leaving(&self) -> bool;

    /// Returns whether a filter of system calls forbids to query the system.
    fn is_filtered(&self) -> bool;

    /// Returns whether nothing outside of the process could make one of its descriptors ready.
    fn is_closed(&self) -> bool;

    /// Returns whether anything other than these threads, all of which wait, could wake one.
    fn may_be_woken(&self, threads: &Threads) -> bool;

    /// Returns whether a spinning thread looks at memory that other processes may share.
    fn sees_shared_memory(&self, thread: ThreadId) -> bool;

    /// Returns the state of the harness's own thread.
    fn harness(&self) -> Harness;
}

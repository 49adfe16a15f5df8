//! What the running thread may do without the machine: counts and times that it reads and writes
//! without a lock.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Counts and times of a machine that are read without its lock.
///
/// Only the running thread writes the time and the number of operations, or a thread that holds the
/// lock. Therefore a load and a store suffice in place of a read-modify-write.
#[derive(Debug, Default)]
pub struct Lease {
    now: AtomicU64,
    steps: AtomicU64,
    attention: AtomicU64,
    ticked: AtomicU64,
    alive: AtomicU32,
    ready: AtomicU32,
    outside: AtomicU32,
    is_disturbed: AtomicBool,
}

impl Lease {
    /// Returns the lease of a machine without threads, at the beginning of virtual time.
    pub const fn new() -> Self {
        Lease {
            now: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            attention: AtomicU64::new(0),
            ticked: AtomicU64::new(0),
            alive: AtomicU32::new(0),
            ready: AtomicU32::new(0),
            outside: AtomicU32::new(0),
            is_disturbed: AtomicBool::new(false),
        }
    }

    /// Returns the virtual time in nanoseconds since the start of the test.
    #[inline]
    pub fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    /// Sets the virtual time, for the running thread.
    #[inline]
    pub fn set_now(&self, now: u64) {
        self.now.store(now, Ordering::Relaxed);
    }

    /// Advances virtual time, for any thread.
    #[inline]
    pub fn pass(&self, time: u64) {
        self.now.fetch_add(time, Ordering::Relaxed);
    }

    /// Returns the number of operations of the run.
    #[inline]
    pub fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// Counts an operation of the running thread.
    #[inline]
    pub fn count_step(&self) {
        self.steps.store(self.steps() + 1, Ordering::Relaxed);
    }

    /// Returns the virtual time at which the running thread must consult the machine.
    #[inline]
    pub fn attention(&self) -> u64 {
        self.attention.load(Ordering::Relaxed)
    }

    /// Sets the virtual time at which the running thread must consult the machine.
    pub fn set_attention(&self, time: u64) {
        self.attention.store(time, Ordering::Relaxed);
    }

    /// Returns the virtual time at which the system last did something, or a thread last woke.
    /// Clocks need not have ticked since then.
    pub fn ticked(&self) -> u64 {
        self.ticked.load(Ordering::Relaxed)
    }

    /// Records that every clock has ticked.
    #[inline]
    pub fn tick(&self) {
        self.ticked.store(self.now(), Ordering::Relaxed);
    }

    /// Forgets when clocks ticked.
    pub fn forget_ticks(&self) {
        self.ticked.store(0, Ordering::Relaxed);
    }

    /// Returns the number of threads that have not ended.
    #[inline]
    pub fn alive(&self) -> u32 {
        self.alive.load(Ordering::Relaxed)
    }

    pub(super) fn set_alive(&self, threads: usize) {
        self.alive.store(threads as u32, Ordering::Relaxed);
    }

    /// Returns the number of ready threads.
    #[inline]
    pub fn ready(&self) -> u32 {
        self.ready.load(Ordering::Relaxed)
    }

    pub(super) fn add_ready(&self) {
        self.ready.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn remove_ready(&self) {
        self.ready.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns whether a thread or a child is outside: see [`Machine`](super::Machine).
    #[inline]
    pub fn is_any_outside(&self) -> bool {
        self.outside.load(Ordering::Relaxed) > 0
    }

    /// Counts one more that is outside, and returns whether it is the first one.
    pub(super) fn add_outside(&self) -> bool {
        self.outside.fetch_add(1, Ordering::Relaxed) == 0
    }

    pub(super) fn remove_outside(&self) {
        self.outside.fetch_sub(1, Ordering::Relaxed);
    }

    /// Records that another thread runs, or may, without a decision of a systematic run.
    pub fn disturb(&self) {
        self.is_disturbed.store(true, Ordering::Relaxed);
    }

    /// Returns whether another thread ran for a reason other than a decision.
    pub fn is_disturbed(&self) -> bool {
        self.is_disturbed.load(Ordering::Relaxed)
    }
}

//! The state that all threads share, and the steps that change it.

use super::lease::Lease;
use super::list::List;
use super::operation::Operation;
use super::thread::{Place, State, ThreadId, Threads, Woken};
use super::timers::Timers;
use super::{SLICE, STEP};

/// Limit on the virtual time that a test may sleep.
const SLEEP_LIMIT: u64 = 3_600_000_000_000;

/// Number of lists for the threads that wait at addresses.
const BUCKETS: usize = 256;

/// Statistics for the record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of times that another thread continued.
    pub switches: u64,
    /// Number of times that a thread was delayed.
    pub holds: u64,
    /// Longest delay in nanoseconds.
    pub longest_delay: u64,
    /// Number of times that a thread blocked unseen, and another one was resumed.
    pub leaks: u64,
    /// Number of waits for something outside.
    pub outside: u64,
    /// Number of times that a thread was interrupted between two operations.
    pub asynchronous: u64,
}

/// One moment in real and in virtual time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anchor {
    pub(super) real: u64,
    pub(super) now: u64,
}

/// The scheduler of a test's threads: see the [module](super).
#[derive(Debug)]
pub struct Machine<'a> {
    pub(super) lease: &'a Lease,
    pub(super) threads: Threads,
    pub(super) running: Option<ThreadId>,
    pub(super) ready: List,
    pub(super) addresses: [List; BUCKETS],
    pub(super) polls: List,
    pub(super) timers: Timers,
    /// Number of timers that end a delay.
    pub(super) holding: usize,
    pub(super) slice_end: u64,
    /// Whether a delay has just ended.
    pub(super) preempts: bool,
    /// Moment at which virtual time began to run with real time, if it does.
    pub(super) real_at: Option<Anchor>,
    /// Real time since which only an event from outside could make a thread ready.
    pub(super) idle_since: Option<u64>,
    /// Virtual time of the last poll while others were ready.
    pub(super) polled_at: u64,
    /// Number of timers that were ever set.
    order: u64,
    /// Number of times that a thread began to wait or ended, rather than just spinning.
    pub(super) blocked: u64,
    /// Number of the operation at which long delays are searched for again.
    pub(super) holds_at: u64,
    /// Limit on the time that may pass by sleeping.
    pub(super) sleep_limit: u64,
    pub(super) slept: u64,
    /// Time that choices have added to waits.
    pub(super) delayed: u64,
    /// Whether a thread is about to end the process.
    pub(super) is_ending: bool,
    /// Whether a waker was found that is not one of the threads.
    pub(super) has_other_wakers: bool,
    /// Whether a list of decisions determines where threads are delayed.
    pub(super) is_systematic: bool,
    pub(super) max_steps: u64,
    /// Statistics for the record.
    pub counts: Counts,
}

impl<'a> Machine<'a> {
    /// Returns a machine without threads.
    pub const fn new(lease: &'a Lease) -> Self {
        Machine {
            lease,
            threads: Threads::new(),
            running: None,
            ready: List::new(),
            addresses: [const { List::new() }; BUCKETS],
            polls: List::new(),
            timers: Timers::new(),
            holding: 0,
            slice_end: SLICE,
            preempts: false,
            real_at: None,
            idle_since: None,
            polled_at: 0,
            order: 0,
            blocked: 0,
            holds_at: 0,
            sleep_limit: SLEEP_LIMIT,
            slept: 0,
            delayed: 0,
            is_ending: false,
            has_other_wakers: false,
            is_systematic: false,
            max_steps: u64::MAX,
            counts: Counts {
                switches: 0,
                holds: 0,
                longest_delay: 0,
                leaks: 0,
                outside: 0,
                asynchronous: 0,
            },
        }
    }

    /// Sets the maximum number of operations, and whether a list of decisions determines where
    /// threads are delayed.
    pub fn begin(&mut self, max_steps: u64, is_systematic: bool) {
        self.max_steps = max_steps;
        self.is_systematic = is_systematic;
    }

    /// Adds a thread, which is in no list yet.
    pub fn add(&mut self) -> ThreadId {
        let id = self.threads.add();
        // Room for all threads, so that setting a timer never allocates.
        let alive = self.threads.alive().len();
        self.timers.reserve(alive);
        self.lease.set_alive(alive);
        id
    }

    /// Removes a thread that has ended or never started, and wakes the one that joins it.
    pub fn remove(&mut self, id: ThreadId) {
        self.blocked += 1;
        self.take_out(id);
        self.threads.end(id);
        self.lease.set_alive(self.threads.alive().len());
        if let Some(joiner) = self.threads[id].joiner.take() {
            self.make_ready(joiner, Woken::Done);
        }
    }

    /// Frees the place of an ended thread to which no handle refers any more.
    pub fn give_back(&mut self, id: ThreadId) {
        self.threads.give_back(id);
    }

    /// Removes all threads, and returns them in the order of their starts.
    pub fn free_all(&mut self) -> crate::hidden::Vec<ThreadId> {
        self.running = None;
        let freed = self.threads.take_alive();
        for id in &freed {
            self.take_out(*id);
        }
        self.lease.set_alive(0);
        freed
    }

    /// Removes a thread from all lists.
    pub fn take_out(&mut self, id: ThreadId) {
        match self.threads[id].place {
            Place::Nowhere => {}
            Place::Ready => {
                self.ready.remove(&mut self.threads, id);
                self.lease.remove_ready();
            }
            Place::Address => {
                let bucket = bucket(self.threads[id].address);
                self.addresses[bucket].remove(&mut self.threads, id);
            }
            Place::Polls => self.polls.remove(&mut self.threads, id),
        }
        if self.threads[id].timer != 0 {
            self.timers.remove(&mut self.threads, id);
            let thread = &mut self.threads[id];
            thread.late = 0;
            if thread.operation == Operation::Hold {
                self.holding -= 1;
            }
        }
    }

    /// Makes a thread ready, at the end of the queue.
    pub fn make_ready(&mut self, id: ThreadId, woken: Woken) {
        self.take_out(id);
        let thread = &mut self.threads[id];
        thread.woken = woken;
        thread.state = State::Ready;
        self.lease.add_ready();
        self.ready.push(&mut self.threads, id, Place::Ready);
    }

    /// Makes a thread ready, before all others.
    pub(super) fn make_next(&mut self, id: ThreadId) {
        self.take_out(id);
        self.threads[id].state = State::Ready;
        self.lease.add_ready();
        self.ready.push_front(&mut self.threads, id, Place::Ready);
    }

    pub(super) fn pop(&mut self) -> Option<ThreadId> {
        let next = self.ready.pop(&mut self.threads)?;
        self.lease.remove_ready();
        Some(next)
    }

    /// Sets a deadline for a thread that is about to wait. A choice has added the time `late` to
    /// it.
    pub fn wait_until(&mut self, id: ThreadId, deadline: u64, late: u64) {
        self.order += 1;
        let thread = &mut self.threads[id];
        thread.late = late;
        if thread.operation == Operation::Hold {
            self.holding += 1;
            thread.held_at = self.lease.steps();
        }
        self.timers.insert(&mut self.threads, id, deadline, self.order);
    }

    /// Blocks the running thread, which must be in some list. The caller then passes the run token.
    pub fn block(&mut self, id: ThreadId) {
        let thread = &mut self.threads[id];
        thread.state = State::Blocked;
        self.blocked += u64::from(thread.operation != Operation::Hold);
    }

    /// Blocks the running thread until another one has ended.
    pub fn join(&mut self, id: ThreadId, joined: ThreadId) {
        self.threads[joined].joiner = Some(id);
        self.threads[id].operation = Operation::Join;
    }

    /// Returns whether a thread waits for the end of this one.
    pub fn is_joined(&self, id: ThreadId) -> bool {
        self.threads[id].joiner.is_some()
    }

    /// Records that no thread waits for the end of this one any more.
    pub fn forget_joiner(&mut self, id: ThreadId) {
        self.threads[id].joiner = None;
    }

    /// Makes a thread the running one.
    pub fn run(&mut self, next: ThreadId) {
        self.threads[next].state = State::Running;
        self.running = Some(next);
        self.slice_end = self.lease.now() + SLICE;
        self.set_attention();
    }

    /// Takes the run token from the running thread, which waits or has ended.
    pub fn release(&mut self) {
        self.running = None;
    }

    /// Takes the run token from the running thread, which makes no progress. It lives in real time
    /// until it comes back.
    pub fn give_up(&mut self, id: ThreadId) {
        self.threads[id].state = State::Stuck;
        self.running = None;
    }

    /// Sets the state of the running thread to one in a call that ends outside.
    pub fn leave_for(&mut self, id: ThreadId, operation: Operation) {
        let thread = &mut self.threads[id];
        thread.operation = operation;
        thread.state = State::Outside;
    }

    /// Sets the operation that the running thread is in.
    pub fn set_operation(&mut self, id: ThreadId, operation: Operation) {
        self.threads[id].operation = operation;
    }

    /// Sets when the running thread must consult the machine next.
    pub fn set_attention(&self) {
        let first = self.next_deadline().unwrap_or(u64::MAX);
        self.lease.set_attention(first.min(self.slice_end));
    }

    /// Lets the running thread go on for some operations, in which it must not be preempted.
    pub(super) fn set_attention_soon(&self) {
        self.lease.set_attention(self.lease.now() + 10 * STEP);
    }

    /// Returns the earliest time for which a thread waits.
    pub fn next_deadline(&self) -> Option<u64> {
        self.timers.first().map(|first| self.threads[first].deadline)
    }

    /// Returns the running thread.
    pub const fn running(&self) -> Option<ThreadId> {
        self.running
    }

    /// Returns all threads.
    pub const fn threads(&self) -> &Threads {
        &self.threads
    }

    /// Returns why a thread was woken last.
    pub fn woken(&self, id: ThreadId) -> Woken {
        self.threads[id].woken
    }

    /// Returns the part of a thread's deadline that a choice has added.
    pub fn late(&self, id: ThreadId) -> u64 {
        self.threads[id].late
    }

    /// Returns whether no thread is ready.
    pub const fn is_none_ready(&self) -> bool {
        self.ready.is_empty()
    }

    /// Returns whether a thread other than the running one could run, now or at some time, or waits
    /// for a condition that is polled.
    pub fn has_candidates(&self) -> bool {
        !self.ready.is_empty() || self.timers.first().is_some() || !self.polls.is_empty()
    }

    /// Returns the time that choices have added to waits.
    pub const fn delayed(&self) -> u64 {
        self.delayed
    }

    /// Returns the real time since which only an event from outside could make a thread ready.
    pub const fn idle_since(&self) -> Option<u64> {
        self.idle_since
    }

    /// Returns whether a thread is about to end the process.
    pub const fn is_ending(&self) -> bool {
        self.is_ending
    }

    /// Records that a thread is about to end the process.
    pub fn begin_end(&mut self) {
        self.is_ending = true;
    }

    /// Records a waker that is not one of the threads, so deadlocks are no longer proven.
    pub fn note_other_waker(&mut self) {
        self.has_other_wakers = true;
    }
}

/// Returns the index of the list for the threads that wait at an address.
pub(super) fn bucket(address: usize) -> usize {
    crate::hash::mix(address as u64) as usize % BUCKETS
}

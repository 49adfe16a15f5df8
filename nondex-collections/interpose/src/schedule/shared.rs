//! State that all threads share: which thread runs, which are ready, and what the others wait for.
//!
//! Without a choice, the schedule is fair and close to the machine's. The running thread continues
//! until it waits, yields, or has used up its time slice. Ready threads follow in the order in
//! which they became ready. Virtual time advances with each operation, and jumps to the next
//! deadline when all threads wait.

use ::std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use ::std::{mem, ptr};

use nondex_core::hidden;

use super::Operation;
use super::kernel;
use super::lists::{List, Timers};
use super::lock::Lock;
use super::stamps::Stamps;
use super::thread::{Place, Ref, State, Thread, Woken};
use crate::libc;

/// Duration of an operation in virtual time. All durations here are in nanoseconds.
pub(super) const STEP: u64 = 100;

/// Time slice of a thread while others are ready.
pub(super) const SLICE: u64 = 1_000_000;

/// Limit on the virtual time that a test may sleep.
const SLEEP_LIMIT: u64 = 3_600_000_000_000;

/// Whether any threads are scheduled.
pub(super) static IS_ON: AtomicBool = AtomicBool::new(false);
/// Number of operations so far. Only the running thread writes this and the time, or a thread that
/// holds the lock. Therefore a load and a store suffice in place of a read-modify-write.
pub(super) static STEPS: AtomicU64 = AtomicU64::new(0);
pub(super) static NOW: AtomicU64 = AtomicU64::new(0);
/// Virtual time at which the system last did something, or a thread last woke. Clocks need not have
/// ticked since then.
pub(super) static TICKED: AtomicU64 = AtomicU64::new(0);
/// Virtual time at which the running thread must consult the scheduler.
pub(super) static ATTENTION: AtomicU64 = AtomicU64::new(0);
/// Number of threads, and number of ready ones.
pub(super) static ALIVE: AtomicU32 = AtomicU32::new(0);
pub(super) static READY: AtomicU32 = AtomicU32::new(0);
pub(super) static MAX_STEPS: AtomicU64 = AtomicU64::new(u64::MAX);

/// Waiting thread that watches whether the running one sleeps in a call that is not observed.
pub(super) static WATCHER: AtomicPtr<Thread> = AtomicPtr::new(ptr::null_mut());

pub(super) static SHARED: Lock<Shared> = Lock::new(Shared::new());

/// Values of a thread's futex [`go`](Thread): what the thread is requested to do.
pub(super) const GO: u32 = 1;
pub(super) const LOOK: u32 = 2;
pub(super) const REPORT: u32 = 3;
pub(super) const FLUSH: u32 = 4;

const BUCKETS: usize = 256;

/// Statistics for the record.
#[derive(Clone, Copy)]
pub(super) struct Counts {
    pub(super) threads: u64,
    pub(super) switches: u64,
    pub(super) holds: u64,
    pub(super) longest_delay: u64,
    pub(super) leaks: u64,
    pub(super) outside: u64,
    pub(super) asynchronous: u64,
}

/// One moment in real and in virtual time.
#[derive(Clone, Copy)]
pub(super) struct Anchor {
    pub(super) real: u64,
    pub(super) now: u64,
}

/// State that all threads share, under the lock.
pub(super) struct Shared {
    pub(super) running: Option<Ref>,
    pub(super) ready: List,
    pub(super) addresses: [List; BUCKETS],
    pub(super) polls: List,
    pub(super) timers: Timers,
    /// Number of timers that end a delay.
    pub(super) holding: usize,
    /// All threads that have not ended.
    pub(super) alive: hidden::Vec<Ref>,
    /// Ended threads whose handles are still valid.
    pub(super) ended: hidden::Vec<Ref>,
    /// Ended threads whose place a new one may take.
    pub(super) free: hidden::Vec<Ref>,
    pub(super) slice_end: u64,
    /// Whether a delay has just ended.
    pub(super) preempts: bool,
    /// Moment at which virtual time began to run with real time, if it does.
    pub(super) real_at: Option<Anchor>,
    /// Real time since which only an event from outside could make a thread ready.
    pub(super) idle_since: Option<u64>,
    /// Virtual time of the last poll while others were ready.
    pub(super) polled_at: u64,
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
    /// Progress of the threads at the watcher's last check, and number of checks without any.
    pub(super) progress: u64,
    pub(super) quiet: u32,
    /// Whether a thread is about to end the process.
    pub(super) is_ending: bool,
    /// Whether a waker was found that is not one of the threads.
    pub(super) has_other_wakers: bool,
    pub(super) counts: Counts,
    pub(super) stamps: Stamps,
}

impl Shared {
    pub(super) const fn new() -> Self {
        Shared {
            running: None,
            ready: List::new(),
            addresses: [const { List::new() }; BUCKETS],
            polls: List::new(),
            timers: Timers::new(),
            holding: 0,
            alive: hidden::vec(),
            ended: hidden::vec(),
            free: hidden::vec(),
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
            progress: 0,
            quiet: 0,
            is_ending: false,
            has_other_wakers: false,
            counts: Counts {
                threads: 0,
                switches: 0,
                holds: 0,
                longest_delay: 0,
                leaks: 0,
                outside: 0,
                asynchronous: 0,
            },
            stamps: Stamps::new(),
        }
    }

    /// Adds a thread, in a free place or a new one.
    pub(super) fn add(&mut self, key: u64, path: &str) -> Ref {
        let thread = self.free.pop().unwrap_or_else(Thread::new).renew(key, path);
        self.alive.push(thread);
        // Room for all threads, so that setting a timer and freeing a place never allocate.
        self.timers.reserve(self.alive.len());
        self.free.reserve(self.alive.len());
        thread.index.set(self.counts.threads as u32);
        self.counts.threads += 1;
        ALIVE.store(self.alive.len() as u32, Ordering::Relaxed);
        thread
    }

    /// Removes a thread that has ended or never started.
    pub(super) fn remove(&mut self, thread: Ref) {
        self.blocked += 1;
        self.take_out(thread);
        if thread.handle.get() != 0 && !thread.is_detached.get() {
            self.ended.push(thread);
        }
        thread.state.set(State::Ended);
        self.alive.retain(|other| !other.is(thread));
        ALIVE.store(self.alive.len() as u32, Ordering::Relaxed);
    }

    /// Frees the place of a thread to which no handle refers any more.
    pub(super) fn give_back(&mut self, thread: Ref) {
        self.free.push(thread);
    }

    /// Removes a thread from all lists.
    pub(super) fn take_out(&mut self, thread: Ref) {
        match thread.place.get() {
            Place::Nowhere => {}
            Place::Ready => {
                self.ready.remove(thread);
                READY.fetch_sub(1, Ordering::Relaxed);
            }
            Place::Address => self.addresses[bucket(thread.address.get())].remove(thread),
            Place::Polls => self.polls.remove(thread),
        }
        if thread.timer.get() != 0 {
            self.timers.remove(thread);
            thread.late.set(0);
            if thread.operation.get() == Operation::Hold {
                self.holding -= 1;
            }
        }
    }

    /// Makes a thread ready, at the end of the queue.
    pub(super) fn make_ready(&mut self, thread: Ref, woken: Woken) {
        self.take_out(thread);
        thread.woken.set(woken);
        thread.state.set(State::Ready);
        READY.fetch_add(1, Ordering::Relaxed);
        self.ready.push(thread, Place::Ready);
    }

    /// Makes a thread ready, before all others.
    pub(super) fn make_next(&mut self, thread: Ref) {
        self.take_out(thread);
        thread.state.set(State::Ready);
        READY.fetch_add(1, Ordering::Relaxed);
        self.ready.push_front(thread, Place::Ready);
    }

    pub(super) fn pop(&mut self) -> Option<Ref> {
        let next = self.ready.pop()?;
        READY.fetch_sub(1, Ordering::Relaxed);
        Some(next)
    }

    /// Adds a thread to those that wait at an address, before it [blocks](super::token::block).
    pub(super) fn wait_at(&mut self, me: Ref, operation: Operation, address: usize, bits: u32) {
        me.operation.set(operation);
        me.address.set(address);
        me.bits.set(bits);
        self.addresses[bucket(address)].push(me, Place::Address);
    }

    /// Sets a deadline for a thread that is about to wait.
    pub(super) fn wait_until(&mut self, me: Ref, deadline: u64) {
        self.order += 1;
        if me.operation.get() == Operation::Hold {
            self.holding += 1;
            me.held_at.set(STEPS.load(Ordering::Relaxed));
        }
        self.timers.insert(me, deadline, self.order);
    }

    /// Adds a thread to those that wait for a condition that is polled.
    pub(super) fn wait_by_polling(&mut self, me: Ref) {
        self.polls.push(me, Place::Polls);
    }

    /// Iterates over the threads that wait at an address, in the order in which they came.
    pub(super) fn waiting_at(&self, address: usize) -> impl Iterator<Item = Ref> {
        let all = self.addresses[bucket(address)].iter();
        all.filter(move |thread| thread.address.get() == address)
    }

    /// Wakes the threads whose deadlines have passed.
    pub(super) fn wake_due(&mut self) {
        let now = NOW.load(Ordering::Relaxed);
        let is_due = |first: &Ref| first.deadline.get() <= now;
        while let Some(first) = self.timers.first().filter(is_due) {
            tick();
            if first.operation.get() == Operation::Hold {
                self.make_next(first);
                self.preempts = true;
            } else {
                self.make_ready(first, Woken::Time);
            }
        }
    }

    /// Returns the thread with a handle that was not joined yet.
    pub(super) fn of_handle(&self, handle: libc::pthread_t) -> Option<Ref> {
        let mut threads = self.alive.iter().chain(&self.ended).rev();
        threads.find(|thread| thread.handle.get() == handle).copied()
    }

    /// Frees the place of a thread that has ended and was joined or detached.
    pub(super) fn joined(&mut self, thread: Ref) {
        thread.handle.set(0);
        self.ended.retain(|other| !other.is(thread));
        self.give_back(thread);
    }

    /// Moves a waiting thread to another address.
    pub(super) fn move_to(&mut self, thread: Ref, address: usize) {
        self.addresses[bucket(thread.address.get())].remove(thread);
        thread.address.set(address);
        self.addresses[bucket(address)].push(thread, Place::Address);
    }

    /// Ensures that a thread runs that was made ready from outside of the scheduler.
    pub(super) fn ensure_runs(&self) {
        if self.running.is_none() {
            self.ensure_watched();
        }
        ATTENTION.store(0, Ordering::Relaxed);
    }

    /// Makes a thread the running one.
    pub(super) fn run(&mut self, next: Ref) {
        next.state.set(State::Running);
        self.running = Some(next);
        self.slice_end = NOW.load(Ordering::Relaxed) + SLICE;
        self.set_attention();
    }

    /// Passes the run token to another thread. The caller must [wake](kernel::wake) that thread
    /// after it has released the lock, which the woken thread may need immediately.
    pub(super) fn pass_token(&mut self, next: Ref) {
        self.counts.switches += 1;
        self.run(next);
        // A running thread does not watch.
        let watcher = ptr::from_ref(next).cast_mut();
        let _ = WATCHER.compare_exchange(
            watcher,
            ptr::null_mut(),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        // Pairs with the acquiring swap in `await_for`, so the next thread sees all writes so far.
        next.go.store(GO, Ordering::Release);
    }

    /// Passes the run token as [`pass_token`](Shared::pass_token) does, from the watcher. If the
    /// watcher itself gets it, another thread watches.
    pub(super) fn pass_from_watcher(&mut self, me: Ref, next: Ref) {
        self.pass_token(next);
        kernel::wake(&next.go);
        if next.is(me) {
            self.ensure_watched();
        }
    }

    pub(super) fn set_attention(&self) {
        let first = self.timers.first().map_or(u64::MAX, |first| first.deadline.get());
        ATTENTION.store(first.min(self.slice_end), Ordering::Relaxed);
    }

    /// Ensures that another thread watches, because this one will not.
    pub(super) fn ensure_watched(&self) {
        let watcher = WATCHER.load(Ordering::Relaxed);
        let can_watch = |thread: &&Ref| {
            if watcher.is_null() {
                matches!(thread.state.get(), State::Ready | State::Blocked)
            } else {
                ptr::eq(**thread, watcher)
            }
        };
        if let Some(thread) = self.alive.iter().find(can_watch) {
            // A pending request must not be overwritten, and wakes the thread anyway.
            let _ = thread.go.compare_exchange(0, LOOK, Ordering::Relaxed, Ordering::Relaxed);
            kernel::wake(&thread.go);
        }
    }

    /// Frees all threads from the scheduler.
    pub(super) fn free_all(&mut self, me: Ref) {
        // First, so that each thread that wakes finds the scheduler turned off.
        IS_ON.store(false, Ordering::Relaxed);
        WATCHER.store(ptr::null_mut(), Ordering::Relaxed);
        self.running = None;
        for thread in mem::replace(&mut self.alive, hidden::vec()) {
            self.take_out(thread);
            if !thread.is(me) {
                thread.woken.set(Woken::Free);
                request(thread, GO);
            }
        }
        ALIVE.store(0, Ordering::Relaxed);
    }
}

/// Records that every clock has ticked.
#[inline]
pub(super) fn tick() {
    TICKED.store(NOW.load(Ordering::Relaxed), Ordering::Relaxed);
}

fn bucket(address: usize) -> usize {
    nondex_core::hash::mix(address as u64) as usize % BUCKETS
}

pub(super) fn request(thread: Ref, what: u32) {
    thread.go.store(what, Ordering::Release);
    kernel::wake(&thread.go);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_here_any_more_when_all_run_free() {
        let mut shared = Shared::new();
        let [me, waiting, ready] = [1, 2, 3].map(|key| shared.add(key, ""));
        shared.wait_at(waiting, Operation::FutexWait, 0x1000, u32::MAX);
        shared.wait_until(waiting, 1_000);
        shared.make_ready(ready, Woken::Done);
        shared.free_all(me);
        assert!(shared.waiting_at(0x1000).next().is_none());
        assert!(shared.timers.first().is_none() && shared.pop().is_none());
        assert_eq!(waiting.woken.get(), Woken::Free);
    }
}

//! What all threads share: who runs, who could, what the others wait for, and when.
//!
//! Without a choice, the schedule is close to the machine's and fair: the running thread goes on
//! until it waits, yields, or has had its slice; those that could run follow in the order in which
//! they became ready. Virtual time goes on with each operation, and jumps to the next deadline when
//! everybody waits.

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

/// How long an operation takes, in nanoseconds of virtual time, as everything here.
pub(super) const STEP: u64 = 100;

/// How long a thread runs while others could.
pub(super) const SLICE: u64 = 1_000_000;

/// How much virtual time may be slept away.
const SLEEP_LIMIT: u64 = 3_600_000_000_000;

/// Whether there are threads that are scheduled.
pub(super) static IS_ON: AtomicBool = AtomicBool::new(false);
/// How many operations there were. This and the time are written by the running thread alone, or
/// with the lock.
pub(super) static STEPS: AtomicU64 = AtomicU64::new(0);
pub(super) static NOW: AtomicU64 = AtomicU64::new(0);
/// The time at which the system last did something, or anybody last woke: since then no clock has
/// gone on that ticks.
pub(super) static TICKED: AtomicU64 = AtomicU64::new(0);
/// When the running thread must look up.
pub(super) static ATTENTION: AtomicU64 = AtomicU64::new(0);
/// How many threads there are, and how many of them could run.
pub(super) static ALIVE: AtomicU32 = AtomicU32::new(0);
pub(super) static READY: AtomicU32 = AtomicU32::new(0);
pub(super) static MAX_STEPS: AtomicU64 = AtomicU64::new(u64::MAX);

/// The waiting thread that looks whether the running one sleeps unseen.
pub(super) static WATCHER: AtomicPtr<Thread> = AtomicPtr::new(ptr::null_mut());

pub(super) static SHARED: Lock<Shared> = Lock::new(Shared::new());

/// Values of a thread's futex.
pub(super) const GO: u32 = 1;
pub(super) const LOOK: u32 = 2;
pub(super) const REPORT: u32 = 3;
pub(super) const FLUSH: u32 = 4;

const BUCKETS: usize = 256;

/// What was counted for the record.
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

/// A moment in real and in virtual time.
#[derive(Clone, Copy)]
pub(super) struct Anchor {
    pub(super) real: u64,
    pub(super) now: u64,
}

/// What all threads share.
pub(super) struct Shared {
    pub(super) running: Option<Ref>,
    pub(super) ready: List,
    pub(super) addresses: [List; BUCKETS],
    pub(super) polls: List,
    pub(super) timers: Timers,
    /// How many of the timers end a hold.
    pub(super) holding: usize,
    /// All threads that have not ended.
    pub(super) alive: hidden::Vec<Ref>,
    /// Those that have ended, and whose handles are still good.
    pub(super) ended: hidden::Vec<Ref>,
    /// Those whose place another one may take.
    pub(super) free: hidden::Vec<Ref>,
    pub(super) slice_end: u64,
    /// Whether a hold has just ended.
    pub(super) preempts: bool,
    /// When virtual time began to run with real time, if it does.
    pub(super) real_at: Option<Anchor>,
    /// Since when there is nothing but the world outside to wait for.
    pub(super) idle_since: Option<u64>,
    /// When it was last asked, while others could run.
    pub(super) asked_at: u64,
    order: u64,
    /// How often a thread began to wait, or ended: it did not only look.
    pub(super) blocked: u64,
    /// The operation at which long holds are searched again.
    pub(super) holds_at: u64,
    /// How much time may pass by sleeping.
    pub(super) sleep_limit: u64,
    pub(super) slept: u64,
    /// How much time was added to waits by choice.
    pub(super) delayed: u64,
    /// How far the threads were when the watcher looked last, and how often they were there.
    pub(super) progress: u64,
    pub(super) quiet: u32,
    /// Whether a thread is about to end the process.
    pub(super) is_ending: bool,
    /// Whether it was seen that somebody could wake a thread who is none of them.
    pub(super) has_others: bool,
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
            asked_at: 0,
            order: 0,
            blocked: 0,
            holds_at: 0,
            sleep_limit: SLEEP_LIMIT,
            slept: 0,
            delayed: 0,
            progress: 0,
            quiet: 0,
            is_ending: false,
            has_others: false,
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

    /// A place for another thread.
    pub(super) fn add(&mut self, key: u64, path: &str) -> Ref {
        let thread = self.free.pop().unwrap_or_else(Thread::new);
        let thread = thread.renew(key, path);
        self.alive.push(thread);
        self.timers.reserve(self.alive.len());
        self.free.reserve(self.alive.len());
        thread.index.set(self.counts.threads as u32);
        self.counts.threads += 1;
        ALIVE.store(self.alive.len() as u32, Ordering::Relaxed);
        thread
    }

    /// Notes that a thread has ended, or was never begun.
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

    /// Gives the place of a thread that nobody asks for any more to another one.
    pub(super) fn give_back(&mut self, thread: Ref) {
        self.free.push(thread);
    }

    /// Takes a thread out of all lists.
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

    /// Lets a thread go on in its turn.
    pub(super) fn make_ready(&mut self, thread: Ref, woken: Woken) {
        self.take_out(thread);
        thread.woken.set(woken);
        thread.state.set(State::Ready);
        READY.fetch_add(1, Ordering::Relaxed);
        self.ready.push(thread, Place::Ready);
    }

    /// Lets a thread go on before all others that are ready.
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

    /// Notes what a thread waits for, before it [blocks](super::token::block).
    pub(super) fn wait_at(&mut self, me: Ref, operation: Operation, address: usize, bits: u32) {
        me.operation.set(operation);
        me.address.set(address);
        me.bits.set(bits);
        self.addresses[bucket(address)].push(me, Place::Address);
    }

    /// Says that a thread waits until a time, too.
    pub(super) fn wait_until(&mut self, me: Ref, deadline: u64) {
        self.order += 1;
        if me.operation.get() == Operation::Hold {
            self.holding += 1;
            me.held_at.set(STEPS.load(Ordering::Relaxed));
        }
        self.timers.insert(me, deadline, self.order);
    }

    /// Notes that a thread waits for a condition that can be polled.
    pub(super) fn wait_by_asking(&mut self, me: Ref) {
        self.polls.push(me, Place::Polls);
    }

    /// The threads that wait at an address, the first one first.
    pub(super) fn waiting_at(&self, address: usize) -> impl Iterator<Item = Ref> {
        let all = self.addresses[bucket(address)].iter();
        all.filter(move |thread| thread.address.get() == address)
    }

    /// Wakes those whose time has come.
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

    /// The thread with a handle that was not joined yet.
    pub(super) fn of_handle(&self, handle: libc::pthread_t) -> Option<Ref> {
        let mut threads = self.alive.iter().chain(&self.ended).rev();
        threads.find(|thread| thread.handle.get() == handle).copied()
    }

    /// Lets another thread take the place of one that was joined or detached, and has ended.
    pub(super) fn joined(&mut self, thread: Ref) {
        thread.handle.set(0);
        self.ended.retain(|other| !other.is(thread));
        self.give_back(thread);
    }

    /// Lets a waiting thread wait at another address.
    pub(super) fn move_to(&mut self, thread: Ref, address: usize) {
        self.addresses[bucket(thread.address.get())].remove(thread);
        thread.address.set(address);
        self.addresses[bucket(address)].push(thread, Place::Address);
    }

    /// Lets somebody see to it that a thread which was made ready from outside runs.
    pub(super) fn let_run(&self) {
        if self.running.is_none() {
            self.let_watch();
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

    /// Gives the run token to another thread, which is to be [woken](kernel::wake) without the
    /// lock: it may want it at once.
    pub(super) fn give(&mut self, next: Ref) {
        self.counts.switches += 1;
        self.run(next);
        let watcher = ptr::from_ref(next).cast_mut();
        let _ = WATCHER.compare_exchange(
            watcher,
            ptr::null_mut(),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        next.go.store(GO, Ordering::Release);
    }

    /// As [`give`](Shared::give), from the watcher, which goes on watching unless it is the one.
    pub(super) fn give_from_watcher(&mut self, me: Ref, next: Ref) {
        self.give(next);
        kernel::wake(&next.go);
        if next.is(me) {
            self.let_watch();
        }
    }

    pub(super) fn set_attention(&self) {
        let first = self.timers.first().map_or(u64::MAX, |first| first.deadline.get());
        ATTENTION.store(first.min(self.slice_end), Ordering::Relaxed);
    }

    /// Sees to it that somebody watches, when this thread will not.
    pub(super) fn let_watch(&self) {
        let watcher = WATCHER.load(Ordering::Relaxed);
        let can_watch = |thread: &&Ref| {
            if watcher.is_null() {
                matches!(thread.state.get(), State::Ready | State::Blocked)
            } else {
                ptr::eq(**thread, watcher)
            }
        };
        if let Some(thread) = self.alive.iter().find(can_watch) {
            let _ = thread.go.compare_exchange(0, LOOK, Ordering::Relaxed, Ordering::Relaxed);
            kernel::wake(&thread.go);
        }
    }

    /// Lets everybody run free.
    pub(super) fn free_all(&mut self, me: Ref) {
        IS_ON.store(false, Ordering::Relaxed);
        WATCHER.store(ptr::null_mut(), Ordering::Relaxed);
        self.running = None;
        for thread in mem::replace(&mut self.alive, hidden::vec()) {
            self.take_out(thread);
            if !thread.is(me) {
                thread.woken.set(Woken::Free);
                tell(thread, GO);
            }
        }
        ALIVE.store(0, Ordering::Relaxed);
    }
}

/// Notes that every clock has gone on.
#[inline]
pub(super) fn tick() {
    TICKED.store(NOW.load(Ordering::Relaxed), Ordering::Relaxed);
}

fn bucket(address: usize) -> usize {
    nondex_core::hash::mix(address as u64) as usize % BUCKETS
}

pub(super) fn tell(thread: Ref, what: u32) {
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

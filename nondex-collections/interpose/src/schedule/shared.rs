//! State that all threads share: the [machine](Machine) that schedules them, and the system's
//! threads that it schedules.

use ::std::ptr;
use ::std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use nondex_core::hidden;
use nondex_core::scheduler::{Lease, Machine, State, ThreadId};

use super::Operation;
use super::kernel;
use super::lock::Lock;
use super::stamps::Stamps;
use super::thread::{Ref, Thread, Woken};
use crate::libc;

/// Whether any threads are scheduled.
pub(super) static IS_ON: AtomicBool = AtomicBool::new(false);

/// Counts and times of the machine, for use without the lock.
pub(super) static LEASE: Lease = Lease::new();

/// Waiting thread that watches whether the running one sleeps in a call that is not observed.
pub(super) static WATCHER: AtomicPtr<Thread> = AtomicPtr::new(ptr::null_mut());

pub(super) static SHARED: Lock<Shared> = Lock::new(Shared::new(&LEASE));

/// Values of a thread's futex [`go`](Thread): what the thread is requested to do.
pub(super) const GO: u32 = 1;
pub(super) const LOOK: u32 = 2;
pub(super) const REPORT: u32 = 3;
pub(super) const FLUSH: u32 = 4;

/// State that all threads share, under the lock.
pub(super) struct Shared {
    pub(super) machine: Machine<'static>,
    /// All threads by their numbers in the machine, also ended ones.
    pub(super) threads: hidden::Vec<Ref>,
    /// Ended threads whose handles are still valid.
    ended: hidden::Vec<Ref>,
    /// Progress of the threads at the watcher's last check, and number of checks without any.
    pub(super) progress: u64,
    pub(super) quiet: u32,
    pub(super) stamps: Stamps,
}

impl Shared {
    pub(super) const fn new(lease: &'static Lease) -> Self {
        Shared {
            machine: Machine::new(lease),
            threads: hidden::vec(),
            ended: hidden::vec(),
            progress: 0,
            quiet: 0,
            stamps: Stamps::new(),
        }
    }

    /// Returns the thread with a number in the machine.
    pub(super) fn thread(&self, id: ThreadId) -> Ref {
        self.threads[id.index()]
    }

    /// Returns the running thread.
    pub(super) fn running(&self) -> Option<Ref> {
        self.machine.running().map(|id| self.thread(id))
    }

    /// Iterates over the threads that have not ended.
    pub(super) fn alive(&self) -> impl DoubleEndedIterator<Item = Ref> {
        self.machine.threads().alive().iter().map(|id| self.thread(*id))
    }

    /// Returns the state of a thread.
    pub(super) fn state(&self, thread: Ref) -> State {
        self.machine.threads().state(thread.id)
    }

    /// Adds a thread, in a free place or a new one.
    pub(super) fn add(&mut self, key: u64, path: &str) -> Ref {
        let id = self.machine.add();
        if id.index() == self.threads.len() {
            self.threads.push(Thread::new(id));
        }
        let thread = self.thread(id).renew(key, path);
        thread.index.set(self.machine.threads().number(id));
        thread
    }

    /// Removes a thread that has ended or never started, and wakes the one that joins it.
    pub(super) fn remove(&mut self, thread: Ref) {
        if thread.handle.get() != 0 && !thread.is_detached.get() {
            self.ended.push(thread);
        }
        self.machine.remove(thread.id);
    }

    /// Frees the place of a thread to which no handle refers any more.
    pub(super) fn give_back(&mut self, thread: Ref) {
        self.machine.give_back(thread.id);
    }

    /// Makes a thread ready, at the end of the queue.
    pub(super) fn make_ready(&mut self, thread: Ref, woken: Woken) {
        self.machine.make_ready(thread.id, woken);
    }

    /// Adds a thread to those that wait at an address, before it [blocks](super::token::block).
    pub(super) fn wait_at(&mut self, me: Ref, operation: Operation, address: usize, bits: u32) {
        self.machine.wait_at(me.id, operation, address, bits);
    }

    /// Sets a deadline for a thread that is about to wait.
    pub(super) fn wait_until(&mut self, me: Ref, deadline: u64) {
        self.machine.wait_until(me.id, deadline, me.late.take());
    }

    /// Iterates over the threads that wait at an address, in the order in which they came.
    pub(super) fn waiting_at(&self, address: usize) -> impl Iterator<Item = Ref> {
        self.machine.waiting_at(address).map(|id| self.thread(id))
    }

    /// Returns the thread with a handle that was not joined yet.
    pub(super) fn of_handle(&self, handle: libc::pthread_t) -> Option<Ref> {
        let mut threads = self.alive().chain(self.ended.iter().copied()).rev();
        threads.find(|thread| thread.handle.get() == handle)
    }

    /// Frees the place of a thread that has ended and was joined or detached.
    pub(super) fn joined(&mut self, thread: Ref) {
        thread.handle.set(0);
        self.ended.retain(|other| !other.is(thread));
        self.give_back(thread);
    }

    /// Ensures that a thread runs that was made ready from outside of the scheduler.
    pub(super) fn ensure_runs(&self) {
        if self.machine.running().is_none() {
            self.ensure_watched();
        }
        LEASE.set_attention(0);
    }

    /// Makes a thread the running one.
    pub(super) fn run(&mut self, next: Ref) {
        next.woken.set(self.machine.woken(next.id));
        self.machine.run(next.id);
    }

    /// Passes the run token to another thread. The caller must [wake](kernel::wake) that thread
    /// after it has released the lock, which the woken thread may need immediately.
    pub(super) fn pass_token(&mut self, next: Ref) {
        self.machine.counts.switches += 1;
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

    /// Ensures that another thread watches, because this one will not.
    pub(super) fn ensure_watched(&self) {
        let watcher = WATCHER.load(Ordering::Relaxed);
        let can_watch = |thread: &Ref| {
            if watcher.is_null() {
                matches!(self.state(thread), State::Ready | State::Blocked)
            } else {
                ptr::eq(*thread, watcher)
            }
        };
        if let Some(thread) = self.alive().find(can_watch) {
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
        for id in self.machine.free_all() {
            let thread = self.thread(id);
            if !thread.is(me) {
                thread.woken.set(Woken::Free);
                request(thread, GO);
            }
        }
    }
}

/// Records that every clock has ticked.
#[inline]
pub(super) fn tick() {
    LEASE.tick();
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
        static OWN: Lease = Lease::new();
        let mut shared = Shared::new(&OWN);
        let [me, waiting, ready] = [1, 2, 3].map(|key| shared.add(key, ""));
        shared.wait_at(waiting, Operation::FutexWait, 0x1000, u32::MAX);
        shared.wait_until(waiting, 1_000);
        shared.make_ready(ready, Woken::Done);
        shared.free_all(me);
        assert!(shared.waiting_at(0x1000).next().is_none());
        assert!(!shared.machine.has_candidates());
        assert_eq!(waiting.woken.get(), Woken::Free);
    }
}

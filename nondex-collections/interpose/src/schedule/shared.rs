//! What all threads share: who runs, who could, what the others wait for, and when.
//!
//! Without a choice, the schedule is close to the machine's and fair: the running thread goes on until it waits, yields, or has
//! had its slice; those that could run follow in the order in which they became ready. Virtual time goes on with each operation, and jumps
//! to the next deadline when everybody waits.

use ::std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use ::std::{mem, ptr};

use nondex_core::{ScheduleEndKind, hidden};

use super::Operation;
use super::kernel;
use super::lock::Lock;
use super::stamps::{self, Stamps};
use super::thread::{List, Place, Ref, State, Thread, Timers, Woken};
use super::wakers;
use crate::libc;

/// How long an operation takes, in nanoseconds of virtual time, as everything here.
pub(super) const STEP: u64 = 100;

/// How long a thread runs while others could.
pub(super) const SLICE: u64 = 1_000_000;

/// How long nothing may come of what only the world outside could do, in real time, until the process ends.
const OUTSIDE_LIMIT: u64 = 10_000_000_000;

/// How many operations of others a thread is held back for at most: as many as there are in the longest hold of a loaded machine.
const HOLD_STEPS: u64 = 200_000;

/// How much virtual time may be slept away.
const SLEEP_LIMIT: u64 = 3_600_000_000_000;

/// Whether there are threads that are scheduled.
pub(super) static IS_ON: AtomicBool = AtomicBool::new(false);
/// How many operations there were. This and the time are written by the running thread alone, or with the lock.
pub(super) static STEPS: AtomicU64 = AtomicU64::new(0);
pub(super) static NOW: AtomicU64 = AtomicU64::new(0);
/// The time at which the system last did something, or anybody last woke: since then no clock has gone on that ticks.
pub(super) static TICKED: AtomicU64 = AtomicU64::new(0);
/// When the running thread must look up.
pub(super) static ATTENTION: AtomicU64 = AtomicU64::new(0);
/// How many threads there are, and how many of them could run.
pub(super) static ALIVE: AtomicU32 = AtomicU32::new(0);
pub(super) static READY: AtomicU32 = AtomicU32::new(0);
/// How many threads, or children, do something that only real time sees the end of. Written with the lock.
static OUTSIDE: AtomicU32 = AtomicU32::new(0);
pub(super) static MAX_STEPS: AtomicU64 = AtomicU64::new(u64::MAX);

/// The waiting thread that looks whether the running one sleeps unseen.
pub(super) static WATCHER: AtomicPtr<Thread> = AtomicPtr::new(ptr::null_mut());

pub(super) static SHARED: Lock<Shared> = Lock::new(Shared::new());

/// What a thread is told by its futex.
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
    pub(super) leaks: u64,
    pub(super) outside: u64,
    pub(super) asynchronous: u64,
}

/// What all threads share.
pub(super) struct Shared {
    pub(super) running: Option<Ref>,
    pub(super) ready: List,
    addresses: [List; BUCKETS],
    pub(super) polls: List,
    pub(super) timers: Timers,
    /// How many of the timers end a hold.
    holding: usize,
    /// All threads that have not ended.
    pub(super) alive: hidden::Vec<Ref>,
    /// Those that have ended, and whose handles are still good.
    ended: hidden::Vec<Ref>,
    /// Those whose place another one may take.
    free: hidden::Vec<Ref>,
    pub(super) slice_end: u64,
    /// Whether a hold has just ended.
    pub(super) preempts: bool,
    /// When virtual time was last brought to the real one, if it runs with it.
    real_at: Option<u64>,
    /// Since when there is nothing but the world outside to wait for.
    pub(super) idle_since: Option<u64>,
    /// When it was last asked, while others could run.
    asked_at: u64,
    order: u64,
    /// The operation at which long holds are looked for again.
    holds_at: u64,
    /// How much time may pass by sleeping.
    sleep_limit: u64,
    slept: u64,
    /// How far the threads were when the watcher looked last, and how often they were there.
    pub(super) progress: u64,
    pub(super) quiet: u32,
    /// Whether a thread is about to end the process.
    pub(super) is_ending: bool,
    /// Whether it was seen that somebody could wake a thread who is none of them.
    has_company: bool,
    pub(super) counts: Counts,
    pub(super) stamps: Stamps,
}

/// Who is next.
pub(super) enum Next {
    Thread(Ref),
    /// Nobody, until the world outside has done something.
    Nobody,
    End(ScheduleEndKind),
}

impl Shared {
    const fn new() -> Self {
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
            holds_at: 0,
            sleep_limit: SLEEP_LIMIT,
            slept: 0,
            progress: 0,
            quiet: 0,
            is_ending: false,
            has_company: false,
            counts: Counts {
                threads: 0,
                switches: 0,
                holds: 0,
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

    /// Says what a thread waits for, before it [blocks](super::baton::block).
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

    /// Says that a thread waits for what can be asked for.
    pub(super) fn wait_by_asking(&mut self, me: Ref) {
        self.polls.push(me, Place::Polls);
    }

    /// The threads that wait at an address, the first one first.
    pub(super) fn waiting_at(&self, address: usize) -> impl Iterator<Item = Ref> {
        let all = self.addresses[bucket(address)].iter();
        all.filter(move |thread| thread.address.get() == address)
    }

    /// Lets time that passes by sleeping be longer, because it was prolonged.
    pub(super) fn prolong(&mut self, time: u64) {
        self.sleep_limit = self.sleep_limit.saturating_add(time);
    }

    /// Counts what real time sees the end of.
    pub(super) fn add_outside(&mut self) {
        self.sync_time();
        OUTSIDE.fetch_add(1, Ordering::Relaxed);
        if self.real_at.is_none() {
            self.real_at = Some(kernel::clock(libc::CLOCK_MONOTONIC));
        }
    }

    /// See [`add_outside`](Shared::add_outside).
    pub(super) fn remove_outside(&mut self) {
        self.sync_time();
        OUTSIDE.fetch_sub(1, Ordering::Relaxed);
        stamps::written();
        if !is_any_outside() {
            self.real_at = None;
        }
    }

    /// Lets virtual time be as late as real time, where it runs with it.
    pub(super) fn sync_time(&mut self) {
        if let Some(at) = self.real_at {
            let real = kernel::clock(libc::CLOCK_MONOTONIC);
            let passed = real.saturating_sub(at);
            NOW.fetch_add(passed, Ordering::Relaxed);
            tick();
            self.prolong(passed);
            self.real_at = Some(real);
        }
    }

    /// Wakes those whose time has come.
    pub(super) fn wake_due(&mut self) {
        let now = NOW.load(Ordering::Relaxed);
        while let Some(first) = self.timers.first()
            && first.deadline.get() <= now
        {
            tick();
            if first.operation.get() == Operation::Hold {
                self.make_next(first);
                self.preempts = true;
            } else {
                self.make_ready(first, Woken::Time);
            }
        }
    }

    /// Whether another thread could go on, or is held back and was not so just now, when there had been as many operations.
    pub(super) fn has_other(&self, steps: u64) -> bool {
        let is_held =
            |thread: &Ref| thread.timer.get() != 0 && thread.operation.get() == Operation::Hold;
        let mut all = self.alive.iter();
        all.any(|thread| {
            (thread.state.get() == State::Ready || is_held(thread))
                && thread.held_back_at.get() != Some(steps)
        })
    }

    /// Lets the first one go on that is held back, if none of those could that are not.
    pub(super) fn release(&mut self) {
        if self.ready.is_empty() && self.holding > 0 && self.timers_of_sleep() == 0 {
            self.pass_time();
        }
    }

    /// Lets those go on that were held back for so many operations of others, however much time is left: the others may do nothing
    /// but wait for them.
    pub(super) fn end_long_holds(&mut self) {
        let steps = STEPS.load(Ordering::Relaxed);
        if self.holding == 0 || steps < self.holds_at {
            return;
        }
        self.holds_at = steps + HOLD_STEPS / 16;
        let is_long = |thread: &&Ref| {
            let is_held = thread.timer.get() != 0 && thread.operation.get() == Operation::Hold;
            is_held && thread.held_at.get() + HOLD_STEPS <= steps
        };
        while let Some(thread) = self.alive.iter().find(is_long).copied() {
            self.make_next(thread);
            self.preempts = true;
        }
    }

    /// Asks for those that wait for what can be asked for.
    pub(super) fn ask(&mut self) {
        for thread in self.polls.iter() {
            let Some(question) = thread.question.get() else {
                continue;
            };
            // SAFETY: the thread waits in the function whose question it is, and nobody else asks while the lock is held.
            if unsafe { (*question)() } {
                self.make_ready(thread, Woken::Done);
            }
        }
    }

    /// As [`ask`](Shared::ask), but no more often than is worth its time: others that can run must not keep one from going on for ever.
    fn ask_now_and_then(&mut self) {
        let now = NOW.load(Ordering::Relaxed);
        if !self.polls.is_empty() && now.saturating_sub(self.asked_at) >= SLICE / 50 {
            self.asked_at = now;
            self.ask();
        }
    }

    /// Lets time pass to the next deadline; false when nobody waits for one.
    pub(super) fn pass_time(&mut self) -> bool {
        let Some(first) = self.timers.first() else {
            return false;
        };
        if self.timers_of_sleep() == 0 {
            // Held back until nobody else can do anything.
            self.make_next(first);
            return true;
        }
        let now = NOW.load(Ordering::Relaxed);
        let passed = first.deadline.get().saturating_sub(now);
        self.slept = self.slept.saturating_add(passed);
        self.stamps.will_pass(now, passed);
        NOW.store(now + passed, Ordering::Relaxed);
        tick();
        self.wake_due();
        true
    }

    fn timers_of_sleep(&self) -> usize {
        self.timers.len() - self.holding
    }

    /// Who is next; an end is said once.
    pub(super) fn pick(&mut self) -> Next {
        if self.is_ending {
            return Next::Nobody;
        }
        let next = self.find();
        self.is_ending = matches!(next, Next::End(_));
        next
    }

    fn find(&mut self) -> Next {
        self.sync_time();
        loop {
            self.wake_due();
            self.preempts = false;
            self.ask_now_and_then();
            if let Some(next) = self.pop() {
                self.end_idling();
                return Next::Thread(next);
            }
            self.ask();
            if !self.ready.is_empty() {
                continue;
            }
            if is_any_outside() {
                return Next::Nobody;
            }
            if self.pass_time() {
                if self.slept > self.sleep_limit {
                    return Next::End(ScheduleEndKind::Time);
                }
                continue;
            }
            self.has_company = self.has_company || self.polls.is_empty() && self.may_be_woken();
            if self.polls.is_empty() && !self.has_company {
                return Next::End(ScheduleEndKind::Deadlock);
            }
            if self.wake_unseen() {
                continue;
            }
            if self.has_idled() {
                return Next::End(ScheduleEndKind::Outside);
            }
            return Next::Nobody;
        }
    }

    /// Whether the running thread, and all that could run, have looked so often at what none of them changes, and nobody else could change it.
    pub(super) fn is_livelock(&mut self, me: Ref, looks: u32) -> bool {
        let in_vain = |thread: Ref| thread.looks_in_vain() >= looks;
        if !in_vain(me)
            || !self.ready.iter().all(in_vain)
            || is_any_outside()
            || self.timers.first().is_some()
            || !self.polls.is_empty()
        {
            return false;
        }
        self.has_company =
            self.has_company || self.may_be_woken() || wakers::sees_shared_memory(me, &self.ready);
        !self.has_company
    }

    /// Whether somebody could wake one of the threads who is none of them.
    fn may_be_woken(&self) -> bool {
        let threads = || self.alive.iter().chain(&self.ended).chain(&self.free);
        let is_known = |number| threads().any(|thread| thread.number.get() == number);
        wakers::may_come(self.alive.iter().copied(), is_known)
    }

    /// Wakes those whose futex was changed by somebody whose wake-up is not seen; whether there are any.
    fn wake_unseen(&mut self) -> bool {
        let has_changed = |thread: &&Ref| {
            let address = thread.address.get();
            // SAFETY: the thread waits there, and passed a futex.
            let futex = || unsafe { &*ptr::with_exposed_provenance::<AtomicU32>(address) };
            thread.state.get() == State::Blocked
                && thread.operation.get() == Operation::FutexWait
                && thread.place.get() == Place::Address
                && futex().load(Ordering::SeqCst) != thread.expected.get()
        };
        let changed = self.alive.iter().find(has_changed).copied();
        if self.has_company
            && let Some(thread) = changed
        {
            self.make_ready(thread, Woken::Done);
            return true;
        }
        false
    }

    /// Begins to wait for the world outside; whether that was too long.
    fn has_idled(&mut self) -> bool {
        let real = kernel::clock(libc::CLOCK_MONOTONIC);
        self.real_at = Some(real);
        let since = *self.idle_since.get_or_insert(real);
        real - since > OUTSIDE_LIMIT
    }

    pub(super) fn end_idling(&mut self) {
        if self.idle_since.take().is_some() {
            self.counts.outside += 1;
            if !is_any_outside() {
                self.real_at = None;
            }
        }
    }

    /// The thread with a handle that was not joined yet.
    pub(super) fn of_handle(&self, handle: libc::pthread_t) -> Option<Ref> {
        let mut threads = self.alive.iter().chain(&self.ended).rev();
        threads
            .find(|thread| thread.handle.get() == handle)
            .copied()
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

    /// Gives the baton to another thread.
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
        tell(next, GO);
    }

    /// As [`give`](Shared::give), from the watcher, which goes on watching unless it is the one.
    pub(super) fn give_from_watcher(&mut self, me: Ref, next: Ref) {
        self.give(next);
        if next.is(me) {
            self.let_watch();
        }
    }

    pub(super) fn set_attention(&self) {
        let first = self
            .timers
            .first()
            .map_or(u64::MAX, |first| first.deadline.get());
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
            let _ = thread
                .go
                .compare_exchange(0, LOOK, Ordering::Relaxed, Ordering::Relaxed);
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

/// Whether a thread, or a child, does something that only real time sees the end of.
pub(super) fn is_any_outside() -> bool {
    OUTSIDE.load(Ordering::Relaxed) > 0
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

//! The run token: only the thread of the test that holds it runs. It passes the token when it
//! blocks or is preempted.
//!
//! The scheduler has no separate thread. Instead, one of the threads that wait for the run token
//! is the *watcher*. It checks periodically whether the running thread sleeps in a kernel call that
//! was not observed, and whether something outside has made a thread ready.

use ::std::ptr;
use ::std::sync::atomic::Ordering;
use ::std::time::Duration;

use nondex_core::scheduler::{Next, Request, ThreadId, Turn};

use super::lock::Guard;
use super::shared::{FLUSH, GO, IS_ON, LEASE, REPORT, SHARED, Shared, WATCHER};
use super::thread::{Ref, Woken};
use super::{Operation, ending, kernel, processor, slept, systematic, trace};
use crate::libc;

/// Interval between the watcher's checks.
const TICK: Duration = Duration::from_millis(10);

/// Number of ticks without an operation, while a thread sleeps in the kernel or computes, after
/// which others may run.
const TICKS_ASLEEP: u32 = 5;
const TICKS_COMPUTING: u32 = 100;

/// Lets others run until this thread, which must be in some list, is woken.
pub(super) fn block(me: Ref, mut shared: Guard<'_, Shared>) -> Woken {
    if !IS_ON.load(Ordering::Relaxed) {
        // The scheduler ended after this thread had begun to wait.
        shared.machine.take_out(me.id);
        return Woken::Free;
    }
    let (since, late) = (LEASE.now(), shared.machine.late(me.id));
    let is_delay = shared.machine.threads().operation(me.id) == Operation::Hold;
    shared.machine.block(me.id);
    // Another thread may run already, if this one was stuck.
    if has_token(me, &mut shared) || shared.machine.running().is_none() {
        pass_on(me, shared);
    } else {
        drop(shared);
        await_token(me);
    }
    let woken = me.woken.get();
    if woken == Woken::Time && !is_delay {
        let passed = LEASE.now().saturating_sub(since);
        slept::note(passed.saturating_sub(late));
    }
    woken
}

/// Returns whether this thread still holds the run token. Others may have been allowed to run in
/// the moment before it took the lock.
pub(super) fn has_token(me: Ref, shared: &mut Shared) -> bool {
    if me.is_stuck.swap(false, Ordering::Relaxed) {
        shared.remove_outside();
    }
    shared.machine.running() == Some(me.id)
}

/// Passes the run token, and waits until it is back.
pub(super) fn pass_on(me: Ref, mut shared: Guard<'_, Shared>) {
    shared.machine.release();
    match shared.pick() {
        Next::Thread(next) if next == me.id => {
            shared.run(me);
            drop(shared);
            go_first_or_let_others(me);
        }
        Next::Thread(next) => change_to(me, next, shared),
        Next::Nobody => {
            // No thread runs, so this one watches for events from outside.
            WATCHER.store(ptr::from_ref(me).cast_mut(), Ordering::Relaxed);
            drop(shared);
            await_token(me);
        }
        Next::End(kind) => {
            drop(shared);
            ending::end(Some(me), kind);
        }
    }
}

/// Passes the run token for good, or until this thread comes [back](come_back). Does nothing if
/// another thread already has it.
pub(super) fn leave(me: Ref, mut shared: Guard<'_, Shared>) {
    if !has_token(me, &mut shared) && shared.machine.running().is_some() {
        return;
    }
    shared.machine.release();
    match shared.pick() {
        Next::Thread(next) => {
            let next = shared.thread(next);
            shared.pass_token(next);
            if WATCHER.load(Ordering::Relaxed).is_null() {
                shared.ensure_watched();
            }
            drop(shared);
            kernel::wake(&next.go);
        }
        Next::Nobody => shared.ensure_watched(),
        Next::End(kind) => {
            drop(shared);
            ending::end(None, kind);
        }
    }
}

/// Waits for the run token after a call outside, or after others were allowed to run. Must be
/// called without the lock.
pub(super) fn come_back(me: Ref) {
    let mut shared = SHARED.lock();
    if !IS_ON.load(Ordering::Relaxed) {
        me.woken.set(Woken::Free);
        return;
    }
    shared.remove_outside();
    me.go.store(0, Ordering::Relaxed);
    if shared.machine.running().is_none() && shared.machine.is_none_ready() {
        shared.machine.end_idling();
        shared.run(me);
        return;
    }
    shared.make_ready(me, Woken::Done);
    if shared.machine.running().is_none() {
        pass_on(me, shared);
        return;
    }
    drop(shared);
    await_token(me);
}

/// Waits until this thread holds the run token, or the scheduler has ended.
pub(super) fn await_token(me: Ref) {
    await_for(me, None);
}

/// Waits as [`await_token`] does. If this thread becomes the watcher, it first checks after
/// `until_look`, if given.
fn await_for(me: Ref, mut until_look: Option<Duration>) {
    let own = ptr::from_ref(me).cast_mut();
    loop {
        match me.go.swap(0, Ordering::Acquire) {
            GO => break,
            REPORT => ending::report(me),
            FLUSH => ending::flush(),
            _ => {}
        }
        let none = ptr::null_mut();
        let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
        let watcher = WATCHER.compare_exchange(none, own, success, failure);
        if watcher.is_ok() || watcher == Err(own) {
            let limit = until_look.take().unwrap_or_else(pause);
            kernel::wait(&me.go, Some(limit));
            if me.go.load(Ordering::Relaxed) == 0 {
                watch(me);
            }
        } else {
            // One watcher suffices; the others sleep until they are woken.
            kernel::wait(&me.go, None);
        }
    }
    processor::give_back(me);
    if !IS_ON.load(Ordering::Relaxed) {
        me.woken.set(Woken::Free);
    }
}

/// Returns how long the watcher waits until its next check.
fn pause() -> Duration {
    let shared = SHARED.lock();
    if shared.machine.running().is_some() {
        return TICK;
    }
    // Events outside should not have to wait for the watcher, nor for the processor that it uses.
    let waited = shared
        .machine
        .idle_since()
        .map_or(0, |since| kernel::clock(libc::CLOCK_MONOTONIC).saturating_sub(since));
    let pause = Duration::from_nanos(waited / 4).clamp(Duration::from_micros(50), TICK / 4);
    let now = LEASE.now();
    let deadline = shared.machine.next_deadline();
    let due = deadline.map(|deadline| Duration::from_nanos(deadline.saturating_sub(now)));
    due.map_or(pause, |due| due.min(pause))
}

/// Checks on behalf of all threads whether one can run.
fn watch(me: Ref) {
    let mut shared = SHARED.lock();
    if !IS_ON.load(Ordering::Relaxed)
        || shared.machine.is_ending()
        || !ptr::eq(WATCHER.load(Ordering::Relaxed), me)
    {
        return;
    }
    let Some(running) = shared.running() else {
        match shared.pick() {
            Next::Thread(next) => {
                let next = shared.thread(next);
                shared.pass_from_watcher(me, next);
            }
            Next::Nobody => {}
            Next::End(kind) => {
                drop(shared);
                ending::end(Some(me), kind);
            }
        }
        return;
    };
    if running.go.load(Ordering::Relaxed) == GO {
        // The thread was given the run token but has not run yet, or its wake-up has not arrived.
        kernel::wake(&running.go);
        shared.quiet = 0;
        return;
    }
    let progress = LEASE.steps() + LEASE.now() + shared.machine.counts.switches;
    if progress != shared.progress {
        shared.progress = progress;
        shared.quiet = 0;
        return;
    }
    shared.quiet += 1;
    // The tool's own code never blocks for long.
    let is_busy = running.is_busy.load(Ordering::Relaxed);
    if shared.quiet < TICKS_ASLEEP || running.number.get() == 0 || is_busy {
        return;
    }
    let is_asleep = kernel::sleeps(running.number.get()).unwrap_or(false);
    if !is_asleep && shared.quiet < TICKS_COMPUTING {
        return;
    }
    // No other thread could run meanwhile, so this one may take its time.
    if !shared.machine.has_candidates() {
        return;
    }
    if is_asleep {
        shared.machine.counts.leaks += 1;
    } else {
        shared.machine.counts.asynchronous += 1;
    }
    shared.quiet = 0;
    // From now on the running thread lives in real time, until it comes back.
    shared.add_outside();
    running.is_stuck.store(true, Ordering::Release);
    shared.machine.give_up(running.id);
    if let Next::Thread(next) = shared.pick() {
        let next = shared.thread(next);
        shared.pass_from_watcher(me, next);
    }
}

/// Returns whether this thread holds the run token. A thread that was stuck waits for it. Returns
/// false when the scheduler has ended.
pub(super) fn is_running(me: Ref) -> bool {
    if me.is_stuck.load(Ordering::Acquire) {
        me.is_stuck.store(false, Ordering::Relaxed);
        come_back(me);
    }
    if !IS_ON.load(Ordering::Relaxed) {
        super::forget();
        return false;
    }
    true
}

/// Decides whether others run, at an operation at which the running thread must consult the
/// scheduler.
pub(super) fn reschedule(me: Ref, request: Request) {
    let mut shared = SHARED.lock();
    if let Some(end) = shared.end_of_running(me, request.spins) {
        drop(shared);
        ending::end(Some(me), end);
    }
    if me.is_stuck.load(Ordering::Relaxed) {
        drop(shared);
        is_running(me);
        return;
    }
    match shared.reschedule(me, request) {
        Turn::Continue => {}
        Turn::Switch(next) => change_to(me, next, shared),
        Turn::Delay => {
            block(me, shared);
        }
    }
}

/// Passes the run token to a ready thread, and waits for a turn.
pub(super) fn pass_to(me: Ref, next: ThreadId, mut shared: Guard<'_, Shared>) {
    if me.is_stuck.load(Ordering::Relaxed) {
        drop(shared);
        is_running(me);
        return;
    }
    shared.machine.give_way(me.id, next);
    change_to(me, next, shared);
}

fn change_to(me: Ref, next: ThreadId, mut shared: Guard<'_, Shared>) {
    let next = shared.thread(next);
    shared.pass_token(next);
    drop(shared);
    kernel::wake(&next.go);
    await_for(me, Some(TICK));
    go_first_or_let_others(me);
}

/// Lets others go first after this thread has got the run token, if a list of decisions requires
/// it.
fn go_first_or_let_others(me: Ref) {
    if !systematic::is_on() || !IS_ON.load(Ordering::Relaxed) {
        return;
    }
    let hold = systematic::hold(me, false);
    if hold > 0 {
        if trace::is_due() {
            trace::note_delay(me, Operation::Hold.name(), hold);
        }
        let mut shared = SHARED.lock();
        let operation = shared.machine.threads().operation(me.id);
        shared.machine.delay(me.id, hold);
        block(me, shared);
        SHARED.lock().machine.set_operation(me.id, operation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_begins_to_wait_when_all_run_free_waits_for_real() {
        let mut shared = SHARED.lock();
        let me = shared.add(1, "");
        shared.wait_at(me, Operation::FutexWait, 0x1000, u32::MAX);
        shared.wait_until(me, 1_000);
        assert_eq!(block(me, shared), Woken::Free);
        let mut shared = SHARED.lock();
        assert!(shared.waiting_at(0x1000).next().is_none());
        shared.remove(me);
    }
}

//! The run token: only the thread of the test that holds it runs. It passes the token when it
//! blocks or is preempted.
//!
//! The scheduler has no separate thread. Instead, one of the threads that wait for the run token
//! is the *watcher*. It checks periodically whether the running thread sleeps in a kernel call that
//! was not observed, and whether something outside has made a thread ready.

use ::std::mem;
use ::std::ptr;
use ::std::sync::atomic::Ordering;
use ::std::time::Duration;

use nondex_core::ScheduleEndKind;

use super::lock::Guard;
use super::next::Next;
use super::real_time::is_any_outside;
use super::shared::{
    ATTENTION, FLUSH, GO, IS_ON, MAX_STEPS, NOW, REPORT, SHARED, SLICE, STEP, STEPS, Shared,
    WATCHER,
};
use super::thread::{Ref, State, Woken};
use super::{Operation, ending, kernel, processor, slept, systematic, trace};
use crate::libc;

/// Interval between the watcher's checks.
const TICK: Duration = Duration::from_millis(10);

/// Number of ticks without an operation, while a thread sleeps in the kernel or computes, after
/// which others may run.
const TICKS_ASLEEP: u32 = 5;
const TICKS_COMPUTING: u32 = 100;

/// Number of looks after which it is a livelock if all ready threads spin. A yield counts as 64
/// looks. At the limit on operations a smaller number suffices.
const LOOKS: u32 = 1 << 22;
const LOOKS_AT_LIMIT: u32 = 1 << 18;

/// Lets others run until this thread, which must be in some list, is woken.
pub(super) fn block(me: Ref, mut shared: Guard<'_, Shared>) -> Woken {
    if !IS_ON.load(Ordering::Relaxed) {
        // The scheduler ended after this thread had begun to wait.
        shared.take_out(me);
        return Woken::Free;
    }
    let (since, late) = (NOW.load(Ordering::Relaxed), me.late.get());
    me.state.set(State::Blocked);
    shared.blocked += u64::from(me.operation.get() != Operation::Hold);
    // Another thread may run already, if this one was stuck.
    if has_token(me, &mut shared) || shared.running.is_none() {
        pass_on(me, shared);
    } else {
        drop(shared);
        await_token(me);
    }
    let woken = me.woken.get();
    if woken == Woken::Time && me.operation.get() != Operation::Hold {
        let passed = NOW.load(Ordering::Relaxed).saturating_sub(since);
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
    shared.running.is_some_and(|running| running.is(me))
}

/// Passes the run token, and waits until it is back.
pub(super) fn pass_on(me: Ref, mut shared: Guard<'_, Shared>) {
    shared.running = None;
    match shared.pick() {
        Next::Thread(next) if next.is(me) => {
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
    if !has_token(me, &mut shared) && shared.running.is_some() {
        return;
    }
    shared.running = None;
    match shared.pick() {
        Next::Thread(next) => {
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
    if shared.running.is_none() && shared.ready.is_empty() {
        shared.end_idling();
        shared.run(me);
        return;
    }
    shared.make_ready(me, Woken::Done);
    if shared.running.is_none() {
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
    if shared.running.is_some() {
        return TICK;
    }
    // Events outside should not have to wait for the watcher, nor for the processor that it uses.
    let waited = shared
        .idle_since
        .map_or(0, |since| kernel::clock(libc::CLOCK_MONOTONIC).saturating_sub(since));
    let pause = Duration::from_nanos(waited / 4).clamp(Duration::from_micros(50), TICK / 4);
    let now = NOW.load(Ordering::Relaxed);
    let due = shared
        .timers
        .first()
        .map(|first| Duration::from_nanos(first.deadline.get().saturating_sub(now)));
    due.map_or(pause, |due| due.min(pause))
}

/// Checks on behalf of all threads whether one can run.
fn watch(me: Ref) {
    let mut shared = SHARED.lock();
    if !IS_ON.load(Ordering::Relaxed)
        || shared.is_ending
        || !ptr::eq(WATCHER.load(Ordering::Relaxed), me)
    {
        return;
    }
    let Some(running) = shared.running else {
        match shared.pick() {
            Next::Thread(next) => shared.pass_from_watcher(me, next),
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
    let progress =
        STEPS.load(Ordering::Relaxed) + NOW.load(Ordering::Relaxed) + shared.counts.switches;
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
    if shared.ready.is_empty() && shared.timers.first().is_none() && shared.polls.is_empty() {
        return;
    }
    if is_asleep {
        shared.counts.leaks += 1;
    } else {
        shared.counts.asynchronous += 1;
    }
    shared.quiet = 0;
    // From now on the running thread lives in real time, until it comes back.
    shared.add_outside();
    running.state.set(State::Stuck);
    running.is_stuck.store(true, Ordering::Release);
    shared.running = None;
    if let Next::Thread(next) = shared.pick() {
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
pub(super) fn reschedule(me: Ref, hold: u64, yields: bool, spins: bool) {
    let mut shared = SHARED.lock();
    let is_over = STEPS.load(Ordering::Relaxed) > MAX_STEPS.load(Ordering::Relaxed);
    if is_over || spins {
        let looks = if is_over { LOOKS_AT_LIMIT } else { LOOKS };
        let end = if shared.is_livelock(me, looks) {
            Some(ScheduleEndKind::Livelock)
        } else {
            is_over.then_some(ScheduleEndKind::Steps)
        };
        if let Some(end) = end {
            drop(shared);
            ending::end(Some(me), end);
        }
    }
    if me.is_stuck.load(Ordering::Relaxed) {
        drop(shared);
        is_running(me);
        return;
    }
    shared.sync_time();
    shared.wake_due();
    shared.end_long_holds();
    if !yields && nondex_core::context::level().is_none() {
        // The thread runs the tool's own code, which must not be preempted.
        let soon = NOW.load(Ordering::Relaxed) + 10 * STEP;
        ATTENTION.store(soon, Ordering::Relaxed);
        return;
    }
    if hold > 0 {
        delay(me, hold, shared);
        return;
    }
    // A delay has just ended, and its thread runs before this one.
    if mem::take(&mut shared.preempts) {
        if let Some(next) = shared.pop() {
            systematic::note_disturbance();
            shared.make_next(me);
            change_to(me, next, shared);
        }
        return;
    }
    if yields || NOW.load(Ordering::Relaxed) >= shared.slice_end {
        shared.poll();
        let is_patient = me.may_give_up() && shared.is_patient();
        if shared.ready.is_empty() && spins && !is_patient && !is_any_outside() {
            // The thread spins, and may wait for one that waits for a time.
            shared.pass_time();
        }
        if systematic::is_on() && yields {
            shared.release();
            systematic::note_yield(me);
        }
        if let Some(next) = shared.pop() {
            if !yields {
                systematic::note_disturbance();
            }
            shared.make_ready(me, Woken::Done);
            change_to(me, next, shared);
            return;
        }
        // Something outside may need the processor to make progress.
        if spins && is_any_outside() {
            kernel::yield_processor();
        }
        shared.slice_end = NOW.load(Ordering::Relaxed) + SLICE;
    }
    shared.set_attention();
}

/// Passes the run token to a ready thread, and waits for a turn.
pub(super) fn pass_to(me: Ref, next: Ref, mut shared: Guard<'_, Shared>) {
    if me.is_stuck.load(Ordering::Relaxed) {
        drop(shared);
        is_running(me);
        return;
    }
    shared.take_out(next);
    shared.make_ready(me, Woken::Done);
    change_to(me, next, shared);
}

fn change_to(me: Ref, next: Ref, mut shared: Guard<'_, Shared>) {
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
        let operation = me.operation.get();
        delay(me, hold, SHARED.lock());
        me.operation.set(operation);
    }
}

/// Lets the others run for this long, or until none of them can.
fn delay(me: Ref, hold: u64, mut shared: Guard<'_, Shared>) {
    shared.counts.holds += 1;
    shared.delay(hold);
    me.operation.set(Operation::Hold);
    shared.wait_until(me, NOW.load(Ordering::Relaxed) + hold);
    block(me, shared);
}

#[cfg(test)]
mod tests {
    use super::super::thread::Thread;
    use super::*;

    #[test]
    fn a_thread_that_begins_to_wait_when_all_run_free_waits_for_real() {
        let me = Thread::new();
        let mut shared = SHARED.lock();
        shared.wait_at(me, Operation::FutexWait, 0x1000, u32::MAX);
        shared.wait_until(me, 1_000);
        assert_eq!(block(me, shared), Woken::Free);
        assert!(SHARED.lock().waiting_at(0x1000).next().is_none());
    }
}

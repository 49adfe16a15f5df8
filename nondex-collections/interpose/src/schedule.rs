//! The scheduler: runs the threads of a test one at a time, in an order and on a clock that the
//! seed determines. The run's spec enables it.
//!
//! A thread of the test enters the scheduler at each operation through which threads observe each
//! other. These are its calls of libc and, in instrumented programs, each [atomic](atomics)
//! operation. Other threads may run there. A thread holds the [run token](token), or waits for it.
//! If it would wait in the kernel for another thread (in a [futex], say, or to join it), it waits
//! in the scheduler instead. So a run is a sequence of operations that depends on the program and
//! the spec alone. The scheduler knows at once how each wait ends, so virtual time can jump to a
//! deadline.
//!
//! The seed [chooses](choices) how long a thread is delayed. Threads outside of the test run
//! freely, and the test's own threads do so after the test has ended. Nothing here uses std's locks
//! or memory from the program's allocator, because the program's operations on both come back here.

#![cfg_attr(
    not(feature = "network"),
    expect(dead_code, reason = "connections and children are seen where the network is")
)]

mod accesses;
pub(crate) mod alarms;
pub(crate) mod atomics;
pub(crate) mod child;
mod choices;
mod closed_system;
pub(crate) mod counter;
pub(crate) mod descriptor;
mod ending;
pub(crate) mod epoch;
mod file_times;
mod filter;
pub(crate) mod futex;
pub(crate) mod join;
mod kernel;
mod lateness;
mod leaving;
pub(crate) mod life;
mod limit;
mod lock;
mod orphans;
pub(crate) mod output;
mod park;
mod poll;
pub(crate) mod processor;
pub(crate) mod pthread;
mod reached;
mod readiness;
mod reading;
mod real_time;
mod recurrence;
mod shared;
pub(crate) mod signals;
mod slept;
mod stamps;
mod systematic;
mod thread;
mod token;
mod trace;
mod vfork;
mod wakers;
mod world;

use ::std::cell::Cell;
use ::std::sync::atomic::{AtomicU64, Ordering};
use ::std::time::Duration;

#[cfg(feature = "network")]
pub(crate) use descriptor::{WAITS_FOR_ALL, connect, send_message};
pub(crate) use descriptor::{file, is_scheduled, read, refuse_timer, write, write_vectored};
pub(crate) use file_times::{FileTime, set_time, show_times};
#[cfg(feature = "network")]
pub(crate) use kernel::each_number;
use lateness::SLEEPS;
pub(crate) use life::{begin, end};
pub(crate) use limit::Limit;
use nondex_core::Model;
pub(crate) use nondex_core::scheduler::Operation;
use nondex_core::scheduler::{Request, STEP, time_of_reading};
pub(crate) use poll::{has_events, wait as poll};
use shared::{LEASE, SHARED};
use thread::Ref;
pub(crate) use thread::Woken;
use trace::Object;

use crate::{Errno, libc};

thread_local! {
    /// Handle of this thread, if it is scheduled.
    static SELF: Cell<Option<Ref>> = const { Cell::new(None) };
}

/// Real time, on both clocks, at which virtual time begins.
static MONOTONIC_START: AtomicU64 = AtomicU64::new(0);
static REALTIME_START: AtomicU64 = AtomicU64::new(0);

/// Returns this thread if it is scheduled and does not run the tool's own code.
#[inline]
fn me() -> Option<Ref> {
    SELF.get().filter(|me| !me.is_busy.load(Ordering::Relaxed))
}

/// Removes this thread from the scheduler's control.
fn forget() {
    SELF.set(None);
}

/// Guard during which a scheduled thread runs the tool's own code, where nothing is an operation.
struct Busy {
    me: Ref,
    errno: Option<Errno>,
}

impl Busy {
    fn begin(me: Ref) -> Self {
        me.is_busy.store(true, Ordering::Relaxed);
        Busy { me, errno: Some(Errno::save()) }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.me.is_busy.store(false, Ordering::Relaxed);
        // The scheduler may have ended meanwhile.
        if !shared::IS_ON.load(Ordering::Relaxed) {
            forget();
        }
    }
}

/// Returns whether this thread is scheduled and does not run the tool's own code.
#[inline]
pub(crate) fn is_on() -> bool {
    me().is_some()
}

/// Marks an operation of this thread, before which other threads may run.
#[inline]
pub(crate) fn point(operation: Operation) {
    point_on(operation, Object::Nothing);
}

/// Marks an operation on an object, as [`point`] does.
#[inline]
fn point_on(operation: Operation, object: Object) {
    if let Some(me) = me() {
        operation_on(me, operation, object);
    }
}

/// Marks an operation of this thread, which must be scheduled and not busy.
#[inline]
fn operation(me: Ref, operation: Operation) {
    operation_on(me, operation, Object::Nothing);
}

/// Marks an operation on an object, as [`operation()`] does.
#[inline]
fn operation_on(me: Ref, operation: Operation, object: Object) {
    begin_operation(me, operation);
    // This must come last. If the compiler knew the result above, it would duplicate that code for
    // traced runs. Then their call stacks would differ, by which choices are drawn.
    if trace::is_operation_due(me, operation) {
        trace::note(me, operation, object);
    }
}

/// Marks an operation that this thread has just done, and records it before other threads' next
/// ones.
#[inline]
fn point_after(operation: Operation, object: Object) {
    if let Some(me) = me() {
        if trace::is_operation_due(me, operation) {
            trace::note(me, operation, object);
        }
        begin_operation(me, operation);
    }
}

/// Lets other threads run before an operation of this thread.
#[inline]
fn begin_operation(me: Ref, operation: Operation) {
    let now = LEASE.now() + STEP;
    // The watcher has let others run, so this thread must first get the run token back.
    if me.is_stuck.load(Ordering::Relaxed) {
        reschedule(me, None, false);
        return;
    }
    LEASE.set_now(now);
    match operation {
        Operation::Atomic | Operation::Act | Operation::Count | Operation::Clock => {}
        Operation::Yield => me.looks.add_yield(),
        _ => me.looks.end(),
    }
    let yields = operation == Operation::Yield;
    if LEASE.alive() < 2 {
        return;
    }
    me.operations.set(me.operations.get() + 1);
    LEASE.count_step();
    let fires = choices::fires(me, operation.class());
    if fires || yields || now >= LEASE.attention() {
        reschedule(me, fires.then_some(operation), yields);
    }
}

/// Runs an atomic read of this thread, which must be scheduled and not busy. Other threads may run
/// before it or, if the seed chooses so, after it. Code after the read may not be instrumented, as
/// std's own is not.
#[inline]
fn read_atomic<T>(me: Ref, read: impl FnOnce() -> T) -> T {
    if choices::is_after(me) && !me.is_stuck.load(Ordering::Relaxed) {
        let value = read();
        begin_operation(me, Operation::Atomic);
        return value;
    }
    begin_operation(me, Operation::Atomic);
    let value = read();
    if systematic::is_on() && LEASE.alive() > 1 {
        reschedule(me, Some(Operation::Atomic), false);
    }
    value
}

/// Counts a spin of this thread: a look at a place that has not changed since.
#[inline]
fn look_at(me: Ref, address: usize) {
    if me.looks.look_at(address) {
        reschedule(me, None, true);
    }
}

#[cold]
#[inline(never)]
fn reschedule(me: Ref, fires: Option<Operation>, yields: bool) {
    let _busy = Busy::begin(me);
    if !token::is_running(me) {
        return;
    }
    // While a child lives, a delay takes real time, in which other threads may do a great deal.
    let hold = match fires {
        Some(operation) if !child::is_there() => choices::hold(me, operation),
        Some(_) => {
            LEASE.disturb();
            0
        }
        None => 0,
    };
    if hold > 0 && trace::is_due() {
        trace::note_delay(me, Operation::Hold.name(), hold);
    }
    let spins = me.looks.spins();
    if spins {
        recurrence::note(me);
    }
    let reads_clock = fires == Some(Operation::Clock) && !systematic::is_on();
    let is_own_code = nondex_core::context::level().is_none();
    token::reschedule(me, Request { hold, yields, spins, reads_clock, is_own_code });
}

/// Returns the virtual time in nanoseconds since the start of the test.
pub(crate) fn now() -> u64 {
    LEASE.now()
}

/// Returns a clock's time at the start of the test, which is the origin of virtual time.
pub(crate) fn start_of(clock: libc::clockid_t) -> u64 {
    match clock {
        libc::CLOCK_REALTIME => REALTIME_START.load(Ordering::Relaxed),
        _ => epoch::start(),
    }
}

/// Converts a clock's time into virtual time.
pub(crate) fn since_start(clock: libc::clockid_t, time: u64) -> u64 {
    time.saturating_sub(start_of(clock))
}

/// Reads a clock in virtual time, and advances it: the longer the thread does nothing else, the
/// further. A delay before the reading belongs to the model `by`.
pub(crate) fn read_clock(clock: libc::clockid_t, by: &'static Model) -> u64 {
    let Some(me) = me() else { return start_of(clock) + now() };
    operation(me, Operation::Clock);
    if clock != libc::CLOCK_REALTIME {
        epoch::will_read();
    }
    if LEASE.is_any_outside() {
        let _busy = Busy::begin(me);
        SHARED.lock().sync_time();
    } else {
        if LEASE.alive() < 2 {
            reading::delay_alone(me, by);
        }
        pass_reading(me);
    }
    reading::show(me, clock)
}

/// Advances virtual time by one reading of a clock.
fn pass_reading(me: Ref) {
    LEASE.pass(time_of_reading(me.looks.add_reading()));
}

/// Blocks this thread until the virtual time `until`, or somewhat later if the seed chooses so.
/// Returns the time that was left when a signal ended the wait; 0 otherwise.
pub(crate) fn sleep(until: u64) -> u64 {
    let Some(me) = me() else { return 0 };
    operation(me, Operation::Sleep);
    let busy = Busy::begin(me);
    let requested = until.max(now());
    let until = requested.saturating_add(lateness::late(me, SLEEPS, requested));
    let mut shared = SHARED.lock();
    shared.machine.set_operation(me.id, Operation::Sleep);
    shared.wait_until(me, until);
    let woken = token::block(me, shared);
    drop(busy);
    if woken == Woken::Free {
        kernel::sleep(Duration::from_nanos(until.saturating_sub(now())));
    }
    if woken == Woken::Signal { requested.saturating_sub(now()) } else { 0 }
}

/// Blocks this thread until `is_ready` returns true, or until the deadline in virtual time, which
/// gives [`Woken::Time`]. The scheduler calls `is_ready` when it looks for a runnable thread, from
/// whichever thread does that, so it must not block.
fn wait_for(
    operation: Operation,
    object: Object,
    deadline: Option<u64>,
    is_ready: &mut dyn FnMut() -> bool,
) -> Woken {
    let Some(me) = me() else { return Woken::Free };
    operation_on(me, operation, object);
    let _busy = Busy::begin(me);
    if is_ready() {
        return Woken::Done;
    }
    let deadline = lateness::later(me, deadline);
    if deadline.is_some_and(|deadline| deadline <= now()) {
        shared::tick();
        return Woken::Time;
    }
    // SAFETY: the condition is forgotten before this function returns.
    unsafe { me.set_condition(is_ready) };
    let mut shared = SHARED.lock();
    shared.machine.wait_by_polling(me.id, operation, None);
    if let Some(deadline) = deadline {
        shared.wait_until(me, deadline);
    }
    let woken = token::block(me, shared);
    me.condition.set(None);
    woken
}

/// Waits in real time, for no thread of the test: lets other threads run, or the given time pass.
pub(crate) fn wait_outside(time: Option<Duration>) {
    let _errno = Errno::save();
    match time {
        Some(time) => kernel::sleep(time),
        None => kernel::yield_processor(),
    }
}

/// Makes a call that waits for an event outside of the test's threads. Other threads run meanwhile,
/// and virtual time does not get ahead of real time.
pub(crate) fn outside<R>(operation: Operation, call: impl FnOnce() -> R) -> R {
    let Some(me) = me() else { return call() };
    self::operation(me, operation);
    let mut busy = Busy::begin(me);
    let mut shared = SHARED.lock();
    shared.machine.leave_for(me.id, operation);
    shared.machine.counts.outside += 1;
    shared.add_outside();
    token::leave(me, shared);
    // The caller must see the `errno` of its call.
    drop(busy.errno.take());
    let result = call();
    busy.errno = Some(Errno::save());
    token::come_back(me);
    result
}

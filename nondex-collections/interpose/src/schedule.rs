//! The scheduler: in a run whose spec asks for it, the threads of a test run one at a time, in an
//! order and on a clock that the seed decides.
//!
//! A thread of the test comes here at each operation by which threads see each other: at what it
//! asks of libc, and, in programs that are compiled for it, at each [atomic](atomics) one. There
//! the others may run. A thread has the [run token](token), or waits for it; one that would wait in
//! the kernel for another thread (in a [futex], say, or to join it) waits here instead. So a run is
//! a sequence of operations that depends on the program and the spec alone. Every wait has an end
//! that is known at once, and time need not pass to be waited for.
//!
//! What is [chosen](choices) is how long a thread is delayed. All threads but those of the test run
//! free, and so do these from the test's end on. Nothing here uses a lock of std's or memory of the
//! program's allocator.

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
mod descriptor;
mod ending;
pub(crate) mod epoch;
mod file_times;
mod filter;
pub(crate) mod futex;
mod holds;
mod join;
mod kernel;
mod lateness;
mod leaving;
pub(crate) mod life;
mod limit;
mod lists;
mod lock;
mod next;
mod operation;
mod orphans;
pub(crate) mod output;
mod park;
mod poll;
pub(crate) mod processor;
mod pthread;
mod reached;
mod readiness;
mod reading;
mod reads;
mod real_time;
mod recurrence;
mod shared;
mod slept;
mod stamps;
mod states;
mod systematic;
mod thread;
mod token;
mod trace;
mod vfork;
mod wakers;

use ::std::cell::Cell;
use ::std::sync::atomic::{AtomicU64, Ordering};
use ::std::time::Duration;

#[cfg(feature = "network")]
pub(crate) use descriptor::{WAITS_FOR_ALL, connect, send_message};
pub(crate) use descriptor::{file, is_scheduled, read, write, write_vectored};
pub(crate) use file_times::{FileTime, set_time, show_times};
#[cfg(feature = "network")]
pub(crate) use kernel::each_number;
use lateness::SLEEPS;
pub(crate) use life::{begin, end};
pub(crate) use limit::Limit;
use nondex_core::Model;
pub(crate) use operation::Operation;
pub(crate) use poll::{has_events, wait as poll};
use shared::{ALIVE, ATTENTION, NOW, SHARED, STEP, STEPS};
pub(crate) use thread::Woken;
use thread::{Ref, SPIN, State};
use trace::Object;

use crate::{Errno, libc};

thread_local! {
    /// This thread, if it is scheduled.
    static SELF: Cell<Option<Ref>> = const { Cell::new(None) };
}

/// The real time, on both clocks, at which virtual time begins.
static MONOTONIC_START: AtomicU64 = AtomicU64::new(0);
static REALTIME_START: AtomicU64 = AtomicU64::new(0);

/// This thread, if it is scheduled and does not do our own work.
#[inline]
fn me() -> Option<Ref> {
    SELF.get().filter(|me| !me.is_busy.load(Ordering::Relaxed))
}

/// Lets this thread run free.
fn forget() {
    SELF.set(None);
}

/// Our own work in a scheduled thread, until it is dropped: nothing in it is an operation.
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
        if !shared::IS_ON.load(Ordering::Relaxed) {
            forget();
        }
    }
}

/// Whether this thread is scheduled, and not at our own work.
#[inline]
pub(crate) fn is_on() -> bool {
    me().is_some()
}

/// An operation of this thread: the others may run here.
#[inline]
pub(crate) fn point(operation: Operation) {
    point_on(operation, Object::Nothing);
}

/// As [`point`], on something.
#[inline]
fn point_on(operation: Operation, object: Object) {
    if let Some(me) = me() {
        operation_on(me, operation, object);
    }
}

/// An operation of this thread, which is scheduled and not busy.
#[inline]
fn operation(me: Ref, operation: Operation) {
    operation_on(me, operation, Object::Nothing);
}

/// As [`operation`], on something.
#[inline]
fn operation_on(me: Ref, operation: Operation, object: Object) {
    begin_operation(me, operation);
    // It is queried last. Known before, the compiler makes two of what stands above, one for runs
    // that are shown; and a choice is drawn by the stack on which it is made.
    if trace::is_operation_due(me, operation) {
        trace::note(me, operation, object);
    }
}

/// As [`point_on`], for what this thread has just done: it is kept before what the others do now.
#[inline]
fn point_after(operation: Operation, object: Object) {
    if let Some(me) = me() {
        if trace::is_operation_due(me, operation) {
            trace::note(me, operation, object);
        }
        begin_operation(me, operation);
    }
}

/// Lets the others run before an operation of this thread.
#[inline]
fn begin_operation(me: Ref, operation: Operation) {
    let now = NOW.load(Ordering::Relaxed) + STEP;
    if me.is_stuck.load(Ordering::Relaxed) {
        look_up(me, None, false);
        return;
    }
    NOW.store(now, Ordering::Relaxed);
    match operation {
        Operation::Atomic | Operation::Act | Operation::Count | Operation::Clock => {}
        Operation::Yield => {
            let looks = me.looks_of_yield();
            me.idle.set(me.idle.get().saturating_add(looks));
        }
        _ => me.idle.set(0),
    }
    let yields = operation == Operation::Yield;
    if ALIVE.load(Ordering::Relaxed) < 2 {
        return;
    }
    me.operations.set(me.operations.get() + 1);
    STEPS.store(STEPS.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    let fires = choices::fires(me, operation.class());
    if fires || yields || now >= ATTENTION.load(Ordering::Relaxed) {
        look_up(me, fires.then_some(operation), yields);
    }
}

/// An atomic read of this thread, which is scheduled and not busy. The others may run before it or,
/// if the seed chooses so, after it: what follows may be code that was compiled without such calls,
/// as std's own.
#[inline]
fn read_atomic<T>(me: Ref, read: impl FnOnce() -> T) -> T {
    if choices::is_after(me) && !me.is_stuck.load(Ordering::Relaxed) {
        let value = read();
        begin_operation(me, Operation::Atomic);
        return value;
    }
    begin_operation(me, Operation::Atomic);
    let value = read();
    if systematic::is_on() && ALIVE.load(Ordering::Relaxed) > 1 {
        look_up(me, Some(Operation::Atomic), false);
    }
    value
}

/// Counts a look of this thread at a place that has not changed since.
#[inline]
fn look_at(me: Ref, address: usize) {
    let known = me.looked_at.iter().any(|place| place.get() == address);
    if !known {
        let at = me.idle.get() as usize % me.looked_at.len();
        me.looked_at[at].set(address);
        me.idle.set(0);
    }
    let idle = me.idle.get() + 1;
    me.idle.set(idle);
    if idle % SPIN == 0 {
        look_up(me, None, true);
    }
}

#[cold]
#[inline(never)]
fn look_up(me: Ref, fires: Option<Operation>, yields: bool) {
    let _busy = Busy::begin(me);
    if !token::is_running(me) {
        return;
    }
    // While a child lives a hold takes real time, in which the others may do very much.
    let hold = match fires {
        Some(operation) if !child::is_there() => choices::hold(me, operation),
        Some(_) => {
            systematic::note_disturbance();
            0
        }
        None => 0,
    };
    if hold > 0 && trace::is_due() {
        trace::note_delay(me, Operation::Hold.name(), hold);
    }
    if me.spins() {
        recurrence::note(me);
    }
    me.reads_clock.set(fires == Some(Operation::Clock) && !systematic::is_on());
    token::look_up(me, hold, yields, me.spins());
}

/// The virtual time in nanoseconds since the start of the test.
pub(crate) fn now() -> u64 {
    NOW.load(Ordering::Relaxed)
}

/// The time of a clock at the start of the test, on which virtual time is counted.
pub(crate) fn start_of(clock: libc::clockid_t) -> u64 {
    match clock {
        libc::CLOCK_REALTIME => REALTIME_START.load(Ordering::Relaxed),
        _ => epoch::start(),
    }
}

/// The virtual time that a time of a clock is.
pub(crate) fn since_start(clock: libc::clockid_t, time: u64) -> u64 {
    time.saturating_sub(start_of(clock))
}

/// Reads the virtual time, by which it goes on: the more, the longer nothing else is done. A delay
/// before the reading is one of the model `by`.
pub(crate) fn read_clock(clock: libc::clockid_t, by: &'static Model) -> u64 {
    let Some(me) = me() else { return start_of(clock) + now() };
    operation(me, Operation::Clock);
    if clock != libc::CLOCK_REALTIME {
        epoch::will_read();
    }
    if real_time::is_any_outside() {
        let _busy = Busy::begin(me);
        SHARED.lock().sync_time();
    } else {
        if ALIVE.load(Ordering::Relaxed) < 2 {
            reading::delay_alone(me, by);
        }
        pass_reading(me);
    }
    reading::show(me, clock)
}

/// Lets the virtual time go on by a reading.
fn pass_reading(me: Ref) {
    let idle = me.idle.get().saturating_add(1);
    me.idle.set(idle);
    me.idle_at_reading.set(idle);
    NOW.fetch_add(reading::time_of(idle), Ordering::Relaxed);
}

/// Blocks this thread until the virtual time, or somewhat longer, by the seed.
pub(crate) fn sleep(until: u64) {
    let Some(me) = me() else { return };
    operation(me, Operation::Sleep);
    let busy = Busy::begin(me);
    let until = until.max(now());
    let until = until.saturating_add(lateness::late(me, SLEEPS, until));
    let mut shared = SHARED.lock();
    me.operation.set(Operation::Sleep);
    shared.wait_until(me, until);
    let woken = token::block(me, shared);
    drop(busy);
    if woken == Woken::Free {
        kernel::sleep(Duration::from_nanos(until.saturating_sub(now())));
    }
}

/// Blocks this thread until the answer is yes, or the virtual time has come: false then. The
/// question is evaluated when the scheduler looks for work, from whichever thread does that, and
/// must not wait itself.
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
    // SAFETY: the question is forgotten before this function returns.
    unsafe { me.will_ask(is_ready) };
    let mut shared = SHARED.lock();
    me.operation.set(operation);
    shared.wait_by_asking(me);
    if let Some(deadline) = deadline {
        shared.wait_until(me, deadline);
    }
    let woken = token::block(me, shared);
    me.question.set(None);
    woken
}

/// Waits for real, and for no thread of the test: the others may run, or the time passes.
pub(crate) fn wait_outside(time: Option<Duration>) {
    let _errno = Errno::save();
    match time {
        Some(time) => kernel::sleep(time),
        None => kernel::give_way(),
    }
}

/// Makes a call that waits for what no thread of the test does. The others run meanwhile, and time
/// is as late as real time.
pub(crate) fn outside<R>(operation: Operation, call: impl FnOnce() -> R) -> R {
    let Some(me) = me() else { return call() };
    self::operation(me, operation);
    let mut busy = Busy::begin(me);
    let mut shared = SHARED.lock();
    me.operation.set(operation);
    me.state.set(State::Outside);
    shared.counts.outside += 1;
    shared.add_outside();
    token::leave(me, shared);
    drop(busy.errno.take());
    let result = call();
    busy.errno = Some(Errno::save());
    token::come_back(me);
    result
}

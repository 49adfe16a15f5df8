//! Where and for how long a seed delays a thread, and the scheduler's other choices. In names, an
//! injected delay is a *hold*.
//!
//! The [policy] of the seed decides by a hash, without a lock. Only a delay is a choice with a call
//! site that is recorded.

use ::std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

use nondex_core::choice;
use nondex_core::hash::mix;
use nondex_core::scheduler::policy::{self, Chances, Policy, Purpose};
use nondex_core::scheduler::{Class, Operation};
use nondex_core::{Caller, Family, Level, Model, RunSpec, context, model};

use super::park;
use super::shared::{LEASE, SHARED};
use super::systematic;
use super::thread::Ref;
use super::trace;
use crate::{origin, own};

/// Kind of choices that the run makes.
static MODE: AtomicU8 = AtomicU8::new(OFF);
const OFF: u8 = 0;
/// No delays, but the first choices of each thread are reached, so that the record shows that there
/// are some.
const CLEAN: u8 = 1;
const WALK: u8 = 2;
const FEW: u8 = 3;
/// Delays of a list: see [`systematic`].
const LISTED: u8 = 4;

/// Whether clocks show the present time, and only record that they might not.
static IS_CLEAN: AtomicBool = AtomicBool::new(false);

/// Part that all hashes of the run have in common.
static RUN: AtomicU64 = AtomicU64::new(0);
/// Number of 2^32 operations of libc, and of atomics, that are preempted in a walk.
static SYSTEM: AtomicU32 = AtomicU32::new(0);
static ATOMIC: AtomicU32 = AtomicU32::new(0);
/// Number of preemptions, in thirds, each time that the number of operations is multiplied by e.
static RATE: AtomicU32 = AtomicU32::new(0);

/// Longest delay at an operation, in nanoseconds.
static MOST: AtomicU64 = AtomicU64::new(u64::MAX);

/// Number of preemptions until now.
static FIRED: AtomicU64 = AtomicU64::new(0);

/// Index of the [mark](super::thread::MARKS) by which a thread records its operations once.
pub(super) const OPERATIONS: usize = 0;

/// Returns whether a run is to choose at one of these models.
pub(super) fn is_requested(spec: &RunSpec, family: Family, models: &[&Model]) -> bool {
    let mut models = models.iter();
    models.any(|model| !spec.models_off.contains(&model.name(family)))
}

/// Sets up the choices of a run.
pub(super) fn begin(spec: &RunSpec) {
    let is_clean = spec.is_clean();
    let schedules = is_requested(spec, Family::Schedule, &[&model::THREAD_SPAWN]);
    systematic::begin(spec);
    let is_listed = systematic::is_on();
    IS_CLEAN.store(is_clean || is_listed, Ordering::Relaxed);
    RUN.store(policy::run_key(spec.seed(), spec.level()), Ordering::Relaxed);
    let policy = Policy::of_seed(spec.seed());
    let mode = match policy.chances {
        Chances::Walk { system, atomic } => {
            SYSTEM.store(system, Ordering::Relaxed);
            ATOMIC.store(atomic, Ordering::Relaxed);
            WALK
        }
        Chances::Few { thirds } => {
            RATE.store(thirds, Ordering::Relaxed);
            FEW
        }
    };
    MOST.store(policy.longest(), Ordering::Relaxed);
    FIRED.store(0, Ordering::Relaxed);
    let mode = match (schedules, is_clean) {
        (false, _) => OFF,
        (true, true) => CLEAN,
        (true, false) if is_listed => LISTED,
        (true, false) => mode,
    };
    MODE.store(mode, Ordering::Relaxed);
}

/// Returns the hash that decides an event of a thread.
pub(super) fn word(me: Ref, purpose: Purpose, number: u64) -> u64 {
    policy::word(RUN.load(Ordering::Relaxed), me.key.get(), purpose, number)
}

/// Returns the hash that draws the length of an event of a thread.
pub(super) fn length_word(me: Ref, purpose: Purpose, number: u64) -> u64 {
    policy::length_word(RUN.load(Ordering::Relaxed), me.key.get(), purpose, number)
}

/// Returns whether this operation, one more of the thread, is a choice.
#[inline]
pub(super) fn fires(me: Ref, class: Class) -> bool {
    let mode = MODE.load(Ordering::Relaxed);
    if mode == LISTED {
        return true;
    }
    if mode <= CLEAN {
        return mode == CLEAN && me.marks[OPERATIONS].get() && LEASE.ready() > 0;
    }
    if class == Class::Act {
        me.acts.set(me.acts.get() + 1);
        if is_aimed_at(me) {
            return true;
        }
    }
    fires_at(me, class, me.operations.get())
}

/// Records what this thread has read, if the seed aims.
#[inline]
pub(super) fn note_read(me: Ref, place: usize) {
    if aims() {
        me.reads.keep(place);
    }
}

/// Returns the kind of an operation of this thread that writes to a place.
#[inline]
pub(super) fn write(me: Ref, operation: Operation, place: usize) -> Operation {
    if aims() && me.reads.forget(place) { Operation::Act } else { operation }
}

/// Returns whether this run tracks what a thread reads and then writes.
#[inline]
fn aims() -> bool {
    MODE.load(Ordering::Relaxed) == FEW
}

/// Returns whether a seed that aims chooses the last write of a thread to a place that it had read.
fn is_aimed_at(me: Ref) -> bool {
    let number = me.acts.get();
    policy::is_aimed_at(word(me, Purpose::Act, number), number)
}

/// Returns whether the operation of a thread with this number is a choice.
fn fires_at(me: Ref, class: Class, number: u64) -> bool {
    let chances = if MODE.load(Ordering::Relaxed) == FEW {
        Chances::Few { thirds: RATE.load(Ordering::Relaxed) }
    } else {
        Chances::Walk {
            system: SYSTEM.load(Ordering::Relaxed),
            atomic: ATOMIC.load(Ordering::Relaxed),
        }
    };
    let word = word(me, Purpose::Operation, number);
    chances.fire(word, class, number, FIRED.load(Ordering::Relaxed))
}

/// Returns whether other threads may run after, not before, the next operation of this thread,
/// which reads.
#[inline]
pub(super) fn is_after(me: Ref) -> bool {
    is_drawn() && policy::is_even(word(me, Purpose::After, me.operations.get()))
}

/// Returns whether the seed draws the choices of this run.
#[inline]
fn is_drawn() -> bool {
    matches!(MODE.load(Ordering::Relaxed), WALK | FEW)
}

/// Returns how long this thread is delayed at an operation that [fires], in nanoseconds.
pub(super) fn hold(me: Ref, operation: Operation) -> u64 {
    if systematic::is_on() {
        me.marks[OPERATIONS].set(false);
        return match operation {
            Operation::Yield => 0,
            other => systematic::hold(me, other != Operation::Start),
        };
    }
    let Some(_work) = own::work() else { return 0 };
    me.marks[OPERATIONS].set(false);
    FIRED.fetch_add(1, Ordering::Relaxed);
    let caller = me.caller.take().unwrap_or_else(origin::caller);
    let most = match operation {
        Operation::Act if is_aimed_at(me) => u64::MAX,
        _ => MOST.load(Ordering::Relaxed),
    };
    let most = within(most);
    let now = LEASE.now();
    let moment = word(me, Purpose::Length, me.operations.get());
    held(&model::THREAD_SPAWN, caller, moment, most, now)
}

/// Returns how long a thread is delayed from the time `from` on, drawn by the [word] `moment`.
pub(super) fn held(
    model: &'static Model,
    caller: Caller,
    moment: u64,
    most: u64,
    from: u64,
) -> u64 {
    /// Capacity for deadlines of other threads. If there are more, only some are candidates.
    const ROOM: usize = 8;
    let mut room = [0; ROOM];
    let mut awaited = 0;
    for deadline in SHARED.lock().machine.sleepers() {
        if let (Some(time), Some(place)) = (deadline.checked_sub(from), room.get_mut(awaited)) {
            *place = time;
            awaited += 1;
        }
    }
    let delay = choice::hold(model, caller, Some(moment), most, &room[..awaited]).unwrap_or(0);
    let longest = &mut SHARED.lock().machine.counts.longest_delay;
    *longest = delay.max(*longest);
    delay
}

/// Records where a thread is started that will be delayed at its first operation. Its own stack has
/// no frame of the program there.
pub(super) fn will_start(thread: Ref) {
    let is_held = match MODE.load(Ordering::Relaxed) {
        LISTED => systematic::holds_first(thread),
        _ => is_drawn() && fires_at(thread, Class::System, 1),
    };
    if !is_held {
        return;
    }
    let Some(_work) = own::work() else { return };
    let caller = origin::caller();
    context::note_creation(&model::THREAD_SPAWN, caller);
    thread.caller.set(Some(caller));
}

/// Returns whether clocks show the present time in this run, and only record that they might not.
pub(super) fn is_clean() -> bool {
    IS_CLEAN.load(Ordering::Relaxed)
}

/// Caps a limit of delays, which stay short while virtual time is no faster than real time.
pub(super) fn within(limit: u64) -> u64 {
    if LEASE.is_any_outside() { limit.min(choice::hold::longest(Level::Std)) } else { limit }
}

/// Returns whether a wait ends at once, without a cause.
pub(super) fn is_spurious(me: Ref, expected: u32) -> bool {
    /// Values that the locks of std and of `parking_lot` expect. These wait again before the
    /// program could notice.
    const LOCKED: [u32; 3] = [1, 2, 5];
    const SHARED: u32 = 3 << 30;
    // The operations of a thread that is alone are not counted, so it would be woken again and
    // again.
    let is_alone = LEASE.alive() < 2;
    if !is_drawn()
        || is_alone
        || LOCKED.contains(&expected)
        || expected != park::PARKED && expected & SHARED != 0
    {
        return false;
    }
    let waits = me.waits.get() + 1;
    me.waits.set(waits);
    if !policy::is_spurious(word(me, Purpose::Spurious, waits), waits)
        || expected == park::PARKED && !park::is_parking()
    {
        return false;
    }
    let Some(_work) = own::work() else { return false };
    let model = if expected == park::PARKED { &model::THREAD_PARK } else { &model::CONDVAR_WAIT };
    let is_chosen = choice::number(model, origin::caller(), 0..=1, 0, |_| 1) == Some(1);
    if is_chosen && trace::is_due() {
        trace::note_delay(me, "spurious", 0);
    }
    is_chosen
}

/// Chooses which of `waiting` threads a wake-up reaches.
pub(super) fn which(me: Ref, waiting: u64) -> u64 {
    let word = word(me, Purpose::Order, me.operations.get());
    if !is_drawn() || !policy::is_even(word) {
        return 0;
    }
    let Some(_work) = own::work() else { return 0 };
    let draw = |_| mix(word) % waiting;
    let model = &model::CONDVAR_NOTIFY_ONE;
    choice::number(model, origin::caller(), 0..=waiting - 1, 0, draw).unwrap_or(0)
}

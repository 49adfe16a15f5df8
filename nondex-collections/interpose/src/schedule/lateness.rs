//! The seed's choices about time: how late a thread wakes or reads a clock, and how old a shown
//! time is.

use ::std::ptr;
use ::std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use nondex_core::model::READ_AGAIN;
use nondex_core::scheduler::policy::{Purpose, is_even};
use nondex_core::scheduler::{is_late_alone, is_old};
use nondex_core::{Family, Level, Model, RunSpec, choice, model};

use super::choices::{held, is_clean, is_requested, length_word, within, word};
use super::shared::{LEASE, SHARED};
use super::thread::{MARKS, Ref};
use super::trace;
use crate::{origin, own};

/// Whether threads are late in this run, or only record that they might be.
static IS_ON: AtomicBool = AtomicBool::new(false);
/// The same for a thread that is alone and reads a clock again, for each model of [`READ_AGAIN`].
static IS_ON_ALONE: [AtomicBool; READ_AGAIN.len()] =
    [const { AtomicBool::new(false) }; READ_AGAIN.len()];

/// Marks that each thread records once in a clean run, in addition to those of its
/// [operations](super::choices::OPERATIONS).
pub(super) const SLEEPS: usize = 1;
const TIMED_WAITS: usize = 2;
/// First mark of [`READ_AGAIN`].
const READINGS_ALONE: usize = 3;
/// First mark of [`CLOCKS`].
const READINGS: usize = READINGS_ALONE + READ_AGAIN.len();
const _: () = assert!(READINGS + CLOCKS.len() == MARKS);

/// Models of the clocks that may show an old time.
pub(super) static CLOCKS: [&Model; 3] =
    [&model::INSTANT_NOW, &model::SYSTEM_TIME_NOW, &model::METADATA_MODIFIED];

/// Maximum age that each clock may show in this run, when choices are made.
static OLDEST: [AtomicU64; CLOCKS.len()] = [const { AtomicU64::new(0) }; CLOCKS.len()];

/// Sets up the choices of a run.
pub(super) fn begin(spec: &RunSpec) {
    let is_clean = spec.is_clean();
    let times = [&model::THREAD_SLEEP, &model::CONDVAR_WAIT_TIMEOUT];
    let is_requested_of = |models: &[&Model]| is_requested(spec, Family::Time, models);
    IS_ON.store(is_requested_of(&times), Ordering::Relaxed);
    for (is_on, by) in IS_ON_ALONE.iter().zip(READ_AGAIN) {
        is_on.store(is_requested_of(&[by]), Ordering::Relaxed);
    }
    for (oldest, clock) in OLDEST.iter().zip(CLOCKS) {
        let age = match (is_requested_of(&[clock]), is_clean) {
            (false, _) => 0,
            (true, true) => choice::clock::oldest(clock, Level::Full),
            (true, false) => choice::clock::oldest(clock, spec.level()),
        };
        oldest.store(age, Ordering::Relaxed);
    }
}

/// Returns how much later than its deadline a thread wakes from a sleep or, by `mark`, a timed
/// wait.
pub(super) fn late(me: Ref, mark: usize, deadline: u64) -> u64 {
    me.late.set(0);
    if !IS_ON.load(Ordering::Relaxed) {
        return 0;
    }
    let number = me.timed.get() + 1;
    me.timed.set(number);
    let is_marked = !me.marks[mark].replace(false);
    if is_marked && (is_clean() || is_even(word(me, Purpose::Time, number))) {
        return 0;
    }
    let Some(_work) = own::work() else { return 0 };
    let model = if mark == SLEEPS { &model::THREAD_SLEEP } else { &model::CONDVAR_WAIT_TIMEOUT };
    let moment = length_word(me, Purpose::Time, number);
    let late = held(model, origin::caller(), moment, within(u64::MAX), deadline);
    if late > 0 && trace::is_due() {
        trace::note_delay(me, "late", late);
    }
    // This delay does not count as a sleep of the program.
    SHARED.lock().machine.add_delay(late);
    me.late.set(late);
    late
}

/// Returns the end of a wait with a time limit, as late as the seed chooses.
pub(super) fn later(me: Ref, deadline: Option<u64>) -> Option<u64> {
    deadline.map(|deadline| deadline.saturating_add(late(me, TIMED_WAITS, deadline)))
}

/// Returns the index of a model in [`READ_AGAIN`].
#[inline]
fn place(by: &'static Model) -> usize {
    let mut all = READ_AGAIN.iter();
    all.position(|model| ptr::eq(*model, by)).unwrap_or(0)
}

/// Returns whether to delay a thread that is alone and reads a clock again. No other delay of it
/// would be observable.
#[inline]
pub(super) fn fires_alone(me: Ref, by: &'static Model) -> bool {
    let place = place(by);
    if !IS_ON_ALONE[place].load(Ordering::Relaxed) || LEASE.is_any_outside() {
        return false;
    }
    let number = me.read_alone.get() + 1;
    me.read_alone.set(number);
    if is_clean() {
        me.marks[READINGS_ALONE + place].get()
    } else {
        is_late_alone(word(me, Purpose::Alone, number), number)
    }
}

/// Returns the length of that delay in nanoseconds.
pub(super) fn hold_alone(me: Ref, by: &'static Model) -> u64 {
    let Some(_work) = own::work() else { return 0 };
    me.marks[READINGS_ALONE + place(by)].set(false);
    let moment = length_word(me, Purpose::Alone, me.read_alone.get());
    let caller = origin::caller();
    held(by, caller, moment, u64::MAX, 0)
}

/// Returns the maximum age that a clock of [`CLOCKS`] may show in this run; 0 if it is not chosen.
#[inline]
pub(super) fn oldest(clock: usize) -> u64 {
    OLDEST[clock].load(Ordering::Relaxed)
}

/// Returns the age of the time that a clock of [`CLOCKS`] shows, when it could be an old one.
pub(super) fn age(me: Ref, clock: usize) -> u64 {
    if oldest(clock) == 0 {
        return 0;
    }
    let number = me.read.get() + 1;
    me.read.set(number);
    let is_marked = !me.marks[READINGS + clock].replace(false);
    let fires = !is_clean() && is_old(word(me, Purpose::Age, number), number);
    if is_marked && !fires {
        return 0;
    }
    let Some(_work) = own::work() else { return 0 };
    let moment = length_word(me, Purpose::Age, number);
    let age = choice::age(CLOCKS[clock], origin::caller(), moment).unwrap_or(0);
    if age > 0 && trace::is_due() {
        trace::note_delay(me, "old time", age);
    }
    age
}

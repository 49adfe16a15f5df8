//! What a clock shows, which need not have ticked since it was read last.
//!
//! A reading that follows another one without a call of the system or a wait in between may show
//! the same time again, or one between the two: never an earlier one, and never one before a thread
//! woke or the system did something. So no time is lost that somebody waited. Nor is one that was
//! spent computing, which virtual time does not have. Threads that did more than a few operations
//! in between have computed, and so have those for which the processor's clock shows it. Operations
//! are counted first, because they are the same in each run of a seed, and because a few of them
//! hardly ever take as long as is allowed. Only advice disregards both, and lets the clock that is
//! not monotonic go back.

use ::std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use nondex_core::{Level, Model, RunSpec};

use super::shared::{NOW, SHARED, STEP, TICKED};
use super::thread::Ref;
use super::{Busy, Operation, choices, file_times, filter, kernel, lateness, start_of, trace};
use crate::libc;

/// The virtual time that was shown last, of all threads; 0 before the first.
static SHOWN: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// The virtual time when a time was shown last, which may have been an older one.
static READ_AT: AtomicU64 = AtomicU64::new(0);

/// The time of the processor then.
static COMPUTED: AtomicU64 = AtomicU64::new(0);

/// Whether the run is for advice only.
static IS_ADVICE: AtomicBool = AtomicBool::new(false);

/// More than this, of the processor's time, is no moment. What two readings in a row take is far
/// less.
const MOMENT: u64 = 50_000;

/// The same of virtual time: a reading and ten operations, of any threads.
const NEAR: u64 = READING + 10 * STEP;

/// What a reading takes of virtual time.
const READING: u64 = 1_000;

/// Sets what a run is to choose.
pub(super) fn begin(spec: &RunSpec) {
    IS_ADVICE.store(spec.level() == Level::Full, Ordering::Relaxed);
    TICKED.store(0, Ordering::Relaxed);
    READ_AT.store(0, Ordering::Relaxed);
    for shown in &SHOWN {
        shown.store(0, Ordering::Relaxed);
    }
}

/// Lets time pass before this thread reads a clock again, which is the only one, if a seed holds it
/// back there.
pub(super) fn delay_alone(me: Ref, by: &'static Model) {
    let has_shown = SHOWN.iter().any(|time| time.load(Ordering::Relaxed) > 0);
    if !has_shown || !lateness::fires_alone(me, by) {
        return;
    }
    let _busy = Busy::begin(me);
    let begun = processor_time();
    let hold = lateness::hold_alone(me, by);
    // What is our own work, the program has not computed.
    COMPUTED.fetch_add(processor_time().saturating_sub(begun), Ordering::Relaxed);
    if hold == 0 {
        return;
    }
    if trace::is_due() {
        trace::note_delay(me, Operation::Hold.name(), hold);
    }
    let mut shared = SHARED.lock();
    shared.delay(hold);
    shared.jump(hold);
}

/// How long a reading takes of a thread that has done so little but read.
pub(super) fn time_of(idle: u32) -> u64 {
    /// A thread that reads this often and does nothing else waits for a time to come. Whoever sets
    /// one clock by another reads less.
    const MEASURES: u32 = 1 << 16;
    READING << (idle.saturating_sub(MEASURES) / 1024).min(20)
}

/// The time that a clock shows this thread, which has just read it.
pub(super) fn show(me: Ref, clock: libc::clockid_t) -> u64 {
    let is_real = usize::from(clock == libc::CLOCK_REALTIME);
    let start = start_of(clock);
    let now = NOW.load(Ordering::Relaxed);
    if is_real == 1 {
        file_times::will_read(now);
    }
    if lateness::oldest(is_real) == 0 || filter::is_there() {
        SHOWN[is_real].store(now, Ordering::Relaxed);
        return start + now;
    }
    let shown = SHOWN[is_real].load(Ordering::Relaxed);
    let is_advice = IS_ADVICE.load(Ordering::Relaxed);
    let may_step = is_advice && is_real == 1;
    let may_stand = shown >= TICKED.load(Ordering::Relaxed);
    let is_clean = choices::is_clean();
    let is_near = now.saturating_sub(READ_AT.load(Ordering::Relaxed)) <= NEAR;
    let is_moment = is_clean || is_advice || is_near && computed() < MOMENT;
    let mut result = start + now;
    if shown > 0 && (may_step || may_stand) {
        let age = lateness::age(me, is_real);
        if may_step {
            result = result.saturating_sub(age);
        } else if is_moment {
            result = start + now.saturating_sub(age).max(shown);
        }
    }
    let shown = shown.max(result.saturating_sub(start));
    SHOWN[is_real].store(shown, Ordering::Relaxed);
    READ_AT.store(now, Ordering::Relaxed);
    if !is_clean {
        COMPUTED.store(processor_time(), Ordering::Relaxed);
    }
    result
}

/// How long the process has computed since a time was shown last.
fn computed() -> u64 {
    processor_time().saturating_sub(COMPUTED.load(Ordering::Relaxed))
}

/// How long the process has computed; 0 where the system may not be queried.
fn processor_time() -> u64 {
    const PROCESS: libc::clockid_t = 2;
    if filter::is_there() {
        return 0;
    }
    kernel::clock(PROCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many readings so many nanoseconds have passed, one reading after the other.
    fn readings(until: u64) -> u32 {
        let mut now = 0;
        (1..)
            .find(|&idle| {
                now += time_of(idle);
                now >= until
            })
            .expect("time passes")
    }

    #[test]
    fn who_measures_is_not_hurried_and_who_waits_for_a_time_comes_to_it() {
        // As many as microseconds, while no more are read than to set a clock by another.
        for microseconds in [1, 2_000, 65_536] {
            assert_eq!(readings(microseconds * 1_000), microseconds as u32);
        }
        for (seconds, most) in [(1, 80_000), (60, 85_000), (3_600, 100_000)] {
            assert!(readings(seconds * 1_000_000_000) < most, "{seconds} s");
        }
    }
}

//! The time that a clock shows, which need not have ticked since its last reading.
//!
//! A reading that follows another one may show the same time again, or a time between the two. It
//! may do so only if no system call or wait came in between. It never shows an earlier time, nor
//! one before a thread woke or the system did something. So time that a thread has waited is never
//! lost.
//!
//! Nor is time lost that was spent computing, which virtual time does not include. Threads that did
//! more than a few operations in between have computed. So have those for which the processor's
//! clock shows it. Operations are counted first, because they are the same in each run of a seed.
//! Besides, a few of them hardly ever take as long as the limit. Only advice disregards both, and
//! lets the clock that is not monotonic go back.

use ::std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use nondex_core::scheduler::{READING, STEP};
use nondex_core::{Level, Model, RunSpec};

use super::shared::{LEASE, SHARED};
use super::thread::Ref;
use super::{Busy, Operation, choices, file_times, filter, kernel, lateness, start_of, trace};
use crate::libc;

/// Virtual time that each clock showed last, for all threads; 0 before the first reading.
static SHOWN: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// Virtual time of the last reading, which may have shown an older one.
static READ_AT: AtomicU64 = AtomicU64::new(0);

/// Processor time of the process at the last reading.
static COMPUTED: AtomicU64 = AtomicU64::new(0);

/// Whether the run is for advice only.
static IS_ADVICE: AtomicBool = AtomicBool::new(false);

/// Processor time in nanoseconds from which on the program has computed between two readings. Two
/// readings in a row take far less.
const MOMENT: u64 = 50_000;

/// The same limit in virtual time: a reading and ten operations, of any threads.
const NEAR: u64 = READING + 10 * STEP;

/// Sets up the choices of a run.
pub(super) fn begin(spec: &RunSpec) {
    IS_ADVICE.store(spec.level() == Level::Full, Ordering::Relaxed);
    LEASE.forget_ticks();
    READ_AT.store(0, Ordering::Relaxed);
    for shown in &SHOWN {
        shown.store(0, Ordering::Relaxed);
    }
}

/// Advances time before this thread, the only one, reads a clock again, if the seed delays it
/// there.
pub(super) fn delay_alone(me: Ref, by: &'static Model) {
    let has_shown = SHOWN.iter().any(|time| time.load(Ordering::Relaxed) > 0);
    if !has_shown || !lateness::fires_alone(me, by) {
        return;
    }
    let _busy = Busy::begin(me);
    let begun = processor_time();
    let hold = lateness::hold_alone(me, by);
    // The tool's own work does not count as computing.
    COMPUTED.fetch_add(processor_time().saturating_sub(begun), Ordering::Relaxed);
    if hold == 0 {
        return;
    }
    if trace::is_due() {
        trace::note_delay(me, Operation::Hold.name(), hold);
    }
    let mut shared = SHARED.lock();
    shared.machine.add_delay(hold);
    shared.jump(hold);
}

/// Returns the time that a clock shows this thread, which has just read it.
pub(super) fn show(me: Ref, clock: libc::clockid_t) -> u64 {
    let is_real = usize::from(clock == libc::CLOCK_REALTIME);
    let start = start_of(clock);
    let now = LEASE.now();
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
    let may_stand = shown >= LEASE.ticked();
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

/// Returns how long the process has computed since the last reading.
fn computed() -> u64 {
    processor_time().saturating_sub(COMPUTED.load(Ordering::Relaxed))
}

/// Returns the processor time of the process; 0 if a filter forbids to query the system.
fn processor_time() -> u64 {
    const PROCESS: libc::clockid_t = 2;
    if filter::is_there() {
        return 0;
    }
    kernel::clock(PROCESS)
}

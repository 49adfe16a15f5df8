//! Start of the monotonic clock. A single reading has no meaning, yet some code uses one as a
//! random number.
//!
//! The process of a scheduled test has a clock that starts at [`START`] before `main`. At the first
//! reading of a scheduled thread, a choice moves it forward by less than [`SPAN`]. So a test reads
//! the same times in every run of one spec. The clock never goes back. All threads of the process
//! share it, and so do its forks; other programs have the system's clock. Deadlines that are passed
//! to the system are translated.

use ::std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use nondex_core::{Context, entropy, model};
use rand_core::Rng;

use super::{MONOTONIC_START, REALTIME_START, kernel, start_of};
use crate::{libc, origin, own};

const SECOND: u64 = 1_000_000_000;

/// Time that the clock of a process shows at first, in nanoseconds. It is late enough that a time
/// some hours earlier is still after the system's start.
const START: u64 = 1_000_000 * SECOND;

/// Number of nanoseconds among which the seed chooses.
const SPAN: u64 = 1 << 20;

/// Lead of this clock over the system's in nanoseconds, modulo 2^64; 0 if it is the system's clock.
static LEAD: AtomicU64 = AtomicU64::new(0);

/// Whether no scheduled thread has read the clock yet.
static IS_UNREAD: AtomicBool = AtomicBool::new(false);

/// Sets the clock of this process before `main`, if its test is scheduled.
pub(crate) fn prepare(context: &Context) {
    if context.spec().is_scheduled() && context.is_own_process() {
        let real = kernel::clock_of_system(libc::CLOCK_MONOTONIC);
        LEAD.store(START.wrapping_sub(real), Ordering::Relaxed);
        MONOTONIC_START.store(real, Ordering::Relaxed);
        REALTIME_START.store(kernel::clock_of_system(libc::CLOCK_REALTIME), Ordering::Relaxed);
    }
}

/// Sets the clock for the test that begins at this real time. The duration of the process until
/// then is hidden, unless other tests ran before. Their readings must keep their distance.
pub(super) fn begin(real: u64, is_first: bool) {
    let lead = LEAD.load(Ordering::Relaxed);
    if lead == 0 {
        return;
    }
    IS_UNREAD.store(true, Ordering::Relaxed);
    if is_first {
        let shown = real.wrapping_add(lead);
        LEAD.store(shown.next_multiple_of(SECOND).wrapping_sub(real), Ordering::Relaxed);
    }
}

/// Returns the monotonic clock's time at the beginning of virtual time.
pub(super) fn start() -> u64 {
    shown(MONOTONIC_START.load(Ordering::Relaxed))
}

/// Lets the seed choose where the clock starts, before the first reading of a scheduled thread.
#[inline]
pub(super) fn will_read() {
    if IS_UNREAD.load(Ordering::Relaxed) {
        choose();
    }
}

#[cold]
fn choose() {
    // The tool's own readings do not count as the test's.
    let Some(_work) = own::work() else { return };
    IS_UNREAD.store(false, Ordering::Relaxed);
    if let Some(mut generator) = entropy(&model::CLOCK_GETTIME, origin::caller()) {
        LEAD.fetch_add(generator.next_u64() % SPAN, Ordering::Relaxed);
    }
}

/// Returns the time on this clock for one on the system's clock, in nanoseconds.
pub(crate) fn shown(real: u64) -> u64 {
    real.wrapping_add(LEAD.load(Ordering::Relaxed))
}

/// Translates a deadline on this clock to one on the system's clock.
///
/// # Safety
/// The time must be valid.
pub(crate) unsafe fn for_system(time: *const libc::timespec) -> libc::timespec {
    // SAFETY: as the caller promises.
    let time = unsafe { time.read() };
    let lead = LEAD.load(Ordering::Relaxed);
    if lead == 0 {
        return time;
    }
    // A deadline that is never reached stays one.
    let Ok(shown) = i64::try_from(kernel::nanoseconds(&time)) else { return time };
    // A deadline before the system's start has passed, too.
    let real = shown.saturating_sub(lead as i64).max(0) as u64;
    libc::timespec { tv_sec: (real / SECOND) as _, tv_nsec: (real % SECOND) as _ }
}

/// Returns the clock of a deadline that names none: the one whose start is nearer.
///
/// # Safety
/// The time must be valid.
pub(crate) unsafe fn clock_of(time: *const libc::timespec) -> libc::clockid_t {
    // SAFETY: as the caller promises.
    let time = kernel::nanoseconds(unsafe { &*time });
    let distance = |clock| start_of(clock).abs_diff(time);
    if distance(libc::CLOCK_MONOTONIC) < distance(libc::CLOCK_REALTIME) {
        libc::CLOCK_MONOTONIC
    } else {
        libc::CLOCK_REALTIME
    }
}

//! Child processes. A child lives in real time, so virtual time is kept in step with it meanwhile.

use ::std::ffi::c_int;
use ::std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use super::descriptor::is_scheduled;
use super::real_time::{self, real_time};
use super::shared::{IS_ON, SHARED};
use super::{Busy, Operation, filter, kernel, me, orphans, outside, point, processor};
use crate::libc;

/// Number of children that were not waited for yet.
static CHILDREN: AtomicU32 = AtomicU32::new(0);

/// Whether all children were waited for, but orphans that one of them left may still live.
static ARE_ORPHANS: AtomicBool = AtomicBool::new(false);

/// Real time of the last check for orphans.
static LOOKED_AT: AtomicU64 = AtomicU64::new(0);

/// Shortest time between two checks for orphans, in nanoseconds.
const INTERVAL: u64 = 5_000_000;

/// Real time before the `fork` in progress.
static FORK_AT: AtomicU64 = AtomicU64::new(0);

/// Returns whether there is a child that was not waited for.
pub(super) fn is_there() -> bool {
    CHILDREN.load(Ordering::Relaxed) > 0
}

/// Makes a call that starts a child if `has_started` accepts its result.
pub(crate) fn start<R: Copy>(has_started: impl FnOnce(R) -> bool, next: impl FnOnce() -> R) -> R {
    if !is_scheduled() {
        return next();
    }
    point(Operation::Child);
    let before = will_start();
    let result = next();
    if has_started(result) {
        begun(before);
    }
    result
}

/// Makes a call that starts a child and waits for it.
pub(crate) fn run<R>(next: impl FnOnce() -> R) -> R {
    if !is_scheduled() {
        return next();
    }
    will_start();
    outside(Operation::Child, next)
}

/// Advances virtual time to real time before the call that starts a child, and returns the real
/// time. By the time that call returns, the child may have run for long and written files.
fn will_start() -> u64 {
    processor::release();
    let Some(me) = me() else { return 0 };
    let _busy = Busy::begin(me);
    real_time::wait_for_lead();
    let real = real_time();
    let mut shared = SHARED.lock();
    shared.sync_time();
    shared.catch_up_with(real);
    real
}

/// Records that this thread is about to fork.
pub(crate) fn before_fork() {
    FORK_AT.store(will_start(), Ordering::Relaxed);
}

/// Records that this thread has forked.
pub(crate) fn after_fork() {
    begun(FORK_AT.load(Ordering::Relaxed));
}

/// Counts a child that starts when this thread continues.
pub(super) fn before_vfork() {
    if is_scheduled() {
        point(Operation::Child);
        begun(will_start());
    }
}

/// Counts a child of this thread that started at the real time `before` or later.
fn begun(before: u64) {
    let Some(me) = me() else { return };
    let _busy = Busy::begin(me);
    CHILDREN.fetch_add(1, Ordering::Relaxed);
    let mut shared = SHARED.lock();
    shared.machine.counts.outside += 1;
    shared.add_outside_since(before);
}

/// Makes a call that waits for a child, unless `options` has `WNOHANG`. The call also returns
/// whether a child has ended.
pub(crate) fn wait(options: c_int, call: impl FnOnce() -> (c_int, bool)) -> c_int {
    if !is_scheduled() {
        return call().0;
    }
    let (result, has_ended) = if options & libc::WNOHANG == 0 {
        outside(Operation::Child, call)
    } else {
        point(Operation::Child);
        call()
    };
    // A counted child may not have started, or may not be this process's to wait for.
    if has_ended || result < 0 && is_there() && !are_left(0) {
        ended();
    }
    result
}

/// Returns whether this process has children after `ended` of the counted ones have ended.
fn are_left(ended: u32) -> bool {
    // A filter of system calls may end a process that queries its children.
    if filter::is_there() {
        return CHILDREN.load(Ordering::Relaxed) > ended;
    }
    kernel::has_children()
}

/// Records that a child was waited for, or that there is none. A child whose start was not observed
/// may be among them. So as long as any child is left, the [fence](mod@real_time) of one stays
/// open.
fn ended() {
    let Some(me) = me() else { return };
    let _busy = Busy::begin(me);
    let are_left = are_left(1);
    let children = CHILDREN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |children| {
        let left = if are_left { children.saturating_sub(1).max(1) } else { 0 };
        (left < children).then_some(left)
    });
    let Ok(before) = children else { return };
    if !IS_ON.load(Ordering::Relaxed) {
        return;
    }
    let left = if are_left { before - 1 } else { 0 };
    let mut closed = before - left;
    if left == 0 && !ARE_ORPHANS.load(Ordering::Relaxed) && orphans::are_there() {
        // The fence of this child stays open for its orphans.
        LOOKED_AT.store(real_time(), Ordering::Relaxed);
        ARE_ORPHANS.store(true, Ordering::Relaxed);
        closed -= 1;
    }
    let mut shared = SHARED.lock();
    shared.sync_time();
    for _ in 0..closed {
        shared.remove_outside();
    }
}

/// Returns whether the last orphan has ended since the last call.
pub(super) fn have_orphans_ended() -> bool {
    if !ARE_ORPHANS.load(Ordering::Relaxed) {
        return false;
    }
    let real = real_time();
    if real.saturating_sub(LOOKED_AT.load(Ordering::Relaxed)) < INTERVAL {
        return false;
    }
    LOOKED_AT.store(real, Ordering::Relaxed);
    if is_there() || orphans::are_there() {
        return false;
    }
    ARE_ORPHANS.store(false, Ordering::Relaxed);
    true
}

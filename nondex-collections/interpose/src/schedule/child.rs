//! Child processes: while one lives, time is as late as real time, because the child lives in that.

use ::std::ffi::c_int;
use ::std::sync::atomic::{AtomicU32, Ordering};

use super::descriptor::is_scheduled;
use super::shared::{IS_ON, SHARED};
use super::{Busy, Operation, me, outside, point};
use crate::libc;

/// How many children there are that nobody has waited for.
static CHILDREN: AtomicU32 = AtomicU32::new(0);

/// Whether there is a child that nobody has waited for.
pub(super) fn is_there() -> bool {
    CHILDREN.load(Ordering::Relaxed) > 0
}

/// Makes a call that starts a child if it returns true.
pub(crate) fn start(
    call: impl FnOnce() -> c_int,
    has_started: impl FnOnce(c_int) -> bool,
) -> c_int {
    if !is_scheduled() {
        return call();
    }
    point(Operation::Child);
    let result = call();
    if has_started(result) {
        begun();
    }
    result
}

/// Notes that this thread has a child more.
pub(crate) fn begun() {
    let Some(me) = me() else {
        return;
    };
    let _busy = Busy::begin(me);
    CHILDREN.fetch_add(1, Ordering::Relaxed);
    let mut shared = SHARED.lock();
    shared.counts.outside += 1;
    shared.add_outside();
}

/// Makes a call that waits for a child, unless its `options` say otherwise, and returns whether one has ended, too.
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
    if has_ended {
        ended();
    }
    result
}

/// Notes that a child was waited for.
fn ended() {
    let Some(me) = me() else {
        return;
    };
    let _busy = Busy::begin(me);
    let is_known = CHILDREN
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |children| {
            children.checked_sub(1)
        })
        .is_ok();
    if is_known && IS_ON.load(Ordering::Relaxed) {
        SHARED.lock().remove_outside();
    }
}

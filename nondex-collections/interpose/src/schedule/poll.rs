//! Waiting for several descriptors: `poll`, `select` and `epoll`.

use ::std::ffi::c_int;

use super::descriptor::{call_takes_time, is_scheduled};
use super::limit::Limit;
use super::readiness::is_ready;
use super::{Object, Operation, Woken, now, outside, point, wait_for};
use crate::{failed, libc};

/// Makes a call that waits no longer than its argument, until it finds something ready.
///
/// A scheduled thread waits for `is_ready` in the scheduler instead. With a mask of signals
/// (`is_masked`) it waits in the kernel, because it may wait for a signal.
#[inline]
pub(crate) fn wait(
    limit: Limit,
    is_masked: bool,
    is_ready: &mut dyn FnMut() -> bool,
    call: impl FnMut(Option<Limit>) -> c_int,
) -> c_int {
    let mut call = call;
    if !is_scheduled() {
        return call(None);
    }
    scheduled(limit, is_masked, is_ready, &mut call)
}

#[cold]
fn scheduled(
    limit: Limit,
    is_masked: bool,
    is_ready: &mut dyn FnMut() -> bool,
    call: &mut dyn FnMut(Option<Limit>) -> c_int,
) -> c_int {
    call_takes_time();
    if limit == Limit::Zero {
        point(Operation::Poll);
        return call(None);
    }
    if is_masked {
        return outside(Operation::Poll, || call(None));
    }
    let deadline = match limit {
        Limit::Time(time) => Some(now().saturating_add(time)),
        _ => None,
    };
    loop {
        match wait_for(Operation::Poll, Object::Nothing, deadline, is_ready) {
            Woken::Time => return call(Some(Limit::Zero)),
            Woken::Signal => return failed(libc::EINTR),
            Woken::Free => {
                let left = deadline.map(|deadline| Limit::Time(deadline.saturating_sub(now())));
                return call(Some(left.unwrap_or(Limit::None)));
            }
            Woken::Done => {}
        }
        // Another thread may have been faster, so the call may find nothing.
        let result = call(Some(Limit::Zero));
        if result != 0 {
            return result;
        }
    }
}

/// Returns whether an `epoll` has events to report.
pub(crate) fn has_events(epoll: c_int) -> bool {
    is_ready(epoll, libc::POLLIN)
}

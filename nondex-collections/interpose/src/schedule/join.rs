//! Waits of one thread for the end of another. For other threads, a thread ends with its scheduled
//! life. The system frees its resources and ends it a little later.

use ::std::ffi::{c_int, c_void};
use ::std::sync::atomic::Ordering;

use nondex_core::scheduler::State;

use super::shared::{IS_ON, LEASE, SHARED, tick};
use super::thread::{Ref, Woken};
use super::{Busy, Object, Operation, lateness, me, pthread, token};
use crate::{libc, originals};

/// Time for which a thread waits for the end of another one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    /// Until the thread ends.
    Forever,
    /// Until this virtual time.
    Until(u64),
    /// Not at all.
    Now,
}

/// Waits for the scheduled end of a thread and returns that thread, or `None` if the scheduler does
/// not know it.
///
/// # Errors
/// The error of the call if the thread has not ended within `limit`.
fn await_end(handle: libc::pthread_t, limit: Limit) -> Result<Option<Ref>, c_int> {
    let Some(me) = me() else { return Ok(None) };
    let known = SHARED.lock().of_handle(handle);
    let object = known.map_or(Object::Nothing, Object::Thread);
    super::operation_on(me, Operation::Join, object);
    let Some(joined) = known else { return Ok(None) };
    let _busy = Busy::begin(me);
    let shared = SHARED.lock();
    let has_ended = shared.state(joined) == State::Ended;
    if has_ended || joined.is(me) || shared.machine.is_joined(joined.id) {
        return Ok(Some(joined));
    }
    let deadline = match limit {
        Limit::Forever => None,
        Limit::Until(deadline) => Some(deadline),
        Limit::Now => return Err(libc::EBUSY),
    };
    // Drawing the lateness takes the lock itself.
    drop(shared);
    let deadline = lateness::later(me, deadline);
    if deadline.is_some_and(|deadline| deadline <= LEASE.now()) {
        tick();
        return Err(libc::ETIMEDOUT);
    }
    let mut shared = SHARED.lock();
    shared.machine.join(me.id, joined.id);
    if let Some(deadline) = deadline {
        shared.wait_until(me, deadline);
    }
    match token::block(me, shared) {
        Woken::Time => {
            SHARED.lock().machine.forget_joiner(joined.id);
            Err(libc::ETIMEDOUT)
        }
        Woken::Free => Ok(None),
        Woken::Done | Woken::Signal => Ok(Some(joined)),
    }
}

/// Joins a thread within a limit, by the original of `pthread_join` if the scheduler knows it.
///
/// # Safety
/// The arguments must be those of `pthread_join`.
pub(crate) unsafe fn join(
    handle: libc::pthread_t,
    result: *mut *mut c_void,
    limit: Limit,
    next: impl FnOnce() -> c_int,
) -> c_int {
    let joined = match await_end(handle, limit) {
        Ok(Some(joined)) => joined,
        Ok(None) => return next(),
        Err(error) => return error,
    };
    let Some(original) = originals::pthread_join.get() else { return libc::EINVAL };
    // SAFETY: the caller's arguments, unchanged.
    let error = unsafe { original(handle, result) };
    if error == 0 && IS_ON.load(Ordering::Relaxed) {
        SHARED.lock().joined(joined);
    }
    error
}

/// Returns the limit for a time on a clock; null means no limit.
///
/// # Safety
/// The time must be valid or null.
pub(crate) unsafe fn limit(clock: libc::clockid_t, time: *const libc::timespec) -> Limit {
    if time.is_null() {
        return Limit::Forever;
    }
    // SAFETY: as the caller promises.
    Limit::Until(unsafe { pthread::deadline(clock, time) })
}

/// Notes that nothing joins a thread, so its place is free once it has ended.
pub(crate) fn detach(handle: libc::pthread_t, next: impl FnOnce() -> c_int) -> c_int {
    if let Some(me) = me() {
        let _busy = Busy::begin(me);
        let mut shared = SHARED.lock();
        if let Some(detached) = shared.of_handle(handle) {
            detached.is_detached.set(true);
            if shared.state(detached) == State::Ended {
                shared.joined(detached);
            }
        }
    }
    next()
}

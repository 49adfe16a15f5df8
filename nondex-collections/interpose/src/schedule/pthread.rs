//! C's mutexes, condition variables, read-write locks and semaphores. libc implements them, and is
//! tried without waiting. A scheduled thread that would wait does so in the scheduler, at the
//! address of the lock.

use ::std::ffi::{c_int, c_void};
use ::std::ptr;
use ::std::sync::atomic::Ordering;

use super::shared::{IS_ON, LEASE, SHARED, Shared, tick};
use super::thread::{Ref, Woken};
use super::token;
use super::{Busy, Object, Operation, epoch, futex, kernel, lateness, leaving, me, trace, wakers};
use crate::table::locks;
use crate::{Original, errno, failed, libc, originals};

type OfLock = unsafe extern "C" fn(*mut c_void) -> c_int;

/// How a function reports an error.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reports {
    /// By its result, as the functions of pthread do.
    ByResult,
    /// By `errno`, as the functions of semaphores do.
    ByErrno,
}

impl Reports {
    /// Returns whether an attempt with this result would have waited.
    fn would_wait(self, result: c_int) -> bool {
        match self {
            Reports::ByResult => result == libc::EBUSY,
            Reports::ByErrno => result != 0 && errno() == libc::EAGAIN,
        }
    }

    /// Reports that the time limit is over.
    fn timed_out(self) -> c_int {
        match self {
            Reports::ByResult => libc::ETIMEDOUT,
            Reports::ByErrno => failed(libc::ETIMEDOUT),
        }
    }
}

/// Returns the owner of a mutex, as the number of the thread, and the kind of the mutex.
fn owner_and_kind(lock: *mut c_void) -> (i32, i32) {
    /// Offsets of both in glibc on 64-bit systems, in words; all locks are longer.
    const OWNER: usize = 2;
    const KIND: usize = 4;
    let words = lock.cast::<i32>();
    // SAFETY: every lock is at least that long, and the values are only compared.
    unsafe { (words.add(OWNER).read_volatile(), words.add(KIND).read_volatile()) }
}

/// Returns whether a lock is an error-checking mutex that this thread already holds. libc must
/// report that error.
fn is_deadlock_error(me: Ref, lock: *mut c_void) -> bool {
    const ERRORCHECK: i32 = 2;
    let (owner, kind) = owner_and_kind(lock);
    kind & 3 == ERRORCHECK && owner == me.number.get()
}

/// Returns whether a thread waits for a robust mutex of another one. The system releases it when
/// the owner ends.
fn inherits_from(shared: &Shared, waiting: Ref, owner: Ref) -> bool {
    const ROBUST: i32 = 16;
    let address = shared.machine.threads().waits_for(waiting.id, Operation::Pthread);
    address.is_some_and(|address| {
        let (number, kind) = owner_and_kind(ptr::with_exposed_provenance_mut(address));
        kind & ROBUST != 0 && number == owner.number.get()
    })
}

/// Wakes the threads that wait for a robust mutex of a thread that ends. They try again, and wait
/// in the kernel for its end.
pub(super) fn wake_robust_waiters(shared: &mut Shared, owner: Ref) {
    let heir = |shared: &Shared| {
        let mut alive = shared.alive();
        alive.find(|thread| inherits_from(shared, thread, owner))
    };
    while let Some(heir) = heir(shared) {
        shared.make_ready(heir, Woken::Done);
    }
}

/// Takes a lock by attempts, and waits in between until it may be free. Returns the result of the
/// last attempt.
///
/// # Errors
/// Why the lock was not taken: its time limit is over, or libc is to wait for it.
///
/// # Safety
/// The lock must be valid, and one that `attempt` takes.
unsafe fn take(
    me: Ref,
    lock: *mut c_void,
    deadline: Option<u64>,
    reports: Reports,
    attempt: OfLock,
) -> Result<c_int, Woken> {
    // SAFETY: as the caller promises.
    let attempt = || unsafe { attempt(lock) };
    let object = Object::Address(lock.addr());
    super::operation_on(me, Operation::PthreadLock, object);
    let mut deadline = deadline;
    let mut is_first = true;
    loop {
        if super::me().is_none() {
            return Err(Woken::Free);
        }
        let result = attempt();
        if !reports.would_wait(result) {
            return Ok(result);
        }
        if leaving::wait() {
            continue;
        }
        if is_deadlock_error(me, lock) {
            return Err(Woken::Free);
        }
        let _busy = Busy::begin(me);
        // Another process may release it, which only libc notices.
        if is_first && wakers::is_shared(lock.addr()) == Some(true) {
            return Err(Woken::Free);
        }
        if is_first {
            deadline = lateness::later(me, deadline);
            // A trace shows whether a thread found the lock free or had to wait for it.
            if trace::is_due() {
                trace::note(me, Operation::Pthread, object);
            }
        }
        if deadline.is_some_and(|deadline| deadline <= LEASE.now()) {
            tick();
            return Err(Woken::Time);
        }
        let mut shared = SHARED.lock();
        // Tried again under the lock: a thread that is not scheduled first releases the lock, and
        // then looks for waiting threads.
        let result = attempt();
        if !reports.would_wait(result) {
            return Ok(result);
        }
        shared.machine.set_waits_again(me.id, !is_first);
        is_first = false;
        shared.wait_at(me, Operation::Pthread, lock.addr(), u32::MAX);
        if let Some(deadline) = deadline {
            shared.wait_until(me, deadline);
        }
        match token::block(me, shared) {
            Woken::Done => {}
            woken => return Err(woken),
        }
    }
}

/// Wakes up to `count` threads that wait at an address, after a release there.
fn wake(address: *mut c_void, count: c_int) {
    if !IS_ON.load(Ordering::Relaxed) {
        return;
    }
    match me() {
        Some(me) => {
            futex::wake_at(me, address.addr(), u32::MAX, count);
        }
        None => futex::wake_from_anywhere(address.addr(), u32::MAX, count),
    }
}

/// Returns the virtual time of a deadline on a clock.
///
/// # Safety
/// The time must be valid.
pub(super) unsafe fn deadline(clock: libc::clockid_t, time: *const libc::timespec) -> u64 {
    // SAFETY: as the caller promises.
    super::since_start(clock, kernel::nanoseconds(unsafe { &*time }))
}

/// Returns the deadline as [`deadline`] does, when it is needed.
///
/// # Safety
/// The time must be valid then.
pub(crate) unsafe fn until(
    clock: libc::clockid_t,
    time: *const libc::timespec,
) -> impl FnOnce() -> Option<u64> {
    // SAFETY: as the caller promises.
    move || Some(unsafe { deadline(clock, time) })
}

/// Translates a deadline on a clock for the system, which waits until then. Null stays null.
///
/// # Safety
/// The time must be valid, or null.
pub(crate) unsafe fn translated(
    clock: libc::clockid_t,
    time: *const libc::timespec,
    next: impl FnOnce(*const libc::timespec) -> c_int,
) -> c_int {
    if clock == libc::CLOCK_MONOTONIC && !time.is_null() {
        // SAFETY: as the caller promises.
        next(&unsafe { epoch::for_system(time) })
    } else {
        next(time)
    }
}

/// Takes a lock, until a deadline in virtual time if there is one. `attempt` tries to take the lock
/// without waiting.
///
/// # Safety
/// The lock must be valid, and one that `attempt` takes.
#[inline]
pub(crate) unsafe fn lock(
    lock: *mut c_void,
    deadline: impl FnOnce() -> Option<u64>,
    reports: Reports,
    attempt: &Original<OfLock>,
    next: impl FnOnce() -> c_int,
) -> c_int {
    if let Some(me) = me() {
        if let Some(attempt) = attempt.get() {
            // SAFETY: as the caller promises.
            match unsafe { take(me, lock, deadline(), reports, attempt) } {
                Ok(result) => return result,
                Err(Woken::Time) => return reports.timed_out(),
                Err(_) => {}
            }
        }
    }
    next()
}

/// Releases a lock, posts a semaphore, or notifies a condition variable, and wakes up to `count`
/// threads that wait for it.
#[inline]
pub(crate) fn release(lock: *mut c_void, count: c_int, next: impl FnOnce() -> c_int) -> c_int {
    super::point_on(Operation::PthreadWake, Object::Address(lock.addr()));
    let result = next();
    wake(lock, count);
    result
}

/// Waits for a condition until a deadline in virtual time, if there is one.
///
/// # Safety
/// The condition and the mutex must be valid.
pub(crate) unsafe fn await_signal(
    condition: *mut c_void,
    mutex: *mut c_void,
    deadline: impl FnOnce() -> Option<u64>,
    next: impl FnOnce() -> c_int,
) -> c_int {
    match me() {
        // SAFETY: as the caller promises.
        Some(me) => unsafe { wait(me, condition, mutex, deadline()) },
        None => next(),
    }
}

/// Releases the mutex, waits for the condition, and takes the mutex again.
///
/// # Safety
/// The arguments must be those of `pthread_cond_wait`, with a deadline in virtual time.
unsafe fn wait(
    me: Ref,
    condition: *mut c_void,
    mutex: *mut c_void,
    deadline: Option<u64>,
) -> c_int {
    super::operation_on(me, Operation::Pthread, Object::Address(condition.addr()));
    let Some(unlock) = originals::pthread_mutex_unlock.get() else { return libc::EINVAL };
    let busy = Busy::begin(me);
    let deadline = lateness::later(me, deadline);
    let mut shared = SHARED.lock();
    // SAFETY: the caller's mutex.
    let error = unsafe { unlock(mutex) };
    if error != 0 {
        return error;
    }
    shared.wait_at(me, Operation::Pthread, condition.addr(), u32::MAX);
    if let Some(deadline) = deadline {
        shared.wait_until(me, deadline);
    }
    let next = shared.waiting_at(mutex.addr()).next();
    if let Some(next) = next {
        shared.make_ready(next, Woken::Done);
    }
    let woken = token::block(me, shared);
    drop(busy);
    // SAFETY: as above.
    let error = unsafe { locks::pthread_mutex_lock(mutex) };
    if error == 0 && woken == Woken::Time { libc::ETIMEDOUT } else { error }
}

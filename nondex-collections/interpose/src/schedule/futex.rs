//! The system call `futex`, on which the locks of std and of `parking_lot` wait.

use ::std::ffi::{c_int, c_long};
use ::std::ptr;
use ::std::sync::atomic::{AtomicU32, Ordering};

use super::shared::{IS_ON, LEASE, SHARED, tick};
use super::thread::{Ref, Woken};
use super::token;
use super::{Object, Operation, choices, epoch, kernel, lateness, leaving, park};
use crate::{failed, libc};

const WAIT: c_int = 0;
const WAKE: c_int = 1;
const REQUEUE: c_int = 3;
const CMP_REQUEUE: c_int = 4;
const WAKE_OP: c_int = 5;
const WAIT_BITSET: c_int = 9;
const WAKE_BITSET: c_int = 10;
const WAIT_REQUEUE: c_int = 11;
const LOCK_SECOND: c_int = 13;
const PRIVATE: c_int = 128;
const CLOCK_REALTIME: c_int = 256;

/// Bit set of a wait that names none.
const ANY: u32 = u32::MAX;

/// Performs the system call for a scheduled thread. Returns `None` if the caller must make it for
/// real. A thread that is not scheduled may wake a scheduled one here.
///
/// # Safety
/// The arguments must be those of the system call.
pub(crate) unsafe fn syscall(number: c_long, arguments: [c_long; 6]) -> Option<c_long> {
    if number != libc::SYS_futex || !IS_ON.load(Ordering::Relaxed) {
        return None;
    }
    let [address, operation, value, time, second, bits] = arguments;
    let operation = operation as c_int;
    let command = operation & !(PRIVATE | CLOCK_REALTIME);
    let (address, second) = (address as usize, second as usize);
    let bits = match command {
        WAIT_BITSET | WAKE_BITSET => bits as u32,
        _ => ANY,
    };
    let Some(me) = super::me() else {
        let count = value as c_int;
        match command {
            WAKE | WAKE_BITSET => wake_from_anywhere(address, bits, count),
            // Waking too many threads is allowed: each checks its condition again.
            REQUEUE | CMP_REQUEUE | WAKE_OP => wake_from_anywhere(address, bits, c_int::MAX),
            WAIT | WAIT_BITSET if time == 0 => {
                // SAFETY: the caller passes a futex.
                let futex: &AtomicU32 = unsafe { &*ptr::with_exposed_provenance(address) };
                return wait_at_work(futex, value as u32, bits);
            }
            _ => {}
        }
        return None;
    };
    let result = match command {
        WAIT | WAIT_BITSET => {
            // SAFETY: the caller passes a futex.
            let futex: &AtomicU32 = unsafe { &*ptr::with_exposed_provenance(address) };
            let is_shared = operation & PRIVATE == 0;
            // SAFETY: the caller passes a time, or null.
            let time =
                unsafe { ptr::with_exposed_provenance::<libc::timespec>(time as usize).as_ref() };
            let deadline = time.map(|time| {
                let time = kernel::nanoseconds(time);
                if command == WAIT {
                    LEASE.now().saturating_add(time)
                } else if operation & CLOCK_REALTIME != 0 {
                    super::since_start(libc::CLOCK_REALTIME, time)
                } else {
                    super::since_start(libc::CLOCK_MONOTONIC, time)
                }
            });
            wait(me, futex, value as u32, bits, deadline, is_shared)
        }
        WAKE | WAKE_BITSET => {
            let woken = wake(me, address, bits, value as c_int);
            Ok(woken + wake_foreign(number, arguments, value as c_int - woken))
        }
        REQUEUE | CMP_REQUEUE => {
            super::operation_on(me, Operation::FutexWake, Object::Address(address));
            if command == CMP_REQUEUE {
                // SAFETY: the caller passes a futex.
                let futex: &AtomicU32 = unsafe { &*ptr::with_exposed_provenance(address) };
                if futex.load(Ordering::SeqCst) != arguments[5] as u32 {
                    return Some(failed(libc::EAGAIN).into());
                }
            }
            Ok(requeue(me, address, second, value as c_int, time as c_int))
        }
        WAKE_OP => {
            wake_from_anywhere(address, ANY, c_int::MAX);
            wake_from_anywhere(second, ANY, c_int::MAX);
            return None;
        }
        _ => return None,
    };
    Some(c_long::from(result.unwrap_or_else(failed)))
}

/// Returns the arguments of a call that is made for real. A deadline is translated to the system's
/// clock, in `place`.
///
/// # Safety
/// The arguments must be those of the system call.
pub(crate) unsafe fn for_system(
    number: c_long,
    mut arguments: [c_long; 6],
    place: &mut libc::timespec,
) -> [c_long; 6] {
    let [_, operation, _, time, ..] = arguments;
    let operation = operation as c_int;
    let command = operation & !PRIVATE;
    // The other commands have no deadline, or one on the clock of the date.
    let is_until = matches!(command, WAIT_BITSET | WAIT_REQUEUE | LOCK_SECOND);
    if number == libc::SYS_futex && is_until && time != 0 {
        let time = ptr::with_exposed_provenance(time as usize);
        // SAFETY: the caller passes a time.
        *place = unsafe { epoch::for_system(time) };
        arguments[3] = ptr::from_ref(place).expose_provenance() as c_long;
    }
    arguments
}

/// Waits while the futex has the expected value.
fn wait(
    me: Ref,
    futex: &AtomicU32,
    expected: u32,
    bits: u32,
    deadline: Option<u64>,
    is_shared: bool,
) -> Result<c_int, c_int> {
    let address = ptr::from_ref(futex).addr();
    super::operation_on(me, Operation::FutexWait, Object::Address(address));
    if futex.load(Ordering::SeqCst) != expected {
        return Err(libc::EAGAIN);
    }
    // A leaving thread may change the value, which the scheduler does not notice.
    if leaving::wait() && futex.load(Ordering::SeqCst) != expected {
        return Err(libc::EAGAIN);
    }
    let _busy = super::Busy::begin(me);
    if deadline.is_some_and(|deadline| deadline <= LEASE.now()) {
        tick();
        return Err(libc::ETIMEDOUT);
    }
    if choices::is_spurious(me, expected) {
        if expected == park::PARKED {
            park::leave(futex);
        }
        return Ok(0);
    }
    let deadline = lateness::later(me, deadline);
    let mut shared = SHARED.lock();
    // Checked under the lock: a thread that is not scheduled changes the value before it locks to
    // wake.
    if futex.load(Ordering::SeqCst) != expected {
        return Err(libc::EAGAIN);
    }
    // The thread was just woken here, but another one was faster: see `wake_at`.
    let (woken_at, place) = me.woken_at.get();
    let waits_again = place == address && me.operations.get() <= woken_at + 2;
    shared.machine.set_waits_again(me.id, waits_again);
    let mut changed = || futex.load(Ordering::SeqCst) != expected;
    if is_shared {
        // Another process may wake the thread, so the scheduler polls the value.
        // SAFETY: the condition is forgotten before this function returns.
        unsafe { me.set_condition(&mut changed) };
        shared.machine.wait_by_polling(me.id, Operation::FutexWait, Some(address));
    } else {
        me.expected.set(expected);
        shared.wait_at(me, Operation::FutexWait, address, bits);
    }
    if let Some(deadline) = deadline {
        shared.wait_until(me, deadline);
    }
    let woken = token::block(me, shared);
    me.condition.set(None);
    me.woken_at.set((me.operations.get(), address));
    match woken {
        Woken::Time => Err(libc::ETIMEDOUT),
        Woken::Done | Woken::Signal | Woken::Free => Ok(0),
    }
}

/// Waits in the tool's own code for a lock of std or of the program's allocator. A thread that
/// waits for the run token may hold it. Returns `None` in a thread without the run token, which may
/// wait for real.
fn wait_at_work(futex: &AtomicU32, expected: u32, bits: u32) -> Option<c_long> {
    let me = super::SELF.get()?;
    let mut shared = SHARED.lock_from_anywhere()?;
    if shared.machine.is_ending() || shared.machine.running() != Some(me.id) {
        return None;
    }
    if futex.load(Ordering::SeqCst) != expected {
        return Some(failed(libc::EAGAIN).into());
    }
    // A missing wake-up could be the tool's fault, so deadlocks of the program are no longer
    // proven.
    shared.machine.note_other_waker();
    let operation = shared.machine.threads().operation(me.id);
    me.expected.set(expected);
    let address = ptr::from_ref(futex).addr();
    shared.wait_at(me, Operation::FutexWait, address, bits);
    token::block(me, shared);
    SHARED.lock().machine.set_operation(me.id, operation);
    Some(0)
}

/// Wakes up to `count` threads.
fn wake(me: Ref, address: usize, bits: u32, count: c_int) -> c_int {
    super::operation_on(me, Operation::FutexWake, Object::Address(address));
    wake_at(me, address, bits, count)
}

/// Wakes up to `count` threads that wait at an address.
pub(super) fn wake_at(me: Ref, address: usize, bits: u32, count: c_int) -> c_int {
    let _busy = super::Busy::begin(me);
    let mut shared = SHARED.lock();
    let waiting = shared.machine.count_waiting(address, bits);
    let mut skipped = 0;
    if waiting > 1 && count == 1 {
        // Without the lock, because the choice may have to wait for a lock of the runtime.
        drop(shared);
        skipped = choices::which(me, waiting as u64) as usize;
        shared = SHARED.lock();
    }
    let wake = shared.machine.wake(address, bits, number(count), skipped);
    if let Some(next) = wake.impatient {
        // Otherwise this thread could take the lock first, again and again.
        token::pass_to(me, next, shared);
    } else {
        shared.machine.set_attention();
    }
    wake.woken as c_int
}

/// Wakes threads that are not scheduled, or are in another process. The harness's own thread may
/// also wait for a lock that the test holds, for instance its allocator's.
fn wake_foreign(number: c_long, mut arguments: [c_long; 6], count: c_int) -> c_int {
    if count <= 0 {
        return 0;
    }
    arguments[2] = count.into();
    // SAFETY: the arguments are those of the caller, but for the number.
    let woken = unsafe { kernel::syscall(number, arguments) };
    woken.max(0) as c_int
}

/// Wakes up to `count` threads, and moves up to `moved` others to another address.
fn requeue(me: Ref, address: usize, second: usize, count: c_int, moved: c_int) -> c_int {
    let _busy = super::Busy::begin(me);
    let mut shared = SHARED.lock();
    let done = shared.machine.requeue(address, second, number(count), number(moved));
    shared.machine.set_attention();
    done as c_int
}

/// Returns a number of threads as a call gives it: a negative one reaches no thread.
fn number(count: c_int) -> usize {
    usize::try_from(count).unwrap_or(0)
}

/// Wakes scheduled threads from one that is not, or from a signal handler.
pub(super) fn wake_from_anywhere(address: usize, bits: u32, count: c_int) {
    let Some(mut shared) = SHARED.lock_from_anywhere() else { return };
    if shared.machine.wake_from_outside(address, bits, number(count)) > 0 {
        shared.ensure_runs();
    }
}

//! Spurious wake-ups: `std::thread::park` that returns without a token.
//!
//! If the kernel wakes it without a cause, std's `park` waits again until its futex has the value
//! that `unpark` stores. So the value must be changed to make `park` return. But a lock's futex may
//! have the same value as a parked thread's: that of std's `RwLock` has it while a writer holds the
//! lock, and readers and writers wait. Only a function on the stack shows which of them waits.

use ::std::ffi::{c_int, c_void};
use ::std::sync::atomic::{AtomicU32, Ordering};
use ::std::{ptr, thread};

use crate::origin::{
    _Unwind_Backtrace, _Unwind_FindEnclosingFunction, _Unwind_GetIP, END_OF_STACK, NO_REASON,
};

/// Value of a thread's futex while it waits in `park`.
pub(super) const PARKED: u32 = u32::MAX;

/// Value that `unpark` stores.
const NOTIFIED: u32 = 1;

/// Maximum number of frames up to `park`.
const DEPTH: usize = 24;

/// Makes the `park` of a thread on the futex `word` return.
pub(super) fn leave(word: &AtomicU32) {
    // If another thread has just given it the token, the value stays.
    let _ = word.compare_exchange(PARKED, NOTIFIED, Ordering::SeqCst, Ordering::SeqCst);
}

struct Walk {
    left: usize,
    is_parking: bool,
}

/// Returns whether `park` or `park_timeout` is on the stack. An inlined one is not found.
#[cold]
pub(super) fn is_parking() -> bool {
    let mut walk = Walk { left: DEPTH, is_parking: false };
    // SAFETY: `frame` has the signature the unwinder expects, and `walk` outlives the call.
    unsafe { _Unwind_Backtrace(frame, (&raw mut walk).cast()) };
    walk.is_parking
}

extern "C" fn frame(context: *mut c_void, walk: *mut c_void) -> c_int {
    // SAFETY: `walk` is the pointer that `is_parking` passed, and nothing else uses it meanwhile.
    let walk = unsafe { &mut *walk.cast::<Walk>() };
    // SAFETY: `context` is the unwinder's own. The call is before the address to which it returns.
    let call = ptr::with_exposed_provenance(unsafe { _Unwind_GetIP(context) }.wrapping_sub(1));
    // SAFETY: the function accepts any address.
    let function = unsafe { _Unwind_FindEnclosingFunction(call) };
    let parking = [thread::park as fn() as usize, thread::park_timeout as fn(_) as usize];
    walk.is_parking |= parking.contains(&function.addr());
    walk.left -= 1;
    if walk.is_parking || walk.left == 0 { END_OF_STACK } else { NO_REASON }
}

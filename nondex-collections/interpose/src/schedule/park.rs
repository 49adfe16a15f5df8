//! `std::thread::park` that returns without a token.
//!
//! std's `park` waits again when the kernel has woken it without a cause, until its word has the
//! value that `unpark` gives it. So that value is what lets it return. The word of a lock may have
//! the same value as that of a parked thread: that of std's `RwLock` has it while a writer holds it,
//! and readers and writers wait. Only a function on the stack shows which one waits.

use ::std::ffi::{c_int, c_void};
use ::std::sync::atomic::{AtomicU32, Ordering};
use ::std::{ptr, thread};

use crate::origin::{
    _Unwind_Backtrace, _Unwind_FindEnclosingFunction, _Unwind_GetIP, END_OF_STACK, NO_REASON,
};

/// What a thread's word is while it waits in `park`.
pub(super) const PARKED: u32 = u32::MAX;

/// What `unpark` changes it to.
const NOTIFIED: u32 = 1;

/// How many frames there are up to `park`, at most.
const DEPTH: usize = 24;

/// Lets a thread that is parked at `word` go on.
pub(super) fn leave(word: &AtomicU32) {
    // Another thread may have just given it the token.
    let _ = word.compare_exchange(PARKED, NOTIFIED, Ordering::SeqCst, Ordering::SeqCst);
}

struct Walk {
    left: usize,
    is_parking: bool,
}

/// Whether `park` or `park_timeout` is on the stack. Where it was inlined it is not.
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
    // SAFETY: it takes any address.
    let function = unsafe { _Unwind_FindEnclosingFunction(call) };
    let parking = [thread::park as fn() as usize, thread::park_timeout as fn(_) as usize];
    walk.is_parking |= parking.contains(&function.addr());
    walk.left -= 1;
    if walk.is_parking || walk.left == 0 { END_OF_STACK } else { NO_REASON }
}

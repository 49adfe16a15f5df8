//! Proof of a livelock: a spinning thread has come back to a state that it was in before.
//!
//! The private state of a thread is its stack, its callee-saved registers, and [the memory that
//! these lead to](super::reached). If all of it is as it was at an earlier spin, and nothing has
//! changed meanwhile, the thread will spin forever. A loop that counts its spins is in another
//! state each time, and may end. A count that is kept further away, in a static or a thread-local
//! variable, is not noticed.

use ::std::ffi::{c_int, c_void};
use ::std::ptr;

use nondex_core::arena;
use nondex_core::hash::mix;

use super::reached::Reached;
use super::shared::SHARED;
use super::thread::Ref;
use super::{atomics, life, reached};
use crate::origin::{
    _Unwind_Backtrace, _Unwind_FindEnclosingFunction, _Unwind_GetCFA, _Unwind_GetIP, NO_REASON,
    executable,
};

/// Number of pointers that are followed from the stack and the registers to the thread's own
/// memory.
const STEPS: u32 = 2;

/// Number of bytes below the caller's frame that belong to its callees, and above the first frame
/// that belong to thread-local variables.
const BELOW: usize = 1 << 16;
const ABOVE: usize = 1 << 14;

/// Callee-saved registers, by their numbers in debug information.
#[cfg(target_arch = "x86_64")]
const KEPT: &[c_int] = &[3, 6, 12, 13, 14, 15];
#[cfg(target_arch = "aarch64")]
const KEPT: &[c_int] = &[19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const KEPT: &[c_int] = &[];

/// Takes the state of the running thread, which has spun for long, from time to time.
pub(super) fn note(me: Ref) {
    if me.looks.is_state_due() {
        if let Some(state) = state(me) {
            me.looks.see(state);
        }
    }
}

/// Returns the private state of this thread where it called the scheduler; `None` if it is unknown.
fn state(me: Ref) -> Option<u64> {
    let mut walk = Walk { is_callers: false, place: 0, registers: [0; KEPT.len()], stack: None };
    // SAFETY: `frame` has the signature the unwinder expects, and `walk` outlives the call.
    unsafe { _Unwind_Backtrace(frame, (&raw mut walk).cast()) };
    let (top, end) = walk.stack?;
    if KEPT.is_empty() || top % size_of::<u64>() != 0 {
        return None;
    }
    me.looks_from.set(top);
    let words = (top..end).step_by(size_of::<u64>()).map(|place| {
        // SAFETY: the stack of this very thread, between the frame of the caller and the first one.
        unsafe { ptr::with_exposed_provenance::<u64>(place).read_volatile() }
    });
    let (base, image_end) = executable();
    let shared = SHARED.lock();
    // This stack and the tool's own memory are left out. The stack was hashed already, and the
    // tool's memory changes at every spin.
    let is_left_out = |place: usize| {
        let overlaps = |start: usize, end: usize| place < end && place + reached::LENGTH > start;
        overlaps(top - BELOW, end + ABOVE)
            || overlaps(base, image_end)
            || arena::has(place)
            || shared.threads.iter().any(|thread| {
                let start = ptr::from_ref(*thread).addr();
                // A new thread starts with registers of its parent, which may lead to a part of the
                // parent's stack that is no longer in use.
                let other = thread.looks_from.get();
                overlaps(start, start + size_of_val(*thread))
                    || overlaps(other.saturating_sub(BELOW), other)
            })
    };
    let mut reached = Reached::without(&is_left_out);
    let words = walk.registers.into_iter().chain(words);
    Some(
        words.fold(mix(walk.place as u64), |state, word| {
            mix(state ^ word ^ reached.from(word, STEPS))
        }),
    )
}

struct Walk {
    /// Whether the next frame is that of the caller.
    is_callers: bool,
    /// Address in that frame, and the values of the callee-saved registers.
    place: usize,
    registers: [u64; KEPT.len()],
    /// End of the caller's frame, and of the thread's first frame.
    stack: Option<(usize, usize)>,
}

extern "C" fn frame(context: *mut c_void, walk: *mut c_void) -> c_int {
    // SAFETY: `walk` is the pointer that `state` passed, and nothing else uses it meanwhile.
    let walk = unsafe { &mut *walk.cast::<Walk>() };
    // SAFETY: `context` is the unwinder's own.
    let (place, end) = unsafe { (_Unwind_GetIP(context), _Unwind_GetCFA(context)) };
    if let Some((_, first)) = &mut walk.stack {
        *first = end;
    } else if walk.is_callers {
        walk.stack = Some((end, end));
        walk.place = place;
        for (register, &number) in walk.registers.iter_mut().zip(KEPT) {
            // SAFETY: as above, and these registers are kept.
            *register = unsafe { _Unwind_GetGR(context, number) } as u64;
        }
    } else {
        // SAFETY: the function accepts any address.
        let function =
            unsafe { _Unwind_FindEnclosingFunction(ptr::with_exposed_provenance(place)) };
        walk.is_callers = atomics::is_look(function.addr()) || life::is_yield(function.addr());
    }
    NO_REASON
}

// Functions of the unwinder that std itself links.
unsafe extern "C" {
    fn _Unwind_GetGR(context: *mut c_void, number: c_int) -> usize;
}

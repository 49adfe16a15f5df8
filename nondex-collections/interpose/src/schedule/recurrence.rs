//! Whether a thread that looks again and again does so for ever: it has come back to a state that
//! it was in before.
//!
//! The private state of a thread is its stack, the registers that a call leaves as they are, and
//! [what these lead to](super::reached). Where all of it is as it was when it looked before, and
//! nobody changed anything meanwhile, it will look once more: for ever. A loop that counts its
//! looks is in another state each time, and may end. A count that is kept further away, in a static
//! or in a thread-local is not seen.

use ::std::ffi::{c_int, c_void};
use ::std::ptr;

use nondex_core::arena;
use nondex_core::hash::mix;

use super::reached::Reached;
use super::shared::SHARED;
use super::states::States;
use super::thread::Ref;
use super::{atomics, life, reached};
use crate::origin::{
    _Unwind_Backtrace, _Unwind_FindEnclosingFunction, _Unwind_GetIP, NO_REASON, executable,
};

/// Number of looks between two states that are compared.
const LOOKS_BETWEEN: u32 = 1 << 13;

/// Distance from its stack and its registers within which memory is the thread's own.
const STEPS: u32 = 2;

/// Number of bytes below the frame of the caller that belong to what it calls, and above the first
/// frame that belong to thread-locals.
const BELOW: usize = 1 << 16;
const ABOVE: usize = 1 << 14;

/// The registers that a call leaves as they are, by their numbers in debug information.
#[cfg(target_arch = "x86_64")]
const KEPT: &[c_int] = &[3, 6, 12, 13, 14, 15];
#[cfg(target_arch = "aarch64")]
const KEPT: &[c_int] = &[19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const KEPT: &[c_int] = &[];

/// Takes the state of the running thread, which has looked for long, now and then.
pub(super) fn note(me: Ref) {
    let looks = me.idle_looks();
    let seen_at = me.seen_at.get();
    if looks < seen_at {
        me.seen_at.set(0);
        me.states.set(States::default());
    } else if looks - seen_at >= LOOKS_BETWEEN {
        if let Some(state) = state(me) {
            let mut states = me.states.get();
            states.see(state);
            me.states.set(states);
            me.seen_at.set(looks);
        }
    }
}

/// The private state of this thread where it called us; `None` where that is not known.
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
        // SAFETY: the stack of this very thread, between the frame that called us and the first
        // one.
        unsafe { ptr::with_exposed_provenance::<u64>(place).read_volatile() }
    });
    let (base, image_end) = executable();
    let shared = SHARED.lock();
    // Neither this stack nor what is ours: it was taken already, or changes whenever a thread
    // looks.
    let is_left_out = |place: usize| {
        let overlaps = |start: usize, end: usize| place < end && place + reached::LENGTH > start;
        overlaps(top - BELOW, end + ABOVE)
            || overlaps(base, image_end)
            || arena::has(place)
            || shared.threads().any(|thread| {
                let start = ptr::from_ref(thread).addr();
                // A new thread begins with registers of the one that started it, which may lead to
                // what that one's stack no longer has.
                let other = thread.looks_from.get();
                overlaps(start, start + size_of_val(thread))
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
    /// Where it is, and what it has in the registers that are kept.
    place: usize,
    registers: [u64; KEPT.len()],
    /// Where the frame of the caller ends, and the first frame of the thread.
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
        // SAFETY: it takes any address.
        let function =
            unsafe { _Unwind_FindEnclosingFunction(ptr::with_exposed_provenance(place)) };
        walk.is_callers = atomics::is_look(function.addr()) || life::is_yield(function.addr());
    }
    NO_REASON
}

// The unwinder that std itself links.
unsafe extern "C" {
    fn _Unwind_GetGR(context: *mut c_void, number: c_int) -> usize;
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
}

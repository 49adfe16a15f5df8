//! Random bytes of the operating system, drawn from the seed in every run, also in clean runs.

use ::std::ffi::{c_int, c_long, c_uint, c_void};
use ::std::slice;

use nondex_core::{choice, context, entropy, model};
use rand_core::Rng;

use super::{Errno, origin, own};
use crate::libc;

/// Flag with which only std requests the keys of its `RandomState`s. Keys for this tool's own
/// collections do not come from here.
const GRND_INSECURE: c_uint = 4;

/// Fills `buffer` if this thread works for a test, and returns whether it does.
fn fill(buffer: &mut [u8], flags: c_uint) -> bool {
    let Some(_work) = own::work() else { return false };
    let _errno = Errno::save();
    let generator = if flags & GRND_INSECURE != 0 {
        choice::foreign_keys()
    } else if context::is_forked_beside_threads() {
        choice::unrecorded_entropy()
    } else {
        entropy(&model::GETRANDOM, origin::caller())
    };
    generator.map(|mut generator| generator.fill_bytes(buffer)).is_some()
}

/// Fills a buffer of the caller as [`fill`] does.
///
/// # Safety
/// `buffer` must be valid for writes of `len` bytes, or null.
unsafe fn fill_raw(buffer: *mut c_void, len: usize, flags: c_uint) -> bool {
    // SAFETY: bytes have no invalid values, and the caller vouches for the range.
    !buffer.is_null()
        && len > 0
        && fill(unsafe { slice::from_raw_parts_mut(buffer.cast(), len) }, flags)
}

/// Draws the bytes of `getrandom`, whose result is their number.
///
/// # Safety
/// As for [`fill_raw`].
pub(crate) unsafe fn bytes(
    buffer: *mut c_void,
    len: usize,
    flags: c_uint,
    next: impl FnOnce() -> isize,
) -> isize {
    // SAFETY: as the caller promises.
    if unsafe { fill_raw(buffer, len, flags) } { len as isize } else { next() }
}

/// Draws the bytes of `getentropy`, which gives no more than 256.
///
/// # Safety
/// As for [`fill_raw`].
pub(crate) unsafe fn few_bytes(
    buffer: *mut c_void,
    len: usize,
    next: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    if len <= 256 && unsafe { fill_raw(buffer, len, 0) } { 0 } else { next() }
}

/// Draws the bytes of `arc4random_buf`.
///
/// # Safety
/// As for [`fill_raw`].
pub(crate) unsafe fn all_bytes(buffer: *mut c_void, len: usize, next: impl FnOnce()) {
    // SAFETY: as the caller promises.
    if unsafe { !fill_raw(buffer, len, 0) } {
        next();
    }
}

/// Returns a drawn number, or `None` if the seed draws nothing here.
fn drawn() -> Option<u32> {
    let mut bytes = [0; size_of::<u32>()];
    fill(&mut bytes, 0).then(|| u32::from_ne_bytes(bytes))
}

/// Draws a number.
pub(crate) fn number(next: impl FnOnce() -> u32) -> u32 {
    drawn().unwrap_or_else(next)
}

/// Draws a number below `bound`, each with the same probability.
pub(crate) fn number_below(bound: u32, next: impl FnOnce() -> u32) -> u32 {
    if bound < 2 {
        return 0;
    }
    // Numbers below this one are rejected, because they would make the smallest results more
    // likely.
    let least = bound.wrapping_neg() % bound;
    loop {
        match drawn() {
            Some(number) if number < least => {}
            Some(number) => return number % bound,
            None => return next(),
        }
    }
}

/// Performs the system call by number, which older crates make, as the function does. Returns
/// `None` for any other call.
///
/// # Safety
/// The arguments must be those of the system call.
pub(super) unsafe fn syscall(
    number: c_long,
    [buffer, len, flags, ..]: [c_long; 6],
) -> Option<c_long> {
    if number != libc::SYS_getrandom {
        return None;
    }
    let address = |register: c_long| register as usize;
    let buffer = ::std::ptr::with_exposed_provenance_mut(address(buffer));
    // SAFETY: the caller gives a buffer of `len` bytes.
    unsafe { fill_raw(buffer, address(len), flags as c_uint) }.then_some(len)
}

//! Random bytes of the operating system, made from the seed in every run, clean runs too.

use ::std::ffi::{c_int, c_long, c_uint, c_void};
use ::std::slice;

use nondex_core::{choice, entropy, model};
use rand_core::Rng;

#[cfg(feature = "network")]
use super::network;
use super::{Errno, Original, origin};

/// How std asks for the keys of its hash maps, and nobody else does.
const GRND_INSECURE: c_uint = 4;

/// Fills `buffer` if this thread works for a test.
fn fill(buffer: &mut [u8], flags: c_uint) -> bool {
    if nondex_core::context::level().is_none() {
        return false;
    }
    let _errno = Errno::save();
    let generator = if flags & GRND_INSECURE == 0 {
        entropy(&model::GETRANDOM, origin::caller(), buffer.len())
    } else {
        choice::map_keys()
    };
    generator
        .map(|mut generator| generator.fill_bytes(buffer))
        .is_some()
}

/// # Safety
/// `buffer` must be valid for writes of `len` bytes, or null.
unsafe fn fill_raw(buffer: *mut c_void, len: usize, flags: c_uint) -> bool {
    // SAFETY: bytes have no invalid values, and the caller vouches for the range.
    !buffer.is_null()
        && len > 0
        && fill(
            unsafe { slice::from_raw_parts_mut(buffer.cast(), len) },
            flags,
        )
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(buffer: *mut c_void, len: usize, flags: c_uint) -> isize {
    // SAFETY: the signature is libc's.
    static ORIGINAL: Original<unsafe extern "C" fn(*mut c_void, usize, c_uint) -> isize> =
        unsafe { Original::new(c"getrandom") };
    // SAFETY: the caller gives a buffer of `len` bytes.
    if unsafe { fill_raw(buffer, len, flags) } {
        return len.cast_signed();
    }
    match ORIGINAL.get() {
        // SAFETY: the caller's arguments, unchanged.
        Some(original) => unsafe { original(buffer, len, flags) },
        None => -1,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getentropy(buffer: *mut c_void, len: usize) -> c_int {
    // SAFETY: the signature is libc's.
    static ORIGINAL: Original<unsafe extern "C" fn(*mut c_void, usize) -> c_int> =
        unsafe { Original::new(c"getentropy") };
    // SAFETY: the caller gives a buffer of `len` bytes.
    if len <= 256 && unsafe { fill_raw(buffer, len, 0) } {
        return 0;
    }
    match ORIGINAL.get() {
        // SAFETY: the caller's arguments, unchanged.
        Some(original) => unsafe { original(buffer, len) },
        None => -1,
    }
}

/// Older crates make the system call by number. All other calls pass through: libc's `syscall` takes its variable
/// arguments in the registers of a function with seven `long`s, on every 64-bit Linux.
#[cfg(target_pointer_width = "64")]
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    type Syscall =
        unsafe extern "C" fn(c_long, c_long, c_long, c_long, c_long, c_long, c_long) -> c_long;
    // SAFETY: the signature is libc's, see above.
    static ORIGINAL: Original<Syscall> = unsafe { Original::new(c"syscall") };
    if number == libc::SYS_getrandom {
        let buffer = ::std::ptr::with_exposed_provenance_mut(b_as_address(a));
        // SAFETY: the caller gives a buffer of `b` bytes.
        if unsafe { fill_raw(buffer, b_as_address(b), c as c_uint) } {
            return b;
        }
    }
    #[cfg(feature = "network")]
    // SAFETY: the caller's arguments, unchanged.
    if let Some(result) = unsafe { network::syscall(number, [a, b, c, d, e, f]) } {
        return result;
    }
    match ORIGINAL.get() {
        // SAFETY: the caller's arguments, unchanged.
        Some(original) => unsafe { original(number, a, b, c, d, e, f) },
        None => -1,
    }
}

#[cfg(target_pointer_width = "64")]
const fn b_as_address(register: c_long) -> usize {
    register.cast_unsigned() as usize
}

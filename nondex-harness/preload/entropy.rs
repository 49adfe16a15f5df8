//! Makes the random bytes of an ordinary program from a seed, from outside: a library that the loader puts before libc.
//!
//! It is one file without dependencies, compiled by the project's own rustc, and is loaded by `LD_PRELOAD` into Linux programs that
//! are linked to glibc dynamically. The seed is in `NONDEX_ENTROPY`. Before `main` both variables are put back to what they were, so
//! the program sees the environment that it would have, and its children are ordinary ones.
//!
//! Bytes depend on the seed, on the thread (numbered in the order of their first requests) and on how many the thread took before.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The variable that has the seed.
const SEED: &str = "NONDEX_ENTROPY";

/// The variable that has the path of this library, and what else was to be loaded, after a colon.
const PRELOAD: &str = "LD_PRELOAD";

/// `RTLD_NEXT` of dlfcn.h: behind the library that asks.
const NEXT: *mut c_void = usize::MAX as *mut c_void;

/// The number of the system call `getrandom`.
const SYS_GETRANDOM: Option<c_long> = if cfg!(target_arch = "x86_64") {
    Some(318)
} else if cfg!(any(target_arch = "aarch64", target_arch = "riscv64")) {
    Some(278)
} else {
    None
};

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

static THE_SEED: OnceLock<u64> = OnceLock::new();
static THREADS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The number of this thread, and how many words it took.
    static TAKEN: Cell<Option<(u64, u64)>> = const { Cell::new(None) };
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = {
    extern "C" fn start() {
        if let Some(seed) = std::env::var(SEED).ok().and_then(|text| text.parse().ok()) {
            let _ = THE_SEED.set(seed);
        }
        let others = std::env::var_os(PRELOAD).and_then(|value| {
            let text = value.into_string().ok()?;
            Some(text.split_once(':')?.1.to_owned())
        });
        // SAFETY: the loader runs initialisers on the only thread of the process.
        unsafe {
            std::env::remove_var(SEED);
            match others {
                Some(others) => std::env::set_var(PRELOAD, others),
                None => std::env::remove_var(PRELOAD),
            }
        }
    }
    start
};

/// SplitMix64's output function (Steele, Lea and Flood, 2014).
fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// The next bytes of this thread; false without a seed.
fn fill(buffer: &mut [u8]) -> bool {
    let Some(&seed) = THE_SEED.get() else {
        return false;
    };
    TAKEN
        .try_with(|taken| {
            let (thread, mut count) = taken
                .get()
                .unwrap_or_else(|| (THREADS.fetch_add(1, Ordering::Relaxed), 0));
            let key = mix(mix(seed.wrapping_add(1)).wrapping_add(thread));
            for bytes in buffer.chunks_mut(8) {
                count += 1;
                let word = mix(key.wrapping_add(count.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
                bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
            }
            taken.set(Some((thread, count)));
        })
        .is_ok()
}

/// # Safety
/// `buffer` must be valid for writes of `len` bytes, or null.
unsafe fn fill_raw(buffer: *mut c_void, len: usize) -> bool {
    // SAFETY: bytes have no invalid values, and the caller vouches for the range.
    !buffer.is_null() && fill(unsafe { std::slice::from_raw_parts_mut(buffer.cast(), len) })
}

/// The next definition of a function after ours; null when there is none.
fn original(name: &CStr) -> *mut c_void {
    // SAFETY: `dlsym` takes any name that ends in NUL.
    unsafe { dlsym(NEXT, name.as_ptr()) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(buffer: *mut c_void, len: usize, flags: c_uint) -> isize {
    // SAFETY: the caller gives a buffer of `len` bytes.
    if unsafe { fill_raw(buffer, len) } {
        return len.cast_signed();
    }
    let original = original(c"getrandom");
    if original.is_null() {
        return -1;
    }
    // SAFETY: libc's function of this name has our signature.
    unsafe {
        let original: unsafe extern "C" fn(*mut c_void, usize, c_uint) -> isize =
            std::mem::transmute(original);
        original(buffer, len, flags)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getentropy(buffer: *mut c_void, len: usize) -> c_int {
    // SAFETY: the caller gives a buffer of `len` bytes.
    if len <= 256 && unsafe { fill_raw(buffer, len) } {
        return 0;
    }
    let original = original(c"getentropy");
    if original.is_null() {
        return -1;
    }
    // SAFETY: libc's function of this name has our signature.
    unsafe {
        let original: unsafe extern "C" fn(*mut c_void, usize) -> c_int =
            std::mem::transmute(original);
        original(buffer, len)
    }
}

/// Older crates make the system call by number; all other calls pass through. libc's `syscall` takes its variable arguments in
/// the registers of a function with seven `long`s, on every 64-bit Linux.
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
    static ORIGINAL: OnceLock<Option<Syscall>> = OnceLock::new();
    if Some(number) == SYS_GETRANDOM {
        // SAFETY: the caller gives a buffer of `b` bytes.
        if unsafe {
            fill_raw(
                std::ptr::with_exposed_provenance_mut(a as usize),
                b as usize,
            )
        } {
            return b;
        }
    }
    let original = ORIGINAL.get_or_init(|| {
        let original = original(c"syscall");
        // SAFETY: libc's function of this name has this signature, see above; it is not null.
        (!original.is_null())
            .then(|| unsafe { std::mem::transmute::<*mut c_void, Syscall>(original) })
    });
    match original {
        // SAFETY: the caller's arguments, unchanged.
        Some(original) => unsafe { original(number, a, b, c, d, e, f) },
        None => -1,
    }
}

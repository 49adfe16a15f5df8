//! Callers of C functions. These have no `#[track_caller]`, so the stack identifies the call site.
//!
//! The return addresses inside of the executable, relative to its base, are the same in every run
//! of the same binary. Resolving their source lines takes milliseconds, and is left to the runs
//! that request it (`RunSpec::trace`).

mod walked;

use ::std::arch::asm;
use ::std::ffi::{c_int, c_void};
use ::std::io::Write;
use ::std::ptr;
use ::std::sync::atomic::{AtomicUsize, Ordering};

use nondex_core::context::stack;
use nondex_core::fork_lock::ForkLock;
use nondex_core::{Caller, Context, hash, hidden};

use self::walked::{Frame, Walked};
use crate::libc;
use crate::own;

/// Maximum number of frames that identify a caller.
pub(crate) const DEPTH: usize = 48;

/// Size in bytes of the largest frame of a stack that is compared with others. A larger distance
/// may lead from the stack of a coroutine to another one. For the next coroutine, it differs.
const LARGEST_FRAME: usize = 16 << 10;

/// Names of stacks, sorted by hash.
static NAMES: ForkLock<hidden::Vec<(u64, &'static str)>> = ForkLock::new(hidden::vec);

/// Stacks that were walked.
static WALKED: ForkLock<Walked> = ForkLock::new(Walked::new);

/// Returns the caller of an interposed function, named by its stack. Costs some microseconds if the
/// stack is new, and less than one otherwise. The caller is empty in a program that is only
/// observed, because it has no place in the project's source.
pub fn caller() -> Caller {
    if !own::is_initialized() {
        return Caller { file: "", line: 0, column: 0 };
    }
    let stack = stack(true);
    let known = NAMES.lock().and_then(|names| {
        let at = names.binary_search_by_key(&stack, |(known, _)| *known);
        Some(names[at.ok()?].1)
    });
    let file = known.unwrap_or_else(|| {
        // Without the lock, because this allocates memory.
        let mut text = hidden::vec();
        let _ = write!(text, "stack:{stack:016x}");
        let name: &'static str = ::std::str::from_utf8(text.leak()).unwrap_or_default();
        let Some(mut names) = NAMES.lock() else { return name };
        match names.binary_search_by_key(&stack, |(known, _)| *known) {
            Ok(at) => names[at].1,
            Err(at) => {
                names.insert(at, (stack, name));
                name
            }
        }
    });
    Caller { file, line: 0, column: 0 }
}

pub(super) fn before_fork() {
    NAMES.before_fork();
    WALKED.before_fork();
}

pub(super) fn after_fork() {
    WALKED.after_fork();
    NAMES.after_fork();
}

/// Walk of a stack, from the innermost frame on.
struct Walk {
    /// Range of the executable.
    range: (usize, usize),
    /// Stack pointer where the walk begins.
    base: usize,
    hash: u64,
    left: usize,
    frames: [Frame; DEPTH],
    /// Number of frames, without that of the function that walks.
    len: usize,
    /// Whether each return address is where the unwinder's frame has it.
    is_plain: bool,
}

/// Returns the hash of the return addresses on the stack that are within the executable. Unless
/// `may_be_known`, the stack is walked although it was walked before.
#[inline(never)]
fn stack(may_be_known: bool) -> u64 {
    let base = stack_pointer();
    // SAFETY: this function walks, below.
    let find = |walked: &Walked| unsafe { walked.find(base) };
    let known = || WALKED.lock().and_then(|walked| find(&walked));
    if let Some(hash) = may_be_known.then(known).flatten() {
        return hash;
    }
    let mut walk = Walk {
        range: executable(),
        base,
        hash: 0,
        left: DEPTH,
        frames: [Frame { address: 0, distance: 0 }; DEPTH],
        len: 0,
        is_plain: true,
    };
    // SAFETY: `frame` has the signature the unwinder expects, and `walk` outlives the call.
    unsafe { _Unwind_Backtrace(frame, (&raw mut walk).cast()) };
    if let Some(mut walked) = walk.is_plain.then(|| WALKED.lock()).flatten() {
        walked.add(&walk.frames[..walk.len], walk.hash);
    }
    walk.hash
}

/// Returns the stack pointer of the function into which this is inlined.
#[inline(always)]
fn stack_pointer() -> usize {
    let pointer: usize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads a register.
    unsafe {
        asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: reads a register.
    unsafe {
        asm!("mov {}, sp", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    pointer
}

/// Makes recorded stacks consist of return addresses in the executable, in a program that is built
/// over the runtime. Must be called before `main`.
#[expect(clippy::disallowed_methods, reason = "called before `main`")]
pub(crate) fn walk_stacks(context: &Context) {
    executable();
    let program: &'static str = if context.is_own_process() {
        ""
    } else {
        ::std::env::current_exe()
            .ok()
            .and_then(|path| path.into_os_string().into_string().ok())
            .map_or("", |path| path.leak())
    };
    stack::walk_by(|found| addresses(found).len(), program);
}

/// Returns the return addresses on the stack that are within the executable, relative to its base.
/// Addresses beyond the capacity are dropped.
pub(crate) fn addresses(found: &mut [u64]) -> &[u64] {
    struct Addresses<'a> {
        range: (usize, usize),
        addresses: &'a mut [u64],
        len: usize,
    }
    extern "C" fn frame(context: *mut c_void, found: *mut c_void) -> c_int {
        // SAFETY: `found` is the pointer that is passed below, and nothing else uses it meanwhile.
        let found = unsafe { &mut *found.cast::<Addresses<'_>>() };
        // SAFETY: `context` is the unwinder's own.
        let ip = unsafe { _Unwind_GetIP(context) };
        let (base, end) = found.range;
        if (base..end).contains(&ip) {
            let Some(place) = found.addresses.get_mut(found.len) else { return END_OF_STACK };
            *place = (ip - base) as u64;
            found.len += 1;
        }
        NO_REASON
    }
    let mut found = Addresses { range: executable(), addresses: found, len: 0 };
    // SAFETY: `frame` has the signature the unwinder expects, and `found` outlives the call.
    unsafe { _Unwind_Backtrace(frame, (&raw mut found).cast()) };
    let Addresses { addresses, len, .. } = found;
    &addresses[..len]
}

extern "C" fn frame(context: *mut c_void, walk: *mut c_void) -> c_int {
    // SAFETY: `walk` is the pointer that `stack` passed, and nothing else uses it meanwhile.
    let walk = unsafe { &mut *walk.cast::<Walk>() };
    // SAFETY: `context` is the unwinder's own.
    let (ip, below) = unsafe { (_Unwind_GetIP(context), _Unwind_GetCFA(context)) };
    let (base, end) = walk.range;
    if (base..end).contains(&ip) {
        walk.hash = hash::mix(walk.hash ^ (ip - base) as u64);
    }
    let is_first = walk.left == DEPTH;
    walk.left -= 1;
    // The call of the unwinder returns to the first frame, and is over when its stack is compared.
    if !is_first && ip != 0 {
        let place = below.wrapping_sub(size_of::<usize>());
        let address = ptr::with_exposed_provenance::<usize>(place);
        let distance = place.wrapping_sub(walk.base);
        let callee = walk.len.checked_sub(1).map_or(0, |last| walk.frames[last].distance);
        let is_near = distance.wrapping_sub(callee) <= LARGEST_FRAME;
        // SAFETY: the end of the callee's frame, which the unwinder has read.
        walk.is_plain &= is_near && unsafe { address.read_volatile() } == ip;
        walk.frames[walk.len] = Frame { address: ip, distance };
        walk.len += 1;
    }
    if walk.left == 0 { END_OF_STACK } else { NO_REASON }
}

/// Returns the base address of the executable, and the end of its last segment.
pub(crate) fn executable() -> (usize, usize) {
    static BASE: AtomicUsize = AtomicUsize::new(0);
    static END: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn first(
        info: *mut libc::dl_phdr_info,
        _size: libc::size_t,
        range: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader passes a valid description; `range` is the pointer given below. The
        // first object is the executable itself.
        unsafe {
            let info = &*info;
            let base = info.dlpi_addr as usize;
            let headers = ::std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
            let loaded = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
            let end =
                loaded.map(|header| (header.p_vaddr + header.p_memsz) as usize).max().unwrap_or(0);
            *range.cast::<(usize, usize)>() = (base, base + end);
        }
        1
    }
    let end = END.load(Ordering::Acquire);
    if end != 0 {
        return (BASE.load(Ordering::Relaxed), end);
    }
    // Two threads may compute the range at once; they find the same.
    let mut range = (0, 0);
    // SAFETY: `first` has the expected signature, and `range` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut range).cast()) };
    BASE.store(range.0, Ordering::Relaxed);
    END.store(range.1, Ordering::Release);
    range
}

pub(crate) const NO_REASON: c_int = 0;
pub(crate) const END_OF_STACK: c_int = 5;

// Functions of the unwinder that std itself links.
unsafe extern "C" {
    pub(crate) fn _Unwind_Backtrace(
        frame: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    pub(crate) fn _Unwind_GetIP(context: *mut c_void) -> usize;
    pub(crate) fn _Unwind_GetCFA(context: *mut c_void) -> usize;
    pub(crate) fn _Unwind_FindEnclosingFunction(place: *const c_void) -> *const c_void;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the hashes of this stack: as it is known, if it is, and as it is walked.
    fn both() -> [u64; 2] {
        let mut found = [0; 2];
        // Both calls return to the same address.
        for (number, found) in std::hint::black_box(&mut found[..]).iter_mut().enumerate() {
            *found = stack(number == 0);
        }
        found
    }

    /// Calls `both` below this number of frames, every third of which is aligned.
    #[inline(never)]
    fn below(frames: usize) -> [u64; 2] {
        #[repr(align(64))]
        struct Aligned([u8; 64]);
        let own = Aligned([u8::try_from(frames).unwrap(); 64]);
        let found = match frames {
            0 => both(),
            _ if frames % 3 == 0 => {
                std::hint::black_box(&own.0);
                below(frames - 1)
            }
            _ => unaligned(frames - 1),
        };
        std::hint::black_box(found)
    }

    #[inline(never)]
    fn unaligned(frames: usize) -> [u64; 2] {
        let found = if frames == 0 { both() } else { below(frames - 1) };
        std::hint::black_box(found)
    }

    #[test]
    fn a_known_stack_has_the_hash_of_the_walked_one() {
        let all = || (0..60).chain(0..60).map(|frames| below(frames % 40)).collect::<Vec<_>>();
        let of_thread = std::thread::spawn(all).join().unwrap();
        for [known, walked] in all().into_iter().chain(of_thread) {
            assert_eq!(known, walked);
        }
    }
}

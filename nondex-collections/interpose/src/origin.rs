//! Callers of C functions. These have no `#[track_caller]`, so the stack identifies the call site.
//!
//! The return addresses inside of the executable, relative to its base, are the same in every run
//! of the same binary. Resolving their source lines takes milliseconds, and is left to the runs
//! that request it (`RunSpec::trace`).

use ::std::ffi::{c_int, c_void};
use ::std::io::Write;
use ::std::sync::atomic::{AtomicUsize, Ordering};

use nondex_core::context::stack;
use nondex_core::fork_lock::ForkLock;
use nondex_core::{Caller, Context, hash, hidden};

use crate::libc;
use crate::own;

/// Maximum number of frames that identify a caller.
pub(crate) const DEPTH: usize = 48;

/// Names of stacks, sorted by hash.
static NAMES: ForkLock<hidden::Vec<(u64, &'static str)>> = ForkLock::new(hidden::vec);

/// Returns the caller of an interposed function, named by its stack. Costs some microseconds. The
/// caller is empty in a program that is only observed, because it has no place in the project's
/// source.
pub fn caller() -> Caller {
    if !own::is_initialized() {
        return Caller { file: "", line: 0, column: 0 };
    }
    let stack = stack();
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
}

pub(super) fn after_fork() {
    NAMES.after_fork();
}

struct Walk {
    base: usize,
    end: usize,
    hash: u64,
    left: usize,
}

fn stack() -> u64 {
    let (base, end) = executable();
    let mut walk = Walk { base, end, hash: 0, left: DEPTH };
    // SAFETY: `frame` has the signature the unwinder expects, and `walk` outlives the call.
    unsafe { _Unwind_Backtrace(frame, (&raw mut walk).cast()) };
    walk.hash
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
    let ip = unsafe { _Unwind_GetIP(context) };
    if (walk.base..walk.end).contains(&ip) {
        walk.hash = hash::mix(walk.hash ^ (ip - walk.base) as u64);
    }
    walk.left -= 1;
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
    pub(crate) fn _Unwind_FindEnclosingFunction(place: *const c_void) -> *const c_void;
}

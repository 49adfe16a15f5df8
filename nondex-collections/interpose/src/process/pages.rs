//! Records which statics a test uses, whether it leaves them changed or not. Their pages are made
//! inaccessible, so each access faults. The fault reports the address. The handler opens the page
//! for that one instruction, and closes it again afterwards.
//!
//! This works on x86-64 only, whose trap flag stops a thread after one instruction. Unlike the
//! debug registers, it needs no permission to trace a process and covers all statics at once. It
//! does not show the source lines.

use ::std::ffi::{c_int, c_void};
use ::std::mem;
use ::std::ptr;
use ::std::sync::OnceLock;
use ::std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use nondex_core::context::system::{Access, Manner};
use nondex_core::{StateId, StateKind};

use super::image::Image;
use crate::{PAGE, libc};

/// Maximum number of faults of a test, a few microseconds each. After that the pages stay open, and
/// the test counts as using any static.
const MAX_FAULTS: usize = 20_000;

/// Maximum number of different accesses that are kept; a power of two.
const MAX_SEEN: usize = 4096;

/// Maximum number of pages that are closed, from the first one on.
const MAX_PAGES: usize = 64 * 64;

/// Maximum number of parts in which the statics lie: one or two segments, without this module's
/// pages.
const MAX_PARTS: usize = 8;

/// Data of the handlers. It has separate pages, which stay accessible.
#[repr(C, align(4096))]
struct Pages {
    is_closed: AtomicBool,
    /// Start and end of each closed part.
    parts: [[AtomicUsize; 2]; MAX_PARTS],
    /// Pages that are open for one instruction, as bits counted from the start of the first part.
    open: [AtomicU64; MAX_PAGES / 64],
    faults: AtomicUsize,
    /// Hash table of the different accesses: an address, with a lowest bit that states whether it
    /// is a write; 0 is no access.
    seen: [AtomicUsize; MAX_SEEN],
}

static PAGES: Pages = Pages {
    is_closed: AtomicBool::new(false),
    parts: [const { [const { AtomicUsize::new(0) }; 2] }; MAX_PARTS],
    open: [const { AtomicU64::new(0) }; MAX_PAGES / 64],
    faults: AtomicUsize::new(0),
    seen: [const { AtomicUsize::new(0) }; MAX_SEEN],
};

/// Whether a test's accesses are to be recorded.
static IS_REQUESTED: AtomicBool = AtomicBool::new(false);

/// Previous handler of the fault.
static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();

/// Closes the pages of the executable's statics, if the platform supports it.
pub(super) fn begin() {
    IS_REQUESTED.store(true, Ordering::Relaxed);
    if !cfg!(target_arch = "x86_64") || PREVIOUS.get().is_some() {
        return;
    }
    let start = ptr::from_ref(&PAGES).addr();
    let own = [start, start + size_of::<Pages>()];
    let mut parts = Vec::new();
    for [start, end] in Image::of_process().written() {
        parts.extend([[start, end.min(own[0])], [start.max(own[1]), end]]);
    }
    parts.retain(|[start, end]| start < end);
    parts.sort_unstable();
    let first = parts.first().map_or(0, |[start, _]| *start);
    let last = first + MAX_PAGES * PAGE;
    for (place, part) in PAGES.parts.iter().zip(parts) {
        for (place, address) in place.iter().zip(part) {
            place.store(address.min(last), Ordering::Relaxed);
        }
    }
    let handle = |signal, handler: Handler| {
        let action = libc::sigaction {
            sa_sigaction: handler as usize,
            sa_flags: libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART,
            // SAFETY: no signals, and no function.
            ..unsafe { mem::zeroed() }
        };
        // SAFETY: the handler stays, and the previous action is written to a local variable.
        unsafe {
            let mut previous = mem::zeroed();
            let result = libc::sigaction(signal, &raw const action, &raw mut previous);
            (result == 0).then_some(previous)
        }
    };
    let (Some(_), Some(previous)) =
        (handle(libc::SIGTRAP, stepped), handle(libc::SIGSEGV, faulted))
    else {
        return;
    };
    let _ = PREVIOUS.set(previous);
    // Last, because from here on each access faults.
    PAGES.is_closed.store(true, Ordering::Release);
    PAGES.set_all(libc::PROT_NONE);
}

/// Opens the pages for good. Returns the accesses to statics, once for each byte that was read and
/// once for each that was written. An access without a name represents any static. The handlers
/// stay in place, because a thread may be about to enter one.
pub(super) fn end() -> Vec<Access> {
    if !IS_REQUESTED.swap(false, Ordering::Relaxed) {
        return Vec::new();
    }
    let is_complete = PAGES.is_closed.swap(false, Ordering::AcqRel);
    PAGES.set_all(libc::PROT_READ | libc::PROT_WRITE);
    let accesses = PAGES.seen.iter().map(|seen| seen.load(Ordering::Relaxed));
    let mut seen: Vec<usize> = accesses.filter(|access| *access != 0).collect();
    seen.sort_unstable();
    let base = Image::of_process().base;
    let accesses = seen.iter().map(|seen| {
        let name = StateId::name_of_bytes((seen >> 1) - base, 1);
        access(name, seen & 1 == 1)
    });
    let is_complete = is_complete && seen.len() < MAX_SEEN / 2;
    let any = (!is_complete).then(|| access(String::new(), false));
    accesses.chain(any).collect()
}

fn access(name: String, writes: bool) -> Access {
    let kind = StateKind::Static;
    Access {
        state: StateId { kind, name },
        manner: Manner { writes, own: true, interrupted: false },
    }
}

impl Pages {
    fn parts(&self) -> impl Iterator<Item = [usize; 2]> {
        let parts = self.parts.iter();
        parts.map(|[start, end]| [start, end].map(|place| place.load(Ordering::Relaxed)))
    }

    fn has(&self, address: usize) -> bool {
        self.parts().any(|[start, end]| start <= address && address < end)
    }

    fn set_all(&self, access: c_int) {
        for [start, end] in self.parts() {
            set(start, end - start, access);
        }
    }

    fn first(&self) -> usize {
        self.parts[0][0].load(Ordering::Relaxed)
    }

    /// Records an access, if there is room for it.
    fn note(&self, address: usize, writes: bool) {
        let access = address << 1 | usize::from(writes);
        let hash = access.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        for probe in 0..MAX_SEEN / 2 {
            let place = &self.seen[(hash + probe) % MAX_SEEN];
            let known = place.compare_exchange(0, access, Ordering::Relaxed, Ordering::Relaxed);
            if known.is_ok() || known == Err(access) {
                return;
            }
        }
    }

    /// Opens the page with this address until the thread has made one step.
    fn open(&self, address: usize) {
        let page = (address - self.first()) / PAGE;
        self.open[page / 64].fetch_or(1 << (page % 64), Ordering::Relaxed);
        set(address / PAGE * PAGE, PAGE, libc::PROT_READ | libc::PROT_WRITE);
    }

    /// Closes the pages that were opened.
    fn close(&self) {
        for (number, pages) in self.open.iter().enumerate() {
            let mut pages = pages.swap(0, Ordering::Relaxed);
            while pages != 0 {
                let page = number * 64 + pages.trailing_zeros() as usize;
                pages &= pages - 1;
                set(self.first() + page * PAGE, PAGE, libc::PROT_NONE);
            }
        }
    }
}

type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// Flag that stops a thread after its next instruction.
const TRAP: u64 = 1 << 8;

/// Bit in the code of a fault that marks a write.
const WRITES: u64 = 1 << 1;

/// Indices of words in a handler's context, as in `ucontext.h`: the flags, and the fault's code.
const FLAGS: usize = 5 + 17;
const CODE: usize = 5 + 19;

/// Handles an access to a closed page. The handler uses nothing that may be on such a page, and
/// calls no function that does, because the fault would recur in it.
unsafe extern "C" fn faulted(
    _signal: c_int,
    information: *mut libc::siginfo_t,
    context: *mut c_void,
) {
    /// Code of a fault on an existing page whose access is forbidden.
    const SEGV_ACCERR: c_int = 2;
    // SAFETY: the system passes valid pointers.
    let (code, address, context) = unsafe {
        let information = &*information;
        (information.si_code, information.si_addr().addr(), context.cast::<u64>())
    };
    // The program's own fault is left to the previous handler.
    if code != SEGV_ACCERR || !PAGES.has(address) {
        PAGES.set_all(libc::PROT_READ | libc::PROT_WRITE);
        PAGES.is_closed.store(false, Ordering::Relaxed);
        if let Some(previous) = PREVIOUS.get() {
            // SAFETY: the action was in place before. The fault recurs under it.
            unsafe { libc::sigaction(libc::SIGSEGV, previous, ptr::null_mut()) };
        }
        return;
    }
    if !PAGES.is_closed.load(Ordering::Acquire) {
        // Another thread has closed the page after all were opened.
        set(address / PAGE * PAGE, PAGE, libc::PROT_READ | libc::PROT_WRITE);
        return;
    }
    // SAFETY: the context has this number of words.
    let is_write = unsafe { *context.add(CODE) } & WRITES != 0;
    PAGES.note(address, is_write);
    if PAGES.faults.fetch_add(1, Ordering::Relaxed) + 1 >= MAX_FAULTS {
        PAGES.is_closed.store(false, Ordering::Release);
        PAGES.set_all(libc::PROT_READ | libc::PROT_WRITE);
        return;
    }
    PAGES.open(address);
    // SAFETY: as above.
    unsafe { *context.add(FLAGS) |= TRAP };
}

/// Closes the page again after the instruction that made such an access.
unsafe extern "C" fn stepped(
    _signal: c_int,
    _information: *mut libc::siginfo_t,
    context: *mut c_void,
) {
    // SAFETY: the context has this number of words.
    unsafe { *context.cast::<u64>().add(FLAGS) &= !TRAP };
    if PAGES.is_closed.load(Ordering::Acquire) {
        PAGES.close();
    }
}

/// Sets the access rights of whole pages, `length` bytes from `start` on. It makes the system call
/// directly, because libc's function is interposed here, and uses statics.
fn set(start: usize, length: usize, access: c_int) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the pages are the executable's statics, and the handlers deal with each forbidden
    // access.
    unsafe {
        const MPROTECT: usize = 10;
        ::std::arch::asm!(
            "syscall",
            inlateout("rax") MPROTECT => _,
            in("rdi") start,
            in("rsi") length,
            in("rdx") access,
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (start, length, access);
}

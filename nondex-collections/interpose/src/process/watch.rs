//! Watches accesses to a few bytes by a thread and those that it starts, with the processor's debug
//! registers. A short-lived child sets these through `ptrace`, and they stay set after it has
//! detached. Each access raises `SIGTRAP` in its thread, after the instruction.
//!
//! This works on x86-64 only, and only where `ptrace` is allowed.

#![cfg_attr(
    not(test),
    warn(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)
)]

use ::std::cell::{Cell, RefCell};
use ::std::ffi::{c_int, c_long, c_uint, c_void};
use ::std::mem::MaybeUninit;
use ::std::ops::Deref;
use ::std::ptr;
use ::std::sync::atomic::{AtomicU64, Ordering};

use crate::{interrupt, libc};
use nondex_core::context::stack::Stack;
use nondex_core::context::system::{Access, Manner, Tell};
use nondex_core::fork_lock::ForkLock;
use nondex_core::hidden::{self, Text};
use nondex_core::{StateId, StateKind};

use super::children;
use super::fork::bare_fork;
use super::image::Image;
use super::tracer::AnyTracer;

/// Number of debug registers for addresses.
const REGISTERS: usize = 4;

/// Maximum numbers of accesses that are kept: of the test's own thread, and of all its other
/// threads.
const MAX_ACCESSES: [usize; 2] = [64, 16];

/// Offset of the debug registers in what `ptrace` calls the user area.
const DEBUG_REGISTERS: usize = 848;

/// Number of the control register, which enables the others.
const CONTROL: usize = 7;

/// Bytes that one register watches: 1, 2, 4 or 8, aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Watched {
    address: usize,
    length: usize,
}

/// Bytes that the registers of a thread watch. The type needs no destructor, because registering
/// one for a thread-local variable would allocate memory.
#[derive(Clone, Copy, Debug)]
struct Parts {
    watched: [Watched; REGISTERS],
    len: usize,
}

impl Parts {
    const fn none() -> Self {
        let nothing = Watched { address: 0, length: 0 };
        Parts { watched: [nothing; REGISTERS], len: 0 }
    }
}

impl Deref for Parts {
    type Target = [Watched];

    fn deref(&self) -> &[Watched] {
        &self.watched[..self.len]
    }
}

/// Last known values of the watched bytes, whichever thread read them.
static VALUES: [AtomicU64; REGISTERS] = [const { AtomicU64::new(0) }; REGISTERS];

/// Reads these bytes, and returns whether any value differs from the last known one.
fn is_changed(watched: &[Watched]) -> bool {
    let now = watched.iter().map(Watched::now).zip(&VALUES);
    now.fold(false, |changed, (now, known)| changed | (known.swap(now, Ordering::Relaxed) != now))
}

/// Reads the bytes that this thread watches, and returns whether they have changed; `None` during
/// such a reading.
fn look() -> Option<bool> {
    let looked = WATCHED.try_with(|watched| {
        let watched = watched.try_borrow_mut().ok()?;
        Some(is_changed(&watched))
    });
    looked.ok().flatten()
}

/// Watched state of this process, and the recorded accesses.
struct Watch {
    state: Option<StateId>,
    accesses: hidden::Vec<Manner>,
    tell: Option<Tell>,
    /// Previous handler of the signal. It is dropped once a second thread watches, which may
    /// outlive the test and still need the present handler.
    before: Option<libc::sigaction>,
}

impl Watch {
    const fn nothing() -> Self {
        Watch { state: None, accesses: hidden::vec(), tell: None, before: None }
    }

    /// Returns whether there is room for an access. If a thread is to be interrupted, only the
    /// access there counts, and the next one after it.
    fn is_kept(&self, own: bool, interrupted: bool, is_next: bool) -> bool {
        let mut room = MAX_ACCESSES[usize::from(!own)];
        if interrupt::is_interrupting() {
            room = usize::from(interrupted) + 2 * usize::from(is_next);
        }
        self.accesses.iter().filter(|seen| seen.own == own).count() < room
    }
}

static WATCH: ForkLock<Watch> = ForkLock::new(Watch::nothing);

thread_local! {
    /// Bytes that this thread watches.
    static WATCHED: RefCell<Parts> = const { RefCell::new(Parts::none()) };

    /// Whether this is the own thread of the test whose accesses are kept.
    static IS_OF_TEST: Cell<bool> = const { Cell::new(false) };

    /// Whether an access of this thread is being recorded.
    static IS_NOTING: Cell<bool> = const { Cell::new(false) };
}

impl Watched {
    fn now(&self) -> u64 {
        let mut bytes = [0; 8];
        // SAFETY: the bytes are in the executable's segments.
        unsafe {
            let from = ptr::with_exposed_provenance::<u8>(self.address);
            ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), self.length);
        }
        u64::from_ne_bytes(bytes)
    }
}

/// Splits the bytes from `start` on into parts that fit a register each. Drops the rest if there
/// are more parts than registers.
fn parts(start: usize, length: usize) -> Parts {
    let (mut at, end) = (start, start.saturating_add(length));
    let mut parts = Parts::none();
    while at < end && parts.len < REGISTERS {
        let fits = |length: &usize| at % *length == 0 && at + length <= end;
        let length = [8, 4, 2, 1].into_iter().find(fits).unwrap_or(1);
        parts.watched[parts.len] = Watched { address: at, length };
        parts.len += 1;
        at += length;
    }
    parts
}

/// Returns the value of the control register for these parts.
fn control(parts: &[Watched]) -> usize {
    let of_part = |(index, part): (usize, &Watched)| {
        let length = match part.length {
            8 => 0b10,
            4 => 0b11,
            2 => 0b01,
            _ => 0b00,
        };
        // Enabled for this thread, for reads and writes, and the number of bytes.
        1 << (2 * index) | 0b11 << (16 + 4 * index) | length << (18 + 4 * index)
    };
    parts.iter().enumerate().map(of_part).fold(0, |all, one| all | one)
}

/// Watches the first of these states that is a static, for this thread. Returns whether that is
/// possible. `tell` is called with each access that is kept.
pub(super) fn begin(states: &[StateId], tell: Option<Tell>) -> bool {
    let bytes = |state: &&StateId| state.kind == StateKind::Static;
    let Some(state) = states.iter().find(bytes) else { return false };
    let Some((start, length)) = Image::of_process().place(state) else { return false };
    let watched = parts(start, length);
    // Stores the present values, with which later ones are compared.
    is_changed(&watched);
    let mut before = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: the action consists of zeros and a function of the kind that its flag states. The
    // previous one is written to a local variable.
    let result = unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        let handler: unsafe extern "C" fn(c_int, *mut c_void, *mut c_void) = trapped;
        action.sa_sigaction = handler as usize;
        // The handler reads the bytes, which is an access, too, and raises the signal again within
        // it.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_NODEFER;
        libc::sigaction(libc::SIGTRAP, &raw const action, before.as_mut_ptr())
    };
    if result != 0 {
        return false;
    }
    // SAFETY: it was written.
    let before = unsafe { before.assume_init() };
    if !set_registers(&watched) {
        // SAFETY: the action was in place.
        unsafe { libc::sigaction(libc::SIGTRAP, &raw const before, ptr::null_mut()) };
        return false;
    }
    WATCHED.set(watched);
    IS_OF_TEST.set(true);
    if let Some(mut watch) = WATCH.lock() {
        *watch = Watch {
            state: Some(state.clone()),
            accesses: hidden::vec(),
            tell,
            before: Some(before),
        };
    }
    true
}

/// Returns the bytes that a thread started by this one is to watch.
pub(crate) fn inherit() -> Option<Inherited> {
    let watched = WATCHED.with_borrow(|watched| *watched);
    if watched.is_empty() {
        return None;
    }
    let mut watch = WATCH.lock()?;
    // Bytes of other kinds have another address in each thread.
    let is_static = |state: &StateId| state.kind == StateKind::Static;
    watch.state.as_ref().filter(|state| is_static(state))?;
    watch.before = None;
    Some(Inherited(watched))
}

/// Makes this thread, which runs a test in the middle of another one, watch what that one watches.
pub(super) fn join() {
    let watched = WATCH.lock().and_then(|mut watch| {
        // This thread may outlive the other test, and then still needs the handler.
        watch.before = None;
        let state = watch.state.as_ref().filter(|state| state.kind == StateKind::Static)?;
        let (start, length) = Image::of_process().place(state)?;
        Some(parts(start, length))
    });
    if let Some(watched) = watched {
        Inherited(watched).enter();
    }
}

/// Bytes that a new thread is to watch.
pub(crate) struct Inherited(Parts);

impl Inherited {
    /// Sets up the new thread. Must be the first thing that it does.
    pub(crate) fn enter(self) {
        if set_registers(&self.0) {
            WATCHED.set(self.0);
        }
    }
}

/// Ends what [`begin`] began in this thread. Returns the accesses in the order in which they
/// happened.
#[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "asked by the harness")]
pub(super) fn end() -> Vec<Access> {
    if WATCHED.replace(Parts::none()).is_empty() {
        return Vec::new();
    }
    set_registers(&[]);
    let watch = WATCH.lock().map(|mut watch| ::std::mem::replace(&mut *watch, Watch::nothing()));
    let Some(Watch { state: Some(state), accesses, before, .. }) = watch else { return Vec::new() };
    if let Some(before) = before {
        // SAFETY: the action was in place.
        unsafe { libc::sigaction(libc::SIGTRAP, &raw const before, ptr::null_mut()) };
    }
    let access = |manner| Access { state: state.clone(), manner };
    accesses.into_iter().map(access).collect()
}

/// Handles an access, which may be in the middle of the program's allocator.
unsafe extern "C" fn trapped(_signal: c_int, _info: *mut c_void, _context: *mut c_void) {
    let _errno = crate::Errno::save();
    let _pause = nondex_core::context::pause();
    // Reading the bytes enters this handler again.
    let Some(writes) = look() else { return };
    if IS_NOTING.replace(true) {
        return;
    }
    let own = IS_OF_TEST.get();
    let (is_next, interrupted) = (interrupt::is_next(), interrupt::is_moment());
    let kept = WATCH.lock().and_then(|mut watch| {
        if !watch.is_kept(own, interrupted, is_next) {
            return None;
        }
        let manner = Manner { writes, own, interrupted };
        watch.accesses.push(manner);
        let state = watch.state.as_ref()?;
        Some((watch.tell?, state.kind, Text::from(&*state.name), manner))
    });
    if let Some((tell, kind, name, manner)) = kept {
        tell(kind, &name, manner, &Stack::capture());
    }
    IS_NOTING.set(false);
    if interrupted {
        interrupt::stop();
        // Changes by another test during the interruption do not belong to this one.
        look();
    }
}

/// Sets the debug registers of this thread, through a child that stops it for a moment. Returns
/// whether that was allowed.
fn set_registers(parts: &[Watched]) -> bool {
    if !cfg!(target_arch = "x86_64") {
        return false;
    }
    let control = control(parts);
    // SAFETY: the calls access no memory of this process. The child, whose parent may have several
    // threads, only makes system calls, and exits.
    unsafe {
        let thread = libc::syscall(libc::SYS_gettid) as libc::pid_t;
        let any = AnyTracer::allow();
        let child = bare_fork();
        if child == 0 {
            let done = set_registers_of(thread, parts, control);
            libc::_exit(c_int::from(!done));
        }
        let status = (child > 0).then(|| children::reap(child, 0));
        drop(any);
        matches!(status, Some(Some(Ok(0))))
    }
}

/// Sets the debug registers of another thread through `ptrace`.
///
/// # Safety
/// The calling process must be a child of the thread's.
unsafe fn set_registers_of(thread: libc::pid_t, parts: &[Watched], control: usize) -> bool {
    let ptrace = |request: c_uint, address: usize, data: usize| -> bool {
        // SAFETY: these requests take numbers.
        let result: c_long = unsafe { libc::ptrace(request, thread, address, data) };
        result == 0
    };
    let set = |register: usize, value| {
        ptrace(libc::PTRACE_POKEUSER, DEBUG_REGISTERS + 8 * register, value)
    };
    if !ptrace(libc::PTRACE_SEIZE, 0, 0) || !ptrace(libc::PTRACE_INTERRUPT, 0, 0) {
        return false;
    }
    let mut status = 0;
    // SAFETY: the status is written to a local variable.
    if unsafe { libc::waitpid(thread, &raw mut status, libc::__WALL) } != thread {
        return false;
    }
    // Disabled first, because a new address must not be combined with the old length.
    let mut done = set(CONTROL, 0);
    for (register, part) in parts.iter().enumerate() {
        done = done && set(register, part.address);
    }
    done = done && set(CONTROL, control);
    ptrace(libc::PTRACE_DETACH, 0, 0) && done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_watched_in_aligned_parts() {
        let places = |start, length| {
            let parts = parts(start, length);
            parts.iter().map(|part| (part.address, part.length)).collect::<Vec<_>>()
        };
        assert_eq!(places(16, 8), [(16, 8)]);
        assert_eq!(places(16, 1), [(16, 1)]);
        assert_eq!(places(17, 8), [(17, 1), (18, 2), (20, 4), (24, 1)]);
        assert_eq!(places(16, 100), [(16, 8), (24, 8), (32, 8), (40, 8)]);
        assert_eq!(places(16, 0), []);
    }

    #[test]
    fn the_control_register_says_how_each_part_is_watched() {
        assert_eq!(control(&parts(16, 8)), 0b1011 << 16 | 1);
        assert_eq!(control(&parts(16, 5)), 0b0011_1111 << 16 | 0b101);
        assert_eq!(control(&[]), 0);
    }
}

//! Interruptions: a thread stops at an access to watched state while another thread does something.

use ::std::cell::Cell;
use ::std::sync::atomic::{AtomicBool, Ordering};

use nondex_core::fork_lock::ForkLock;

use crate::own;

/// Function that runs at a stop: see
/// [`System::interrupt`](nondex_core::context::system::System::interrupt). Returns whether it must
/// be called again later.
type Interruption = fn() -> bool;

/// Whether a thread of this process was to be interrupted.
static IS_INTERRUPTING: AtomicBool = AtomicBool::new(false);

/// Whether an interruption was ever left unfinished.
static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// Action before a thread other than this one first accesses watched state.
static BEFORE: ForkLock<Option<Before>> = ForkLock::new(|| None);

/// Number of the thread that set the action, and the action.
type Before = (usize, fn());

/// Whether there is an action, so that most accesses need no lock.
static HAS_BEFORE: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Number of accesses of this thread before the one at which it stops, and the interruption
    /// there.
    static STOP: Cell<Option<(u64, Interruption)>> = const { Cell::new(None) };

    /// Unfinished interruption of this thread.
    static OPEN: Cell<Option<Interruption>> = const { Cell::new(None) };

    /// Whether the interruption has finished, and this thread has accessed nothing since.
    static IS_NEXT: Cell<bool> = const { Cell::new(false) };
}

/// Makes this thread stop at its access of this number.
pub(crate) fn begin(access: u64, interruption: Interruption) {
    IS_INTERRUPTING.store(true, Ordering::Relaxed);
    STOP.set(Some((access, interruption)));
}

/// Sets an action that runs before a thread other than this one first accesses watched state.
pub(crate) fn before_another(action: fn()) {
    if let Some(mut before) = BEFORE.lock() {
        *before = Some((own::number(), action));
        HAS_BEFORE.store(true, Ordering::Release);
    }
}

/// Runs the action for other threads, if there is one. Must be called before each access to watched
/// state.
pub(crate) fn about_to_access() {
    if !HAS_BEFORE.load(Ordering::Acquire) {
        return;
    }
    let own = own::number();
    let due = BEFORE.lock().and_then(|mut before| before.take_if(|(thread, _)| *thread != own));
    if let Some((_, action)) = due {
        HAS_BEFORE.store(false, Ordering::Release);
        action();
    }
}

/// Returns whether only the access counts at which a thread stops, and the next one.
pub(crate) fn is_interrupting() -> bool {
    IS_INTERRUPTING.load(Ordering::Relaxed)
}

/// Counts an access, and returns whether this thread must [stop] at it.
pub(crate) fn is_moment() -> bool {
    match STOP.get() {
        Some((0, _)) => true,
        Some((left, interruption)) => {
            STOP.set(Some((left - 1, interruption)));
            false
        }
        None => false,
    }
}

/// Counts an access, and returns whether it is the first one since the interruption has finished.
pub(crate) fn is_next() -> bool {
    IS_NEXT.take()
}

/// Runs the interruption of this thread.
pub(crate) fn stop() {
    if let Some((_, interruption)) = STOP.take() {
        run(interruption);
    }
}

/// Continues an unfinished interruption. Must be called where a thread may have let others run.
#[inline]
pub(crate) fn passed() {
    if IS_OPEN.load(Ordering::Relaxed) {
        if let Some(interruption) = OPEN.take() {
            run(interruption);
        }
    }
}

#[cold]
fn run(interruption: Interruption) {
    let _errno = crate::Errno::save();
    let is_open = interruption();
    OPEN.set(is_open.then_some(interruption));
    IS_NEXT.set(!is_open);
    if is_open {
        IS_OPEN.store(true, Ordering::Relaxed);
    }
}

//! Where a thread is stopped at an access to what it watches, while another thread does something.

use ::std::cell::Cell;
use ::std::sync::atomic::{AtomicBool, Ordering};

use nondex_core::fork_lock::ForkLock;

use crate::own;

/// What is done there: see [`System::interrupt`](nondex_core::context::system::System::interrupt).
type Interruption = fn() -> bool;

/// Whether a thread of this process was to be stopped.
static IS_INTERRUPTING: AtomicBool = AtomicBool::new(false);

/// Whether what is done there was ever left before it came to its end.
static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// What is done before another thread than this one first accesses what is watched.
static BEFORE: ForkLock<Option<Before>> = ForkLock::new(|| None);

/// It, and this thread.
type Before = (usize, fn());

/// Whether there is something, so that most accesses need not ask.
static HAS_BEFORE: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// How many accesses of this thread come before the one at which it stops, and what is done
    /// there.
    static STOP: Cell<Option<(u64, Interruption)>> = const { Cell::new(None) };

    /// What has begun there and not come to its end.
    static OPEN: Cell<Option<Interruption>> = const { Cell::new(None) };

    /// Whether it has come to its end, and this thread has accessed nothing since.
    static IS_NEXT: Cell<bool> = const { Cell::new(false) };
}

/// Stops this thread at its access of this number.
pub(crate) fn begin(access: u64, interruption: Interruption) {
    IS_INTERRUPTING.store(true, Ordering::Relaxed);
    STOP.set(Some((access, interruption)));
}

/// Does this before another thread than this one first accesses what is watched.
pub(crate) fn before_another(action: fn()) {
    if let Some(mut before) = BEFORE.lock() {
        *before = Some((own::number(), action));
        HAS_BEFORE.store(true, Ordering::Release);
    }
}

/// Called by a function that is about to access what is watched.
pub(crate) fn about_to_access() {
    if !HAS_BEFORE.load(Ordering::Acquire) {
        return;
    }
    let own = own::number();
    let before = BEFORE.lock();
    let before = before.and_then(|mut before| before.take_if(|(thread, _)| *thread != own));
    if let Some((_, action)) = before {
        HAS_BEFORE.store(false, Ordering::Release);
        action();
    }
}

/// Whether of all accesses that one counts at which a thread stops.
pub(crate) fn is_interrupting() -> bool {
    IS_INTERRUPTING.load(Ordering::Relaxed)
}

/// Called at each access. Whether this thread is to [stop](stop) at it.
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

/// Called at each access. Whether it is the first one since what was done there has come to its
/// end.
pub(crate) fn is_next() -> bool {
    IS_NEXT.take()
}

/// Stops this thread.
pub(crate) fn stop() {
    if let Some((_, interruption)) = STOP.take() {
        go_on(interruption);
    }
}

/// Called where a thread may have let others go on.
#[inline]
pub(crate) fn passed() {
    if IS_OPEN.load(Ordering::Relaxed) {
        if let Some(interruption) = OPEN.take() {
            go_on(interruption);
        }
    }
}

#[cold]
fn go_on(interruption: Interruption) {
    let _errno = crate::Errno::save();
    let is_open = interruption();
    OPEN.set(is_open.then_some(interruption));
    IS_NEXT.set(!is_open);
    if is_open {
        IS_OPEN.store(true, Ordering::Relaxed);
    }
}

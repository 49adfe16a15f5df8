//! Where a thread is stopped at an access to what it watches, while another thread does something.

use ::std::cell::Cell;
use ::std::sync::Mutex;
use ::std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What is done there: see [`System::interrupt`](nondex_core::context::system::System::interrupt).
type Meet = fn() -> bool;

static MEET: Mutex<Option<Meet>> = Mutex::new(None);

/// Whether what is done there has begun and not come to its end.
static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// How many accesses come before; `u64::MAX` when none is waited for.
static LEFT: AtomicU64 = AtomicU64::new(u64::MAX);

thread_local! {
    static IS_STOPPED_HERE: Cell<bool> = const { Cell::new(false) };
}

/// Stops this thread at its access of this number.
pub(crate) fn begin(access: u64, meet: Meet) {
    IS_STOPPED_HERE.set(true);
    if let Ok(mut known) = MEET.lock() {
        *known = Some(meet);
    }
    LEFT.store(access, Ordering::Relaxed);
}

/// Called at each access.
pub(crate) fn reached() {
    if LEFT.load(Ordering::Relaxed) == u64::MAX || !IS_STOPPED_HERE.get() {
        return;
    }
    // At 0 it becomes the largest number: no other access is waited for.
    if LEFT.fetch_sub(1, Ordering::Relaxed) == 0 {
        go_on();
    }
}

/// Called where a thread may have let others go on.
#[inline]
pub(crate) fn passed() {
    if IS_OPEN.load(Ordering::Relaxed) && IS_STOPPED_HERE.get() {
        go_on();
    }
}

#[cold]
fn go_on() {
    let _errno = crate::Errno::save();
    let meet = MEET.lock().ok().and_then(|meet| *meet);
    // What it does passes here, too.
    IS_OPEN.store(false, Ordering::Relaxed);
    let is_open = meet.is_some_and(|meet| meet());
    IS_OPEN.store(is_open, Ordering::Relaxed);
}

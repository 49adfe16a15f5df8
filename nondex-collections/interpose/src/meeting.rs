//! Where a thread is stopped at an access to what it watches, while another thread does something.

use ::std::cell::Cell;
use ::std::sync::atomic::{AtomicBool, Ordering};

/// What is done there: see [`System::interrupt`](nondex_core::context::system::System::interrupt).
type Meet = fn() -> bool;

/// Whether a thread of this process was to be stopped.
static IS_MEETING: AtomicBool = AtomicBool::new(false);

/// Whether what is done there was ever left before it came to its end.
static IS_OPEN: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// How many accesses of this thread come before the one at which it stops, and what is done there.
    static STOP: Cell<Option<(u64, Meet)>> = const { Cell::new(None) };

    /// What has begun there and not come to its end.
    static OPEN: Cell<Option<Meet>> = const { Cell::new(None) };
}

/// Stops this thread at its access of this number.
pub(crate) fn begin(access: u64, meet: Meet) {
    IS_MEETING.store(true, Ordering::Relaxed);
    STOP.set(Some((access, meet)));
}

/// Whether of all accesses that one counts at which a thread stops.
pub(crate) fn is_meeting() -> bool {
    IS_MEETING.load(Ordering::Relaxed)
}

/// Called at each access. Whether this thread is to [stop](stop) at it.
pub(crate) fn is_moment() -> bool {
    match STOP.get() {
        Some((0, _)) => true,
        Some((left, meet)) => {
            STOP.set(Some((left - 1, meet)));
            false
        }
        None => false,
    }
}

/// Stops this thread.
pub(crate) fn stop() {
    if let Some((_, meet)) = STOP.take() {
        go_on(meet);
    }
}

/// Called where a thread may have let others go on.
#[inline]
pub(crate) fn passed() {
    if IS_OPEN.load(Ordering::Relaxed)
        && let Some(meet) = OPEN.take()
    {
        go_on(meet);
    }
}

#[cold]
fn go_on(meet: Meet) {
    let _errno = crate::Errno::save();
    if meet() {
        OPEN.set(Some(meet));
        IS_OPEN.store(true, Ordering::Relaxed);
    }
}

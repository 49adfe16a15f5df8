//! The end of a thread, at which its choices are written.
//!
//! A destructor of a thread-local variable would notice the end, but registering one allocates with
//! C's `malloc`. Where functions of libc are interposed, a pthread key is created before `main`,
//! and its destructor ends the thread.

use std::cell::Cell;
use std::sync::OnceLock;

static KEEP: OnceLock<fn()> = OnceLock::new();

/// Registers a function that each thread which works for a test will call. It must ensure that the
/// thread calls [`end_thread`](super::end_thread) when it ends.
pub fn see(keep: fn()) {
    let _ = KEEP.set(keep);
}

/// Ensures that `end` is called when this thread, which works for a test, ends.
pub(super) fn keep(end: fn()) {
    if let Some(keep) = KEEP.get() {
        keep();
        return;
    }
    struct End(Cell<Option<fn()>>);
    impl Drop for End {
        fn drop(&mut self) {
            if let Some(end) = self.0.get() {
                end();
            }
        }
    }
    thread_local! {
        static END: End = const { End(Cell::new(None)) };
    }
    let _ = END.try_with(|kept| kept.0.set(Some(end)));
}

//! The end of a thread, when what it chose is written.
//!
//! A destructor of a thread-local variable would see it, but registering one takes memory from C's
//! `malloc`. Where functions of libc are interposed, a key of pthread is made before `main`
//! instead, and its destructor ends the thread.

use std::cell::Cell;
use std::sync::OnceLock;

static KEEP: OnceLock<fn()> = OnceLock::new();

/// Lets `keep` be called in each thread that works for a test. It must see to it that the thread
/// calls [`end_thread`](super::end_thread) when it ends.
pub fn see(keep: fn()) {
    let _ = KEEP.set(keep);
}

/// Sees to it that `end` is called when this thread ends, which works for a test.
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

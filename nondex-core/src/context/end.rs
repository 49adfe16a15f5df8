//! The end of a thread, when what it chose is written.
//!
//! A destructor of a thread-local variable would see it, but registering one takes memory from C's
//! `malloc`. Where functions of libc are interposed, a key of pthread is made before `main`
//! instead, and its destructor calls [`now`].

use std::sync::OnceLock;

use super::slot;

static KEEP: OnceLock<fn()> = OnceLock::new();

/// Lets `keep` be called in each thread that works for a test. It must see to it that the thread
/// calls [`now`] when it ends.
pub fn see(keep: fn()) {
    let _ = KEEP.set(keep);
}

/// Ends the thread that calls it.
pub fn now() {
    slot::end_thread();
}

/// Sees to it that this thread, which works for a test, calls [`now`] when it ends.
pub(super) fn keep() {
    if let Some(keep) = KEEP.get() {
        keep();
        return;
    }
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            now();
        }
    }
    thread_local! {
        static END: End = const { End };
    }
    let _ = END.try_with(|_| ());
}

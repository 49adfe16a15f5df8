//! Values of a thread that hold until a guard is dropped.

use ::std::cell::Cell;
use ::std::thread::LocalKey;

/// Sets `key` on this thread to `value` until the guard is dropped. The guard restores the value
/// before.
pub(super) fn set<T: Copy + 'static>(key: &'static LocalKey<Cell<T>>, value: T) -> impl Drop {
    struct Restore<T: Copy + 'static>(&'static LocalKey<Cell<T>>, T);
    impl<T: Copy + 'static> Drop for Restore<T> {
        fn drop(&mut self) {
            self.0.set(self.1);
        }
    }
    Restore(key, key.replace(value))
}

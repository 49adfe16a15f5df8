//! Mutexes whose value is used after a panic, too.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Access to the value of a mutex, also after a thread panicked while it held the lock.
pub trait Locked<T> {
    /// Waits for the lock.
    fn locked(&self) -> MutexGuard<'_, T>;

    /// Returns the value.
    fn unlocked(self) -> T;
}

impl<T> Locked<T> for Mutex<T> {
    fn locked(&self) -> MutexGuard<'_, T> {
        self.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unlocked(self) -> T {
        self.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

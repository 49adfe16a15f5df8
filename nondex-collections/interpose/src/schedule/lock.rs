//! The lock over the scheduler's shared state: held for moments, by the tool's code alone.

use ::std::cell::UnsafeCell;
use ::std::ops::{Deref, DerefMut};
use ::std::sync::atomic::{AtomicUsize, Ordering};

use super::kernel;

/// Lock that knows its owner, and that never waits in an interposed function.
pub(super) struct Lock<T> {
    owner: AtomicUsize,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached through a guard only, and there is one at a time.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    pub(super) const fn new(value: T) -> Self {
        Lock { owner: AtomicUsize::new(0), value: UnsafeCell::new(value) }
    }

    pub(super) fn lock(&self) -> Guard<'_, T> {
        /// Number of tries before the thread gives up the processor.
        const SPINS: u32 = 64;
        let mut tries = 0;
        loop {
            if let Some(guard) = self.try_lock() {
                return guard;
            }
            tries += 1;
            if tries < SPINS {
                ::std::hint::spin_loop();
            } else {
                // A filter of system calls may forbid `sched_yield`, but not a wait in a futex.
                kernel::rest();
            }
        }
    }

    /// Takes the lock, also in a signal handler. Returns `None` if this very thread holds it
    /// already.
    pub(super) fn lock_from_anywhere(&self) -> Option<Guard<'_, T>> {
        // Relaxed suffices, because only this thread stores its own number.
        let is_own = self.owner.load(Ordering::Relaxed) == kernel::own();
        (!is_own).then(|| self.lock())
    }

    fn try_lock(&self) -> Option<Guard<'_, T>> {
        let taken =
            self.owner.compare_exchange(0, kernel::own(), Ordering::Acquire, Ordering::Relaxed);
        // `then_some` would construct a guard after a failure, too, and release the lock with it.
        taken.is_ok().then(|| Guard(self))
    }
}

/// Access to what the lock protects; dropping it releases the lock.
pub(super) struct Guard<'a, T>(&'a Lock<T>);

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this is the only guard.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the guard is borrowed mutably.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        self.0.owner.store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_take_turns_however_many_try() {
        static LOCK: Lock<u64> = Lock::new(0);
        ::std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        let mut count = LOCK.lock();
                        let found = *count;
                        ::std::hint::spin_loop();
                        *count = found + 1;
                    }
                });
            }
        });
        assert_eq!(*LOCK.lock(), 80_000);
    }

    #[test]
    fn a_thread_that_has_it_is_not_left_to_wait_for_itself() {
        let lock = Lock::new(7);
        let guard = lock.lock();
        assert!(lock.lock_from_anywhere().is_none());
        drop(guard);
        assert_eq!(lock.lock_from_anywhere().map(|guard| *guard), Some(7));
    }
}

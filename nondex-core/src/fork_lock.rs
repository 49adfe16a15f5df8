//! A lock for data shared by interposed functions and the engine, which a `fork` cannot leave
//! locked forever.
//!
//! Interposed functions are called wherever libc's are. A child calls them between `fork` and
//! `exec`, when its other threads no longer exist. A signal handler calls them in the middle of
//! another call, and so does an allocator that code of this tool uses. The lock therefore records
//! its owner. An owner in another process held the lock at a `fork`. The lock is then taken over
//! and its data initialised anew, because it may be half modified. A thread that already holds the
//! lock is refused, so that it does not wait for itself.
//!
//! Hold the lock only briefly: call no user code, and nothing that blocks. A thread that waits for
//! the lock calls no interposed function: see [`wait_by`].

#![expect(unsafe_code, reason = "a lock gives out what it protects")]

use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use crate::process_number;

/// A lock that survives `fork`; see the [module](self).
pub struct ForkLock<T> {
    /// Process and thread of the owner; 0 if the lock is free.
    owner: AtomicU64,
    value: UnsafeCell<Option<T>>,
    new: fn() -> T,
    is_taken_for_fork: AtomicBool,
}

// SAFETY: the value is reached through a guard only, and there is one guard at a time in a process.
unsafe impl<T: Send> Sync for ForkLock<T> {}

const FREE: u64 = 0;

/// Number of immediate tries, and of further tries that yield the processor, before a waiting
/// thread sleeps between tries.
const SPINS: u32 = 64;
const YIELDS: u32 = 256;

/// Maximum number of tries of [`ForkLock::before_fork`].
const ATTEMPTS: u32 = 2000;

/// Returns the identity of this thread in this process, which differs from [`FREE`].
fn own() -> u64 {
    static THREADS: AtomicU32 = AtomicU32::new(0);
    thread_local! {
        static THREAD: Cell<u32> = const { Cell::new(0) };
    }
    let mut thread = THREAD.get();
    if thread == 0 {
        thread = THREADS.fetch_add(1, Ordering::Relaxed) + 1;
        THREAD.set(thread);
    }
    u64::from(process_number::get()) << 32 | u64::from(thread)
}

/// Function by which a thread lets other threads run, or waits for this long.
pub type Wait = fn(Option<Duration>);

static WAIT: OnceLock<Wait> = OnceLock::new();

/// Registers the function by which threads wait. Where std's functions lead to interposed ones,
/// those would be operations of the test, and the time of a sleep virtual.
pub fn wait_by(wait: Wait) {
    let _ = WAIT.set(wait);
}

fn wait(time: Option<Duration>) {
    match (WAIT.get(), time) {
        (Some(wait), time) => wait(time),
        (None, Some(time)) => std::thread::sleep(time),
        (None, None) => std::thread::yield_now(),
    }
}

const fn process_of(owner: u64) -> u64 {
    owner >> 32
}

impl<T> ForkLock<T> {
    /// Creates a lock over a value that `new` creates at the first use.
    pub const fn new(new: fn() -> T) -> Self {
        ForkLock {
            owner: AtomicU64::new(FREE),
            value: UnsafeCell::new(None),
            new,
            is_taken_for_fork: AtomicBool::new(false),
        }
    }

    /// Waits for the lock. Returns `None` if this very thread holds it.
    pub fn lock(&self) -> Option<ForkGuard<'_, T>> {
        let mut tries = 0;
        loop {
            match self.try_take() {
                Take::Taken(guard) => return Some(guard),
                Take::Own => return None,
                Take::Busy => {}
            }
            tries += 1;
            if tries < SPINS {
                std::hint::spin_loop();
            } else if tries < SPINS + YIELDS {
                wait(None);
            } else {
                wait(Some(Duration::from_micros(50)));
            }
        }
    }

    fn try_take(&self) -> Take<'_, T> {
        let own = own();
        let take = |from| {
            let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
            self.owner.compare_exchange(from, own, success, failure)
        };
        let owner = match take(FREE) {
            Ok(_) => FREE,
            Err(owner) if owner == own => return Take::Own,
            Err(owner) if process_of(owner) == process_of(own) => return Take::Busy,
            // The owner is a thread of another process, so the lock was held at a `fork`.
            Err(owner) => match take(owner) {
                Ok(_) => owner,
                Err(_) => return Take::Busy,
            },
        };
        // SAFETY: this thread holds the lock. A value whose lock was held at a `fork` may be half
        // modified, so it is overwritten without being dropped.
        unsafe {
            let value = self.value.get();
            if owner != FREE || (*value).is_none() {
                value.write(Some((self.new)()));
            }
        }
        Take::Taken(ForkGuard { lock: self, of_this_thread: PhantomData })
    }

    /// Takes the lock for a `fork` by this thread, so that the child finds it free and its data
    /// consistent. Gives up after a while, because the owner may be waiting for a lock that the
    /// `fork` already holds.
    pub fn before_fork(&self) {
        for _ in 0..ATTEMPTS {
            match self.try_take() {
                Take::Taken(guard) => {
                    std::mem::forget(guard);
                    self.is_taken_for_fork.store(true, Ordering::Relaxed);
                    return;
                }
                Take::Own => return,
                Take::Busy => wait(None),
            }
        }
    }

    /// Releases what [`before_fork`](ForkLock::before_fork) took, in the parent and in the child.
    pub fn after_fork(&self) {
        if self.is_taken_for_fork.swap(false, Ordering::Relaxed) {
            self.owner.store(FREE, Ordering::Release);
        }
    }
}

enum Take<'a, T> {
    Taken(ForkGuard<'a, T>),
    /// This thread holds the lock.
    Own,
    /// Another thread holds the lock.
    Busy,
}

impl<T> fmt::Debug for ForkLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForkLock").finish_non_exhaustive()
    }
}

/// Access to the data of a [`ForkLock`], until it is dropped.
pub struct ForkGuard<'a, T> {
    lock: &'a ForkLock<T>,
    of_this_thread: PhantomData<*const T>,
}

impl<T> fmt::Debug for ForkGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForkGuard").finish_non_exhaustive()
    }
}

impl<T> Deref for ForkGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this is the only guard, and `try_take` ensures that there is a value.
        unsafe { (*self.lock.value.get()).as_ref().unwrap_unchecked() }
    }
}

impl<T> DerefMut for ForkGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the guard is borrowed mutably.
        unsafe { (*self.lock.value.get()).as_mut().unwrap_unchecked() }
    }
}

impl<T> Drop for ForkGuard<'_, T> {
    fn drop(&mut self) {
        self.lock.owner.store(FREE, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_take_turns() {
        static LOCK: ForkLock<u64> = ForkLock::new(u64::default);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        *LOCK.lock().unwrap() += 1;
                    }
                });
            }
        });
        assert_eq!(*LOCK.lock().unwrap(), 4000);
    }

    #[test]
    fn a_thread_does_not_wait_for_itself() {
        let lock = ForkLock::new(|| 7);
        let guard = lock.lock().unwrap();
        assert!(lock.lock().is_none());
        drop(guard);
        assert_eq!(*lock.lock().unwrap(), 7);
    }

    #[test]
    fn what_another_process_left_locked_is_taken_over_as_new() {
        let lock = ForkLock::new(|| 7);
        let mut guard = lock.lock().unwrap();
        *guard = 8;
        std::mem::forget(guard);
        // Simulates a forked child: the owner is a thread of the parent.
        lock.owner.fetch_xor(1 << 32, Ordering::Relaxed);
        assert_eq!(*lock.lock().unwrap(), 7);
    }

    #[test]
    fn what_was_taken_for_a_fork_is_free_and_whole_in_parent_and_child() {
        let lock = ForkLock::new(|| 7);
        *lock.lock().unwrap() = 8;
        lock.before_fork();
        assert!(lock.lock().is_none());
        lock.after_fork();
        assert_eq!(*lock.lock().unwrap(), 8);
    }
}

//! A lock for what interposed functions and the engine share, which a `fork` cannot leave locked
//! for ever.
//!
//! Interposed functions are called wherever libc's are. A child calls them between `fork` and
//! `exec`, when its other threads are no more. A signal handler calls them in the middle of another
//! call, and so does an allocator that our own code asks for memory. So the lock knows who has it.
//! One that a thread of another process has was held at a `fork`: it is taken over, with what it
//! protects as new, because that may be half done. The thread that has it already is refused, not
//! left to wait for itself.
//!
//! Keep it for moments: call nothing that the user wrote, and nothing that waits, while it is held.
//! A thread that waits for it calls no function that is interposed: see [`wait_by`].

#![expect(unsafe_code, reason = "a lock gives out what it protects")]

use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use crate::process_number;

/// See the [module](self).
pub struct ForkLock<T> {
    /// The process and the thread that have it, 0 for nobody.
    owner: AtomicU64,
    value: UnsafeCell<Option<T>>,
    new: fn() -> T,
    is_taken_for_fork: AtomicBool,
}

// SAFETY: the value is reached through a guard only, and there is one guard at a time in a process.
unsafe impl<T: Send> Sync for ForkLock<T> {}

const FREE: u64 = 0;

/// How often the lock is tried at once, and then with the processor given away, before a waiter
/// sleeps between tries.
const SPINS: u32 = 64;
const YIELDS: u32 = 256;

/// How often [`ForkLock::before_fork`] tries.
const ATTEMPTS: u32 = 2000;

/// This thread in this process, different from [`FREE`].
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

/// How a thread waits a little: for other threads to run, or for this long.
pub type Wait = fn(Option<Duration>);

static WAIT: OnceLock<Wait> = OnceLock::new();

/// Lets threads wait by this function, where those of std lead to what is interposed: there they
/// would be operations of the test, and the time of a sleep virtual.
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
    /// A lock over what `new` makes, when it is first asked for.
    pub const fn new(new: fn() -> T) -> Self {
        ForkLock {
            owner: AtomicU64::new(FREE),
            value: UnsafeCell::new(None),
            new,
            is_taken_for_fork: AtomicBool::new(false),
        }
    }

    /// Waits for what it protects; `None` if this very thread has it.
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
            // Held at a fork.
            Err(owner) => match take(owner) {
                Ok(_) => owner,
                Err(_) => return Take::Busy,
            },
        };
        // SAFETY: the lock is ours. What was held at a fork may be half done, so it is not even
        // dropped.
        unsafe {
            let value = self.value.get();
            if owner != FREE || (*value).is_none() {
                value.write(Some((self.new)()));
            }
        }
        Take::Taken(ForkGuard { lock: self, of_this_thread: PhantomData })
    }

    /// Takes the lock for a `fork` by this thread, so that the child finds it free and whole. Gives
    /// up after a while: who has it may wait for what the `fork` has locked already.
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

    /// Gives back what [`before_fork`](ForkLock::before_fork) took, in the parent and in the child.
    pub fn after_fork(&self) {
        if self.is_taken_for_fork.swap(false, Ordering::Relaxed) {
            self.owner.store(FREE, Ordering::Release);
        }
    }
}

enum Take<'a, T> {
    Taken(ForkGuard<'a, T>),
    /// This thread has it.
    Own,
    /// Another thread has it.
    Busy,
}

impl<T> fmt::Debug for ForkLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForkLock").finish_non_exhaustive()
    }
}

/// Access to what a [`ForkLock`] protects, until it is dropped.
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
        // SAFETY: this is the only guard, and who takes the lock sees to it that there is a value.
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
        // As a forked child finds it: the owner is a thread of its parent.
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

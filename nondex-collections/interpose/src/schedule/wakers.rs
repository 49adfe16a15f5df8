//! Possible wakers of a waiting thread other than the scheduled threads. If there are none, it is a
//! deadlock when all threads wait. It is a livelock when those that do not wait spin on places that
//! none of them changes.
//!
//! Other modules know of wakers of threads that wait for descriptors or a child. This module finds
//! the remaining ones. A signal handler may be run by a signal from any process. A thread may not
//! have been started through this library. Another process may use a lock of C in memory that it
//! shares.

use ::std::cell::Cell;
use ::std::ptr;
use ::std::sync::atomic::{AtomicU32, Ordering};

use nondex_core::process_number;

use super::lists::List;
use super::real_time::is_any_outside;
use super::shared::Shared;
use super::thread::{Place, Ref, State, Woken};
use super::{Operation, filter, kernel};
use crate::libc;

/// Signals that only the thread's own actions cause, and those that the C library reserves for
/// itself.
const NOT_FROM_OTHERS: [libc::c_int; 6] =
    [libc::SIGILL, libc::SIGBUS, libc::SIGFPE, libc::SIGSEGV, 32, 33];

/// State of the harness's own thread. The thread may hold a lock of the test's allocator until it
/// waits for the test's thread.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Harness {
    /// It waits for another thread.
    Waits,
    /// It waits for something else.
    Sleeps,
    Runs,
}

impl Shared {
    /// Returns whether the running thread and all ready ones have spun for this number of looks,
    /// and nothing else could change what they look at.
    pub(super) fn is_livelock(&mut self, me: Ref, looks: u32) -> bool {
        if !self.all_spin(me, looks)
            || is_any_outside()
            || self.timers.first().is_some()
            || !self.polls.is_empty()
        {
            return false;
        }
        self.has_other_wakers = self.has_other_wakers
            || filter::is_there()
            || self.may_be_woken()
            || sees_shared_memory(me, &self.ready);
        !self.has_other_wakers && self.harness() == Harness::Waits
    }

    /// Returns whether the running thread and all ready ones have looked this often since a thread
    /// that does something else ran. Their states must have recurred meanwhile.
    fn all_spin(&self, me: Ref, looks: u32) -> bool {
        /// Number of looks from which on it is checked which threads ran meanwhile.
        const FEW: u32 = 1 << 17;
        let mut all = ::std::iter::once(me).chain(self.ready.iter());
        all.all(|thread| {
            if thread.idle_looks() < FEW {
                return false;
            }
            if thread.looked_since.replace(self.blocked) != self.blocked {
                // Another thread may have changed what this one looks at, so its looks count from
                // here.
                thread.idle.set(0);
            }
            thread.idle_looks() >= looks && thread.states.get().recurs()
        })
    }

    /// Iterates over all threads, including the places of ended ones, which new threads may take.
    pub(super) fn threads(&self) -> impl Iterator<Item = Ref> {
        let ended = self.ended.iter().chain(&self.free);
        self.alive.iter().chain(ended).copied()
    }

    /// Returns whether anything other than these threads could wake one of them.
    pub(super) fn may_be_woken(&self) -> bool {
        let is_known = |number| self.threads().any(|thread| thread.number.get() == number);
        may_wake(self.alive.iter().copied(), is_known)
    }

    /// Returns the state of the harness's own thread, which is the process's first.
    pub(super) fn harness(&self) -> Harness {
        let first = first_thread();
        let sleeps = || kernel::sleeps(first) == Some(true);
        if self.threads().any(|thread| thread.number.get() == first) {
            return Harness::Waits;
        }
        match kernel::waits_in_futex(first) {
            Some(true) => Harness::Waits,
            _ if !sleeps() => Harness::Runs,
            None => Harness::Waits,
            Some(false) => Harness::Sleeps,
        }
    }

    /// Wakes a thread whose futex was changed without a wake-up that was observed. Returns whether
    /// there was one.
    pub(super) fn wake_unobserved(&mut self) -> bool {
        let has_changed = |thread: &&Ref| {
            let address = thread.address.get();
            // SAFETY: the thread waits there, and passed a futex.
            let futex = || unsafe { &*ptr::with_exposed_provenance::<AtomicU32>(address) };
            thread.state.get() == State::Blocked
                && thread.operation.get() == Operation::FutexWait
                && thread.place.get() == Place::Address
                && futex().load(Ordering::SeqCst) != thread.expected.get()
        };
        let changed = self.alive.iter().find(has_changed).copied();
        if self.has_other_wakers {
            if let Some(thread) = changed {
                self.make_ready(thread, Woken::Done);
                return true;
            }
        }
        false
    }
}

/// Returns whether anything could wake one of these threads, all of which wait. `known` states
/// whether a thread of the process is, or was, one of the test's.
fn may_wake(waiting: impl Iterator<Item = Ref>, known: impl Fn(i32) -> bool) -> bool {
    (1..=64).any(|signal| !NOT_FROM_OTHERS.contains(&signal) && kernel::is_handled(signal))
        || has_other_thread(known)
        || shares_locks(waiting)
}

/// Returns whether the process has an unknown thread other than the harness's, its first. Also
/// returns true if that cannot be determined.
fn has_other_thread(known: impl Fn(i32) -> bool) -> bool {
    /// Maximum number of times that the list is read.
    const READINGS: usize = 64;
    let first = first_thread();
    let mut before = None;
    for _ in 0..READINGS {
        let mut threads = 0;
        let are_known = kernel::each_number(c"/proc/self/task", |number| {
            threads += 1;
            number == first || known(number)
        });
        if !are_known {
            return true;
        }
        // The system's list is truncated if a thread ends while it is read, so two readings must
        // agree.
        if before.replace(threads) == Some(threads) {
            return false;
        }
    }
    true
}

/// Returns the number of the process's first thread, which equals the process's own.
fn first_thread() -> i32 {
    process_number::of_system() as i32
}

/// Returns whether one of these threads waits for a lock of C in memory that other processes may
/// share. Also returns true if that cannot be determined.
fn shares_locks(waiting: impl Iterator<Item = Ref>) -> bool {
    let mut locks = waiting.filter(|thread| thread.operation.get() == Operation::Pthread);
    locks.any(|thread| is_shared(thread.address.get()) != Some(false))
}

/// Returns whether one of these spinning threads looks at memory that other processes may share.
fn sees_shared_memory(me: Ref, others: &List) -> bool {
    let threads = ::std::iter::once(me).chain(others.iter());
    let mut places = threads.flat_map(|thread| thread.looked_at.iter().map(Cell::get));
    places.any(|place| is_shared(place) == Some(true))
}

/// Returns whether an address is in memory that other processes may share; `None` if it is in no
/// known mapping.
pub(super) fn is_shared(address: usize) -> Option<bool> {
    let file = kernel::File::open(b"/proc/self/maps\0")?;
    let mut room = [0; 1024];
    let mut line = Line::default();
    loop {
        let bytes = file.read(&mut room);
        if bytes.is_empty() {
            return None;
        }
        for &byte in bytes {
            if let Some(is_shared) = line.take(byte, address) {
                return Some(is_shared);
            }
        }
    }
}

/// Parser state for a line of `/proc/self/maps`: `5581a4c00000-5581a4c21000 rw-p …`.
#[derive(Default)]
struct Line {
    /// Part of the line to which the next byte belongs, separated by `-` and blanks.
    part: u8,
    bounds: [usize; 2],
    /// Number of bytes of the permissions that were taken.
    permissions: u8,
}

impl Line {
    /// Takes the next byte. Returns whether the memory is shared at the end of the permissions of a
    /// line with this address.
    fn take(&mut self, byte: u8, address: usize) -> Option<bool> {
        match (byte, self.part) {
            (b'\n', _) => *self = Line::default(),
            (b'-', 0) | (b' ', 1 | 2) => self.part += 1,
            (_, 0 | 1) => {
                let digit = char::from(byte).to_digit(16).unwrap_or(0) as usize;
                let bound = &mut self.bounds[usize::from(self.part)];
                *bound = *bound << 4 | digit;
            }
            (_, 2) => {
                self.permissions += 1;
                let [start, end] = self.bounds;
                if self.permissions == 4 && (start..end).contains(&address) {
                    return Some(byte == b's');
                }
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::states::States;
    use super::*;

    #[test]
    fn a_thread_of_this_process_is_known_or_not() {
        let thread = ::std::thread::spawn(|| {
            let own = kernel::thread_number();
            // The harness of these tests has threads that only it knows.
            (own, has_other_thread(|_| true), has_other_thread(|number| number != own))
        });
        let (_, all_known, all_but_one) = thread.join().unwrap();
        assert!(!all_known);
        assert!(all_but_one);
    }

    #[test]
    fn memory_that_is_shared_is_told_from_memory_that_is_not() {
        let lines = b"1000-2000 rw-p 00000000 00:00 0\n\
            7f00-8f00 rw-s 00001000 00:01 5 /dev/shm/a-b c\n9000-9100 r--p 0 0:0 0\n";
        let found = |address| {
            let mut line = Line::default();
            lines.iter().find_map(|&byte| line.take(byte, address))
        };
        for (address, is_shared) in [
            (0x0fff, None),
            (0x1000, Some(false)),
            (0x2000, None),
            (0x7f00, Some(true)),
            (0x8eff, Some(true)),
            (0x90ff, Some(false)),
            (0x9100, None),
        ] {
            assert_eq!(found(address), is_shared, "{address:x}");
        }
        let own = Box::new(0_u8);
        assert_eq!(is_shared(::std::ptr::from_ref(&*own).addr()), Some(false));
    }

    #[test]
    fn who_has_looked_for_long_looks_again_after_another_one_ran() {
        let mut shared = Shared::new();
        let [me, other] = [1, 2].map(|key| shared.add(key, ""));
        me.idle.set(1 << 20);
        assert!(!shared.all_spin(me, 1 << 20), "it may count its looks");
        let mut states = States::default();
        (0..8).for_each(|_| states.see(7));
        me.states.set(states);
        assert!(shared.all_spin(me, 1 << 20));
        shared.remove(other);
        assert!(!shared.all_spin(me, 1 << 20));
        me.idle.set(1 << 20);
        assert!(shared.all_spin(me, 1 << 20));
    }

    #[test]
    fn a_signal_is_treated_by_a_function_or_as_usual() {
        assert!(!kernel::is_handled(12));
        // Rust's runtime handles it to detect stack overflows.
        assert!(kernel::is_handled(libc::SIGSEGV));
    }
}

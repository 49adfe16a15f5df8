//! Possible wakers of a waiting thread other than the scheduled threads. If there are none, it is a
//! deadlock when all threads wait. It is a livelock when those that do not wait spin on places that
//! none of them changes.
//!
//! Other modules know of wakers of threads that wait for descriptors or a child. This module finds
//! the remaining ones. A signal handler may be run by a signal from any process. A thread may not
//! have been started through this library. Another process may use a lock of C in memory that it
//! shares.

use nondex_core::process_number;
use nondex_core::scheduler::{Harness, ThreadId, Threads};

use super::thread::Ref;
use super::{Operation, kernel};
use crate::libc;

/// Signals that only the thread's own actions cause, and those that the C library reserves for
/// itself.
const NOT_FROM_OTHERS: [libc::c_int; 6] =
    [libc::SIGILL, libc::SIGBUS, libc::SIGFPE, libc::SIGSEGV, 32, 33];

/// Returns the state of the harness's own thread, which is the process's first. `threads` are all
/// those of the test.
pub(super) fn harness(threads: &[Ref]) -> Harness {
    let first = first_thread();
    let sleeps = || kernel::sleeps(first) == Some(true);
    if threads.iter().any(|thread| thread.number.get() == first) {
        return Harness::Waits;
    }
    match kernel::waits_in_futex(first) {
        Some(true) => Harness::Waits,
        _ if !sleeps() => Harness::Runs,
        None => Harness::Waits,
        Some(false) => Harness::Sleeps,
    }
}

/// Returns whether anything could wake one of these threads, all of which wait. `known` states
/// whether a thread of the process is, or was, one of the test's.
pub(super) fn may_wake(waiting: &Threads, known: impl Fn(i32) -> bool) -> bool {
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
fn shares_locks(waiting: &Threads) -> bool {
    let is_lock = |id: &&ThreadId| waiting.operation(**id) == Operation::Pthread;
    let mut locks = waiting.alive().iter().filter(is_lock);
    locks.any(|id| is_shared(waiting.address(*id)) != Some(false))
}

/// Returns whether one of these addresses is in memory that other processes may share.
pub(super) fn is_any_shared(mut places: impl Iterator<Item = usize>) -> bool {
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
    fn a_signal_is_treated_by_a_function_or_as_usual() {
        assert!(!kernel::is_handled(12));
        // Rust's runtime handles it to detect stack overflows.
        assert!(kernel::is_handled(libc::SIGSEGV));
    }
}

//! Memory that words lead to, if they are addresses: what they point to, and what that points to.

use ::std::ffi::c_long;
use ::std::ops::Range;
use ::std::ptr;

use nondex_core::hash::mix;
use nondex_core::process_number;

use super::kernel;
use crate::libc;

/// Number of words that are read at an address.
const WORDS: usize = 32;

/// The same in bytes.
pub(super) const LENGTH: usize = WORDS * size_of::<u64>();

/// Maximum number of addresses that are read.
const MOST: usize = 2048;

/// Walk over memory: the part that is left out, and the number of addresses that may still be read.
pub(super) struct Reached<'a> {
    left_out: &'a dyn Fn(usize) -> bool,
    left: usize,
}

impl<'a> Reached<'a> {
    /// Creates a walk that leaves out the addresses for which `left_out` is true.
    pub(super) fn without(left_out: &'a dyn Fn(usize) -> bool) -> Self {
        Reached { left_out, left: MOST }
    }

    /// Returns a hash of the memory that a word leads to within this number of steps; 0 if there is
    /// none.
    pub(super) fn from(&mut self, word: u64, steps: u32) -> u64 {
        /// Range of addresses where programs have memory.
        const ADDRESSES: Range<usize> = 0x1_0000..1 << 47;
        let place = word as usize;
        let is_address = ADDRESSES.contains(&place) && place % size_of::<u64>() == 0;
        if !is_address || self.left == 0 || (self.left_out)(place) {
            return 0;
        }
        self.left -= 1;
        let mut found = [0; WORDS];
        let count = read(place, &mut found);
        found[..count].iter().fold(0, |state, &word| {
            let beyond = if steps > 1 { self.from(word, steps - 1) } else { 0 };
            mix(state ^ word ^ beyond)
        })
    }
}

/// Reads words of this process as far as memory is mapped, and returns their number. It uses a
/// system call, which fails on unmapped memory instead of faulting.
fn read(place: usize, words: &mut [u64; WORDS]) -> usize {
    /// Piece of memory in the system's format (`struct iovec`).
    #[repr(C)]
    struct Piece {
        start: usize,
        length: usize,
    }
    let length = size_of_val(words);
    let into = Piece { start: words.as_mut_ptr().expose_provenance(), length };
    let from = Piece { start: place, length };
    let process = c_long::from(process_number::of_system());
    let piece = |piece: &Piece| ptr::from_ref(piece).expose_provenance() as c_long;
    let arguments = [process, piece(&into), 1, piece(&from), 1, 0];
    // SAFETY: the pieces live until the call returns, which writes to the words alone.
    let count = unsafe { kernel::syscall(libc::SYS_process_vm_readv, arguments) };
    usize::try_from(count).unwrap_or(0) / size_of::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_two_steps_away_is_seen_and_what_is_further_or_left_out_is_not() {
        // As long as what is read: what follows a shorter one is memory of tests beside this one.
        let mut last = Box::new([0_u64; WORDS]);
        let middle = Box::new([ptr::from_mut(&mut *last).expose_provenance() as u64; WORDS]);
        let first = ptr::from_ref(&*middle).expose_provenance() as u64;
        let seen =
            |steps, left_out: &dyn Fn(usize) -> bool| Reached::without(left_out).from(first, steps);
        let nothing = |_| false;
        let before = [seen(1, &nothing), seen(2, &nothing)];
        assert_eq!([seen(1, &nothing), seen(2, &nothing)], before);
        last[3] = 1;
        assert_eq!(seen(1, &nothing), before[0]);
        assert_ne!(seen(2, &nothing), before[1]);
        let is_last = |place| place == ptr::from_ref(&*last).addr();
        assert_eq!(seen(2, &is_last), before[0]);
    }

    #[test]
    fn a_word_that_is_no_address_leads_to_nothing() {
        for word in [0, 8, 0x1_0001, u64::MAX - 7, 1 << 46] {
            assert_eq!(Reached::without(&|_| false).from(word, 2), 0, "{word:x}");
        }
    }
}

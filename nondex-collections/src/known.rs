//! A cache of answers about objects with a fixed address, so that most answers are computed once.

use ::std::ptr;
use ::std::sync::atomic::{AtomicUsize, Ordering};

/// Answers by address, in a lock-free table. A new object may evict an older one.
pub(crate) struct Known([AtomicUsize; 256]);

impl Known {
    /// Creates a cache without answers.
    pub(crate) const fn new() -> Self {
        Known([const { AtomicUsize::new(0) }; 256])
    }

    /// Returns the cached answer about an object, or the one that `ask` computes. `ask` must always
    /// give the same answer.
    #[inline]
    pub(crate) fn ask<T>(&self, thing: &'static T, ask: impl FnOnce() -> bool) -> bool {
        const { assert!(align_of::<T>() > 1, "the lowest bit is the answer") };
        let address = ptr::from_ref(thing).addr();
        let known = &self.0[address / align_of::<T>() % self.0.len()];
        let found = known.load(Ordering::Relaxed);
        if found & !1 == address {
            return found != address;
        }
        let answer = ask();
        known.store(address | usize::from(answer), Ordering::Relaxed);
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_keeps_its_answer_whatever_takes_its_place() {
        static KNOWN: Known = Known::new();
        static THINGS: [u16; 1000] = [0; 1000];
        for round in 0..3 {
            for (number, thing) in THINGS.iter().enumerate() {
                let mut asked = 0;
                for _ in 0..2 {
                    let is_odd = KNOWN.ask(thing, || {
                        asked += 1;
                        number % 2 == 1
                    });
                    assert_eq!(is_odd, number % 2 == 1);
                }
                assert!(asked <= 1, "{round}");
            }
        }
    }
}

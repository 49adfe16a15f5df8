//! Looks of a thread: operations that leave the same few places unchanged. A thread that does
//! nothing else for long waits for another one by spinning.

use std::cell::Cell;

use super::states::States;

/// Number of looks after which the machine checks whether a thread spins.
pub const SPIN: u32 = 128;

/// Number of looks that show that the thread does nothing else.
const SPINNING: u32 = 8 * SPIN;

/// Number of yields that show the same.
const YIELDS: u32 = 256;

/// Number of looks between two states that are compared.
const LOOKS_BETWEEN: u32 = 1 << 13;

/// Looks of one thread. The running thread counts them without a lock; others may access them while
/// it does not run.
#[derive(Debug, Default)]
pub struct Looks {
    /// Number of looks at the same few places since the thread last did anything else.
    idle: Cell<u32>,
    /// The same number at its last reading of a clock.
    idle_at_reading: Cell<u32>,
    /// Number of times that any thread had blocked at the last check.
    looked_since: Cell<u64>,
    places: [Cell<usize>; 4],
    /// States in which the thread was from time to time while it spun, and its number of looks at
    /// the last one.
    states: Cell<States>,
    seen_at: Cell<u32>,
}

impl Looks {
    /// Returns the looks of a thread that has not started.
    pub const fn new() -> Self {
        Looks {
            idle: Cell::new(0),
            idle_at_reading: Cell::new(0),
            looked_since: Cell::new(0),
            places: [const { Cell::new(0) }; 4],
            states: Cell::new(States::new()),
            seen_at: Cell::new(0),
        }
    }

    /// Forgets everything but the places and the last check, for a new thread.
    pub fn clear(&self) {
        self.idle.set(0);
        self.idle_at_reading.set(0);
        self.forget_states();
    }

    /// Records that the thread did something other than looking.
    #[inline]
    pub fn end(&self) {
        self.idle.set(0);
    }

    /// Counts a look at a place. Returns whether the machine must check if the thread spins.
    #[inline]
    pub fn look_at(&self, place: usize) -> bool {
        let is_known = self.places.iter().any(|known| known.get() == place);
        if !is_known {
            let at = self.idle.get() as usize % self.places.len();
            self.places[at].set(place);
            self.idle.set(0);
        }
        let idle = self.idle.get() + 1;
        self.idle.set(idle);
        idle % SPIN == 0
    }

    /// Counts a yield as several looks. A loop may end after some dozens of yields, although the
    /// thread that it waits for is still delayed.
    #[inline]
    pub fn add_yield(&self) {
        let looks = if self.spins() { SPIN / 2 } else { SPINNING / YIELDS };
        self.idle.set(self.idle.get().saturating_add(looks));
    }

    /// Counts a reading of a clock as a look, and returns the number of looks.
    #[inline]
    pub fn add_reading(&self) -> u32 {
        let idle = self.idle.get().saturating_add(1);
        self.idle.set(idle);
        self.idle_at_reading.set(idle);
        idle
    }

    /// Returns the places at which the thread looked last; 0 for none.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        self.places.iter().map(Cell::get)
    }

    /// Returns whether the thread waits for another one by spinning.
    #[inline]
    pub fn spins(&self) -> bool {
        self.idle.get() >= SPINNING
    }

    /// Returns whether the thread's loop may end after a number of looks. It reads no clock, and
    /// has not spun for longer than such loops do.
    pub(super) fn may_give_up(&self) -> bool {
        (SPINNING..16 * SPINNING).contains(&self.count())
    }

    /// Returns the number of looks at the same few places since the last reading of a clock, which
    /// advances.
    fn count(&self) -> u32 {
        let idle = self.idle.get();
        match self.idle_at_reading.get() {
            at if at <= idle => idle - at,
            _ => idle,
        }
    }

    /// Returns whether it is time to [see](Self::see) the state of the thread, which spins.
    pub fn is_state_due(&self) -> bool {
        let (looks, seen_at) = (self.count(), self.seen_at.get());
        if looks < seen_at {
            self.forget_states();
            return false;
        }
        looks - seen_at >= LOOKS_BETWEEN
    }

    /// Takes the private state of the thread, by which recurring states are detected.
    pub fn see(&self, state: u64) {
        let mut states = self.states.get();
        states.see(state);
        self.states.set(states);
        self.seen_at.set(self.count());
    }

    fn forget_states(&self) {
        self.seen_at.set(0);
        self.states.set(States::new());
    }

    /// Returns whether the thread has looked `least` times since a thread that does something else
    /// ran, and its state has recurred meanwhile. `blocked` is the number of times that a thread
    /// blocked.
    pub(super) fn spin_forever(&self, blocked: u64, least: u32) -> bool {
        /// Number of looks from which on it is checked which threads ran meanwhile.
        const FEW: u32 = 1 << 17;
        if self.count() < FEW {
            return false;
        }
        if self.looked_since.replace(blocked) != blocked {
            // Another thread may have changed what this one looks at, so its looks count from here.
            self.idle.set(0);
        }
        self.count() >= least && self.states.get().recurs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_looked_for_long_looks_again_after_another_one_ran() {
        let looks = Looks::new();
        looks.idle.set(1 << 20);
        assert!(!looks.spin_forever(0, 1 << 20), "it may count its looks");
        (0..8).for_each(|_| looks.see(7));
        assert!(looks.spin_forever(0, 1 << 20));
        assert!(!looks.spin_forever(1, 1 << 20));
        looks.idle.set(1 << 20);
        assert!(looks.spin_forever(1, 1 << 20));
    }

    #[test]
    fn a_thread_that_looks_at_few_places_spins_until_it_does_something_else() {
        let looks = Looks::new();
        let checks = (0..SPINNING + 16).filter(|number| looks.look_at(8 + *number as usize % 4));
        assert_eq!(checks.count(), (SPINNING / SPIN) as usize);
        assert!(looks.spins() && looks.may_give_up());
        looks.add_reading();
        assert!(looks.spins() && !looks.may_give_up(), "the clock may end it");
        looks.end();
        assert!(!looks.spins());
    }
}

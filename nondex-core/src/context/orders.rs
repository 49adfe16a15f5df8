//! Orders that a thread has drawn, so that a loop that reads a collection again and again draws its
//! order once.

use crate::hidden::{self, Vec};

/// The longest order that is kept.
pub(crate) const LONGEST: usize = 1 << 8;

/// Number of orders that are kept, each in the place that follows from what it was drawn from.
const KEPT: usize = 8;

/// What an order was drawn from, all of it: two that were drawn from the same are the same.
pub(crate) type Origin = [u64; 5];

/// The orders that are kept. Takes no memory before the first.
#[derive(Debug)]
pub(crate) struct Orders(Vec<(Origin, [u8; LONGEST])>);

impl Orders {
    pub(crate) const fn new() -> Self {
        Orders(hidden::vec())
    }

    /// The order that was drawn from `origin`, or that `draw` draws from it now.
    #[inline]
    pub(crate) fn get(
        &mut self,
        origin: Origin,
        draw: impl FnOnce(&mut [u8; LONGEST]),
    ) -> &[u8; LONGEST] {
        if self.0.is_empty() {
            // Of no elements there is no order, so no origin ends with this.
            self.0.resize(KEPT, ([0; 5], [0; LONGEST]));
        }
        let [_, _, a, b, _] = origin;
        let (kept, order) = &mut self.0[(a ^ b) as usize % KEPT];
        if kept.iter().zip(&origin).fold(0, |differ, (kept, own)| differ | kept ^ own) != 0 {
            draw(order);
            *kept = origin;
        }
        order
    }
}

//! Cache of drawn orders, so that a loop which reads a collection again and again draws its order
//! once.

use crate::hidden::{self, Vec};

/// Maximum length of a cached order.
pub(crate) const LONGEST: usize = 1 << 8;

/// Number of cached orders; the origin of an order determines its slot.
const KEPT: usize = 8;

/// Complete input of the draw of an order: equal origins give equal orders.
pub(crate) type Origin = [u64; 5];

/// The cached orders. Does not allocate before the first order.
#[derive(Debug)]
pub(crate) struct Orders(Vec<(Origin, [u8; LONGEST])>);

impl Orders {
    pub(crate) const fn new() -> Self {
        Orders(hidden::vec())
    }

    /// Returns the order drawn from `origin`; if it is not cached, calls `draw` and caches the
    /// result.
    #[inline]
    pub(crate) fn get(
        &mut self,
        origin: Origin,
        draw: impl FnOnce(&mut [u8; LONGEST]),
    ) -> &[u8; LONGEST] {
        if self.0.is_empty() {
            // Empty collections have no order, so no real origin ends with a length of 0.
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

//! The hash collections, as in std's own module of this name.
//!
//! [`map`] and [`set`] are thin mirrors over one private core, in which the semantics of order live:
//! - [`index`]: a table of slot numbers that grows exactly as std's table grows;
//! - [`slots`]: the entries in insertion order beside their index;
//! - [`identity`]: what a collection remembers for the levels EQ and ID, inside a test only;
//! - [`order`]: the slots in the order that was decided, and [`visit`], [`extract`], the iterators over it;
//! - [`store`]: slots and a hasher; asks for the decisions; [`joined`], the same for two sets.

#[macro_use]
mod macros;

mod extract;
mod identity;
mod index;
mod joined;
pub(super) mod map;
mod order;
pub(super) mod set;
mod slots;
mod store;
mod visit;

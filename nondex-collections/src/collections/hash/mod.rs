//! The hash collections, as in std's own module of this name.
//!
//! [`map`] and [`set`] are thin mirrors over one private core, in which the semantics of order
//! live:
//! - [`index`]: a table of slot numbers that grows exactly as std's table grows; [`shared`] with
//!   clones until either changes;
//! - [`body`]: what a collection owns, whatever its type: the index, the [`buffer`] with the
//!   entries, the [`trail`] of insertions; it drops them; [`decided`] asks in which order they are
//!   cleared, cloned, compared and dropped;
//! - [`slots`]: the entries themselves; [`mod@clone`]; [`room`] for more of them;
//! - [`identity`]: what a collection remembers for the levels EQ ([`contents`]) and ID, inside a
//!   test only;
//! - [`order`]: the slots in the order that was decided, and [`visit`], [`values`], [`extract`],
//!   the iterators over it;
//! - [`store`]: slots and a hasher; asks for the decisions; [`joined`], the same for two sets;
//! - [`about`]: what is known of a collection from its type.

#[macro_use]
mod macros;

mod about;
mod body;
mod buffer;
mod clone;
mod contents;
mod decided;
mod extract;
mod identity;
mod index;
mod joined;
pub(super) mod map;
mod order;
mod room;
pub(super) mod set;
mod shared;
mod slots;
mod store;
mod trail;
mod values;
mod visit;

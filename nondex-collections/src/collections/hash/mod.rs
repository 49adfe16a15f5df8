//! The hash collections, as in std's module of this name.
//!
//! [`map`] and [`set`] are thin mirrors over one private core, which implements the semantics of
//! order:
//! - [`index`]: a table of slot numbers that grows exactly as std's table does; [`shared`] with
//!   clones until one of them changes;
//! - [`body`]: the data of a collection that does not depend on its type: the index, the [`buffer`]
//!   with the entries, the [`trail`] of insertions. It drops the entries. [`decided`] determines
//!   the order in which they are cleared, cloned, compared and dropped;
//! - [`slots`]: the entries themselves; [`mod@clone`]; [`room`] for more of them;
//! - [`identity`]: the history of a collection, for the levels EQ ([`contents`]) and ID, inside a
//!   test only;
//! - [`order`]: the slots in the decided order, and the iterators over it: [`visit`], [`values`],
//!   [`extract`];
//! - [`store`]: slots and a hasher, where decisions are requested; [`joined`], the same for two
//!   sets;
//! - [`about`]: the facts that follow from the type of a collection.

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

//! The history of a project, by the program `git`: read where it is, and checked out somewhere
//! else.
//!
//! Nothing of the user's repository is changed, not even its index: what is tried is checked out in
//! a [`struct@Copy`] of its own, which shares only its objects.

mod additions;
mod changes;
mod copy;
mod functions;
mod git;
mod holders;
mod index;
mod items;
mod lineage;
mod outline;
#[cfg(test)]
mod scratch;
mod snapshot;

pub use additions::{Additions, additions};
pub use changes::{Changes, FileChange, FileKind, base, changes, since};
pub use copy::Copy;
pub use git::{Commit, Git, short};
pub use holders::{Holders, holders, is_plain};
pub use items::{Reach, Tracked, tracked};
pub use lineage::{Lineage, lineage};
pub use snapshot::Snapshots;

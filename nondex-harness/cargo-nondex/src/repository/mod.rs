//! History of a project, read with the program `git`.
//!
//! The user's repository is never changed, not even its index. Commits are checked out in a
//! separate [`struct@Copy`], which shares only the objects of the repository.

mod changes;
mod copy;
mod git;
mod impact;
mod index;
mod items;
#[cfg(test)]
mod scratch;
mod snapshot;
mod syntax;
mod test_history;

pub use changes::{Changes, FileChange, FileKind, base, changes, since};
pub use copy::Copy;
pub use git::{Commit, Git, short};
pub use impact::{Reach, Side, Tracked, tracked};
pub use snapshot::Snapshots;
pub use test_history::{TestHistory, former_name, test_history};

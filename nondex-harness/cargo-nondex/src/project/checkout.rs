//! A checkout of another commit of the user's repository.
//!
//! Cargo reads the configuration of all folders around the one in which it is called. So for a
//! checkout, it is called in the folder around the repository, and gets the checkout's own files as
//! arguments.

use camino::{Utf8Path, Utf8PathBuf};

/// Checkout of a repository, and the folder around that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    root: Utf8PathBuf,
    /// Folder around the repository.
    outside: Utf8PathBuf,
}

impl Checkout {
    /// Returns the checkout at `root` of `repository`.
    pub fn new(root: &Utf8Path, repository: &Utf8Path) -> Self {
        let outside = repository.parent().unwrap_or(repository);
        Checkout { root: root.to_owned(), outside: outside.to_owned() }
    }

    /// Returns the folder in which cargo is called.
    pub(super) fn outside(&self) -> &Utf8Path {
        &self.outside
    }

    /// Returns the checkout's folders from `dir`, which is inside of it, up to its root.
    pub(super) fn folders<'d>(&'d self, dir: &'d Utf8Path) -> impl Iterator<Item = &'d Utf8Path> {
        dir.ancestors().take_while(|folder| folder.starts_with(&self.root))
    }
}

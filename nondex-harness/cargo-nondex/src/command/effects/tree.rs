//! A state of the sources: a tree of git, or the working tree.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::repository::Git;

/// A state of the sources.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    git: &'a Git,
    /// The tree and its files; none of the working tree.
    tree: Option<(&'a str, BTreeSet<String>)>,
}

impl<'a> Tree<'a> {
    /// A tree of a repository, or else what is in its folder.
    pub(super) fn of(git: &'a Git, tree: Option<&'a str>) -> Result<Self> {
        let tree = tree.map(|tree| Ok((tree, git.files(tree)?))).transpose()?;
        Ok(Tree { git, tree })
    }

    fn name(&self) -> Option<&str> {
        self.tree.as_ref().map(|(tree, _)| *tree)
    }

    /// Whether a file is there.
    pub(super) fn has(&self, file: &str) -> bool {
        match &self.tree {
            Some((_, files)) => files.contains(file),
            None => self.git.root().join(file).exists(),
        }
    }

    /// The text of a file that is there.
    pub(super) fn text(&self, file: &str) -> Option<String> {
        match self.name() {
            Some(tree) => self.git.text(tree, file),
            None => std::fs::read_to_string(self.git.root().join(file)).ok(),
        }
    }

    /// Whether a source has one of these names or texts.
    pub(super) fn mentions(&self, names: &[&str]) -> bool {
        self.git.mentions(self.name(), names)
    }

    /// Whether a source names a file, but for where it is documentation.
    pub(super) fn names_file(&self, file: &str) -> bool {
        self.git.is_named(self.name(), file.rsplit('/').next().unwrap_or(file))
    }
}

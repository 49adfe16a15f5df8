//! State of the sources: a git tree or the working tree.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::repository::Git;

/// State of the sources.
#[derive(Debug)]
pub(super) struct SourceTree<'a> {
    git: &'a Git,
    /// Tree and its files; `None` for the working tree.
    tree: Option<(&'a str, BTreeSet<String>)>,
}

impl<'a> SourceTree<'a> {
    /// Reads a tree of a repository. Without `tree`, this is the working tree.
    pub(super) fn of(git: &'a Git, tree: Option<&'a str>) -> Result<Self> {
        let tree = tree.map(|tree| Ok((tree, git.files(tree)?))).transpose()?;
        Ok(SourceTree { git, tree })
    }

    /// Returns the tree; `None` for the working tree.
    fn name(&self) -> Option<&str> {
        self.tree.as_ref().map(|(tree, _)| *tree)
    }

    /// Returns whether a file exists.
    pub(super) fn has(&self, file: &str) -> bool {
        match &self.tree {
            Some((_, files)) => files.contains(file),
            None => self.git.root().join(file).exists(),
        }
    }

    /// Returns the text of a file, if it exists.
    pub(super) fn text(&self, file: &str) -> Option<String> {
        match self.name() {
            Some(tree) => self.git.text(tree, file),
            None => std::fs::read_to_string(self.git.root().join(file)).ok(),
        }
    }

    /// Returns whether a source contains one of these names or texts.
    pub(super) fn mentions(&self, names: &[&str]) -> bool {
        self.git.mentions(self.name(), names)
    }

    /// Returns whether a source names a file outside of documentation.
    pub(super) fn names_file(&self, file: &str) -> bool {
        self.git.is_named(self.name(), file.rsplit('/').next().unwrap_or(file))
    }
}

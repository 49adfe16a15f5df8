//! The tree of an expression over its predicates.

use std::collections::BTreeSet;

use super::Platform;
use super::matcher::Matcher;

/// What of a test a predicate matches.
#[derive(Clone, Copy, Debug)]
pub(super) enum Property {
    Test,
    Kind,
    Package,
    /// A package that the test's one is a dependency of.
    Dependencies,
    /// A package that the test's one depends on.
    Dependents,
    Binary,
    BinaryId,
}

/// One predicate.
#[derive(Clone, Debug)]
pub(super) enum Predicate {
    All,
    None,
    Platform(Platform),
    Name(Property, Matcher),
    /// What those about packages become when the packages are known.
    Packages(BTreeSet<String>),
}

/// A tree over leaves. `and` and `or` hold all their operands, so that a long chain is not deep;
/// `a - b` is `a and not b`.
#[derive(Clone, Debug)]
pub(super) enum Tree<L> {
    Or(Vec<Tree<L>>),
    And(Vec<Tree<L>>),
    Not(Box<Tree<L>>),
    Leaf(L),
}

impl<L> Tree<L> {
    pub(super) fn try_map<M, E>(
        &self,
        map: &mut impl FnMut(&L) -> Result<M, E>,
    ) -> Result<Tree<M>, E> {
        let mut all = |trees: &[Tree<L>]| {
            trees.iter().map(|tree| tree.try_map(map)).collect::<Result<_, E>>()
        };
        Ok(match self {
            Tree::Or(trees) => Tree::Or(all(trees)?),
            Tree::And(trees) => Tree::And(all(trees)?),
            Tree::Not(tree) => Tree::Not(Box::new(tree.try_map(map)?)),
            Tree::Leaf(leaf) => Tree::Leaf(map(leaf)?),
        })
    }

    pub(super) fn holds(&self, leaf: &impl Fn(&L) -> bool) -> bool {
        match self {
            Tree::Or(trees) => trees.iter().any(|tree| tree.holds(leaf)),
            Tree::And(trees) => trees.iter().all(|tree| tree.holds(leaf)),
            Tree::Not(tree) => !tree.holds(leaf),
            Tree::Leaf(inner) => leaf(inner),
        }
    }
}

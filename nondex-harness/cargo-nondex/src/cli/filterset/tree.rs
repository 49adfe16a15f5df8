//! Syntax tree of an expression.

use std::collections::BTreeSet;

use super::Platform;
use super::matcher::Matcher;

/// Property of a test that a predicate matches.
#[derive(Clone, Copy, Debug)]
pub(super) enum Property {
    Test,
    Kind,
    Package,
    /// Packages that depend on the test's package.
    Dependencies,
    /// Packages that the test's package depends on.
    Dependents,
    Binary,
    BinaryId,
}

/// Predicate of an expression.
#[derive(Clone, Debug)]
pub(super) enum Predicate {
    All,
    None,
    /// Tests of the configured default filter; all tests if there is none.
    Default,
    Platform(Platform),
    Name(Property, Matcher),
    /// Resolved form of the predicates about packages.
    Packages(BTreeSet<String>),
}

/// Syntax tree with leaves `L`. `And` and `Or` have lists of operands, so that a long chain of
/// operators is not a deep tree. `a - b` is represented as `a and not b`.
#[derive(Clone, Debug)]
pub(super) enum SyntaxTree<L> {
    Or(Vec<SyntaxTree<L>>),
    And(Vec<SyntaxTree<L>>),
    Not(Box<SyntaxTree<L>>),
    Leaf(L),
}

impl<L> SyntaxTree<L> {
    /// Returns the tree with each leaf replaced by `map`.
    ///
    /// # Errors
    /// Returns the first error of `map`.
    pub(super) fn try_map<M, E>(
        &self,
        map: &mut impl FnMut(&L) -> Result<M, E>,
    ) -> Result<SyntaxTree<M>, E> {
        let mut all = |trees: &[SyntaxTree<L>]| {
            trees.iter().map(|tree| tree.try_map(map)).collect::<Result<_, E>>()
        };
        Ok(match self {
            SyntaxTree::Or(trees) => SyntaxTree::Or(all(trees)?),
            SyntaxTree::And(trees) => SyntaxTree::And(all(trees)?),
            SyntaxTree::Not(tree) => SyntaxTree::Not(Box::new(tree.try_map(map)?)),
            SyntaxTree::Leaf(leaf) => SyntaxTree::Leaf(map(leaf)?),
        })
    }

    /// Returns the tree with `other` in place of the leaves for which `is_replaced` holds.
    pub(super) fn replaced(self, is_replaced: &impl Fn(&L) -> bool, other: &Self) -> Self
    where
        L: Clone,
    {
        let all = |trees: Vec<Self>| {
            trees.into_iter().map(|tree| tree.replaced(is_replaced, other)).collect()
        };
        match self {
            SyntaxTree::Or(trees) => SyntaxTree::Or(all(trees)),
            SyntaxTree::And(trees) => SyntaxTree::And(all(trees)),
            SyntaxTree::Not(tree) => SyntaxTree::Not(Box::new(tree.replaced(is_replaced, other))),
            SyntaxTree::Leaf(leaf) if is_replaced(&leaf) => other.clone(),
            SyntaxTree::Leaf(leaf) => SyntaxTree::Leaf(leaf),
        }
    }

    /// Returns the value of the tree, given the value of each leaf.
    pub(super) fn holds(&self, leaf: &impl Fn(&L) -> bool) -> bool {
        match self {
            SyntaxTree::Or(trees) => trees.iter().any(|tree| tree.holds(leaf)),
            SyntaxTree::And(trees) => trees.iter().all(|tree| tree.holds(leaf)),
            SyntaxTree::Not(tree) => !tree.holds(leaf),
            SyntaxTree::Leaf(inner) => leaf(inner),
        }
    }
}

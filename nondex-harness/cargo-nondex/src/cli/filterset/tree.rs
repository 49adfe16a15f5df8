//! The tree of an expression over its predicates.

use super::Platform;
use super::matcher::Matcher;

/// One predicate as it was written.
#[derive(Clone, Debug)]
pub(super) enum Predicate {
    All,
    None,
    Default,
    Test(Matcher),
    Package(Matcher),
    Deps(Matcher),
    Rdeps(Matcher),
    Binary(Matcher),
    BinaryId(Matcher),
    Kind(Matcher),
    Platform(Platform),
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
            trees
                .iter()
                .map(|tree| tree.try_map(map))
                .collect::<Result<_, E>>()
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

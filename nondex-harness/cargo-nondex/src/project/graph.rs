//! Search in a graph.

use std::collections::BTreeSet;

/// Returns these nodes and all that can be reached from them. `next` returns the nodes to which a
/// node leads directly.
pub fn reached<N: Copy + Ord, I: IntoIterator<Item = N>>(
    from: impl IntoIterator<Item = N>,
    next: impl Fn(N) -> I,
) -> BTreeSet<N> {
    let mut open: Vec<N> = from.into_iter().collect();
    let mut found = BTreeSet::new();
    while let Some(node) = open.pop() {
        if found.insert(node) {
            open.extend(next(node));
        }
    }
    found
}

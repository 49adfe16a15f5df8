//! Proves which parts of a state make the difference. These are the parts that do when they alone
//! are restored, or else a smallest set that does together.

use crate::judge::culprit::subset::smallest;

/// Maximum number of sets of parts that are tried in the search for a smallest one.
const MAX_QUESTIONS: usize = 40;

/// Proven parts of a state, by their indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ProvenParts {
    /// Nothing is proven, not even for all parts together.
    None,
    /// Each of these parts makes the difference.
    Each(Vec<usize>),
    /// These parts make the difference together, and none of them alone.
    Together(Vec<usize>),
}

impl ProvenParts {
    /// Returns what is proven of `parts` parts. `is_enough` returns whether restoring these parts,
    /// and nothing else, makes the difference. If one of the `first` parts does, the others are not
    /// tried. Returns `None` if `is_enough` does.
    pub(super) fn of(
        first: usize,
        parts: usize,
        mut is_enough: impl FnMut(&[usize]) -> Option<bool>,
    ) -> Option<Self> {
        for range in [0..first, first..parts] {
            let mut each = Vec::new();
            for place in range {
                if is_enough(&[place])? {
                    each.push(place);
                }
            }
            if !each.is_empty() {
                return Some(ProvenParts::Each(each));
            }
        }
        let all: Vec<usize> = (0..parts).collect();
        if parts < 2 || !is_enough(&all)? {
            return Some(ProvenParts::None);
        }
        let smallest = smallest(parts, MAX_QUESTIONS, |part| {
            let beginning = 0..part.beginning;
            let places: Vec<usize> = beginning.chain(part.kept.iter().copied()).collect();
            is_enough(&places).ok_or(())
        });
        let together = smallest.ok()?;
        Some(if together.is_complete {
            ProvenParts::Together(together.elements)
        } else {
            ProvenParts::None
        })
    }

    /// Returns the proven parts.
    pub(super) fn places(&self) -> &[usize] {
        match self {
            ProvenParts::None => &[],
            ProvenParts::Each(places) | ProvenParts::Together(places) => places,
        }
    }

    /// Returns whether the parts make the difference only together.
    pub(super) const fn is_joint(&self) -> bool {
        matches!(self, ProvenParts::Together(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proof(parts: usize, is_enough: impl Fn(&[usize]) -> bool) -> ProvenParts {
        ProvenParts::of(parts, parts, |places| Some(is_enough(places))).unwrap()
    }

    #[test]
    fn a_part_that_is_enough_alone_is_named_and_nothing_else() {
        assert_eq!(
            proof(5, |places| places.contains(&1) || places.contains(&3)),
            ProvenParts::Each(vec![1, 3])
        );
    }

    #[test]
    fn the_first_parts_are_believed_before_the_others() {
        let of = |enough: [usize; 2]| {
            ProvenParts::of(2, 5, move |places| {
                Some(places == [enough[0]] || places == [enough[1]])
            })
        };
        assert_eq!(of([1, 4]), Some(ProvenParts::Each(vec![1])));
        assert_eq!(of([3, 4]), Some(ProvenParts::Each(vec![3, 4])));
    }

    #[test]
    fn parts_that_are_enough_only_together_are_named_together_without_those_that_add_nothing() {
        assert_eq!(
            proof(7, |places| places.contains(&2) && places.contains(&5)),
            ProvenParts::Together(vec![2, 5])
        );
    }

    #[test]
    fn nothing_is_proven_where_not_even_all_parts_are_enough_or_the_search_was_stopped() {
        assert_eq!(proof(3, |_| false), ProvenParts::None);
        assert_eq!(proof(0, |_| true), ProvenParts::None);
        assert_eq!(proof(1, |_| false), ProvenParts::None);
        assert_eq!(ProvenParts::of(3, 3, |places| (places.len() < 2).then_some(false)), None);
    }
}

//! Searches for the smallest subset of a list that still has an effect.
//!
//! A binary search over prefixes of the list finds the element that completes the effect. This
//! element is kept, and all elements after it are dropped. The same search continues before it
//! until the kept elements suffice. This is the dichotomic search for a minimal subset (Hemery,
//! Lecoutre, Saïs and Boussemart, "Extracting MUCs from constraint networks", ECAI 2006). It finds
//! `k` elements among `n` with at most k·(⌈log2(n)⌉ + 1) questions.
//!
//! The result always has the effect. It is minimal if the effect is monotonic: larger subsets never
//! have less effect than smaller ones.

/// Subset of a list: a prefix and some single elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subset<'a> {
    /// Single elements, in descending order, none of them in [`beginning`](Self::beginning).
    pub kept: &'a [usize],
    /// Length of the prefix.
    pub beginning: usize,
}

/// Result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Smallest {
    /// Elements, ascending. Together they have the effect.
    pub elements: Vec<usize>,
    /// Whether the search was finished.
    pub is_complete: bool,
}

/// Returns the smallest subset of a list of `len` elements that `has_effect`. The whole list must
/// have the effect. An empty list is never tried. Calls `has_effect` at most `questions` times.
///
/// # Errors
/// Returns an error if `has_effect` does.
pub fn smallest<E>(
    len: usize,
    questions: usize,
    mut has_effect: impl FnMut(Subset<'_>) -> Result<bool, E>,
) -> Result<Smallest, E> {
    let mut left = questions;
    let mut kept: Vec<usize> = Vec::new();
    // Invariant: the kept elements and those before `end` have the effect together.
    let mut end = len;
    let mut is_complete = true;
    'search: while end > 0 {
        // Invariant: the kept elements and those before `without` do not have the effect.
        let mut without = 0;
        if !kept.is_empty() {
            if left == 0 {
                is_complete = false;
                break;
            }
            left -= 1;
            let subset = Subset { kept: &kept, beginning: 0 };
            if has_effect(subset)? {
                end = 0;
                break;
            }
        }
        while end - without > 1 {
            if left == 0 {
                is_complete = false;
                break 'search;
            }
            left -= 1;
            let middle = without + (end - without) / 2;
            let subset = Subset { kept: &kept, beginning: middle };
            if has_effect(subset)? {
                end = middle;
            } else {
                without = middle;
            }
        }
        end -= 1;
        kept.push(end);
    }
    let mut elements: Vec<usize> = (0..end).collect();
    elements.extend(kept.iter().rev());
    Ok(Smallest { elements, is_complete })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// Searches among `len` elements with this effect, and counts the questions.
    fn searched(
        len: usize,
        has_effect: impl Fn(&dyn Fn(usize) -> bool) -> bool,
    ) -> (Smallest, usize) {
        let mut questions = 0;
        let found = smallest(len, 1000, |subset| {
            questions += 1;
            let contains = |element| element < subset.beginning || subset.kept.contains(&element);
            Ok::<_, Infallible>(has_effect(&contains))
        });
        (found.unwrap(), questions)
    }

    #[test]
    fn one_among_many_takes_one_binary_search() {
        for len in [1_usize, 2, 3, 7, 64, 1000, 100_000] {
            for guilty in [0, len / 3, len / 2, len - 1] {
                let (found, questions) = searched(len, |contains| contains(guilty));
                assert_eq!(found.elements, [guilty]);
                assert!(found.is_complete);
                let bound = len.next_power_of_two().ilog2() as usize + 1;
                assert!(questions <= bound, "{questions} questions for one of {len}");
            }
        }
    }

    #[test]
    fn several_that_have_an_effect_only_together_are_all_found() {
        for guilty in [vec![0, 1], vec![3, 40, 99], vec![17, 18, 19, 20, 80]] {
            let (found, questions) =
                searched(100, |contains| guilty.iter().all(|&element| contains(element)));
            assert_eq!(found.elements, guilty);
            assert!(questions <= guilty.len() * 8);
        }
    }

    #[test]
    fn what_is_found_has_the_effect_even_if_more_elements_can_have_less() {
        // An even number of the first ten undoes the effect.
        let effect = |contains: &dyn Fn(usize) -> bool| {
            (0..10).filter(|&element| contains(element)).count() % 2 == 1
        };
        for len in [11, 13, 77] {
            let whole = searched(len, |contains| effect(contains) || contains(len - 1)).0;
            let contains = |element| whole.elements.contains(&element);
            assert!(effect(&contains) || contains(len - 1));
        }
    }

    #[test]
    fn a_search_that_may_not_go_on_gives_what_is_known_to_suffice() {
        let found = smallest(100, 2, |subset| Ok::<_, Infallible>(subset.beginning > 40)).unwrap();
        assert_eq!(found.elements, (0..50).collect::<Vec<_>>());
        assert!(!found.is_complete);
    }
}

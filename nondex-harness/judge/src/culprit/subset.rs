//! The smallest part of a list that still has an effect.
//!
//! A binary search over the list's beginnings finds the element that completes the effect; it is
//! kept, and what comes after it is dropped; then the same among what comes before it, until what
//! was kept suffices. So every element is found by one binary search (dichotomic search for a
//! minimal subset: Hemery, Lecoutre, Saïs and Boussemart, "Extracting MUCs from constraint
//! networks", ECAI 2006): `k` elements among `n` take at most k·(⌈log2(n)⌉ + 1) questions. What is
//! found has the effect, whatever the effect is; no element of it can be left out if larger parts
//! never have less effect than smaller ones.

/// Part of a list: some elements, and all before a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// The elements that are kept, in descending order, none of them in
    /// [`beginning`](Self::beginning).
    pub kept: &'a [usize],
    /// The first elements, this number of them.
    pub beginning: usize,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Smallest {
    /// The elements, ascending. Together they have the effect.
    pub elements: Vec<usize>,
    /// Whether the search came to its end.
    pub is_complete: bool,
}

/// The smallest part of a list of `len` elements that `has_effect`; the whole list is known to have
/// it, and nothing is known not to. Asks no more than `questions` times, of a part more than once
/// only if it has the effect.
///
/// # Errors
/// As `has_effect`.
pub fn smallest<E>(
    len: usize,
    questions: usize,
    mut has_effect: impl FnMut(Part<'_>) -> Result<bool, E>,
) -> Result<Smallest, E> {
    let mut left = questions;
    let mut kept: Vec<usize> = Vec::new();
    // Always: what is kept and the elements before `end` have the effect together.
    let mut end = len;
    let mut is_complete = true;
    'search: while end > 0 {
        // What is kept and those before `without` do not have it.
        let mut without = 0;
        if !kept.is_empty() {
            if left == 0 {
                is_complete = false;
                break;
            }
            left -= 1;
            let part = Part { kept: &kept, beginning: 0 };
            if has_effect(part)? {
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
            let part = Part { kept: &kept, beginning: middle };
            if has_effect(part)? {
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

    /// Searches among `len` elements for what has the effect, and counts the questions.
    fn searched(
        len: usize,
        has_effect: impl Fn(&dyn Fn(usize) -> bool) -> bool,
    ) -> (Smallest, usize) {
        let mut questions = 0;
        let found = smallest(len, 1000, |part| {
            questions += 1;
            let contains = |element| element < part.beginning || part.kept.contains(&element);
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
        let found = smallest(100, 2, |part| Ok::<_, Infallible>(part.beginning > 40)).unwrap();
        assert_eq!(found.elements, (0..50).collect::<Vec<_>>());
        assert!(!found.is_complete);
    }
}

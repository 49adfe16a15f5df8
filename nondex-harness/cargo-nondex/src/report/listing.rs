//! Formats numbers with nouns, and shortens long lists and texts.

use std::fmt::Display;

/// Formats a number with a noun: `1 test`, `2 tests`.
pub fn plural<N: Copy + Display + From<u8> + PartialEq>(number: N, noun: &str) -> String {
    let ending = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

/// Returns the first `most` characters of a text, followed by `…` if it has more.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Lists the first `most` names and the number of the others: `a, b and 7 more`.
pub fn first(names: &[impl AsRef<str>], most: usize) -> String {
    let (shown, rest) = names.split_at(most.min(names.len()));
    let shown: Vec<&str> = shown.iter().map(AsRef::as_ref).collect();
    match rest.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Formats seeds for the option `--seeds`.
pub fn seeds(seeds: &[u64]) -> String {
    const LISTED: usize = 12;
    match seeds {
        [one] => return one.to_string(),
        [first, .., last] if seeds.is_sorted() && last - first == seeds.len() as u64 - 1 => {
            return format!("{first}..{}", u128::from(*last) + 1);
        }
        _ => {}
    }
    let listed: Vec<String> = seeds.iter().take(LISTED).map(u64::to_string).collect();
    let more = match seeds.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(",… ({more} more)"),
    };
    format!("{}{more}", listed.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_whole_where_it_is_short() {
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("äöü", 2), "äö…");
    }

    #[test]
    fn a_list_is_whole_where_it_is_short() {
        assert_eq!(first(&[""; 0], 3), "");
        assert_eq!(first(&["a", "b"], 2), "a, b");
        assert_eq!(first(&["a", "b", "c"], 2), "a, b and 1 more");
    }

    #[test]
    fn seeds_are_shown_as_they_can_be_given_again() {
        assert_eq!(seeds(&[7]), "7");
        assert_eq!(seeds(&[0, 1, 2]), "0..3");
        assert_eq!(seeds(&[5, 1, 2]), "5,1,2");
        assert_eq!(seeds(&[u64::MAX - 1, u64::MAX]), "18446744073709551614..18446744073709551616");
        let many: Vec<u64> = (0..20).map(|n| n * 2).collect();
        assert!(seeds(&many).ends_with(",22,… (8 more)"));
    }
}

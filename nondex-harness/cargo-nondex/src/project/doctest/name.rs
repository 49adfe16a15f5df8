//! Parses names of doctests, and derives names of executables from them.

use nondex_core::hash;

/// Returns a word of a name that few other names have: its line, or else its longest word.
pub(super) fn word(name: &str) -> &str {
    let words = || name.split_whitespace();
    match words().next_back() {
        Some(line) if name.contains(" (line ") && line.ends_with(')') => line,
        _ => words().max_by_key(|word| word.len()).unwrap_or(""),
    }
}

/// Returns file and line from a name in rustdoc's format, `src/lib.rs - item (line 3)`.
pub(super) fn place_in(name: &str) -> Option<(String, u32)> {
    let (file, _) = name.split_once(" - ")?;
    let (_, line) = name.rsplit_once("(line ")?;
    Some((file.to_owned(), line.strip_suffix(')')?.parse().ok()?))
}

/// Returns the file name of the executable of a doctest. `number` distinguishes doctests with the
/// same name. Programs that rustdoc compiled have one; members of the shared program have none.
pub(super) fn file_name(name: &str, number: Option<&str>) -> String {
    const LONGEST: usize = 80;
    let mut text = String::new();
    for c in name.chars() {
        let c = if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
        if c != '-' || !text.ends_with('-') {
            text.push(c);
        }
    }
    text.truncate(LONGEST);
    let unique = hash::of(&(name, number));
    format!("{}-{unique:016x}", text.trim_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_where_a_doctest_is() {
        let place = place_in("src/a.rs - A<b>::c (line 31)");
        assert_eq!(place, Some(("src/a.rs".to_owned(), 31)));
        assert_eq!(place_in("src/a.rs"), None);
    }

    #[test]
    fn rustdoc_is_asked_for_a_word_that_selects_the_test() {
        for (name, expected) in [
            ("src/lib.rs - A<b>::c (line 31)", "31)"),
            ("Map::keys", "Map::keys"),
            ("- Map::keys (", "Map::keys"),
            ("", ""),
        ] {
            assert_eq!(word(name), expected, "{name}");
        }
    }

    #[test]
    fn executables_have_names_that_tell_them_apart() {
        let first = file_name("src/lib.rs - f (line 3)", Some("1"));
        assert!(first.starts_with("src-lib.rs-f-line-3-"), "{first}");
        assert_ne!(first, file_name("src/lib.rs - f (line 3)", Some("2")));
    }
}

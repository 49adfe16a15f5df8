//! Lines that a change removes from files. A removed line that is new in another file only moved.

use std::collections::BTreeSet;

/// Texts of removed lines, without indentation.
#[derive(Debug, Default)]
pub(super) struct Removed(BTreeSet<String>);

impl Removed {
    /// Adds the lines that a file had before the change and does not have after it.
    pub(super) fn add(&mut self, before: &str, after: &str) {
        let stay: BTreeSet<&str> = lines(after).collect();
        let gone = lines(before).filter(|line| !stay.contains(line));
        self.0.extend(gone.map(str::to_owned));
    }

    /// Returns whether line `number` of a text, from 1, is a removed line.
    pub(super) fn contains(&self, text: &str, number: u32) -> bool {
        let before = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
        let line = text.lines().nth(before);
        line.is_some_and(|line| self.0.contains(line.trim()))
    }
}

/// Returns the lines that are not blank, without indentation.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_gone_from_its_file_is_found_elsewhere_at_any_indentation() {
        let mut removed = Removed::default();
        removed.add("fn a() {\n    map.keys()\n}\n\n", "fn b() {\n}\n");
        removed.add("set.iter()\n", "");
        let text = "mod a {\n        map.keys()\n    set.iter()\n\n}\n";
        let found = (0..=6).filter(|&line| removed.contains(text, line));
        assert_eq!(found.collect::<Vec<_>>(), [2, 3]);
    }
}

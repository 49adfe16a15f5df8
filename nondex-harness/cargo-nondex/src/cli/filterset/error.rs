//! Errors in expressions, with their places.

use std::fmt;
use std::ops::Range;

/// Error in an expression that is invalid or cannot match. Its text marks the place with carets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FiltersetError {
    text: String,
    span: Range<usize>,
    message: String,
}

impl FiltersetError {
    /// Creates an error at `span`, a range of bytes of `text`.
    pub(super) fn new(text: &str, span: Range<usize>, message: impl Into<String>) -> Self {
        FiltersetError { text: text.to_owned(), span, message: message.into() }
    }

    /// Returns the column of the place in its line, in characters, from 1.
    pub fn column(&self) -> usize {
        let (line_start, _) = self.line();
        self.text[line_start..self.span.start].chars().count() + 1
    }

    /// Returns the bounds, in bytes, of the line with the start of the place.
    fn line(&self) -> (usize, usize) {
        let start = self.text[..self.span.start].rfind('\n').map_or(0, |newline| newline + 1);
        let end = self.text[self.span.start..]
            .find('\n')
            .map_or(self.text.len(), |newline| self.span.start + newline);
        (start, end)
    }
}

impl fmt::Display for FiltersetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, end) = self.line();
        let shown = |text: &str| text.replace(['\t', '\r'], " ");
        let width = self.text[self.span.start..self.span.end.min(end)].chars().count().max(1);
        writeln!(f, "{}", self.message)?;
        writeln!(f, "  {}", shown(&self.text[start..end]).trim_end())?;
        write!(f, "  {:>1$}", "", self.column() - 1)?;
        write!(f, "{:^<width$}", "")
    }
}

impl std::error::Error for FiltersetError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_carets_stand_under_the_place_in_characters_not_bytes() {
        let text = "test(é) or\n  tset(ü)";
        let start = text.find("tset").unwrap();
        let error = FiltersetError::new(text, start..start + 4, "unknown predicate `tset`");
        assert_eq!(error.column(), 3);
        assert_eq!(error.to_string(), "unknown predicate `tset`\n    tset(ü)\n    ^^^^");
    }

    #[test]
    fn the_end_of_the_text_has_a_caret_too() {
        let error = FiltersetError::new("test(é", 7..7, "expected `)`");
        assert_eq!(error.to_string(), "expected `)`\n  test(é\n        ^");
    }
}

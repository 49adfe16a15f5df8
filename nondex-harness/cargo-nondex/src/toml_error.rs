//! Descriptions of errors in TOML files.

use std::ops::Range;

use camino::Utf8Path;

use crate::nearest::instead;

/// Returns the place of a span as `path:line:column`.
pub fn place(text: &str, path: &Utf8Path, span: &Range<usize>) -> String {
    let before = text.get(..span.start).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    format!("{path}:{line}:{column}")
}

/// Returns the place and the reason of an error, on one line.
pub fn wrong(error: &toml::de::Error, text: &str, path: &Utf8Path) -> String {
    let span = error.span().unwrap_or(0..0);
    let why = explained(error.message(), text, &span);
    format!("{}: {why}", place(text, path, &span))
}

/// Returns the reason of an error. For an unknown key, it names the nearest known one. For any
/// other error, it shows the line of the error.
fn explained(message: &str, text: &str, span: &Range<usize>) -> String {
    let unknown = message.strip_prefix("unknown field `");
    if let Some((name, known)) = unknown.and_then(|rest| rest.split_once('`')) {
        let keys = known.split('`').skip(1).step_by(2);
        return format!("unknown key `{name}`: {}", instead(name, keys));
    }
    let start = text[..span.start].rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..].lines().next().unwrap_or_default().trim();
    // At a missing value, the parser is at the end of the line.
    format!("`{line}`: {}", in_one_line(&message.replace("missing field", "missing key")))
}

/// Joins the lines of a message. Indented lines are left out: they repeat the text with carets
/// below it, which is unreadable on one line.
fn in_one_line(message: &str) -> String {
    let mut joined = String::new();
    for line in message.lines().filter(|line| !line.starts_with(' ')) {
        if !joined.is_empty() {
            joined.push_str(if joined.ends_with(':') { " " } else { ", " });
        }
        joined.push_str(line.strip_prefix("error: ").unwrap_or(line));
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_several_lines_is_shown_on_one_without_its_excerpt() {
        for (message, expected) in [
            ("unclosed array\nexpected `]`", "unclosed array, expected `]`"),
            ("unknown predicate `tset`\n  tset(x)\n  ^^^^", "unknown predicate `tset`"),
            (
                "regex parse error:\n    [\n    ^\nerror: unclosed character class",
                "regex parse error: unclosed character class",
            ),
        ] {
            assert_eq!(in_one_line(message), expected);
        }
    }
}

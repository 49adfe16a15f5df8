//! Where in a TOML file something is wrong, and what.

use std::ops::Range;

use camino::Utf8Path;

use crate::nearest::instead;

/// `path:line:column`.
pub fn place(text: &str, path: &Utf8Path, span: &Range<usize>) -> String {
    let before = text.get(..span.start).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    format!("{path}:{line}:{column}")
}

/// The place of an error and what is wrong there, on one line.
pub fn wrong(error: &toml::de::Error, text: &str, path: &Utf8Path) -> String {
    let span = error.span().unwrap_or(0..0);
    let why = explained(error.message(), text, &span);
    format!("{}: {why}", place(text, path, &span))
}

/// What is wrong: an unknown key with the nearest known one, anything else with the line it stands
/// in.
fn explained(message: &str, text: &str, span: &Range<usize>) -> String {
    let unknown = message.strip_prefix("unknown field `");
    if let Some((name, known)) = unknown.and_then(|rest| rest.split_once('`')) {
        let known = known.split('`').skip(1).step_by(2);
        return format!("unknown key `{name}`: {}", instead(name, known));
    }
    let start = text[..span.start].rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..].lines().next().unwrap_or_default().trim();
    // Where a value is missing, the parser is at the end of its line.
    let message = message.replace("missing field", "missing key").replace('\n', ", ");
    format!("`{line}`: {message}")
}

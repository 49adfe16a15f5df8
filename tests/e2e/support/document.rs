//! The diagnostics that a README shows are those that the tool prints.

use std::fs;
use std::path::Path;

/// Asserts that every diagnostic in the README is one that was printed, as its headline finds it. What depends on where the tool was called,
/// the flags of the command that reproduces it, is not compared. With `INSTA_UPDATE=always` the README is rewritten instead.
#[track_caller]
pub(crate) fn expect_diagnostics(readme: &Path, printed: &str) {
    let text = fs::read_to_string(readme).unwrap();
    let shown: Vec<&str> = diagnostics(&text).collect();
    assert!(!shown.is_empty(), "{} shows none", readme.display());
    let mut updated = text.clone();
    for shown in shown {
        let id = test_of(shown).expect("a diagnostic names its test");
        let found = diagnostics(printed).find(|printed| test_of(printed) == Some(id));
        let found = found.unwrap_or_else(|| panic!("`{id}` is not in: {printed}"));
        let flags = flags(shown);
        let found = found.replacen(REPLAY, &format!("{REPLAY}{flags}"), 1);
        updated = updated.replace(shown, &found);
    }
    if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
        fs::write(readme, updated).unwrap();
    } else {
        assert_eq!(
            text,
            updated,
            "INSTA_UPDATE=always rewrites {}",
            readme.display()
        );
    }
}

const REPLAY: &str = "cargo nondex replay ";

/// The diagnostics in a text, each from its headline to the next empty line or fence.
fn diagnostics(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("error[ID]: `").map(|(start, _)| start);
    starts.map(|start| {
        let rest = &text[start..];
        let ends = ["\n\n", "\n```"];
        let end = ends.iter().filter_map(|end| rest.find(end)).min();
        &rest[..end.unwrap_or(rest.len())]
    })
}

/// The id of the test in a headline.
fn test_of(diagnostic: &str) -> Option<&str> {
    diagnostic.split('`').nth(1)
}

/// The flags before the id of the finding in the command that reproduces it.
fn flags(diagnostic: &str) -> String {
    let command = diagnostic.split_once(REPLAY).map(|(_, rest)| rest);
    let words: Vec<&str> = command
        .and_then(|rest| rest.lines().next())
        .map(|line| line.split_whitespace().collect())
        .unwrap_or_default();
    let flags = words.split_last().map_or(&[][..], |(_, flags)| flags);
    flags.iter().map(|flag| format!("{flag} ")).collect()
}

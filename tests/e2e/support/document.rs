//! Compares the output that the documentation shows with what the tool prints.

use std::fs;
use std::path::Path;

/// Asserts that every diagnostic on the page equals the printed one of the same test. The flags of
/// the command that reproduces a finding are not compared: they depend on the working directory.
/// With `INSTA_UPDATE=always`, the page is rewritten instead.
#[track_caller]
pub(crate) fn expect_diagnostics(page: &Path, printed: &str) {
    let text = fs::read_to_string(page).unwrap();
    let shown: Vec<&str> = diagnostics(&text).collect();
    assert!(!shown.is_empty(), "{} shows none", page.display());
    let mut updated = text.clone();
    for shown in shown {
        let id = test_of(shown).expect("a diagnostic names its test");
        let found = diagnostics(printed)
            .find(|printed| test_of(printed) == Some(id))
            .unwrap_or_else(|| panic!("`{id}` is not in: {printed}"));
        let flags = flags(shown);
        let found = found.replacen(REPLAY, &format!("{REPLAY}{flags}"), 1);
        updated = updated.replace(shown, &found);
    }
    write_or_expect(page, &text, &updated);
}

/// Asserts that the code block of the page that begins with `start` is `expected`. With
/// `INSTA_UPDATE=always`, the block is rewritten instead.
#[track_caller]
pub(crate) fn expect_block(page: &Path, start: &str, expected: &str) {
    let text = fs::read_to_string(page).unwrap();
    let shown = blocks(&text)
        .find(|block| block.starts_with(start))
        .unwrap_or_else(|| panic!("{} has no `{start}`", page.display()));
    let updated = text.replacen(shown, expected.trim_end(), 1);
    write_or_expect(page, &text, &updated);
}

/// Returns the code blocks of a page, without their fences.
pub(crate) fn blocks(page: &str) -> impl Iterator<Item = &str> {
    let inside = page.split("```").skip(1).step_by(2);
    inside.filter_map(|block| Some(block.split_once('\n')?.1.trim_end()))
}

#[track_caller]
fn write_or_expect(page: &Path, text: &str, updated: &str) {
    if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
        fs::write(page, updated).unwrap();
    } else {
        assert_eq!(text, updated, "INSTA_UPDATE=always rewrites {}", page.display());
    }
}

/// Returns the output of a run without its diagnostics. Leaves out the time and sorts the lines of
/// the findings: both differ between runs.
pub(crate) fn outline(printed: &str) -> String {
    let lines: Vec<&str> = printed.lines().collect();
    let at = |start: &str| {
        let mut lines = lines.iter();
        let found = lines.position(|line| line.trim_start().starts_with(start));
        found.unwrap_or_else(|| panic!("no `{start}` in: {printed}"))
    };
    let (running, first, summary) = (at("Running "), at("error["), at("Summary "));
    let mut found = lines[running + 1..first].to_vec();
    found.sort_unstable();
    let end = lines[summary..].iter().position(|line| line.trim_start().starts_with("Report "));
    let end = end.map_or(lines.len(), |end| summary + end);
    let (before, after) = lines[summary].split_once('[').expect("it has a time");
    let (_, after) = after.split_once("] ").expect("the time ends");
    let summary_line = format!("{before}{after}");
    let parts = [&[lines[running]][..], &found, &["…", &summary_line], &lines[summary + 1..end]];
    parts.concat().join("\n")
}

const REPLAY: &str = "cargo nondex replay ";

/// Returns the diagnostics in a text, each from its headline to the next empty line or fence.
fn diagnostics(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("error[ID]: `").map(|(start, _)| start);
    starts.map(|start| {
        let rest = &text[start..];
        let ends = ["\n\n", "\n```"];
        let end = ends.iter().filter_map(|end| rest.find(end)).min();
        &rest[..end.unwrap_or(rest.len())]
    })
}

/// Returns the id of the test in a headline.
fn test_of(diagnostic: &str) -> Option<&str> {
    diagnostic.split('`').nth(1)
}

/// Returns the flags before the test in the command that reproduces it. They locate the project.
fn flags(diagnostic: &str) -> String {
    let command = diagnostic.split_once(REPLAY).map(|(_, rest)| rest);
    let line = command.and_then(|rest| rest.lines().next());
    let words = line.unwrap_or_default().split_whitespace();
    let flags = words.take_while(|word| !word.starts_with('\''));
    flags.map(|flag| format!("{flag} ")).collect()
}

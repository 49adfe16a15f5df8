//! One test for each file in `cases`: its first line is the expected word, the rest is the text.

use std::fs;
use std::path::Path;

use nondex_harness::Trial;

fn check(path: &Path) -> Result<(), String> {
    let case = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let (expected, text) = case
        .split_once('\n')
        .ok_or("a case has two lines at least")?;
    let found = custom_harness::favourite_word(text);
    if found.as_deref().unwrap_or("") == expected {
        Ok(())
    } else {
        Err(format!("expected `{expected}`, found {found:?}"))
    }
}

fn main() {
    let mut paths: Vec<_> = fs::read_dir("cases")
        .expect("cargo runs tests in the package's directory")
        .map(|entry| entry.expect("the directory can be read").path())
        .collect();
    paths.sort();
    let cases = paths.into_iter().map(|path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        Trial::new(format!("case::{name}"), move || check(&path))
    });
    let others = [
        Trial::new("an_empty_text_has_no_favourite", || {
            assert_eq!(custom_harness::favourite_word(""), None);
        }),
        Trial::new("a_large_text", || {
            assert!(custom_harness::favourite_word(&"word ".repeat(100_000)).is_some());
        })
        .with_ignored_reason("takes a while"),
    ];
    nondex_harness::main(cases.chain(others));
}

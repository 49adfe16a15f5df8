//! Parses rustdoc's output when its run tool keeps each doctest and fails.

use super::keep::KEPT;

/// Report of rustdoc on one doctest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RustdocReport {
    /// Name, such as `src/lib.rs - item (line 3)`.
    pub(super) name: String,
    pub(super) outcome: RustdocOutcome,
}

/// Outcome of a doctest, as rustdoc reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RustdocOutcome {
    /// The run tool kept the program under this number.
    Kept(u64),
    /// The program must panic, so it passed because the run tool failed. It was kept under an
    /// unknown number, because rustdoc does not print the output of doctests that pass.
    ShouldPanic,
    /// The doctest is only compiled, and compiling had the expected result.
    Compiled,
    /// The doctest is ignored, and was not compiled.
    Ignored,
    /// The doctest could not be run. Has rustdoc's message.
    Broken(String),
}

/// Parses the reports, in the order in which the doctests ended. Returns `None` if the summary is
/// missing, because rustdoc failed earlier.
pub(super) fn read(text: &str) -> Option<Vec<RustdocReport>> {
    if !text.lines().any(|line| line.starts_with("test result: ")) {
        return None;
    }
    let mut sections = sections(text);
    let reports = text.lines().filter_map(result).map(|(name, mode, end)| {
        let outcome = match (end, mode) {
            ("FAILED", _) => {
                let own = sections.iter().position(|(named, _)| *named == name);
                // Several doctests may share a name. Each of them has a section.
                let section = own.map_or("", |index| sections.remove(index).1);
                match number(section) {
                    Some(number) => RustdocOutcome::Kept(number),
                    None => RustdocOutcome::Broken(section.trim().to_owned()),
                }
            }
            ("ok", "compile" | "compile fail") => RustdocOutcome::Compiled,
            ("ok", _) => RustdocOutcome::ShouldPanic,
            _ => RustdocOutcome::Ignored,
        };
        RustdocReport { name: name.to_owned(), outcome }
    });
    Some(reports.collect())
}

/// Parses name, mode and result in a line such as `test src/lib.rs - f (line 3) - compile ... ok`.
fn result(line: &str) -> Option<(&str, &str, &str)> {
    let (name, end) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let end = match end {
        "ok" | "FAILED" => end,
        _ if end.starts_with("ignored") => end,
        _ => return None,
    };
    let modes = ["compile", "compile fail", "should panic"];
    let known = name.rsplit_once(" - ").filter(|(_, mode)| modes.contains(mode));
    Some(known.map_or((name, "", end), |(name, mode)| (name, mode, end)))
}

/// Returns the names of failed tests, each with its output.
fn sections(text: &str) -> Vec<(&str, &str)> {
    const START: &str = "\n---- ";
    const AFTER_NAME: &str = " stdout ----\n";
    let mut found = Vec::new();
    let mut parts = text.split(START);
    parts.next();
    for part in parts {
        if let Some((name, body)) = part.split_once(AFTER_NAME) {
            // The list of failed tests follows the last section.
            let body = body.split_once("\n\nfailures:\n").map_or(body, |(body, _)| body);
            found.push((name, body));
        }
    }
    found
}

/// Returns the number that the run tool printed in a section.
fn number(section: &str) -> Option<u64> {
    section.lines().rev().find_map(|line| line.strip_prefix(KEPT)?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
running 7 tests
test src/lib.rs - (line 1) ... FAILED
test src/lib.rs - f (line 12) ... ok
test src/lib.rs - f (line 15) ... ignored
test src/lib.rs - f (line 21) - compile fail ... ok
test src/lib.rs - f (line 18) - compile ... ok
test src/lib.rs - A<b - c>::g (line 9) - should panic ... ok
test src/lib.rs - f (line 29) ... FAILED

failures:

---- src/lib.rs - (line 1) stdout ----
Test executable failed (exit status: 101).

stderr:
kept by cargo-nondex as 3


---- src/lib.rs - f (line 29) stdout ----
error[E0308]: mismatched types
  --> src/lib.rs:30:13

Couldn't compile the test.

failures:
    src/lib.rs - (line 1)
    src/lib.rs - f (line 29)

test result: FAILED. 4 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.91s
";

    #[test]
    fn every_doctest_is_told_apart() {
        let broken =
            "error[E0308]: mismatched types\n  --> src/lib.rs:30:13\n\nCouldn't compile the test.";
        let expected = [
            ("src/lib.rs - (line 1)", RustdocOutcome::Kept(3)),
            ("src/lib.rs - f (line 12)", RustdocOutcome::ShouldPanic),
            ("src/lib.rs - f (line 15)", RustdocOutcome::Ignored),
            ("src/lib.rs - f (line 21)", RustdocOutcome::Compiled),
            ("src/lib.rs - f (line 18)", RustdocOutcome::Compiled),
            ("src/lib.rs - A<b - c>::g (line 9)", RustdocOutcome::ShouldPanic),
            ("src/lib.rs - f (line 29)", RustdocOutcome::Broken(broken.to_owned())),
        ];
        let reports = read(TEXT).unwrap();
        let found: Vec<_> =
            reports.into_iter().map(|report| (report.name, report.outcome)).collect();
        assert_eq!(found, expected.map(|(name, outcome)| (name.to_owned(), outcome)));
    }

    #[test]
    fn names_that_several_have_are_all_found() {
        let one = "---- a (line 1) stdout ----\nkept by cargo-nondex as ";
        let text = format!(
            "test a (line 1) ... FAILED\ntest a (line 1) ... FAILED\n\n{one}4\n\n\n{one}7\n\n\n\
             failures:\n    a (line 1)\n\ntest result: FAILED."
        );
        let reports = read(&text).unwrap();
        let outcomes: Vec<_> = reports.into_iter().map(|report| report.outcome).collect();
        assert_eq!(outcomes, [RustdocOutcome::Kept(4), RustdocOutcome::Kept(7)]);
    }

    #[test]
    fn a_rustdoc_that_ran_nothing_has_reported_nothing() {
        assert_eq!(read("error: could not compile"), None);
        assert_eq!(read("\nrunning 0 tests\n\ntest result: ok. 0 passed"), Some(vec![]));
    }
}

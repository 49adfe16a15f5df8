//! What rustdoc prints when each doctest that it runs is kept, and made to fail.

use super::keep::KEPT;

/// One doctest, as rustdoc reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// Its name, `src/lib.rs - item (line 3)`.
    pub(super) name: String,
    pub(super) fate: Fate,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It failed as every program does here, and was kept under this number.
    Kept(u64),
    /// It failed, and that made it pass: a program that must panic. It was kept, but it is not
    /// known under which number.
    ShouldPanic,
    /// It was only compiled, and that went as it had to.
    Compiled,
    /// It was not compiled.
    Ignored,
    /// It never came to run: rustdoc's own words.
    Broken(String),
}

/// The doctests in the order in which they ended; `None` when rustdoc stopped earlier.
pub(super) fn read(text: &str) -> Option<Vec<Told>> {
    if !text.lines().any(|line| line.starts_with("test result: ")) {
        return None;
    }
    let mut sections = sections(text);
    let told = text.lines().filter_map(result).map(|(name, mode, end)| {
        let fate = match (end, mode) {
            ("FAILED", _) => {
                let own = sections.iter().position(|(named, _)| *named == name);
                // A name that several have has as many sections.
                let section = own.map_or("", |index| sections.remove(index).1);
                match number(section) {
                    Some(number) => Fate::Kept(number),
                    None => Fate::Broken(section.trim().to_owned()),
                }
            }
            ("ok", "compile" | "compile fail") => Fate::Compiled,
            ("ok", _) => Fate::ShouldPanic,
            _ => Fate::Ignored,
        };
        Told { name: name.to_owned(), fate }
    });
    Some(told.collect())
}

/// Name, mode and end in a line such as `test src/lib.rs - f (line 3) - compile ... ok`.
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

/// The names of failed tests, each with what it wrote.
fn sections(text: &str) -> Vec<(&str, &str)> {
    const START: &str = "\n---- ";
    const AFTER_NAME: &str = " stdout ----\n";
    let mut found = Vec::new();
    let mut parts = text.split(START);
    parts.next();
    for part in parts {
        if let Some((name, body)) = part.split_once(AFTER_NAME) {
            // The last one is followed by the list of names.
            let body = body.split_once("\n\nfailures:\n").map_or(body, |(body, _)| body);
            found.push((name, body));
        }
    }
    found
}

/// The number in what a kept program seems to have written.
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
            ("src/lib.rs - (line 1)", Fate::Kept(3)),
            ("src/lib.rs - f (line 12)", Fate::ShouldPanic),
            ("src/lib.rs - f (line 15)", Fate::Ignored),
            ("src/lib.rs - f (line 21)", Fate::Compiled),
            ("src/lib.rs - f (line 18)", Fate::Compiled),
            ("src/lib.rs - A<b - c>::g (line 9)", Fate::ShouldPanic),
            ("src/lib.rs - f (line 29)", Fate::Broken(broken.to_owned())),
        ];
        let told = read(TEXT).unwrap();
        let told: Vec<_> = told.into_iter().map(|told| (told.name, told.fate)).collect();
        assert_eq!(told, expected.map(|(name, fate)| (name.to_owned(), fate)));
    }

    #[test]
    fn names_that_several_have_are_all_found() {
        let one = "---- a (line 1) stdout ----\nkept by cargo-nondex as ";
        let text = format!(
            "test a (line 1) ... FAILED\ntest a (line 1) ... FAILED\n\n{one}4\n\n\n{one}7\n\n\n\
             failures:\n    a (line 1)\n\ntest result: FAILED."
        );
        let told = read(&text).unwrap();
        let fates: Vec<_> = told.into_iter().map(|told| told.fate).collect();
        assert_eq!(fates, [Fate::Kept(4), Fate::Kept(7)]);
    }

    #[test]
    fn a_rustdoc_that_ran_nothing_has_told_nothing() {
        assert_eq!(read("error: could not compile"), None);
        assert_eq!(read("\nrunning 0 tests\n\ntest result: ok. 0 passed"), Some(vec![]));
    }
}

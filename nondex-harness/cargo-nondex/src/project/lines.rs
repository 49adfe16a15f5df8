//! Debug information in builds over the runtime, whatever the profile sets. Without it, a race has
//! no lines and a static has no location. It does not change what the code does.

use std::ffi::OsString;

use super::coverage::codegen;

/// Returns the arguments of rustc in addition to `arguments`, for a crate of the project or one
/// `of_others`.
///
/// For the project's own crates, statics and the locks in them must have locations, which only full
/// debug information has. For others' crates, lines are enough.
pub(super) fn arguments(arguments: &[OsString], of_others: bool) -> Vec<&'static str> {
    let level = match codegen(arguments, "debuginfo").as_deref() {
        // rustc does not accept `-C debuginfo` without a value. `-g` requests full information.
        None if arguments.iter().any(|argument| argument == "-g") => Level::Full,
        None | Some("0" | "none" | "line-directives-only") => Level::None,
        Some("2" | "full") => Level::Full,
        Some(_) => Level::Lines,
    };
    // The debug information is read from the executable.
    let mut added = vec!["-Csplit-debuginfo=off", "-Cstrip=none"];
    match (level, of_others) {
        (Level::None, true) => added.push("-Cdebuginfo=line-tables-only"),
        (Level::None | Level::Lines, false) => added.push("-Cdebuginfo=2"),
        _ => {}
    }
    added
}

/// Requested amount of debug information.
#[derive(Clone, Copy)]
enum Level {
    None,
    Lines,
    Full,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_kept_whatever_the_profile_says_and_not_more_than_needed_of_others() {
        let kept = ["-Csplit-debuginfo=off", "-Cstrip=none"];
        let full = Some("-Cdebuginfo=2");
        let tables = Some("-Cdebuginfo=line-tables-only");
        for (given, own, others) in [
            ("--test", full, tables),
            ("-C debuginfo=0 -C strip=symbols", full, tables),
            ("-Cdebuginfo=none", full, tables),
            ("-C debuginfo=line-directives-only", full, tables),
            ("-C debuginfo=line-tables-only", full, None),
            ("--codegen=debuginfo=1 -C split-debuginfo=packed", full, None),
            ("-C debuginfo=2", None, None),
            ("-g", None, None),
            ("-C debuginfo=2 -C debuginfo=0", full, tables),
        ] {
            let given: Vec<OsString> = given.split(' ').map(OsString::from).collect();
            for (of_others, expected) in [(false, own), (true, others)] {
                let added = arguments(&given, of_others);
                assert_eq!(added[..2], kept);
                assert_eq!(added.get(2).copied(), expected, "{given:?} {of_others}");
            }
        }
    }
}

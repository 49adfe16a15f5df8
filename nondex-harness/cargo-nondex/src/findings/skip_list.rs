//! Lists of tests to skip, in the formats of Linux distributions. Each test has its reason as a
//! comment.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::report::problem::{Problem, Severity, problems};
use crate::report::{Report, Sources};
use crate::shell;

/// A distribution whose packages use the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// A variable of `debian/rules`.
    Debian,
    /// The attribute `checkFlags` of `buildRustPackage`.
    Nix,
    /// An array of a `PKGBUILD`.
    Arch,
    /// The array `CARGO_SKIP_TESTS` of `cargo.eclass`.
    Gentoo,
}

nondex_core::words!(Distribution {
    Debian = "debian",
    Nix = "nix",
    Arch = "arch",
    Gentoo = "gentoo",
});

impl Distribution {
    /// Returns the text before the lines, the text after them, and the indentation of each line.
    const fn frame(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Debian => ("", "", ""),
            Self::Nix => ("checkFlags = [\n", "];\n", "  "),
            Self::Arch => ("skip=(\n", ")\n", "  "),
            Self::Gentoo => ("CARGO_SKIP_TESTS=(\n", ")\n", "\t"),
        }
    }

    /// Returns the line that skips a test.
    fn line(self, test: &str) -> String {
        match self {
            // make expands dollar signs, and a hash begins a comment.
            Self::Debian => {
                let quoted = shell::quote(test).replace('$', "$$").replace('#', "\\#");
                format!("SKIP_TESTS += --skip={quoted}")
            }
            Self::Nix => {
                let flag = format!("--skip={test}");
                let escaped = flag.replace('\\', "\\\\").replace('"', "\\\"");
                format!("\"{}\"", escaped.replace("${", "\\${"))
            }
            Self::Arch => format!("--skip={}", shell::quote(test)),
            Self::Gentoo => shell::quote(test).into_owned(),
        }
    }
}

/// Renders the tests that may fail in a build of the package: those that fail the run, are known
/// flakes, or need what a machine may lack. Advice is left out. Returns an empty text if there are
/// none.
pub fn render(report: &Report, sources: &Sources, distribution: Distribution) -> String {
    let problems = problems(report, sources);
    let mut named = BTreeSet::new();
    let mut lines = String::new();
    let (start, end, indent) = distribution.frame();
    for problem in problems.iter().filter(|problem| problem.severity != Severity::Warning) {
        for test in &problem.tests {
            // libtest's `--skip` applies to all binaries, so a name is listed once.
            if named.insert(test.name.as_str()) {
                let _ = writeln!(lines, "{indent}# {}", reason(problem));
                let _ = writeln!(lines, "{indent}{}", distribution.line(&test.name));
            }
        }
    }
    if lines.is_empty() { lines } else { format!("{start}{lines}{end}") }
}

/// Describes why a test is skipped: `ID: relies on the order of std::fs::read_dir, src/logs.rs:11`.
fn reason(problem: &Problem<'_>) -> String {
    let verdict = problem.first().verdict;
    let cause = problem.cause.replace('`', "").replace(['\r', '\n'], " ");
    format!("{verdict}: {cause}, {}:{}", problem.place.file, problem.place.line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_word_of_each_language() {
        let name = "src/lib.rs - a (line 3)";
        for (distribution, expected) in [
            (Distribution::Debian, "SKIP_TESTS += --skip='src/lib.rs - a (line 3)'"),
            (Distribution::Nix, "\"--skip=src/lib.rs - a (line 3)\""),
            (Distribution::Arch, "--skip='src/lib.rs - a (line 3)'"),
            (Distribution::Gentoo, "'src/lib.rs - a (line 3)'"),
        ] {
            assert_eq!(distribution.line(name), expected);
        }
        assert_eq!(Distribution::Nix.line("a::b"), "\"--skip=a::b\"");
        assert_eq!(Distribution::Debian.line("a::b"), "SKIP_TESTS += --skip=a::b");
    }
}

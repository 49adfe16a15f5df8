//! Parses and evaluates nextest's filtersets, with a separate parser.
//!
//! A filterset such as `package(serde) and not test(/^slow_/)` has predicates, combined by
//! operators. The reference is <https://nexte.st/docs/filtersets/reference>. There are three
//! differences. Outside the command line, `default()` is all tests. `group()` is an error. A tab
//! counts as a space.
//!
//! An [`Expression`] is parsed text. [Resolving](Expression::resolve) it against the packages of a
//! [`WorkspaceMembers`] gives a [`Filterset`], which selects tests.

mod error;
mod expression;
mod matcher;
mod parser;
mod tree;
mod workspace;

pub use error::FiltersetError;
pub use expression::{Expression, Filterset};
pub use workspace::WorkspaceMembers;

use crate::project::{Suite, TestCase};

/// Returns an expression that matches one test.
pub fn of_test(binary_id: &str, name: &str) -> String {
    let (binary_id, name) = (escaped(binary_id), escaped(name));
    format!("(binary_id(={binary_id}) & test(={name}))")
}

/// Escapes the characters of a name that would end it in an expression.
pub fn escaped(name: &str) -> String {
    let mut escaped = String::new();
    for c in name.chars() {
        if matches!(c, ')' | ',' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Platform that a test binary was built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// Machine that compiles. Only procedural macros are built for it.
    Host,
    /// Machine that runs the program. All other binaries are built for it.
    Target,
}

/// Properties of a test that an expression can match.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// Name of the package.
    pub package: &'a str,
    /// Name of the target.
    pub binary: &'a str,
    /// Nextest's id of the binary, such as `serde::test-target`.
    pub binary_id: &'a str,
    /// Kind of the target, such as `lib`.
    pub kind: &'a str,
    /// Platform of the binary.
    pub platform: Platform,
    /// Name of the test.
    pub test: &'a str,
}

impl<'a> Query<'a> {
    /// Returns the properties of a test of a suite.
    pub fn of(suite: &'a Suite, test: &'a TestCase) -> Self {
        let binary = &suite.binary;
        Query {
            package: &binary.package,
            binary: &binary.target,
            binary_id: &binary.id,
            kind: &binary.kind,
            platform: if binary.kind == "proc-macro" { Platform::Host } else { Platform::Target },
            test: &test.name,
        }
    }
}

//! Nextest's language for sets of tests, by our own parser.
//!
//! `package(serde) and not test(/^slow_/)`: predicates, combined by operators. The reference is
//! <https://nexte.st/docs/filtersets/reference>; the differences are that `default()` is all tests
//! (there is no configured default filter here), that `group()` is refused, and that a tab counts
//! as a space.
//!
//! An [`Expression`] is parsed text. [Resolved](Expression::resolve) against the packages of a
//! [`Workspace`] it is a [`Filterset`], which selects tests.

mod error;
mod expression;
mod matcher;
mod parser;
mod tree;
mod workspace;

pub use error::FiltersetError;
pub use expression::{Expression, Filterset};
pub use workspace::Workspace;

use crate::project::{Suite, TestCase};

/// An expression for one test.
pub fn of_test(binary_id: &str, name: &str) -> String {
    let (binary_id, name) = (escaped(binary_id), escaped(name));
    format!("(binary_id(={binary_id}) & test(={name}))")
}

/// A name as an expression has it: what would end it is escaped.
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

/// What a built test binary was compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// The machine that compiles: procedural macros.
    Host,
    /// The machine the program runs on: everything else.
    Target,
}

/// What an expression can ask about a test.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// The package's name.
    pub package: &'a str,
    /// The target's name.
    pub binary: &'a str,
    /// As nextest names the binary, such as `serde::test-target`.
    pub binary_id: &'a str,
    /// The target's kind, such as `lib`.
    pub kind: &'a str,
    /// What it was compiled for.
    pub platform: Platform,
    /// The test's name.
    pub test: &'a str,
}

impl<'a> Query<'a> {
    /// The properties of a test of a suite that a predicate reads.
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

//! The tree of an expression, and its value for a test.

use std::collections::BTreeSet;
use std::ops::Range;

use super::error::FiltersetError;
use super::matcher::Matcher;
use super::parser;
use super::tree::{Predicate, Tree};
use super::workspace::Workspace;
use super::{Platform, Query};

/// A parsed expression, before it is known which packages there are.
#[derive(Clone, Debug)]
pub struct Expression {
    text: String,
    tree: Tree<(Predicate, Range<usize>)>,
}

impl Expression {
    /// Parses `text`.
    ///
    /// # Errors
    /// When it is not an expression; the error points at the place.
    pub fn parse(text: &str) -> Result<Self, FiltersetError> {
        Ok(Expression {
            text: text.to_owned(),
            tree: parser::parse(text)?,
        })
    }

    /// What was parsed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Replaces the predicates about packages by the packages of `workspace`.
    ///
    /// # Errors
    /// When a predicate about packages or binaries matches none in the workspace: then it is
    /// mistyped.
    pub fn resolve(&self, workspace: &Workspace) -> Result<Filterset, FiltersetError> {
        let tree = self.tree.try_map(&mut |(predicate, span)| {
            let set = Set::of(predicate, workspace);
            set.map_err(|what| {
                let known = what.names(workspace);
                let message =
                    format!("no {what} of the workspace matches this, there are: {known}");
                FiltersetError::new(&self.text, span.clone(), message)
            })
        })?;
        Ok(Filterset { tree })
    }
}

/// A predicate whose packages are known.
#[derive(Clone, Debug)]
enum Set {
    All,
    None,
    Test(Matcher),
    Packages(BTreeSet<String>),
    Binary(Matcher),
    BinaryId(Matcher),
    Kind(Matcher),
    Platform(Platform),
}

/// What a predicate found none of.
#[derive(Clone, Copy, Debug)]
enum Unmatched {
    Package,
    Binary,
    BinaryId,
}

impl std::fmt::Display for Unmatched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Unmatched::Package => "package",
            Unmatched::Binary => "binary name",
            Unmatched::BinaryId => "binary id",
        })
    }
}

impl Unmatched {
    /// The first few names there are.
    fn names(self, workspace: &Workspace) -> String {
        const SHOWN: usize = 10;
        let names: Vec<&str> = match self {
            Unmatched::Package => workspace.packages().collect(),
            Unmatched::Binary => workspace.binaries().collect(),
            Unmatched::BinaryId => workspace.binary_ids().collect(),
        };
        let mut text = names[..names.len().min(SHOWN)].join(", ");
        if names.len() > SHOWN {
            text.push_str(", …");
        }
        text
    }
}

impl Set {
    fn of(predicate: &Predicate, workspace: &Workspace) -> Result<Self, Unmatched> {
        let packages = |found: BTreeSet<String>| {
            if found.is_empty() {
                Err(Unmatched::Package)
            } else {
                Ok(Set::Packages(found))
            }
        };
        let matching = |matcher: &Matcher| {
            workspace
                .packages()
                .filter(|name| matcher.is_match(name))
                .map(str::to_owned)
                .collect::<BTreeSet<_>>()
        };
        match predicate {
            Predicate::All | Predicate::Default => Ok(Set::All),
            Predicate::None => Ok(Set::None),
            Predicate::Test(matcher) => Ok(Set::Test(matcher.clone())),
            Predicate::Kind(matcher) => Ok(Set::Kind(matcher.clone())),
            Predicate::Platform(platform) => Ok(Set::Platform(*platform)),
            Predicate::Package(matcher) => packages(matching(matcher)),
            Predicate::Deps(matcher) => packages(workspace.dependencies(&matching(matcher))),
            Predicate::Rdeps(matcher) => packages(workspace.dependents(&matching(matcher))),
            Predicate::Binary(matcher) if workspace.binaries().any(|b| matcher.is_match(b)) => {
                Ok(Set::Binary(matcher.clone()))
            }
            Predicate::Binary(_) => Err(Unmatched::Binary),
            Predicate::BinaryId(matcher) if workspace.binary_ids().any(|b| matcher.is_match(b)) => {
                Ok(Set::BinaryId(matcher.clone()))
            }
            Predicate::BinaryId(_) => Err(Unmatched::BinaryId),
        }
    }

    fn contains(&self, query: &Query<'_>) -> bool {
        match self {
            Set::All => true,
            Set::None => false,
            Set::Test(matcher) => matcher.is_match(query.test),
            Set::Packages(names) => names.contains(query.package),
            Set::Binary(matcher) => matcher.is_match(query.binary),
            Set::BinaryId(matcher) => matcher.is_match(query.binary_id),
            Set::Kind(matcher) => matcher.is_match(query.kind),
            Set::Platform(platform) => *platform == query.platform,
        }
    }
}

/// A set of tests.
#[derive(Clone, Debug)]
pub struct Filterset {
    tree: Tree<Set>,
}

impl Filterset {
    /// Whether the test belongs to the set.
    #[must_use]
    pub fn contains(&self, query: &Query<'_>) -> bool {
        self.tree.holds(&|set| set.contains(query))
    }
}

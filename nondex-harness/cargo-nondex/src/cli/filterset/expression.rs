//! Resolves expressions, and evaluates them for tests.

use std::collections::BTreeSet;
use std::ops::Range;

use super::Query;
use super::error::FiltersetError;
use super::parser;
use super::tree::{Predicate, Property, SyntaxTree};
use super::workspace::WorkspaceMembers;

/// Maximum number of names that a message lists if none of them matches.
const SHOWN: usize = 10;

/// Parsed expression, not yet resolved against the packages of a workspace.
#[derive(Clone, Debug)]
pub struct Expression {
    text: String,
    tree: SyntaxTree<(Predicate, Range<usize>)>,
}

impl Expression {
    /// Parses `text`.
    ///
    /// # Errors
    /// Returns an error with the place if the text is not an expression.
    pub fn parse(text: &str) -> Result<Self, FiltersetError> {
        Ok(Expression { text: text.to_owned(), tree: parser::parse(text)? })
    }

    /// Returns the text that was parsed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Replaces the predicates about packages by the packages of `workspace`.
    ///
    /// # Errors
    /// Returns an error if a predicate about packages or binaries matches none in the workspace.
    /// Such a predicate is mistyped.
    pub fn resolve(&self, workspace: &WorkspaceMembers) -> Result<Filterset, FiltersetError> {
        let tree = self.tree.try_map(&mut |(predicate, span)| {
            let resolved = predicate.resolved(workspace);
            resolved.map_err(|message| FiltersetError::new(&self.text, span.clone(), message))
        })?;
        Ok(Filterset { tree })
    }
}

impl Predicate {
    /// Returns the predicate with packages in place of matchers of packages.
    ///
    /// # Errors
    /// Returns a message if it matches no package or binary.
    fn resolved(&self, workspace: &WorkspaceMembers) -> Result<Self, String> {
        let Predicate::Name(property, matcher) = self else { return Ok(self.clone()) };
        let (what, known): (_, Vec<&str>) = match property {
            Property::Test | Property::Kind => return Ok(self.clone()),
            Property::Package | Property::Dependencies | Property::Dependents => {
                ("package", workspace.packages().collect())
            }
            Property::Binary => ("binary name", workspace.binaries().collect()),
            Property::BinaryId => ("binary id", workspace.binary_ids().collect()),
        };
        let names: BTreeSet<String> = known
            .iter()
            .filter(|name| matcher.is_match(name))
            .map(|name| (*name).to_owned())
            .collect();
        if names.is_empty() {
            let shown = known[..known.len().min(SHOWN)].join(", ");
            let more = if known.len() > SHOWN { ", …" } else { "" };
            return Err(format!(
                "no {what} of the workspace matches this, there are: {shown}{more}"
            ));
        }
        Ok(match property {
            Property::Package => Predicate::Packages(names),
            Property::Dependencies => Predicate::Packages(workspace.dependencies(&names)),
            Property::Dependents => Predicate::Packages(workspace.dependents(&names)),
            _ => self.clone(),
        })
    }

    /// Returns whether the predicate matches a test.
    fn contains(&self, query: &Query<'_>) -> bool {
        match self {
            Predicate::All | Predicate::Default => true,
            Predicate::None => false,
            Predicate::Platform(platform) => *platform == query.platform,
            Predicate::Packages(names) => names.contains(query.package),
            Predicate::Name(property, matcher) => matcher.is_match(match property {
                Property::Test => query.test,
                Property::Kind => query.kind,
                Property::Binary => query.binary,
                Property::BinaryId => query.binary_id,
                Property::Package | Property::Dependencies | Property::Dependents => query.package,
            }),
        }
    }
}

/// Set of tests.
#[derive(Clone, Debug)]
pub struct Filterset {
    tree: SyntaxTree<Predicate>,
}

impl Filterset {
    /// Replaces `default()` by `default`.
    #[must_use]
    pub fn with_default(self, default: &Filterset) -> Self {
        let is_default = |predicate: &Predicate| matches!(predicate, Predicate::Default);
        Filterset { tree: self.tree.replaced(&is_default, &default.tree) }
    }

    /// Returns whether the test is in the set.
    pub fn contains(&self, query: &Query<'_>) -> bool {
        self.tree.holds(&|predicate| predicate.contains(query))
    }
}

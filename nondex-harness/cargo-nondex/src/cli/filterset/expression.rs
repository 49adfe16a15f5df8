//! The tree of an expression, and its value for a test.

use std::collections::BTreeSet;
use std::ops::Range;

use super::Query;
use super::error::FiltersetError;
use super::parser;
use super::tree::{Predicate, Property, Tree};
use super::workspace::Workspace;

/// Number of names that a message lists when none of them matches.
const SHOWN: usize = 10;

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
        Ok(Expression { text: text.to_owned(), tree: parser::parse(text)? })
    }

    /// What was parsed.
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
            let resolved = predicate.resolved(workspace);
            resolved.map_err(|message| FiltersetError::new(&self.text, span.clone(), message))
        })?;
        Ok(Filterset { tree })
    }
}

impl Predicate {
    /// The same with its packages known, or why it matches nothing.
    fn resolved(&self, workspace: &Workspace) -> Result<Self, String> {
        let Predicate::Name(property, matcher) = self else { return Ok(self.clone()) };
        let (what, known): (_, Vec<&str>) = match property {
            Property::Test | Property::Kind => return Ok(self.clone()),
            Property::Package | Property::Dependencies | Property::Dependents => {
                ("package", workspace.packages().collect())
            }
            Property::Binary => ("binary name", workspace.binaries().collect()),
            Property::BinaryId => ("binary id", workspace.binary_ids().collect()),
        };
        let names = known.iter().filter(|name| matcher.is_match(name));
        let names: BTreeSet<String> = names.map(|name| (*name).to_owned()).collect();
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

    fn contains(&self, query: &Query<'_>) -> bool {
        match self {
            Predicate::All => true,
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

/// A set of tests.
#[derive(Clone, Debug)]
pub struct Filterset {
    tree: Tree<Predicate>,
}

impl Filterset {
    /// Whether the test belongs to the set.
    pub fn contains(&self, query: &Query<'_>) -> bool {
        self.tree.holds(&|predicate| predicate.contains(query))
    }
}

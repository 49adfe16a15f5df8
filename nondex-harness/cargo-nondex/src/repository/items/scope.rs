//! Which traits names mean in a module, as far as its text shows it.

use std::collections::{BTreeMap, BTreeSet};

/// Traits that every module has, unless its text excludes them.
const PRELUDE: [&str; 13] = [
    "AsMut",
    "AsRef",
    "Clone",
    "Default",
    "Eq",
    "Extend",
    "From",
    "FromIterator",
    "IntoIterator",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "TryFrom",
];

/// The names of a module.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// What is imported, by the name that it has here.
    imported: BTreeMap<String, Vec<String>>,
    /// What is declared here.
    declared: BTreeSet<String>,
    /// Whether all that another module has is imported: what that is, is not said here.
    has_more: bool,
}

impl Scope {
    /// That of a module with these items.
    pub(super) fn of(items: &[syn::Item]) -> Self {
        let mut scope = Scope::default();
        for item in items {
            match item {
                syn::Item::Use(item) => scope.import(&item.tree, &mut Vec::new()),
                syn::Item::Trait(item) => drop(scope.declared.insert(item.ident.to_string())),
                syn::Item::TraitAlias(item) => drop(scope.declared.insert(item.ident.to_string())),
                syn::Item::Mod(item) => drop(scope.declared.insert(item.ident.to_string())),
                // A macro may declare anything.
                syn::Item::Macro(item) if item.ident.is_none() => scope.has_more = true,
                _ => {}
            }
        }
        scope
    }

    fn import(&mut self, tree: &syn::UseTree, path: &mut Vec<String>) {
        let add = |scope: &mut Self, name: &syn::Ident, of: &syn::Ident| {
            let whole = if *of == "self" {
                path.clone()
            } else {
                [path.as_slice(), &[of.to_string()]].concat()
            };
            let name = if *name == "self" {
                whole.last().cloned().unwrap_or_default()
            } else {
                name.to_string()
            };
            scope.imported.insert(name, whole);
        };
        match tree {
            syn::UseTree::Name(name) => add(self, &name.ident, &name.ident),
            syn::UseTree::Rename(name) => add(self, &name.rename, &name.ident),
            syn::UseTree::Glob(_) => self.has_more |= !is_std(path.first()),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, path);
                }
            }
            syn::UseTree::Path(part) => {
                path.push(part.ident.to_string());
                self.import(&part.tree, path);
                path.pop();
            }
        }
    }

    /// Whether a path surely names something of the standard library.
    pub(super) fn is_of_std(&self, path: &syn::Path) -> bool {
        let mut parts = path.segments.iter().map(|segment| segment.ident.to_string());
        let Some(first) = parts.next() else { return false };
        if path.leading_colon.is_some() {
            return is_std(Some(&first));
        }
        if let Some(imported) = self.imported.get(&first) {
            return is_std(imported.first());
        }
        let is_known = match parts.next() {
            None => PRELUDE.contains(&&*first),
            Some(_) => is_std(Some(&first)),
        };
        is_known && !self.declared.contains(&first) && !self.has_more
    }
}

fn is_std(name: Option<&String>) -> bool {
    name.is_some_and(|name| ["std", "core", "alloc"].contains(&&**name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trait_is_stds_only_where_the_module_says_so() {
        for (module, path, expected) in [
            ("", "Clone", true),
            ("", "Index", false),
            ("trait Clone {}", "Clone", false),
            ("use other::Clone;", "Clone", false),
            ("use other::Copy as Clone;", "Clone", false),
            ("use super::*;", "Clone", false),
            ("use std::fmt::*;", "Clone", true),
            ("m!();", "Clone", false),
            ("use std::{fmt::{self, Debug}, hash};", "Debug", true),
            ("use std::{fmt::{self, Debug}, hash};", "fmt::Display", true),
            ("use std::{fmt::{self, Debug}, hash};", "hash::Hash", true),
            ("use own::fmt;", "fmt::Display", false),
            ("mod fmt {}", "fmt::Display", false),
            ("use super::*;", "core::ops::Index", false),
            ("use super::*;", "::core::ops::Index", true),
            ("", "std::ops::Index", true),
        ] {
            let file = syn::parse_file(module).unwrap();
            let path = syn::parse_str(path).unwrap();
            assert_eq!(Scope::of(&file.items).is_of_std(&path), expected, "{module}");
        }
    }
}

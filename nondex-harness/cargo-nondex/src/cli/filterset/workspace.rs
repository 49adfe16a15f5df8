//! The packages of a workspace and which of them depend on which: what `package()`, `deps()` and
//! `rdeps()` ask.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{Metadata, PackageId};

use crate::project;

/// The members of a workspace by name, with their dependencies among each other and the names of
/// their binaries.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// Each member with all packages of the project it depends on, itself included: members, and
    /// others whose sources it has.
    dependencies: BTreeMap<String, BTreeSet<String>>,
    binaries: BTreeSet<String>,
    binary_ids: BTreeSet<String>,
}

impl Workspace {
    /// Reads the output of `cargo metadata`. Without a resolved graph (`--no-deps`) each member
    /// depends on itself only.
    ///
    /// As in nextest a dependency of any kind counts: normal, build, dev, optional ones that are
    /// enabled. Costs a walk of the graph for each member.
    pub fn new(metadata: &Metadata) -> Self {
        let edges: BTreeMap<&PackageId, &[PackageId]> = metadata
            .resolve
            .iter()
            .flat_map(|resolve| &resolve.nodes)
            .map(|node| (&node.id, node.dependencies.as_slice()))
            .collect();
        let members = metadata.workspace_packages();
        let own = metadata.packages.iter();
        let names: BTreeMap<&PackageId, &str> = own
            .filter(|package| package.source.is_none())
            .map(|package| (&package.id, package.name.as_str()))
            .collect();
        let mut workspace = Workspace::default();
        for package in &members {
            let reached = reachable(&package.id, &edges);
            let found = reached.iter().filter_map(|id| names.get(id));
            workspace
                .dependencies
                .insert(package.name.to_string(), found.map(|name| (*name).to_owned()).collect());
            for target in &package.targets {
                if !target.is_custom_build() {
                    let id = project::binary_id(&package.name, target);
                    workspace.binary_ids.insert(id);
                    workspace.binaries.insert(target.name.clone());
                }
                if target.doctest {
                    let id = format!("{}::doc/{}", package.name, target.name);
                    workspace.binary_ids.insert(id);
                }
            }
        }
        workspace
    }

    /// The names of all members.
    pub fn packages(&self) -> impl Iterator<Item = &str> {
        self.dependencies.keys().map(String::as_str)
    }

    /// The names of all targets that can have tests.
    pub fn binaries(&self) -> impl Iterator<Item = &str> {
        self.binaries.iter().map(String::as_str)
    }

    /// The ids of all targets that can have tests, as nextest makes them.
    pub fn binary_ids(&self) -> impl Iterator<Item = &str> {
        self.binary_ids.iter().map(String::as_str)
    }

    /// The members that those in `of` depend on, themselves included.
    pub fn dependencies(&self, of: &BTreeSet<String>) -> BTreeSet<String> {
        of.iter().filter_map(|name| self.dependencies.get(name)).flatten().cloned().collect()
    }

    /// The members that depend on one in `on`, themselves included.
    pub fn dependents(&self, on: &BTreeSet<String>) -> BTreeSet<String> {
        self.dependencies
            .iter()
            .filter(|(_, dependencies)| !dependencies.is_disjoint(on))
            .map(|(name, _)| name.clone())
            .collect()
    }
}

/// Everything that can be reached from `start`, itself included.
fn reachable<'a>(
    start: &'a PackageId,
    edges: &BTreeMap<&'a PackageId, &'a [PackageId]>,
) -> BTreeSet<&'a PackageId> {
    let mut reached = BTreeSet::from([start]);
    let mut open = vec![start];
    while let Some(id) = open.pop() {
        for next in edges.get(id).copied().unwrap_or_default() {
            if reached.insert(next) {
                open.push(next);
            }
        }
    }
    reached
}

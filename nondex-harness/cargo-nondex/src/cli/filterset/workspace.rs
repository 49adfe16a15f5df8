//! Packages of a workspace and their dependencies, for `package()`, `deps()` and `rdeps()`.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{Metadata, PackageId};

use crate::project::{self, reached};

/// Members of a workspace, with their dependencies on each other and the names of their binaries.
#[derive(Clone, Debug, Default)]
pub struct WorkspaceMembers {
    /// Packages that each member depends on, including itself: members, and other packages with
    /// local sources. The keys are the names of the members.
    dependencies: BTreeMap<String, BTreeSet<String>>,
    binaries: BTreeSet<String>,
    binary_ids: BTreeSet<String>,
}

impl WorkspaceMembers {
    /// Creates the workspace from the output of `cargo metadata`. Without a resolved graph
    /// (`--no-deps`), each member depends only on itself.
    ///
    /// As in nextest, dependencies of all kinds count: normal, build, dev, and enabled optional
    /// ones. Walks the graph once for each member.
    pub fn new(metadata: &Metadata) -> Self {
        let edges: BTreeMap<&PackageId, &[PackageId]> = metadata
            .resolve
            .iter()
            .flat_map(|resolve| &resolve.nodes)
            .map(|node| (&node.id, node.dependencies.as_slice()))
            .collect();
        let members = metadata.workspace_packages();
        // Packages without a source have local paths.
        let names: BTreeMap<&PackageId, &str> = metadata
            .packages
            .iter()
            .filter(|package| package.source.is_none())
            .map(|package| (&package.id, package.name.as_str()))
            .collect();
        let mut workspace = WorkspaceMembers::default();
        for package in &members {
            let parts = reached([&package.id], |id| edges.get(id).copied().unwrap_or_default());
            let found = parts.iter().filter_map(|id| names.get(id));
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

    /// Returns the names of all members.
    pub fn packages(&self) -> impl Iterator<Item = &str> {
        self.dependencies.keys().map(String::as_str)
    }

    /// Returns the names of all targets that can have tests.
    pub fn binaries(&self) -> impl Iterator<Item = &str> {
        self.binaries.iter().map(String::as_str)
    }

    /// Returns nextest's ids of all targets that can have tests.
    pub fn binary_ids(&self) -> impl Iterator<Item = &str> {
        self.binary_ids.iter().map(String::as_str)
    }

    /// Returns the packages that the members in `of` depend on, including themselves.
    pub fn dependencies(&self, of: &BTreeSet<String>) -> BTreeSet<String> {
        of.iter().filter_map(|name| self.dependencies.get(name)).flatten().cloned().collect()
    }

    /// Returns the members that depend on a package in `on`, including those in `on`.
    pub fn dependents(&self, on: &BTreeSet<String>) -> BTreeSet<String> {
        self.dependencies
            .iter()
            .filter(|(_, dependencies)| !dependencies.is_disjoint(on))
            .map(|(name, _)| name.clone())
            .collect()
    }
}

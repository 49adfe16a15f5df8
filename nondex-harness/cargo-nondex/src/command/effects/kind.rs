//! What a changed file is for, and who is made of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use cargo_metadata::{DependencyKind, Metadata, Package, PackageId, Target, TargetKind};

/// What a file is for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It decides how the package is built, or everything where there is none: a manifest, a build script, a procedural macro, a submodule.
    Build(Option<String>),
    /// It is a source of the package.
    Code(Option<String>),
    /// A test may read it.
    Data,
    /// It is there to be read by people, and only what opens it is known to read it.
    Note,
}

/// The packages of a project, and which of them run while others are built.
#[derive(Debug)]
pub(super) struct Packages<'a> {
    /// Those of the workspace, with their folders.
    members: Vec<(Utf8PathBuf, &'a Package)>,
    /// Procedural macros, what build scripts use, and all that these depend on.
    at_build: BTreeSet<&'a PackageId>,
}

impl<'a> Packages<'a> {
    pub(super) fn of(metadata: &'a Metadata) -> Self {
        let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
        let edges: BTreeMap<_, _> = nodes.map(|node| (&node.id, &node.deps)).collect();
        let is_for_build = |kind: &cargo_metadata::DepKindInfo| kind.kind == DependencyKind::Build;
        let for_build = edges.values().flat_map(|deps| deps.iter());
        let for_build = for_build.filter(|dep| dep.dep_kinds.iter().any(is_for_build));
        let macros = metadata.packages.iter();
        let macros = macros.filter(|package| package.targets.iter().any(Target::is_proc_macro));
        let mut at_build = BTreeSet::new();
        let mut open: Vec<&PackageId> = for_build.map(|dep| &dep.pkg).collect();
        open.extend(macros.map(|package| &package.id));
        while let Some(id) = open.pop() {
            if at_build.insert(id) {
                let deps = edges.get(id).into_iter().copied().flatten();
                let runs = deps.filter(|dep| {
                    let mut kinds = dep.dep_kinds.iter();
                    kinds.any(|kind| kind.kind == DependencyKind::Normal)
                });
                open.extend(runs.map(|dep| &dep.pkg));
            }
        }
        Packages {
            members: with_folders(metadata.workspace_packages()),
            at_build,
        }
    }

    /// The package of the workspace in whose folder a file is.
    fn around(&self, path: &Utf8Path) -> Option<(&Utf8Path, &'a Package)> {
        around(&self.members, path)
    }

    /// That folder, or else the file's own.
    pub(super) fn folder<'p>(&'p self, path: &'p Utf8Path) -> &'p Utf8Path {
        let own = path.parent().unwrap_or(path);
        self.around(path).map_or(own, |(folder, _)| folder)
    }

    /// The kind of a file, by its path and its path in the repository.
    pub(super) fn kind(&self, path: &Utf8Path, file: &str) -> Kind {
        let package = self.around(path);
        let name = path.file_name().unwrap_or_default();
        let of_package = package.map(|(_, package)| package.name.to_string());
        let is_for_all = ["Cargo.lock", "rust-toolchain", "rust-toolchain.toml"].contains(&name)
            || path.components().any(|part| part.as_str() == ".cargo")
            || name == "Cargo.toml" && package.is_none_or(|(folder, _)| path.parent() != Some(folder))
            // A submodule, or another repository.
            || path.is_dir() && !path.is_symlink();
        let is_note = path.extension() == Some("md")
            || name.starts_with(['.', '_'])
            || name.starts_with("LICENSE")
            || file.starts_with('.');
        if is_for_all {
            Kind::Build(None)
        } else if name == "Cargo.toml" {
            Kind::Build(of_package)
        } else if path.extension() == Some("rs") {
            let runs = || package.is_some_and(|(folder, package)| self.runs(package, folder, path));
            match path.is_symlink() || runs() {
                true => Kind::Build(of_package),
                false => Kind::Code(of_package),
            }
        } else if is_note {
            Kind::Note
        } else {
            Kind::Data
        }
    }

    /// Whether a source of a package runs, or is read, while something is built.
    fn runs(&self, package: &Package, folder: &Utf8Path, path: &Utf8Path) -> bool {
        if self.at_build.contains(&package.id) {
            return true;
        }
        let Some(script) = script(package).map(|target| resolved(&target.src_path)) else {
            return false;
        };
        let is_beside = || {
            let inside = path.strip_prefix(folder).ok();
            let first = inside.and_then(|inside| inside.components().next());
            first.is_none_or(|first| {
                !["src", "tests", "examples", "benches"].contains(&first.as_str())
            })
        };
        let is_named = || {
            let text = fs::read_to_string(&script).unwrap_or_default();
            let stem = path.file_stem().unwrap_or_default();
            let name = path.file_name().unwrap_or_default();
            text.contains(name) || text.contains(&format!("mod {stem};"))
        };
        path == script || is_beside() || is_named()
    }

    /// Whether a build script may read a file.
    pub(super) fn may_be_read_by_script(&self, path: &Utf8Path) -> bool {
        let mut members = self.members.iter();
        members.any(|(folder, package)| script(package).is_some() && path.starts_with(folder))
    }

    /// The executable of which alone a file is: `tests/name.rs`, unless a neighbour may have it as a module.
    pub(super) fn only_target(&self, path: &Utf8Path) -> Option<String> {
        let mut targets = self.around(path)?.1.targets.iter();
        let is_own = |target: &&Target| {
            target.is_kind(TargetKind::Test) && resolved(&target.src_path) == path
        };
        let target = targets.find(is_own)?;
        let is_word = |text: &str| {
            let stem = path.file_stem().unwrap_or_default();
            let is_of_name = |sign: char| sign.is_alphanumeric() || sign == '_';
            text.split(|sign| !is_of_name(sign))
                .any(|word| word == stem)
        };
        let neighbours = path.parent()?.read_dir_utf8().ok()?.flatten();
        let mut others = neighbours.filter(|entry| entry.path() != path);
        let may_have = others.any(|entry| {
            let is_source = entry.path().extension() == Some("rs");
            let text = || fs::read_to_string(entry.path()).unwrap_or_default();
            is_source && is_word(&text())
        });
        (!may_have).then(|| target.name.clone())
    }
}

/// A package whose sources are not in this folder, and not those of a registry or a repository either.
pub(in crate::command) fn outside<'a>(metadata: &'a Metadata, root: &Utf8Path) -> Option<&'a str> {
    let mut packages = metadata.packages.iter();
    let package = packages.find(|package| {
        package.source.is_none() && !resolved(&package.manifest_path).starts_with(root)
    });
    package.map(|package| package.name.as_str())
}

/// These packages, with their folders.
pub(super) fn with_folders(packages: Vec<&Package>) -> Vec<(Utf8PathBuf, &Package)> {
    let folder = |package: &Package| package.manifest_path.parent().map(resolved);
    let packages = packages.into_iter();
    let packages = packages.filter_map(|package| Some((folder(package)?, package)));
    packages.collect()
}

/// The innermost of these packages in whose folder a file is.
pub(super) fn around<'p, 'a>(
    packages: &'p [(Utf8PathBuf, &'a Package)],
    file: &Utf8Path,
) -> Option<(&'p Utf8Path, &'a Package)> {
    let around = packages.iter();
    let around = around.filter(|(folder, _)| file.starts_with(folder));
    let (folder, package) = around.max_by_key(|(folder, _)| folder.as_str().len())?;
    Some((folder, package))
}

/// A path without links, if it is there.
pub(super) fn resolved(path: &Utf8Path) -> Utf8PathBuf {
    path.canonicalize_utf8().unwrap_or_else(|_| path.to_owned())
}

fn script(package: &Package) -> Option<&Target> {
    let mut targets = package.targets.iter();
    targets.find(|target| target.is_kind(TargetKind::CustomBuild))
}

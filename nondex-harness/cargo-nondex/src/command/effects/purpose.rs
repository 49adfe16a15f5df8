//! Purpose of a changed file, and the packages that are built from it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::project;
use crate::repository::Git;
use camino::{Utf8Path, Utf8PathBuf};
use cargo_metadata::{DependencyKind, Metadata, NodeDep, Package, PackageId, Target, TargetKind};

/// Dependencies of each package.
type Edges<'a> = BTreeMap<&'a PackageId, &'a Vec<NodeDep>>;

/// Purpose of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FilePurpose {
    /// Determines how the package is built, or all packages if there is none: a manifest, build
    /// script, procedural macro or submodule.
    Build(Option<String>),
    /// Determines the dependencies of the project: the lock file.
    Lock,
    /// File of a vendored dependency, whose code does not record what it runs. These packages of
    /// the project are built with it.
    Vendored(Vec<String>),
    /// Source of the package.
    Code(Option<String>),
    /// Data that a test may read.
    Data,
    /// Text for people. Only a program that opens it is known to read it.
    Note,
}

/// Packages of a project, and which of them run during the build.
#[derive(Debug)]
pub(super) struct Packages<'a> {
    /// Packages whose sources are part of the project, with their folders.
    own: Vec<(Utf8PathBuf, &'a Package)>,
    /// Other packages, with their folders.
    others: Vec<(Utf8PathBuf, &'a Package)>,
    /// Dependencies of each package.
    edges: Edges<'a>,
    /// Packages that run during the build: procedural macros, dependencies of build scripts, and
    /// everything that these depend on.
    at_build: BTreeSet<&'a PackageId>,
    /// Path of the lock file.
    lock: Utf8PathBuf,
}

impl<'a> Packages<'a> {
    /// Reads the packages from cargo's metadata.
    pub(super) fn of(metadata: &'a Metadata) -> Self {
        let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
        let edges: Edges<'_> = nodes.map(|node| (&node.id, &node.deps)).collect();
        let is_for_build = |kind: &cargo_metadata::DepKindInfo| kind.kind == DependencyKind::Build;
        let for_build = edges
            .values()
            .flat_map(|deps| deps.iter())
            .filter(|dep| dep.dep_kinds.iter().any(is_for_build))
            .map(|dep| &dep.pkg);
        let macros = metadata
            .packages
            .iter()
            .filter(|package| package.targets.iter().any(Target::is_proc_macro))
            .map(|package| &package.id);
        let roots: Vec<&PackageId> = for_build.chain(macros).collect();
        let is_run =
            |dep: &NodeDep| dep.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal);
        let at_build = reached(&edges, roots, is_run);
        let (own, others): (Vec<_>, Vec<_>) =
            metadata.packages.iter().partition(|package| package.source.is_none());
        Packages {
            own: with_folders(own),
            others: with_folders(others),
            edges,
            at_build,
            lock: resolved(&metadata.workspace_root).join("Cargo.lock"),
        }
    }

    /// Returns the package of the project whose folder contains a file.
    fn around(&self, path: &Utf8Path) -> Option<(&Utf8Path, &'a Package)> {
        around(&self.own, path)
    }

    /// Returns the purpose of a file. `path` is its absolute path, and `file` its path in the
    /// repository.
    pub(super) fn purpose(&self, path: &Utf8Path, file: &str) -> FilePurpose {
        let package = self.around(path);
        let name = path.file_name().unwrap_or_default();
        let of_package = package.map(|(_, package)| package.name.to_string());
        // cargo unifies features: the manifest of one package can enable features of dependencies
        // that other packages use too.
        let is_for_all = [
            "Cargo.toml",
            "rust-toolchain",
            "rust-toolchain.toml",
        ]
        .contains(&name)
            || path.components().any(|part| part.as_str() == ".cargo")
            // A changed folder is a submodule or another repository.
            || path.is_dir() && !path.is_symlink();
        let is_note = path.extension() == Some("md")
            || name.starts_with(['.', '_'])
            || name.starts_with("LICENSE")
            || file.starts_with('.');
        if path == self.lock {
            FilePurpose::Lock
        } else if is_for_all {
            FilePurpose::Build(None)
        } else if let Some(package) = self.vendored(path).filter(|_| !is_note) {
            FilePurpose::Vendored(self.built_with(&package.id))
        } else if path.extension() == Some("rs") {
            let runs = || package.is_some_and(|(folder, package)| self.runs(package, folder, path));
            if path.is_symlink() || runs() {
                FilePurpose::Build(of_package)
            } else {
                FilePurpose::Code(of_package)
            }
        } else if is_note {
            FilePurpose::Note
        } else {
            FilePurpose::Data
        }
    }

    /// Returns the dependency whose folder contains a file, unless a package of the project inside
    /// that folder contains it.
    fn vendored(&self, path: &Utf8Path) -> Option<&'a Package> {
        let (folder, package) = around(&self.others, path)?;
        let own = self.around(path).map(|(own, _)| own);
        own.is_none_or(|own| folder.starts_with(own)).then_some(package)
    }

    /// Returns the packages of the project that depend on this package.
    fn built_with(&self, id: &PackageId) -> Vec<String> {
        let is_built_with =
            |package: &Package| reached(&self.edges, vec![&package.id], |_| true).contains(id);
        let packages = self.own.iter().filter(|(_, package)| is_built_with(package));
        packages.map(|(_, package)| package.name.to_string()).collect()
    }

    /// Returns whether a source of a package runs, or is read, during the build.
    fn runs(&self, package: &Package, folder: &Utf8Path, path: &Utf8Path) -> bool {
        if self.at_build.contains(&package.id) {
            return true;
        }
        let Some(script) = script(package).map(|target| resolved(&target.src_path)) else {
            return false;
        };
        let is_outside_sources = || {
            let inside = path.strip_prefix(folder).ok();
            let first = inside.and_then(|inside| inside.components().next());
            first.is_none_or(|first| {
                !["src", "tests", "examples", "benches"].contains(&first.as_str())
            })
        };
        let is_read = || {
            let text = fs::read_to_string(&script).unwrap_or_default();
            let stem = path.file_stem().unwrap_or_default();
            let name = path.file_name().unwrap_or_default();
            text.contains(name)
                || text.contains(&format!("mod {stem};"))
                || lists(&text, folder, path)
        };
        path == script || is_outside_sources() || is_read()
    }

    /// Returns the packages whose build scripts may read a file.
    pub(super) fn whose_script_may_read(&self, path: &Utf8Path) -> BTreeSet<String> {
        self.own
            .iter()
            .filter(|(folder, package)| script(package).is_some() && path.starts_with(folder))
            .map(|(_, package)| package.name.to_string())
            .collect()
    }

    /// Returns the executable that alone contains a file: that of `tests/name.rs`. There is none if
    /// a neighbouring source may use the file as a module, or another source names the file.
    pub(super) fn only_target(&self, path: &Utf8Path, git: &Git) -> Option<String> {
        let mut targets = self.around(path)?.1.targets.iter();
        let is_own = |target: &&Target| {
            target.is_kind(TargetKind::Test) && resolved(&target.src_path) == path
        };
        let target = targets.find(is_own)?;
        let is_word = |text: &str| {
            let stem = path.file_stem().unwrap_or_default();
            let is_of_name = |sign: char| sign.is_alphanumeric() || sign == '_';
            text.split(|sign| !is_of_name(sign)).any(|word| word == stem)
        };
        let neighbours = path.parent()?.read_dir_utf8().ok()?.flatten();
        let may_have = neighbours.filter(|entry| entry.path() != path).any(|entry| {
            let is_source = entry.path().extension() == Some("rs");
            let text = || fs::read_to_string(entry.path()).unwrap_or_default();
            is_source && is_word(&text())
        });
        let is_named = || git.is_named(None, path.file_name().unwrap_or_default());
        (!may_have && !is_named()).then(|| target.name.clone())
    }
}

/// Returns a package whose sources are outside of this folder and do not come from a registry or
/// git repository.
pub(in crate::command) fn outside<'a>(metadata: &'a Metadata, root: &Utf8Path) -> Option<&'a str> {
    let package = metadata.packages.iter().find(|package| {
        package.source.is_none() && !resolved(&package.manifest_path).starts_with(root)
    });
    package.map(|package| package.name.as_str())
}

/// Returns these packages with their folders.
pub(super) fn with_folders(packages: Vec<&Package>) -> Vec<(Utf8PathBuf, &Package)> {
    let folder = |package: &Package| package.manifest_path.parent().map(resolved);
    packages.into_iter().filter_map(|package| Some((folder(package)?, package))).collect()
}

/// Returns the innermost of these packages whose folder contains a file.
pub(super) fn around<'p, 'a>(
    packages: &'p [(Utf8PathBuf, &'a Package)],
    file: &Utf8Path,
) -> Option<(&'p Utf8Path, &'a Package)> {
    let around = packages.iter().filter(|(folder, _)| file.starts_with(folder));
    let (folder, package) = around.max_by_key(|(folder, _)| folder.as_str().len())?;
    Some((folder, package))
}

/// Returns a path without symbolic links, if it exists, and the same path otherwise.
pub(super) fn resolved(path: &Utf8Path) -> Utf8PathBuf {
    path.canonicalize_utf8().unwrap_or_else(|_| path.to_owned())
}

/// Returns these packages and all that they depend on through followed dependencies.
fn reached<'a>(
    edges: &Edges<'a>,
    from: Vec<&'a PackageId>,
    is_followed: impl Fn(&NodeDep) -> bool,
) -> BTreeSet<&'a PackageId> {
    project::reached(from, |id| {
        let others = edges.get(id).copied().into_iter().flatten();
        others.filter(|dep| is_followed(dep)).map(|dep| &dep.pkg)
    })
}

/// Returns whether a build script with this text may list the sources of the package in `folder`,
/// and `path` among them. The file must be in a folder that the text names, or anywhere if the text
/// names none.
fn lists(text: &str, folder: &Utf8Path, path: &Utf8Path) -> bool {
    if !["read_dir", "WalkDir", "glob"].iter().any(|word| text.contains(word)) {
        return false;
    }
    // The script may compose the first part of a path at run time. So each end of a string that
    // begins after a slash is tried.
    let named_folder = |literal: &str| {
        let slashes = literal.match_indices('/').map(|(at, _)| at + 1);
        let mut ends = [0].into_iter().chain(slashes).map(|at| &literal[at..]);
        let found = ends.find(|end| !end.is_empty() && folder.join(end).is_dir())?;
        Some(folder.join(found))
    };
    let literals = text.split('"').skip(1).step_by(2);
    let named: Vec<Utf8PathBuf> = literals.filter_map(named_folder).collect();
    named.is_empty() || named.iter().any(|named| path.starts_with(named))
}

/// Returns the build script of a package.
fn script(package: &Package) -> Option<&Target> {
    package.targets.iter().find(|target| target.is_kind(TargetKind::CustomBuild))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_may_list_the_folders_that_it_names_or_else_any() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        fs::create_dir_all(folder.join("src/plugins")).unwrap();
        for (text, expected) in [
            ("println!(\"src/plugins\")", [false, false]),
            ("read_dir(\"src/plugins\")", [true, false]),
            ("read_dir(format!(\"{root}/src/plugins\"))", [true, false]),
            ("read_dir(root.join(\"src\"))", [true, true]),
            ("glob(\"src/*.rs\")", [true, true]),
            ("read_dir(\"elsewhere\")", [true, true]),
        ] {
            let is_listed = |file: &str| lists(text, folder, &folder.join(file));
            let found = ["src/plugins/a.rs", "src/lib.rs"].map(is_listed);
            assert_eq!(found, expected, "{text}");
        }
    }
}

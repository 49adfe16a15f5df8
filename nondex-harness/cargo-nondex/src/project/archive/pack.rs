//! Writes an archive.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::symlink;

use camino::{Utf8Path, Utf8PathBuf};
use cargo_metadata::Metadata;

use super::environment::{self, LIBRARIES};
use super::libraries;
use super::manifest::{self, ArchiveKind, ArchiveManifest, Built};
use super::paths;
use super::tar;
use crate::error::{Error, OrSetup, Result};
use crate::file;
use crate::project::{BuildPlan, Project, Scratch, Suite, TestBinary};

/// Folder in a build for copies of the libraries from outside the target directory.
const COPIES: &str = "libraries";

/// Writes an archive of the tests of `project`, which were built by `plan`. `plain` is the plain
/// build of the same tests, with which failures are compared. `metadata` is cargo's of the
/// workspace, with its dependencies. `varied` are packages with a build script or proc macro whose
/// output differs between builds. `sources` are the files of the workspace, relative to its root;
/// `None` packs no sources.
///
/// # Errors
/// Returns an error if a file cannot be read or written, or if `tar` fails.
pub fn pack(
    file: &Utf8Path,
    (project, plain): (&Project, Option<&Project>),
    plan: &BuildPlan,
    metadata: Metadata,
    varied: Vec<String>,
    sources: Option<Vec<Utf8PathBuf>>,
) -> Result<()> {
    let root = &project.workspace_root;
    let home = project.target_dir.join("nondex");
    let failed = format!("failed to write in `{home}`");
    let scratch = Scratch::create(&home, "archive").or_setup(&failed)?;
    let folder = scratch.path();
    // `tar` follows these links, so the members have the same paths wherever the two folders
    // are.
    symlink(&project.target_dir, folder.join("target")).or_setup(&failed)?;
    symlink(root, folder.join("workspace")).or_setup(&failed)?;

    let mut files = BTreeSet::new();
    let tests = built(project, &mut files)?;
    let plain = plain.map(|plain| built(plain, &mut files));
    let manifest = ArchiveManifest {
        kind: ArchiveKind::own(),
        time: ArchiveManifest::now(),
        workspace_root: root.clone(),
        target_dir: project.target_dir.clone(),
        toolchain: project.toolchain.clone(),
        plan: plan.written(root),
        tests,
        plain: plain.transpose()?,
        varied,
        has_sources: sources.is_some(),
        metadata,
    };
    let text = serde_json::to_string(&manifest).or_setup("failed to pack the tests")?;
    fs::write(folder.join(manifest::NAME), text).or_setup(&failed)?;

    // The manifest comes first, so that it can be read without the rest.
    let mut members = vec![manifest::NAME.to_owned()];
    for path in files {
        let inside = path
            .strip_prefix(&project.target_dir)
            .map_err(|_| Error::setup(format!("`{path}` is not in `{}`", project.target_dir)))?;
        members.push(format!("target/{inside}"));
    }
    let sources = sources.into_iter().flatten();
    members.extend(sources.map(|path| format!("workspace/{path}")));
    let part = Utf8PathBuf::from(format!("{folder}/part-{}", file.file_name().unwrap_or("")));
    tar::create(&part, folder, &members)?;
    // The archive appears under its name only once it is complete.
    file.parent().map_or(Ok(()), fs::create_dir_all).or_setup(&failed)?;
    fs::rename(&part, file)
        .or_else(|_| fs::copy(&part, file).map(drop))
        .or_setup(format_args!("failed to write `{file}`"))
}

/// Returns the entry of a build in the manifest. Adds the files of the build to `files`.
fn built(project: &Project, files: &mut BTreeSet<Utf8PathBuf>) -> Result<Built> {
    let folder = &project.folder.path;
    let name = folder.file_name().unwrap_or_default().to_owned();
    let copies = Copies::create(folder.join(COPIES))?;
    let own: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    files.extend(project.needed.iter().cloned());
    let mut suites = Vec::new();
    let mut with_paths = Vec::new();
    for suite in &project.suites {
        let mut binary = TestBinary {
            env: environment::of_cargo(&suite.binary.env, &own),
            preload: None,
            ..suite.binary.clone()
        };
        if let Some(preload) = &suite.binary.preload {
            binary.preload = Some(copies.add(preload, files)?);
        }
        if let Some(folder) = variable(&binary, "OUT_DIR").filter(|folder| folder.is_dir()) {
            files.insert(folder);
        }
        let folders = libraries::folders(binary.env.get(OsStr::new(LIBRARIES)).map(|own| &**own));
        let own_executables = suite.tests.iter().filter_map(|test| {
            let doctest = test.doctest.as_ref();
            doctest.map(|doctest| &doctest.executable)
        });
        // The suite of a package's doctests has a folder in place of an executable.
        let shared_executable =
            suite.binary.executable.is_file().then_some(&suite.binary.executable);
        let executables: Vec<&Utf8PathBuf> =
            shared_executable.into_iter().chain(own_executables).collect();
        let mut has_copies = false;
        for library in executables
            .iter()
            .copied()
            .chain(&project.needed)
            .flat_map(|executable| libraries::needed(executable, &folders))
            .collect::<BTreeSet<_>>()
        {
            if library.starts_with(&project.target_dir) {
                files.insert(library);
            } else {
                copies.add(&library, files)?;
                has_copies = true;
            }
        }
        if has_copies {
            let known = binary.env.entry(LIBRARIES.into()).or_default();
            let mut all = OsString::from(copies.0.as_str());
            all.push(":");
            all.push(&*known);
            *known = all;
        }
        let folders = [&project.target_dir, &project.workspace_root];
        if executables.iter().any(|file| paths::are_in(file, folders)) {
            with_paths.push(binary.id.clone());
        }
        files.extend(executables.into_iter().cloned());
        suites.push(Suite { binary, tests: suite.tests.clone() });
    }
    Ok(Built {
        suites,
        notes: project.notes.clone(),
        on_host: project.on_host.clone(),
        is_order_unknown: project.is_order_unknown,
        unbuilt: project.unbuilt.clone(),
        with_paths,
        folder: name,
    })
}

/// Returns a variable whose value is a path.
fn variable(binary: &TestBinary, name: &str) -> Option<Utf8PathBuf> {
    Some(binary.env.get(OsStr::new(name))?.to_str()?.into())
}

/// Folder with copies of libraries from outside the target directory.
struct Copies(Utf8PathBuf);

impl Copies {
    /// Creates the folder, empty.
    fn create(folder: Utf8PathBuf) -> Result<Self> {
        let _ = fs::remove_dir_all(&folder);
        file::create_folder(&folder)?;
        Ok(Copies(folder))
    }

    /// Copies a library unless `files` has the copy. Returns the path of the copy.
    fn add(&self, library: &Utf8Path, files: &mut BTreeSet<Utf8PathBuf>) -> Result<Utf8PathBuf> {
        let copy = self.0.join(library.file_name().unwrap_or_default());
        if files.insert(copy.clone()) {
            fs::copy(library, &copy).or_setup(format_args!("failed to copy `{library}`"))?;
        }
        Ok(copy)
    }
}

//! Extracts an archive, and reads the tests in it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;

use camino::Utf8Path;
use cargo_metadata::Metadata;

use super::environment;
use super::manifest::{self, ArchiveManifest};
use super::roots::Roots;
use super::tar;
use crate::atomic_file;
use crate::error::{Error, OrSetup, Result};
use crate::file;
use crate::project::folder::BuildFolder;
use crate::project::{BuildPlan, Doctests, Folders, Mode, Moved, Project, Suite, companions};

/// Extracts an archive, unless it is already extracted.
///
/// The workspace is the `checkout`, or else the sources of the archive in `folder`. Without either,
/// it has the path that it had on the machine that packed the archive. The target directory is
/// `target` in `folder`. Without a folder, it is `target` in the workspace, or the original target
/// directory if the workspace has its original path.
///
/// # Errors
/// Returns an error if the archive cannot be read, there is no workspace, or the folder has other
/// files.
pub fn extract(
    file: &Utf8Path,
    folder: Option<&Utf8Path>,
    checkout: Option<&Utf8Path>,
    quiet: bool,
) -> Result<Folders> {
    let text = tar::text(file, manifest::NAME)?;
    let manifest = ArchiveManifest::parse(&text, file)?;
    let key = ArchiveManifest::key(&text);
    let extracted = places(&manifest, file, folder, checkout)?;
    let Folders { workspace_root, target_dir } = &extracted;
    let home = target_dir.join("nondex");
    let known = fs::read_to_string(home.join(manifest::NAME)).ok();
    if checkout.is_none()
        && folder.is_some()
        && manifest.has_sources
        && known.as_ref() != Some(&text)
    {
        expect_empty(workspace_root, file)?;
        tar::extract(file, "workspace", workspace_root)?;
    }
    let roots = roots(&manifest, &extracted);
    for built in manifest.builds() {
        let member = format!("target/nondex/{}", built.folder);
        let path = home.join(&built.folder);
        BuildFolder::filled(path.clone(), &key, quiet, || tar::extract(file, &member, &path))?;
        for suite in &built.suites {
            let mut suite = suite.clone();
            roots.apply(&mut suite);
            if let Some(folder) = suite.binary.temporary_folder() {
                file::create_folder(&folder)?;
            }
        }
    }
    atomic_file::text(&home.join(manifest::NAME), text.as_bytes())?;
    Ok(extracted)
}

/// Returns the paths of the workspace and the target directory.
///
/// # Errors
/// Returns an error if there is no workspace.
fn places(
    manifest: &ArchiveManifest,
    file: &Utf8Path,
    folder: Option<&Utf8Path>,
    checkout: Option<&Utf8Path>,
) -> Result<Folders> {
    let before = &manifest.workspace_root;
    let workspace_root = match (checkout, folder) {
        (Some(checkout), _) => file::absolute(checkout)?,
        (None, Some(folder)) if manifest.has_sources => file::absolute(folder)?,
        (None, _) => before.clone(),
    };
    let is_extracted = checkout.is_none() && folder.is_some() && manifest.has_sources;
    if !is_extracted && !workspace_root.join("Cargo.toml").is_file() {
        let ways = if manifest.has_sources {
            "--extract-to DIR extracts its files, --workspace-remap DIR names a checkout"
        } else {
            "--workspace-remap DIR names a checkout"
        };
        return Err(Error::usage(format!(
            "the workspace of `{file}` is not at `{workspace_root}`: {ways}"
        )));
    }
    let target_dir = match folder {
        Some(folder) => file::absolute(folder)?.join("target"),
        None if workspace_root == *before => manifest.target_dir.clone(),
        None => workspace_root.join("target"),
    };
    Ok(Folders { workspace_root, target_dir })
}

/// Checks that a folder is empty or does not exist.
fn expect_empty(folder: &Utf8Path, file: &Utf8Path) -> Result<()> {
    let is_empty = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => true,
    };
    if is_empty {
        return Ok(());
    }
    Err(Error::setup(format!(
        "`{folder}` is not empty, and `{file}` was not extracted there before: --extract-to a new \
         folder, or name a checkout by --workspace-remap"
    )))
}

/// Returns the archive that was extracted to `folder` or one of its parents, with the target
/// directory `target` there.
pub(in crate::project) fn around(folder: &Utf8Path) -> Option<Folders> {
    folder.ancestors().find_map(|folder| {
        let target_dir = folder.join("target");
        let manifest = target_dir.join("nondex").join(manifest::NAME);
        manifest.is_file().then(|| Folders { workspace_root: folder.to_owned(), target_dir })
    })
}

/// Returns the mapping from the paths in a manifest to the paths on this machine.
fn roots(manifest: &ArchiveManifest, extracted: &Folders) -> Roots {
    Roots::new(vec![
        [manifest.workspace_root.clone(), extracted.workspace_root.clone()],
        [manifest.target_dir.clone(), extracted.target_dir.clone()],
    ])
}

/// Returns the manifest of an extracted archive, and its text.
fn manifest(extracted: &Folders) -> Result<(ArchiveManifest, String)> {
    let path = extracted.target_dir.join("nondex").join(manifest::NAME);
    let text = fs::read_to_string(&path).or_setup(format_args!("failed to read `{path}`"))?;
    Ok((ArchiveManifest::parse(&text, &path)?, text))
}

/// Returns the plan by which the tests of an archive were built, changed so that it takes the tests
/// from the archive.
///
/// # Errors
/// Returns an error if the manifest cannot be read.
pub fn plan(extracted: &Folders) -> Result<BuildPlan> {
    let plan = manifest(extracted)?.0.plan;
    Ok(BuildPlan {
        archive: Some(extracted.clone()),
        ..plan.in_workspace(&extracted.workspace_root)
    })
}

/// Returns cargo's metadata of the workspace at the time of packing. Its root and target directory
/// are those on this machine.
///
/// # Errors
/// Returns an error if the manifest cannot be read.
pub(in crate::project) fn metadata(extracted: &Folders) -> Result<Metadata> {
    let mut metadata = manifest(extracted)?.0.metadata;
    metadata.workspace_root.clone_from(&extracted.workspace_root);
    metadata.target_directory.clone_from(&extracted.target_dir);
    Ok(metadata)
}

/// Returns the tests of an archive, or its plain build, as a plan requests them.
///
/// # Errors
/// Returns an error if the archive does not have them, or its extracted files are gone.
pub(in crate::project) fn project(
    extracted: &Folders,
    plan: &BuildPlan,
    quiet: bool,
) -> Result<Project> {
    let (manifest, text) = manifest(extracted)?;
    let roots = roots(&manifest, extracted);
    let built = match plan.mode {
        Mode::Plain => manifest.plain.ok_or_else(|| {
            Error::setup("the archive has no plain build, and nothing can be built from it")
        })?,
        Mode::Program | Mode::Swap => manifest.tests,
    };
    let folder = extracted.target_dir.join("nondex").join(&built.folder);
    let gone = || Error::setup(format!("`{folder}` has changed since it was extracted"));
    let key = ArchiveManifest::key(&text);
    let folder = BuildFolder::existing(folder.clone(), &key, quiet)?.ok_or_else(gone)?;
    let mut notes = built.notes;
    notes.extend(note_on_builds(&manifest.varied));
    if extracted.target_dir != manifest.target_dir
        || extracted.workspace_root != manifest.workspace_root
    {
        notes.extend(note_on_paths(&built.with_paths, &manifest.workspace_root));
    }
    let own: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    let moved =
        Moved { from: manifest.workspace_root.clone(), to: extracted.workspace_root.clone() };
    let moved = Some(moved).filter(|moved| moved.from != moved.to);
    let lock = fs::read_to_string(extracted.workspace_root.join("Cargo.lock"));
    let has_insta = lock.is_ok_and(|lock| companions::has(&lock, "insta"));
    let mut suites = Vec::new();
    for mut suite in built.suites {
        roots.apply(&mut suite);
        suite.binary.moved = moved.clone();
        suite.binary.env = environment::here(&suite.binary.env, &own, &roots);
        if has_insta {
            companions::give_root(&extracted.workspace_root, &mut suite.binary.env);
        }
        notes.extend(select_doctests(&mut suite, &plan.doctests));
        if suite.binary.kind == "doc" && suite.tests.is_empty() {
            continue;
        }
        if !suite.binary.cwd.is_dir() {
            return Err(Error::setup(format!(
                "the tests of `{}` start in `{}`, which does not exist: is `{}` their workspace?",
                suite.binary.id, suite.binary.cwd, extracted.workspace_root
            )));
        }
        suites.push(suite);
    }
    let unbuilt = match plan.doctests {
        Doctests::No => Vec::new(),
        Doctests::Named { .. } => built.unbuilt,
    };
    Ok(Project {
        suites,
        target_dir: extracted.target_dir.clone(),
        workspace_root: extracted.workspace_root.clone(),
        toolchain: manifest.toolchain,
        metadata: manifest.metadata,
        notes,
        on_host: built.on_host,
        is_order_unknown: built.is_order_unknown,
        unbuilt,
        drawn: Vec::new(),
        needed: Vec::new(),
        _doctests: None,
        folder,
    })
}

/// Keeps only the requested doctests of a suite. Returns a note if ignored ones are requested: an
/// archive does not have them.
fn select_doctests(suite: &mut Suite, requested: &Doctests) -> Option<String> {
    if suite.binary.kind != "doc" {
        return None;
    }
    let Doctests::Named { names, ignored } = requested else {
        suite.tests.clear();
        return None;
    };
    let id = suite.binary.id.clone();
    suite.tests.retain(|test| names.matches(&id, &test.name));
    let all = suite.tests.len();
    if *ignored {
        suite.tests.retain(|test| test.doctest.is_some());
    }
    (suite.tests.len() < all).then(|| format!("the ignored doctests of `{id}` are not packed"))
}

/// Returns a note on executables that have paths of the packing machine compiled in.
fn note_on_paths(with_paths: &[String], before: &Utf8Path) -> Option<String> {
    let (first, others) = with_paths.split_first()?;
    let have = match others.len() {
        0 => "has".to_owned(),
        more => format!("and {more} more have"),
    };
    Some(format!(
        "`{first}` {have} paths below `{before}` compiled in, for example by `env!`; a test that \
         opens one does not find it here"
    ))
}

/// Returns a note on packages whose builds cannot be compared, because an archive has one build.
fn note_on_builds(varied: &[String]) -> Option<String> {
    let (first, others) = varied.split_first()?;
    let mut packages = format!("`{first}`");
    for other in others {
        packages += &format!(", `{other}`");
    }
    Some(format!(
        "builds were not compared, because an archive contains one build: a build script or proc \
         macro of {packages} generates different code in each build"
    ))
}

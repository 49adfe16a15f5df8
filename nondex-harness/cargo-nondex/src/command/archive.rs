//! `cargo nondex archive`: packs the built tests into a file, for machines without a compiler.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};

use super::console::Console;
use super::{interrupt, selection};
use crate::cli::{ArchiveArgs, ExtractArgs};
use crate::error::{Error, OrSetup, Result};
use crate::exit_code::ExitCode;
use crate::file;
use crate::project::{self, BuildPlan, Doctests, Mode, Project, Rebuilds};
use crate::report::plural;
use crate::repository::Git;

/// Builds the tests and packs them into an archive.
pub(super) fn archive(args: &ArchiveArgs, console: &Console) -> Result<ExitCode> {
    let stop = interrupt::install()?;
    let plan = selection::plan(&args.build, &ExtractArgs::default(), console)?;
    let project = project::build(&plan, console.quiet)?;
    let plain = if args.no_plain { None } else { Some(plain(&plan, console)?) };
    if stop.is_set() {
        return Err(Error::build("interrupted while the tests were built"));
    }
    let rebuilds = Rebuilds::of(&project, &plan, &|| stop.is_set())?;
    let varied: BTreeSet<String> = rebuilds.variations.into_iter().map(|one| one.package).collect();
    let file = match &args.archive_file {
        Some(path) => file::absolute(path)?,
        None => project.target_dir.join("nondex/archive.tar.gz"),
    };
    let sources = if args.no_sources { None } else { Some(sources(&project, &file)?) };
    let metadata = project::metadata(&plan, true)?;
    let varied = varied.into_iter().collect();
    project::pack(&file, (&project, plain.as_ref()), &plan, metadata, varied, sources)?;
    console.notes(&project.notes_on(project.suites.iter().map(|suite| &*suite.binary.id)));
    let tests: usize = project.suites.iter().map(|suite| suite.tests.len()).sum();
    let size = std::fs::metadata(&file).map_or(0, |file| file.len());
    let what = format!(
        "{} of {} to {file} ({} MB)",
        plural(tests, "test"),
        plural(project.suites.len(), "executable"),
        size.div_ceil(1 << 20)
    );
    console.status("Archived", &what);
    Ok(project.exit_code())
}

/// Builds the tests without this tool. A campaign compares its results with this build.
fn plain(plan: &BuildPlan, console: &Console) -> Result<Project> {
    let plain =
        BuildPlan { mode: Mode::Plain, doctests: Doctests::No, races: false, ..plan.clone() };
    console.status("Compiling", "the tests without this tool");
    project::build(&plain, true)
}

/// Returns the files of the workspace, relative to its root. These are the files that git tracks or
/// does not ignore, or all files if there is no repository. Build output and the archive itself are
/// left out.
fn sources(project: &Project, archive: &Utf8Path) -> Result<Vec<Utf8PathBuf>> {
    let root = &project.workspace_root;
    let is_source = |path: &Utf8Path| !path.starts_with(&project.target_dir) && path != archive;
    let mut found = match Git::around(root) {
        Ok(git) => {
            let arguments = [
                "ls-files",
                "--cached",
                "--others",
                "--exclude-standard",
                "--full-name",
                "-z",
                "--",
                root.as_str(),
            ];
            let listed = git.read(&arguments)?;
            listed
                .split_terminator('\0')
                .map(|file| git.root().join(file))
                // A file that was deleted from the working tree is still in the index.
                .filter(|file| is_source(file) && file.symlink_metadata().is_ok())
                .collect()
        }
        Err(_) => {
            let mut files = Vec::new();
            walk(root, &is_source, &mut files).or_setup(format_args!("failed to read `{root}`"))?;
            files
        }
    };
    // `Cargo.lock` is often ignored by git, but it is part of a finding's fingerprint.
    let lock = root.join("Cargo.lock");
    if lock.is_file() && !found.contains(&lock) {
        found.push(lock);
    }
    let relative = found.iter().filter_map(|file| file.strip_prefix(root).ok());
    Ok(relative.map(Utf8Path::to_owned).collect())
}

/// Adds the files below a folder to `files`. Skips cache directories, which can be generated again.
fn walk(
    folder: &Utf8Path,
    is_source: &dyn Fn(&Utf8Path) -> bool,
    files: &mut Vec<Utf8PathBuf>,
) -> std::io::Result<()> {
    for entry in folder.read_dir_utf8()? {
        let path = entry?.into_path();
        if !path.symlink_metadata()?.is_dir() {
            files.extend(is_source(&path).then_some(path));
        } else if is_source(&path) && !path.join("CACHEDIR.TAG").exists() {
            walk(&path, is_source, files)?;
        }
    }
    Ok(())
}

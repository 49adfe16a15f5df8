//! Doctests: rustdoc compiles them as cargo asks it to, but each executable comes to us instead of
//! being run.
//!
//! Those that need nothing special become one program of ours (`together`), as rustdoc makes one
//! in edition 2024; the places in rustdoc's are not in the source. The others are compiled one by
//! one. Rustdoc runs such a doctest by `--test-runtool`, which is this program: it keeps the
//! executable and fails, so that rustdoc, at the end, prints for each name the number that was
//! written.

mod call;
pub(super) mod keep;
mod name;
mod package;
mod place;
mod program;
mod rules;
mod together;
mod transcript;

pub use self::place::{block, same};

use std::ffi::OsString;
use std::fs;
use std::num::NonZeroUsize;

use camino::{Utf8Path, Utf8PathBuf};
use nix::errno::Errno;
use nix::unistd::Pid;

use self::call::Call;
use self::package::Package;
use super::coverage::Covered;
use super::intercept::Start;
use super::runtime::Runtime;
use super::suite::Suite;
use super::toolchain::RunTool;
use crate::error::Result;
use crate::file;
use crate::pool;
use crate::project::Names;

/// What is put before the path of a crate's root, so that the places in its doctests differ from
/// those in its own code.
const HERE: &str = "./";

/// How doctests are compiled and will be run.
pub(super) struct Compiler<'a> {
    /// What is put in place of std; `None` when nothing is.
    pub(super) runtime: Option<&'a Runtime>,
    /// The compiler.
    pub(super) rustc: OsString,
    /// The program that knows the doctests.
    pub(super) rustdoc: OsString,
    /// How it is given the program that runs doctests.
    pub(super) run_tool: RunTool,
    /// The host triple.
    pub(super) host: &'a str,
    /// The user's own target runner.
    pub(super) runner: &'a [OsString],
    /// How the programs tell which of their code runs, if they do.
    pub(super) covered: Option<&'a Covered>,
    /// How many at once.
    pub(super) jobs: NonZeroUsize,
    /// Whether progress is not shown.
    pub(super) quiet: bool,
}

/// The doctests of a project.
#[derive(Debug, Default)]
pub(super) struct Compiled {
    /// Those that can be run, by package.
    pub(super) suites: Vec<Suite>,
    /// Those that could not be compiled, and packages of which none could be.
    pub(super) unbuilt: Vec<Unbuilt>,
}

/// What could not be compiled.
#[derive(Debug)]
pub(super) struct Unbuilt {
    /// The id of a test, or of a binary.
    pub(super) id: String,
    /// Why, in rustdoc's words.
    pub(super) message: String,
}

/// A folder of executables, removed when dropped: they are large, and compiled again by the next
/// command.
#[derive(Debug)]
pub(super) struct Folder(Utf8PathBuf);

impl Folder {
    /// A new folder in `dir`. Removes those of processes that were killed.
    ///
    /// # Errors
    /// When it cannot be created.
    pub(super) fn create(dir: &Utf8Path) -> Result<Self> {
        for entry in dir.read_dir_utf8().into_iter().flatten().flatten() {
            let process = entry.file_name().parse().map(Pid::from_raw);
            if process.is_ok_and(|pid| nix::sys::signal::kill(pid, None) == Err(Errno::ESRCH)) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let path = dir.join(std::process::id().to_string());
        let _ = fs::remove_dir_all(&path);
        file::create_folder(&path)?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Compiled {
    /// A sentence on what was not compiled, if there is any.
    pub(super) fn note(&self) -> Option<String> {
        match &self.unbuilt[..] {
            [] => None,
            [one] => Some(format!("`{}` does not build, and was not run", one.id)),
            [first, rest @ ..] => Some(format!(
                "`{}` and {} more do not build, and were not run",
                first.id,
                rest.len()
            )),
        }
    }
}

impl Compiler<'_> {
    /// Compiles the doctests with these `names` of every package whose rustdoc cargo started,
    /// several packages at a time; the ignored ones only on request.
    ///
    /// # Errors
    /// When files cannot be written, or rustdoc cannot be run. Doctests that cannot be compiled are
    /// no error.
    pub(super) fn compile(
        &self,
        calls: &[Start],
        names: &Names,
        ignored: bool,
        folder: &Folder,
    ) -> Result<Compiled> {
        let workers = self.jobs.get().min(calls.len());
        let numbered: Vec<(usize, &Start)> = calls.iter().enumerate().collect();
        let parts = pool::each(workers, &numbered, |_, (number, start)| {
            let package = Package {
                call: Call { compiler: self, start, dir: folder.0.join(number.to_string()) },
                names,
                ignored,
                threads: self.jobs.get().div_ceil(workers.max(1)).max(2),
            };
            Some(package.compile())
        });
        let mut all = Compiled::default();
        for part in parts {
            let part = part?;
            all.suites.extend(part.suites);
            all.unbuilt.extend(part.unbuilt);
        }
        all.unbuilt.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(all)
    }
}

//! Compiles doctests with rustdoc as cargo calls it, and keeps each executable instead of running
//! it.
//!
//! Doctests without special needs share one program (`together`), as in rustdoc's edition 2024.
//! Rustdoc's own shared program is not used, because its line numbers are not those of the source.
//! Rustdoc compiles the other doctests one by one. It runs each of them through `--test-runtool`,
//! which is this program. The run tool keeps the executable, prints its number, and fails. Rustdoc
//! prints the output of failed doctests, so its final report has the number for each name.

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

use camino::Utf8Path;
use nix::errno::Errno;
use nix::unistd::Pid;

use self::call::RustdocCall;
use self::package::Package;
use super::coverage::Covered;
use super::intercept::Start;
use super::runtime::Runtime;
use super::scratch::Scratch;
use super::suite::Suite;
use crate::error::Result;
use crate::pool;
use crate::project::NameFilters;

/// Prefix of the path of a crate's root. With it, file names in doctests differ from file names in
/// the crate's own code.
const HERE: &str = "./";

/// Settings for compiling and running doctests.
pub(super) struct Compiler<'a> {
    /// Runtime that replaces std, or `None` to keep std.
    pub(super) runtime: Option<&'a Runtime>,
    /// Path of rustc.
    pub(super) rustc: OsString,
    /// Path of rustdoc.
    pub(super) rustdoc: OsString,
    /// Whether rustdoc's option for the program that runs doctests is stable.
    pub(super) has_stable_run_tool: bool,
    /// Host triple.
    pub(super) host: &'a str,
    /// Target runner that the user configured.
    pub(super) runner: &'a [OsString],
    /// Whether atomics are instrumented.
    pub(super) atomics_are_calls: bool,
    /// Instrumentation that records which code of the programs runs, if any.
    pub(super) covered: Option<&'a Covered>,
    /// Maximum number of doctests compiled at once.
    pub(super) jobs: NonZeroUsize,
    /// Whether progress output is off.
    pub(super) quiet: bool,
}

/// Doctests of a project.
#[derive(Debug, Default)]
pub(super) struct Compiled {
    /// Doctests that can be run, by package.
    pub(super) suites: Vec<Suite>,
    /// Doctests that do not compile, and packages whose doctests rustdoc could not process.
    pub(super) unbuilt: Vec<Unbuilt>,
}

/// Doctest or package that could not be compiled.
#[derive(Debug)]
pub(super) struct Unbuilt {
    /// Id of a test or of a binary.
    pub(super) id: String,
    /// Rustdoc's message.
    pub(super) message: String,
}

/// Creates a folder for executables in `dir`, and removes the folders of processes that no longer
/// exist. It is removed when dropped: executables are large, and the next command compiles them
/// again.
///
/// # Errors
/// Returns an error if the folder cannot be created.
pub(super) fn folder(dir: &Utf8Path) -> Result<Scratch> {
    for entry in dir.read_dir_utf8().into_iter().flatten().flatten() {
        let process = entry.file_name().parse().map(Pid::from_raw);
        if process.is_ok_and(|pid| nix::sys::signal::kill(pid, None) == Err(Errno::ESRCH)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    // A killed process with the same id may have left its folder.
    let path = dir.join(std::process::id().to_string());
    let _ = fs::remove_dir_all(&path);
    Scratch::at(path)
}

impl Compiled {
    /// Returns a note on what was not compiled, if anything.
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
    /// Compiles the doctests with these `names` of every package for which cargo started rustdoc.
    /// Compiles several packages at a time, and ignored doctests only if `ignored`.
    ///
    /// # Errors
    /// Returns an error if files cannot be written, or rustdoc cannot be run. A doctest that does
    /// not compile is not an error.
    pub(super) fn compile(
        &self,
        calls: &[Start],
        names: &NameFilters,
        ignored: bool,
        folder: &Utf8Path,
    ) -> Result<Compiled> {
        let workers = self.jobs.get().min(calls.len());
        let numbered: Vec<(usize, &Start)> = calls.iter().enumerate().collect();
        let parts = pool::each(workers, &numbered, |_, (number, start)| {
            let package = Package {
                call: RustdocCall { compiler: self, start, dir: folder.join(number.to_string()) },
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

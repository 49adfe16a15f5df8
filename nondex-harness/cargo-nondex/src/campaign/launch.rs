//! One run of one test, or of several in one process: from a spec to a process, and to what has
//! `Ended`.

mod command;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use nix::sys::signal::Signal;
use nondex_core::context::inheritance;
use nondex_core::{Outcome, RunSpec};

pub use self::command::{BACKTRACES, all, arguments, command, without_backtraces};
use super::ended::{Ended, not_started, outcome_of};
use super::flags;
use super::limits::TestLimits;
use super::process;
use super::processors;
use super::record::{RecordFile, Recorded};
use super::stop::StopFlag;
use super::temporary::{self, fresh_folder, made, private_folder};
use super::written_paths::WrittenPaths;
use crate::judge::run::Run;
use crate::project::{Harness, TestBinary, TestCase, addresses};

/// The number of the next record, over all launchers: several may write into one directory, where
/// records of failing runs stay.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Why a run was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmade {
    /// The campaign was stopped.
    Stopped,
    /// It cannot be confined, and has done nothing that another process could notice.
    Unconfined,
}

/// What a run is made in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// What all runs share.
    Shared,
    /// The same, but for an empty folder for temporary files that is removed afterwards. It has the
    /// same path in every run, so nothing that depends on it varies; two of these runs cannot be
    /// made at once.
    Fresh,
    /// The same, with such a folder that no other test has: runs of several tests can be made at
    /// once.
    Private,
    /// A process that ends before it does anything which another one could notice.
    Confined,
}

/// Starts tests.
#[derive(Clone, Debug)]
pub struct Launcher<'a> {
    records: Utf8PathBuf,
    stop: &'a StopFlag,
    is_shown: bool,
    has_backtraces: bool,
    is_confined: bool,
    is_as_plain: bool,
    arguments: Vec<OsString>,
    written: Option<&'a WrittenPaths>,
}

/// A process that is to be started.
pub(super) struct Launch<'l> {
    /// The folder of its temporary files, where it is another one than usual.
    pub(super) temporary: Option<&'l Path>,
    /// How long its end is waited for.
    pub(super) timeout: Duration,
    pub(super) binary: &'l TestBinary,
    pub(super) test: &'l TestCase,
    /// With the path of `record`.
    pub(super) spec: &'l RunSpec,
    pub(super) record: &'l RecordFile,
    /// What it is given when that time is over.
    pub(super) more: &'l dyn Fn() -> Option<Duration>,
}

impl<'a> Launcher<'a> {
    /// A launcher whose tests write their records into `records`, an existing, absolute directory.
    pub const fn new(records: Utf8PathBuf, stop: &'a StopFlag) -> Self {
        Launcher {
            records,
            stop,
            is_shown: false,
            has_backtraces: false,
            is_confined: false,
            is_as_plain: false,
            arguments: Vec::new(),
            written: None,
        }
    }

    /// The same launcher, whose [natural](RunSpec::is_natural) runs of one test are at random
    /// addresses, as plain runs are.
    #[must_use]
    pub const fn as_plain(mut self) -> Self {
        self.is_as_plain = true;
        self
    }

    /// The same launcher, which notes what its processes write.
    pub(super) const fn noting(mut self, written: &'a WrittenPaths) -> Self {
        self.written = Some(written);
        self
    }

    /// The same launcher, but what tests write goes where our own output goes, and is not kept. It
    /// has the backtraces that our own environment asks for, or none, as the runs of a campaign.
    #[must_use]
    pub const fn showing(mut self, has_backtraces: bool) -> Self {
        self.is_shown = true;
        self.has_backtraces = has_backtraces;
        self
    }

    /// The same launcher with more arguments for the test executable.
    #[must_use]
    pub fn with_arguments(mut self, arguments: Vec<OsString>) -> Self {
        self.arguments = arguments;
        self
    }

    /// Runs `test` under `spec`, which names no record, within this time limit.
    ///
    /// The record is deleted again, unless the run failed.
    ///
    /// # Errors
    /// When it was stopped. Where it is [confined](Setting::Confined), also when the test would
    /// have done something that another process could notice, or processes cannot be confined here.
    pub fn run(
        &self,
        setting: Setting,
        limit: Duration,
        binary: &TestBinary,
        test: &TestCase,
        spec: &RunSpec,
    ) -> Result<Run, Unmade> {
        let launcher = Launcher { is_confined: setting == Setting::Confined, ..self.clone() };
        let run = |folder: Option<&Path>| {
            let make = || launcher.experiment(folder, &[limit], binary, &[test], spec);
            let is_random = launcher.is_as_plain && spec.is_natural();
            let runs = if is_random { process::at_random_addresses(make) } else { make() };
            runs?.pop()
        };
        let run = match setting {
            Setting::Shared | Setting::Confined => run(None),
            Setting::Fresh => Self::with_fresh(0, run),
            Setting::Private => {
                let own = private_folder(binary, test);
                // Another campaign on the project may have it, or one that was killed may have left
                // it.
                let number = 1 + NEXT.fetch_add(1, Ordering::Relaxed);
                let other = || made(fresh_folder(usize::try_from(number).unwrap_or(usize::MAX)));
                Self::with_folder(made(own).or_else(other), run)
            }
        };
        let run = run.ok_or(Unmade::Stopped)?;
        if launcher.is_confined && run.is_missing { Err(Unmade::Unconfined) } else { Ok(run) }
    }

    /// Does something with an empty folder for temporary files, or without one where it cannot be
    /// made.
    pub(super) fn with_fresh<T>(place: usize, run: impl FnOnce(Option<&Path>) -> T) -> T {
        Self::with_folder(made(fresh_folder(place)), run)
    }

    /// Does something with this folder, and removes it.
    fn with_folder<T>(folder: Option<PathBuf>, run: impl FnOnce(Option<&Path>) -> T) -> T {
        let result = run(folder.as_deref());
        if let Some(folder) = folder {
            let _ = std::fs::remove_dir_all(folder);
        }
        result
    }

    /// Runs `tests` in one process, one after the other in this order, under `spec`, whose tests
    /// they become, with this folder for temporary files. Each has its time limit, and those for
    /// which there is none have the last one. A run of each; `None` when it was stopped. Only our
    /// own harness can run several.
    pub fn experiment(
        &self,
        folder: Option<&Path>,
        limits: &[Duration],
        binary: &TestBinary,
        tests: &[&TestCase],
        spec: &RunSpec,
    ) -> Option<Vec<Run>> {
        let [before @ .., test] = tests else { return Some(Vec::new()) };
        let last = *limits.last()?;
        let limits = limits.iter().copied().chain(std::iter::repeat(last));
        let limits: Vec<Duration> = limits.take(tests.len()).collect();
        let none_started =
            |why: &io::Error| tests.iter().map(|test| not_started(binary, test, why)).collect();
        if binary.harness != Harness::Nondex && !before.is_empty() {
            let why = io::Error::other("the tests of this executable run one in a process only");
            return Some(none_started(&why));
        }
        let (mut named, record) = self.named(spec, before);
        if let Some(folder) = folder {
            named.execution.states_mut().for_each(|state| temporary::place(state, folder));
        }
        let progress = TestLimits::new(&record, &limits);
        let launch = Launch {
            temporary: folder,
            timeout: progress.first(),
            binary,
            test,
            spec: &named,
            record: &record,
            more: &|| progress.more(),
        };
        let ended = match self.launch(&launch)? {
            Ok(ended) => ended,
            Err(e) => return Some(none_started(&e)),
        };
        Some(ended.runs(&named, tests, &limits))
    }

    /// `spec` with these tests before its own, and a record.
    pub(super) fn named(&self, spec: &RunSpec, before: &[&TestCase]) -> (RunSpec, RecordFile) {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let record = RecordFile::create(self.records.join(format!("{number}.jsonl")));
        let named = RunSpec {
            record: Some(record.path().into()),
            writes: self.written.is_some(),
            ..spec.clone().after(before.iter().map(|test| test.name.clone()).collect())
        };
        (named, record)
    }

    /// Starts a process, waits for its end, and notes what it has written. `None` when it was
    /// stopped.
    pub(super) fn launch(&self, launch: &Launch<'_>) -> Option<io::Result<Ended>> {
        let ended = self.launch_only(launch);
        // Only our own harness records something in every run. A doctest has the runtime, too.
        let is_complete = |recorded: &Recorded| {
            matches!(launch.binary.harness, Harness::Nondex | Harness::Doctest)
                || !recorded.is_empty()
        };
        self.note(|written| match &ended {
            Some(Ok(ended)) if is_complete(&ended.recorded) => written.add(&ended.recorded),
            _ => written.add_anything(),
        });
        ended
    }

    /// Notes what a process has written, if that is of interest.
    pub(super) fn note(&self, add: impl FnOnce(&WrittenPaths)) {
        if let Some(written) = self.written {
            add(written);
        }
    }

    fn launch_only(&self, launch: &Launch<'_>) -> Option<io::Result<Ended>> {
        let Launch { temporary, timeout, binary, test, spec, record, more } = *launch;
        let processor = processors::take();
        let placed = RunSpec { processor: processor.number(), ..spec.clone() };
        let mut command = command(binary, test, Some(placed));
        command.args(&self.arguments);
        command.envs(temporary.map(|folder| ("TMPDIR", folder)));
        if !self.has_backtraces || !spec.trace.is_empty() {
            // A backtrace costs more than most tests, and nobody reads those of a thousand runs. A
            // trace is to show the run that was found.
            without_backtraces(&mut command);
        }
        if self.is_confined && !process::confine(&mut command) {
            return Some(Err(io::ErrorKind::Unsupported.into()));
        }
        let started = Instant::now();
        let finished = if self.is_shown {
            process::run_shown(command, timeout, self.stop)
        } else {
            process::run_longer(command, timeout, more, self.stop)
        };
        let finished = match finished {
            Ok(finished) => finished,
            Err(e) => return Some(Err(e)),
        };
        let took = started.elapsed();
        let process_end = outcome_of(binary, test, finished.end)?;
        let (mut recorded, problem) = match record.read() {
            Ok(recorded) => (recorded, None),
            Err(message) => (Recorded::default(), Some(message)),
        };
        let record = record.path();
        if spec.cover {
            recorded.events.extend(flags::told(record, spec));
        }
        for extension in [inheritance::NOTES, RunSpec::FILE] {
            let _ = std::fs::remove_file(record.with_extension(extension));
        }
        if self.is_confined && process_end == Outcome::Signalled(Signal::SIGSYS as i32) {
            let _ = std::fs::remove_file(record);
            return Some(Err(io::ErrorKind::PermissionDenied.into()));
        }
        let (executable, moved) = (binary.executable_of(test), binary.moved.as_ref());
        addresses::resolve(executable, moved, &mut recorded.events);
        let stacks = addresses::frames_of(executable, moved, &finished.stacks);
        Some(Ok(Ended {
            record: record.to_owned(),
            process_end,
            left_child: finished.left_child,
            output: finished.output,
            stacks,
            took,
            recorded,
            problem,
        }))
    }
}

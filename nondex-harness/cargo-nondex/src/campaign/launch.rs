//! One process with one or several tests: from a spec to a process, and to its `Ended` result.

mod command;
mod fork_servers;
mod harness_calls;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use nix::sys::signal::Signal;
use nondex_core::context::inheritance;
use nondex_core::{Outcome, RunSpec};

pub use self::command::{BACKTRACES, all, arguments, command, without_backtraces};
use self::fork_servers::ForkServers;
use self::harness_calls::HarnessCalls;
use super::ended::{Ended, not_started, outcome_of};
use super::flags;
use super::limits::TestLimits;
use super::process::{self, ForkServer};
use super::processors;
use super::record::{RecordFile, Recorded};
use super::stop::StopFlag;
use super::temporary::{self, create, fresh_folder, private_folder};
use super::written_paths::WrittenPaths;
use crate::judge::run::Run;
use crate::project::{Harness, TestBinary, TestCase, addresses};

/// Number of the next record, shared by all launchers. Several launchers may write to one
/// directory, in which the records of failing runs stay.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Reason why a run was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmade {
    /// The campaign was stopped.
    Stopped,
    /// The test cannot be confined. It has done nothing that another process could notice.
    Unconfined,
}

/// Surroundings of a run: its folder for temporary files, and whether it is confined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The surroundings that all runs share.
    Shared,
    /// Like `Shared`, with an empty folder for temporary files that is removed afterwards. Its path
    /// is the same in every run, so nothing that depends on the path varies. Two such runs cannot
    /// overlap.
    Fresh,
    /// Like `Fresh`, with a folder that no other test has. Runs of several tests can overlap.
    Private,
    /// A process that is killed before it does anything that another process could notice.
    Confined,
}

/// Starter of test processes.
#[derive(Clone, Debug)]
pub struct Launcher<'a> {
    records: Utf8PathBuf,
    stop: &'a StopFlag,
    is_shown: bool,
    has_backtraces: bool,
    is_confined: bool,
    is_as_plain: bool,
    busy: Option<Duration>,
    arguments: Vec<OsString>,
    written: Option<&'a WrittenPaths>,
    harness_calls: Arc<HarnessCalls>,
    fork_servers: Option<Arc<ForkServers>>,
}

/// Description of a process to start.
pub(super) struct Launch<'l> {
    /// Folder for its temporary files, if not the usual one.
    pub(super) temporary: Option<&'l Path>,
    pub(super) limits: process::Limits<'l>,
    pub(super) binary: &'l TestBinary,
    pub(super) test: &'l TestCase,
    /// Spec, with the path of `record`.
    pub(super) spec: &'l RunSpec,
    pub(super) record: &'l RecordFile,
}

impl<'a> Launcher<'a> {
    /// Creates a launcher whose tests write their records to `records`, an existing, absolute
    /// directory.
    pub fn new(records: Utf8PathBuf, stop: &'a StopFlag) -> Self {
        Launcher {
            records,
            stop,
            is_shown: false,
            has_backtraces: false,
            is_confined: false,
            is_as_plain: false,
            busy: None,
            arguments: Vec::new(),
            written: None,
            harness_calls: Arc::default(),
            fork_servers: Some(Arc::default()),
        }
    }

    /// Makes [natural](RunSpec::is_natural) runs of one test use random addresses, as plain runs
    /// do.
    #[must_use]
    pub const fn as_plain(mut self) -> Self {
        self.is_as_plain = true;
        self
    }

    /// Starts the executable for each run. Otherwise, one that runs often becomes a
    /// server that forks the processes of its tests.
    #[must_use]
    pub fn without_forks(mut self) -> Self {
        self.fork_servers = None;
        self
    }

    /// Limits the processor time that a process takes itself, without its children.
    #[must_use]
    pub(super) const fn with_busy_limit(mut self, busy: Option<Duration>) -> Self {
        self.busy = busy;
        self
    }

    /// Records which files the processes write.
    pub(super) const fn noting(mut self, written: &'a WrittenPaths) -> Self {
        self.written = Some(written);
        self
    }

    /// Writes the records of processes to this folder instead.
    #[must_use]
    pub(super) fn recording_in(self, records: Utf8PathBuf) -> Self {
        Launcher { records, ..self }
    }

    /// Passes the output of tests through to our own output instead of capturing it. With
    /// `has_backtraces`, our own environment decides on backtraces; otherwise there are none, as in
    /// a campaign.
    #[must_use]
    pub const fn showing(mut self, has_backtraces: bool) -> Self {
        self.is_shown = true;
        self.has_backtraces = has_backtraces;
        self
    }

    /// Adds arguments for the test executable.
    #[must_use]
    pub fn with_arguments(mut self, arguments: Vec<OsString>) -> Self {
        self.arguments = arguments;
        self
    }

    /// Runs `test` under `spec`, which names no record, within this time limit.
    ///
    /// Deletes the record afterwards, unless the run failed.
    ///
    /// # Errors
    /// Returns the reason if the run was stopped. A [confined](Setting::Confined) run also fails
    /// when the test would have done something that another process could notice, or when this
    /// machine cannot confine processes.
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
                // Another campaign on the project may use the folder, or a killed one may have left
                // it.
                let number = 1 + NEXT.fetch_add(1, Ordering::Relaxed);
                let other = || create(fresh_folder(usize::try_from(number).unwrap_or(usize::MAX)));
                Self::with_folder(create(own).or_else(other), run)
            }
        };
        let run = run.ok_or(Unmade::Stopped)?;
        if launcher.is_confined && run.is_missing { Err(Unmade::Unconfined) } else { Ok(run) }
    }

    /// Calls `run` with an empty folder for temporary files, or without one if it cannot be
    /// created.
    pub(super) fn with_fresh<T>(place: usize, run: impl FnOnce(Option<&Path>) -> T) -> T {
        Self::with_folder(create(fresh_folder(place)), run)
    }

    /// Calls `run` with this folder, and removes the folder.
    fn with_folder<T>(folder: Option<PathBuf>, run: impl FnOnce(Option<&Path>) -> T) -> T {
        let result = run(folder.as_deref());
        if let Some(folder) = folder {
            let _ = std::fs::remove_dir_all(folder);
        }
        result
    }

    /// Runs `tests` in one process in this order under `spec`, whose test names are replaced.
    /// `folder` is for temporary files. Tests without a limit in `limits` have the last one.
    ///
    /// Returns a run of each test; `None` when it was stopped. Only our own harness can run several
    /// tests in a process.
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
        let all = limits.iter().copied().chain(std::iter::repeat(last));
        let limits: Vec<Duration> = all.take(tests.len()).collect();
        if binary.harness != Harness::Nondex && !before.is_empty() {
            let why = io::Error::other("the tests of this executable run one in a process only");
            return Some(tests.iter().map(|test| not_started(binary, test, &why)).collect());
        }
        let (mut named, record) = self.named(spec, before);
        if let Some(folder) = folder {
            named.execution.states_mut().for_each(|state| temporary::place(state, folder));
        }
        let progress = TestLimits::new(&record, &limits);
        let launch = Launch {
            temporary: folder,
            limits: process::Limits {
                elapsed: progress.first(),
                busy: self.busy,
                more: &|| progress.more(),
            },
            binary,
            test,
            spec: &named,
            record: &record,
        };
        self.runs(&launch, tests, &limits)
    }

    /// Starts a process with these tests, and returns a run of each. Returns `None` when it was
    /// stopped.
    pub(super) fn runs(
        &self,
        launch: &Launch<'_>,
        tests: &[&TestCase],
        limits: &[Duration],
    ) -> Option<Vec<Run>> {
        Some(match self.launch(launch)? {
            Ok(ended) => ended.runs(launch.spec, tests, limits),
            Err(e) => tests.iter().map(|test| not_started(launch.binary, test, &e)).collect(),
        })
    }

    /// Returns `spec` with a record and with these tests before its own test.
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

    /// Starts a process, waits for its end, and notes which files it has written. Returns `None`
    /// when it was stopped.
    fn launch(&self, launch: &Launch<'_>) -> Option<io::Result<Ended>> {
        let ended = self.launch_only(launch);
        // Our own harness and doctests always have the runtime. Other programs may write without a
        // record.
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

    /// Notes which files a process has written, if a tree wants to know.
    pub(super) fn note(&self, add: impl FnOnce(&WrittenPaths)) {
        if let Some(written) = self.written {
            add(written);
        }
    }

    /// Returns a server that can fork the process of a run, if one is worth its start. Programs
    /// that a runner starts, and those without the runtime, cannot be servers. All forks of a
    /// server have the same addresses.
    fn fork_server(&self, binary: &TestBinary, command: &Command) -> Option<Arc<ForkServer>> {
        let has_runtime = matches!(binary.harness, Harness::Nondex | Harness::Doctest);
        let can_fork = has_runtime
            && binary.runner.is_empty()
            && !self.is_confined
            && !process::are_addresses_random();
        self.fork_servers.as_ref().filter(|_| can_fork)?.of(command)
    }

    fn launch_only(&self, launch: &Launch<'_>) -> Option<io::Result<Ended>> {
        let Launch { temporary, ref limits, binary, test, spec, record } = *launch;
        let processor = processors::take();
        let placed = RunSpec { processor: processor.number(), ..spec.clone() };
        let mut command = command(binary, test, Some(placed));
        command.args(&self.arguments);
        command.envs(temporary.map(|folder| ("TMPDIR", folder)));
        if !self.has_backtraces || !spec.trace.is_empty() {
            // A backtrace takes longer than most tests, and the backtraces of a thousand runs have
            // no use. A trace must show the same run that was found, so it has none either.
            without_backtraces(&mut command);
        }
        if self.is_confined && !process::confine(&mut command) {
            return Some(Err(io::ErrorKind::Unsupported.into()));
        }
        let started = Instant::now();
        let finished = if self.is_shown {
            process::run_shown(command, limits.elapsed, self.stop)
        } else {
            let server = self.fork_server(binary, &command);
            process::run_limited(command, server.as_deref(), limits, self.stop)
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
        self.harness_calls.remove(self, launch, &mut recorded.events);
        let record = record.path();
        if spec.cover {
            recorded.events.extend(flags::reported(record, spec));
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
            busy: finished.busy,
            recorded,
            problem,
        }))
    }
}

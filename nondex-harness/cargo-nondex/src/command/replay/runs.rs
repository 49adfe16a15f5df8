//! Runs of the replayed test, made as in the campaign.

use std::ffi::OsString;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use nondex_core::RunSpec;

use super::request;
use crate::campaign::launch::{self, Launcher, Setting};
use crate::campaign::{StopFlag, across};
use crate::cli::{MessageFormat, ReplayArgs};
use crate::command::console::Console;
use crate::error::{Error, Result};
use crate::findings::Finding;
use crate::judge::Run;
use crate::project::{Harness, Project, Suite, TestBinary, TestCase};

/// One run that can be repeated.
pub(super) struct RepeatableRun<'a> {
    binary: &'a TestBinary,
    /// Tests of this binary, which run in one process.
    tests: Vec<&'a TestCase>,
    /// Tests of other binaries, which run in earlier processes.
    others: Vec<(&'a TestBinary, Vec<&'a TestCase>)>,
    spec: &'a RunSpec,
    /// Folder for records.
    records: &'a Utf8Path,
    timeout: Duration,
    /// Further arguments for the test executable.
    arguments: &'a [OsString],
    stop: &'a StopFlag,
}

impl<'a> RepeatableRun<'a> {
    /// Prepares runs of the test of `finding` under `spec`.
    ///
    /// # Errors
    /// When a test that ran before it does not exist any more.
    pub(super) fn new(
        (project, suite): (&'a Project, &'a Suite),
        finding: &Finding,
        spec: &'a RunSpec,
        args: &'a ReplayArgs,
        records: &'a Utf8Path,
        stop: &'a StopFlag,
    ) -> Result<Self> {
        let mut tests = Vec::new();
        let mut others: Vec<(&TestBinary, Vec<&TestCase>)> = Vec::new();
        for name in spec.tests() {
            match (suite.test(name), request::of_other_binary(project, name)) {
                (Some(case), _) => tests.push(case),
                (None, Some((other, case))) => match others.last_mut() {
                    Some((known, tests)) if known.id == other.binary.id => tests.push(case),
                    _ => others.push((&other.binary, vec![case])),
                },
                (None, None) => {
                    return Err(Error::setup(format!(
                        "finding {} cannot be replayed: the test `{name}`, which ran before it, no \
                         longer exists",
                        finding.id
                    )));
                }
            }
        }
        let found = Duration::from_millis(finding.timeout_ms);
        Ok(RepeatableRun {
            binary: &suite.binary,
            tests,
            others,
            spec,
            records,
            timeout: args.timeout.unwrap_or(found),
            arguments: &args.arguments,
            stop,
        })
    }

    /// Creates a launcher for the runs.
    fn launcher(&self) -> Launcher<'a> {
        Launcher::new(Utf8PathBuf::from(self.records), self.stop)
            .as_plain()
            .with_arguments(self.arguments.to_vec())
    }

    /// Makes one run. Returns `None` if it was interrupted.
    pub(super) fn one(&self) -> Option<Run> {
        self.run_by(&self.launcher())
    }

    /// Makes one run and shows its output. The output is shown while the test runs, unless the user
    /// requested JSON or no output.
    ///
    /// # Errors
    /// When the run was interrupted.
    pub(super) fn shown(&self, console: &Console) -> Result<Run> {
        let run_by = |launcher: Launcher<'_>| {
            self.run_by(&launcher).ok_or_else(|| Error::setup("interrupted before the test ended"))
        };
        let is_shown = !console.quiet && console.format != MessageFormat::Json;
        // For another harness, the outcome is read from the captured output of the test. This
        // output is shown after the run.
        let is_live = is_shown && self.binary.harness == Harness::Nondex;
        let run = if is_live {
            let run = run_by(self.launcher().showing(true))?;
            let is_asked = |name| std::env::var_os(name).is_some_and(|value| value != "0");
            // With backtraces, a panicking thread takes longer and opens files. This may hide the
            // failure.
            if run.outcome.passed() && launch::BACKTRACES.into_iter().any(is_asked) {
                console.note(
                    "it passed with `RUST_BACKTRACE`, which delays panicking threads and opens \
                     files: repeating without it",
                );
                run_by(self.launcher().showing(false))?
            } else {
                run
            }
        } else {
            run_by(self.launcher())?
        };
        if is_shown && let Some(output) = &run.output {
            console.text(output);
        }
        Ok(run)
    }

    /// Makes one run with this launcher. Returns `None` if it was interrupted.
    fn run_by(&self, launcher: &Launcher<'_>) -> Option<Run> {
        let run = match self.tests[..] {
            [test] if self.spec.before().is_empty() => {
                launcher.run(Setting::Shared, self.timeout, self.binary, test, self.spec).ok()?
            }
            _ => {
                let own = (self.binary, &self.tests[..]);
                let kept = self.records.with_extension("left");
                across::run_after(launcher, self.timeout, &self.others, own, self.spec, &kept)?
                    .pop()?
            }
        };
        // The campaign also counts a run as timed out if it slept longer than the limit, except for
        // clean runs.
        let times_out = !self.spec.is_clean() && run.oversleeps();
        Some(if run.passed() && times_out { run.timed_out() } else { run })
    }
}

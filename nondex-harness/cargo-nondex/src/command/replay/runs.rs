//! Runs of the test that is replayed, made as the campaign made them.

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
use crate::judge::run::Run;
use crate::project::{Harness, Project, Suite, TestBinary, TestCase};

/// One run, which can be made again.
pub(super) struct Runs<'a> {
    binary: &'a TestBinary,
    /// The tests of this binary that run in its process.
    tests: Vec<&'a TestCase>,
    /// Tests of other binaries, which run before.
    others: Vec<(&'a TestBinary, Vec<&'a TestCase>)>,
    spec: &'a RunSpec,
    /// The folder for records.
    records: &'a Utf8Path,
    timeout: Duration,
    /// More arguments for the test executable.
    arguments: &'a [OsString],
    stop: &'a StopFlag,
}

impl<'a> Runs<'a> {
    /// Runs of the test of `finding` under `spec`.
    ///
    /// # Errors
    /// When a test is gone that ran before it.
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
                        "finding {} cannot be replayed: there is no test `{name}` any more, which \
                         ran before it",
                        finding.id
                    )));
                }
            }
        }
        let found = Duration::from_millis(finding.timeout_ms);
        Ok(Runs {
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

    fn launcher(&self) -> Launcher<'a> {
        Launcher::new(Utf8PathBuf::from(self.records), self.stop)
            .as_plain()
            .with_arguments(self.arguments.to_vec())
    }

    /// One run; none if it was interrupted.
    pub(super) fn one(&self) -> Option<Run> {
        self.run_by(&self.launcher())
    }

    /// One run, with its output shown as it comes unless somebody wants to read JSON, or nothing.
    ///
    /// # Errors
    /// When it was interrupted.
    pub(super) fn shown(&self, console: &Console) -> Result<Run> {
        let run_by = |launcher: Launcher<'_>| {
            self.run_by(&launcher).ok_or_else(|| Error::setup("interrupted before the test ended"))
        };
        let is_shown = !console.quiet && console.format != MessageFormat::Json;
        // What another harness does not record is taken from what the test wrote, which is then
        // shown at its end.
        let is_live = is_shown && self.binary.harness == Harness::Nondex;
        let run = if is_live {
            let run = run_by(self.launcher().showing(true))?;
            let is_asked = |name| std::env::var_os(name).is_some_and(|value| value != "0");
            if run.outcome.passed() && launch::BACKTRACES.into_iter().any(is_asked) {
                console.note(
                    "it passed with `RUST_BACKTRACE`, by which threads that panic take longer and \
                     open files: once more without",
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
        // As in the campaign that found it, whose clean runs slept less.
        let times_out = !self.spec.is_clean() && run.oversleeps();
        Some(if run.passed() && times_out { run.timed_out() } else { run })
    }
}

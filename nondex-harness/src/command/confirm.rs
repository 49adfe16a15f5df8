//! `cargo nondex confirm`: how often a test fails without this tool.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use anstyle::AnsiColor;
use serde::Serialize;

use super::console::Console;
use super::{interrupt, selection};
use crate::campaign::{StopFlag, launch, message, process};
use crate::cli::{ConfirmArgs, MessageFormat, Mode};
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::project::{self, TestBinary, TestCase};
use crate::statistics::wilson;

/// What is known of all tests, as JSON.
#[derive(Debug, Serialize)]
struct Confirmation {
    /// Whether it was interrupted before all runs were made.
    partial: bool,
    tests: Vec<Confirmed>,
}

/// What is known of one test.
#[derive(Debug, Serialize)]
struct Confirmed {
    id: String,
    /// The runs that count.
    #[serde(flatten)]
    rate: Rate,
    /// The runs at the time of which others of the same test were made, when some of them failed; those that count were then made
    /// one at a time.
    beside_itself: Option<Rate>,
    /// Why the first failing run failed, of those that count or else of the others.
    message: Option<String>,
    /// What that run wrote.
    output: Option<String>,
}

/// How often it failed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Rate {
    failures: u64,
    runs: u64,
    /// The interval in which the probability of a failure lies with a confidence of 95 %; see [`wilson`].
    interval: [f64; 2],
}

impl Rate {
    fn new(failures: u64, runs: u64) -> Self {
        Rate {
            failures,
            runs,
            interval: wilson(failures, runs),
        }
    }

    fn text(self) -> String {
        let Rate {
            failures,
            runs,
            interval: [low, high],
        } = self;
        format!(
            "{failures} of {runs} runs failed: {:.1} % to {:.1} % with 95 % confidence",
            low * 100.0,
            high * 100.0
        )
    }
}

/// Runs ordinary builds of the selected tests many times: 100 when one failed.
pub(super) fn confirm(args: &ConfirmArgs, console: &Console) -> Result<ExitCode> {
    let filter = args.filter.parse()?;
    let resolved = selection::resolve(&filter, &args.build)?;
    let stop = interrupt::install()?;
    let mut build = args.build.clone();
    build.config.extend(args.output.cargo_config());
    build.mode = Mode::Plain;
    let project = project::build(&build, console.quiet)?;
    let selected = selection::select(&project.suites, &resolved);
    selection::expect_some(&project.suites, &selected)?;
    let running = selected.iter().flat_map(|selected| {
        let tests = selected.tests.iter().filter(|(_, runs)| *runs);
        tests.map(|(test, _)| (selected.suite, test))
    });
    let jobs = args
        .build
        .jobs
        .or_else(|| thread::available_parallelism().ok());
    let mut confirmation = Confirmation {
        partial: false,
        tests: Vec::new(),
    };
    for (suite, test) in running {
        let id = suite.test_id(test);
        console.status(
            "Confirming",
            &format!("{id}: {} runs of the ordinary build", args.runs),
        );
        let trials = Trials {
            binary: &suite.binary,
            test,
            timeout: args.timeout,
            stop: &stop,
        };
        let confirmed = trials.confirm(
            id,
            args.runs.get().into(),
            jobs.unwrap_or(NonZeroUsize::MIN),
        )?;
        if console.format == MessageFormat::Human {
            tell(&confirmed, console);
        }
        confirmation.tests.push(confirmed);
        if stop.is_set() {
            confirmation.partial = true;
            break;
        }
    }
    if console.format == MessageFormat::Json {
        console.json(&confirmation)?;
    }
    if confirmation.partial {
        console.warning("interrupted: fewer runs were made than were asked for");
    }
    let failed = |confirmed: &Confirmed| confirmed.rate.failures > 0;
    Ok(
        if confirmation.partial || confirmation.tests.iter().any(failed) {
            ExitCode::Found
        } else {
            ExitCode::Ok
        },
    )
}

fn tell(confirmed: &Confirmed, console: &Console) {
    let (color, word) = match confirmed.rate {
        Rate { runs: 0, .. } => (AnsiColor::Yellow, "Unknown"),
        Rate { failures: 0, .. } => (AnsiColor::Green, "Passes"),
        Rate { failures, runs, .. } if failures == runs => (AnsiColor::Red, "Broken"),
        _ => (AnsiColor::Red, "Flaky"),
    };
    console.result(
        color,
        word,
        &format!("{}: {}", confirmed.id, confirmed.rate.text()),
    );
    let [low, high] = confirmed.rate.interval;
    if let Some(beside) = confirmed.beside_itself
        && !(low..=high).contains(&(beside.failures as f64 / beside.runs.max(1) as f64))
    {
        console.note(&format!(
            "of the runs that were made several at a time, {} failed of {}; these were made one at a time, so that no run \
             disturbs another",
            beside.failures, beside.runs
        ));
    }
    if confirmed.rate.failures > 0
        && let Some(message) = &confirmed.message
    {
        console.note(&format!("the first failing run: {}", message.trim_end()));
    }
    if confirmed.rate.failures == 0 {
        console.note(
            "what differs on other machines, other versions of std or another day is the same in all these runs: that they \
             pass does not refute a finding",
        );
    }
}

/// The runs of one test.
struct Trials<'a> {
    binary: &'a TestBinary,
    test: &'a TestCase,
    timeout: Duration,
    stop: &'a StopFlag,
}

/// A run that failed.
#[derive(Debug)]
struct Failed {
    number: u64,
    message: String,
    output: String,
}

impl Trials<'_> {
    /// Runs the test `runs` times, `jobs` at a time; and if one fails then, once more as often, one at a time: runs of one
    /// test may disturb each other, and then it is not the test that is flaky.
    fn confirm(&self, id: String, runs: u64, jobs: NonZeroUsize) -> Result<Confirmed> {
        let (mut rate, mut failed) = self.run(runs, jobs.get())?;
        let mut beside_itself = None;
        if rate.failures > 0 && jobs.get() > 1 && runs > 1 && !self.stop.is_set() {
            beside_itself = Some(rate);
            let (alone, failed_alone) = self.run(runs, 1)?;
            rate = alone;
            failed = failed_alone.or(failed);
        }
        let (message, output) = failed.map(|failed| (failed.message, failed.output)).unzip();
        Ok(Confirmed {
            id,
            rate,
            beside_itself,
            message,
            output,
        })
    }

    /// How often it failed, and the first failure, in the order in which the runs were started.
    fn run(&self, runs: u64, jobs: usize) -> Result<(Rate, Option<Failed>)> {
        let next = AtomicU64::new(0);
        let state = Mutex::new((0_u64, 0_u64, None::<Failed>));
        let problem = Mutex::new(None);
        thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= runs || self.stop.is_set() {
                            return;
                        }
                        match self.once(number) {
                            Err(error) => {
                                next.store(runs, Ordering::Relaxed);
                                *problem.lock().unwrap_or_else(PoisonError::into_inner) =
                                    Some(error);
                                return;
                            }
                            Ok(None) => return,
                            Ok(Some(failed)) => {
                                let mut state =
                                    state.lock().unwrap_or_else(PoisonError::into_inner);
                                let (failures, made, first) = &mut *state;
                                *made += 1;
                                *failures += u64::from(failed.is_some());
                                if failed.as_ref().is_some_and(|failed| {
                                    first
                                        .as_ref()
                                        .is_none_or(|first| failed.number < first.number)
                                }) {
                                    *first = failed;
                                }
                            }
                        }
                    }
                });
            }
        });
        if let Some(error) = problem.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let (failures, made, first) = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((Rate::new(failures, made), first))
    }

    /// One run: `None` when it was stopped, else the failure, if it failed.
    fn once(&self, number: u64) -> Result<Option<Option<Failed>>> {
        let command = launch::command(self.binary, self.test, None);
        let finished = process::run(command, self.timeout, self.stop).map_err(|e| {
            Error::setup(format!("failed to start `{}`: {e}", self.binary.executable))
        })?;
        let Some(outcome) = launch::outcome(self.binary.harness, finished.end) else {
            return Ok(None);
        };
        Ok(Some((!outcome.passed()).then(|| {
            let output = finished.output.to_text();
            Failed {
                number,
                message: message::explain(&outcome, &output, self.timeout).message,
                output,
            }
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_told_with_its_interval() {
        for (failures, runs, text) in [
            (
                0,
                100,
                "0 of 100 runs failed: 0.0 % to 3.7 % with 95 % confidence",
            ),
            (
                50,
                100,
                "50 of 100 runs failed: 40.4 % to 59.6 % with 95 % confidence",
            ),
            (
                3,
                3,
                "3 of 3 runs failed: 43.9 % to 100.0 % with 95 % confidence",
            ),
        ] {
            assert_eq!(Rate::new(failures, runs).text(), text);
        }
    }
}

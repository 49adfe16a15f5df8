//! `cargo nondex confirm`: how often a test fails without this tool.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anstyle::AnsiColor;
use serde::Serialize;

use super::console::Console;
use super::{interrupt, selection};
use crate::campaign::{StopFlag, launch, process};
use crate::cli::seeds::Seeds;
use crate::cli::{ConfirmArgs, MessageFormat};
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::findings::{Finding, Store};
use crate::judge::options::DEFAULT_TIMEOUT;
use crate::project::{self, EntropyLibrary, Mode, Project, TestBinary, TestCase};
use crate::repro::{Repro, Subject};
use crate::shell;
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
    /// The seeds with which it failed twice, when entropy was seeded: those that count.
    failing_seeds: Option<Vec<u64>>,
    /// The seeds with which it failed once and then passed: something else than entropy decided.
    unrepeated_seeds: Option<Vec<u64>>,
    /// Why the first failing run failed, of those that count or else of the others.
    message: Option<String>,
    /// What that run wrote.
    output: Option<String>,
    /// What came of the attempts to make it fail as its newest finding says, without this tool.
    repros: Vec<Repro>,
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
    let seeds = args.seeds.clone().map(Seeds::into_vec);
    if seeds.as_ref().is_some_and(Vec::is_empty) {
        return Err(Error::usage("`--seeds 0` leaves nothing to run"));
    }
    let asked = &args.filter;
    if asked.names.filters.is_empty() && asked.libtest.is_empty() && asked.filtersets.is_empty() {
        return Err(Error::usage(
            "name the tests to confirm: each is run many times",
        ));
    }
    let filter = asked.parse()?;
    let mut plan = selection::plan(&args.build, &args.output)?;
    let resolved = selection::resolve(&filter, &plan)?;
    let stop = interrupt::install()?;
    plan.mode = Mode::Plain;
    plan.doctests = filter.doctests();
    let project = project::build(&plan, console.quiet)?;
    let selected = selection::select(&project.suites, &resolved);
    selection::expect_some(&project.suites, &selected)?;
    let running = selected.iter().flat_map(|selected| {
        let tests = selected.tests.iter().filter(|(_, runs)| *runs);
        tests.map(|(test, _)| (selected.suite, test))
    });
    let seeded = match seeds {
        Some(seeds) => Some(Seeded::new(seeds, &project, args.build.target.as_deref())?),
        None => None,
    };
    let jobs = args
        .build
        .jobs
        .or_else(|| thread::available_parallelism().ok());
    let findings = match &seeded {
        None if !args.no_repro => Store::new(&project.target_dir).all()?.0,
        _ => Vec::new(),
    };
    let mut confirmation = Confirmation {
        partial: false,
        tests: Vec::new(),
    };
    for (suite, test) in running {
        let id = suite.test_id(test);
        let what = match &seeded {
            Some(seeded) => selection::count(seeded.seeds.len(), "seed"),
            None => selection::count(args.runs.get() as usize, "run"),
        };
        console.status("Confirming", &format!("{id}: {what} of the ordinary build"));
        let ordinary = OrdinaryRuns {
            binary: &suite.binary,
            test,
            timeout: args.timeout.unwrap_or(DEFAULT_TIMEOUT),
            stop: &stop,
            seeded: seeded.as_ref(),
        };
        let jobs = jobs.unwrap_or(NonZeroUsize::MIN);
        let mut confirmed = match &seeded {
            Some(seeded) => ordinary.confirm_seeds(id, &seeded.seeds, jobs)?,
            None => ordinary.confirm(id, args.runs.get().into(), jobs)?,
        };
        if let Some(finding) = finding_of(&confirmed.id, &findings) {
            console.status("Reproducing", &format!("{}: {}", finding.id, confirmed.id));
            let subject = Subject {
                finding,
                binary: &suite.binary,
                test,
                project: &project,
                plan: &plan,
                ordinary: (confirmed.rate.failures, confirmed.rate.runs),
                timeout: args.timeout.unwrap_or(DEFAULT_TIMEOUT),
                stop: &stop,
            };
            confirmed.repros = subject.reproduce()?;
        }
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
    let failed = |confirmed: &Confirmed| {
        let mut repros = confirmed.repros.iter();
        confirmed.rate.failures > 0 || repros.any(|repro| repro.script.is_some())
    };
    Ok(
        if confirmation.partial || confirmation.tests.iter().any(failed) {
            ExitCode::Found
        } else {
            project.exit_code()
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
    for (seeds, what) in [
        (
            &confirmed.failing_seeds,
            "it fails every time with its entropy from",
        ),
        (
            &confirmed.unrepeated_seeds,
            "something else than entropy decides with its entropy from",
        ),
    ] {
        if let Some(seeds) = seeds.as_ref().filter(|seeds| !seeds.is_empty()) {
            let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
            console.note(&format!("{what} seed {}", seeds.join(",")));
        }
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
    for repro in &confirmed.repros {
        let Repro {
            culprit,
            explanation,
            ..
        } = repro;
        match &repro.script {
            Some(script) => console.result(
                AnsiColor::Red,
                "Reproduced",
                &format!(
                    "{culprit}: {} of {} times, without cargo nondex\nsh {}\n{explanation}",
                    repro.failures,
                    repro.runs,
                    shell::quote(script.as_str())
                ),
            ),
            None => console.note(&format!("no repro for {culprit}: {explanation}")),
        }
    }
}

/// The newest finding of a test that has a culprit.
fn finding_of<'a>(test: &str, findings: &'a [Finding]) -> Option<&'a Finding> {
    let mut findings = findings.iter();
    findings.find(|finding| finding.test == test && !finding.culprits.is_empty())
}

/// Seeds for the entropy of ordinary programs.
struct Seeded {
    seeds: Vec<u64>,
    library: EntropyLibrary,
}

impl Seeded {
    fn new(seeds: Vec<u64>, project: &Project, target: Option<&str>) -> Result<Self> {
        let has_runner = |suite: &project::Suite| !suite.binary.runner.is_empty();
        if target.is_some() || project.suites.iter().any(has_runner) {
            return Err(Error::setup(
                "entropy cannot be seeded for another target or behind a target runner",
            ));
        }
        let library = EntropyLibrary::build(&project.target_dir, &project.workspace_root)?;
        // Addresses are a source of randomness that is not asked for.
        let _ = process::disable_address_randomisation();
        Ok(Seeded { seeds, library })
    }
}

/// The runs of one test.
struct OrdinaryRuns<'a> {
    binary: &'a TestBinary,
    test: &'a TestCase,
    timeout: Duration,
    stop: &'a StopFlag,
    seeded: Option<&'a Seeded>,
}

/// A run that failed.
#[derive(Debug)]
struct Failed {
    number: u64,
    message: String,
    output: String,
}

impl OrdinaryRuns<'_> {
    /// Runs the test `runs` times, `jobs` at a time; and if one fails then, once more as often, one at a time: runs of one
    /// test may disturb each other, and then it is not the test that is flaky.
    fn confirm(&self, id: String, runs: u64, jobs: NonZeroUsize) -> Result<Confirmed> {
        let all: Vec<u64> = (0..runs).collect();
        let mut counted = self.run(&all, jobs.get())?;
        let mut beside_itself = None;
        if !counted.failed.is_empty() && jobs.get() > 1 && runs > 1 && !self.stop.is_set() {
            beside_itself = Some(counted.rate());
            let alone = self.run(&all, 1)?;
            counted = Runs {
                first: alone.first.or(counted.first),
                ..alone
            };
        }
        Ok(Confirmed {
            id,
            rate: counted.rate(),
            beside_itself,
            failing_seeds: None,
            unrepeated_seeds: None,
            message: counted.first.as_ref().map(|first| first.message.clone()),
            output: counted.first.map(|first| first.output),
            repros: Vec::new(),
        })
    }

    /// Runs the test once with each seed, `jobs` at a time, and with those that made it fail once more, one at a time.
    fn confirm_seeds(&self, id: String, seeds: &[u64], jobs: NonZeroUsize) -> Result<Confirmed> {
        let all = self.run(seeds, jobs.get())?;
        let again = self.run(&all.failed, 1)?;
        let unrepeated = all
            .failed
            .iter()
            .filter(|seed| !again.failed.contains(seed));
        let unrepeated_seeds = Some(unrepeated.copied().collect());
        let first = again.first.or(all.first);
        Ok(Confirmed {
            id,
            rate: Rate::new(again.failed.len() as u64, all.made),
            beside_itself: None,
            failing_seeds: Some(again.failed),
            unrepeated_seeds,
            message: first.as_ref().map(|first| first.message.clone()),
            output: first.map(|first| first.output),
            repros: Vec::new(),
        })
    }

    /// Makes a run for each of these numbers, which are seeds when entropy is seeded.
    fn run(&self, numbers: &[u64], jobs: usize) -> Result<Runs> {
        let next = AtomicUsize::new(0);
        let state = Mutex::new(Ok(Runs::default()));
        let work = || {
            while let Some(&number) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
                if self.stop.is_set() {
                    return;
                }
                let result = self.once(number);
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                match (result, &mut *state) {
                    (Ok(Some(End::Passed)), Ok(runs)) => runs.made += 1,
                    (Ok(Some(End::Failed(failed))), Ok(runs)) => runs.add(failed),
                    (Err(error), Ok(_)) => *state = Err(error),
                    (Ok(None), _) | (_, Err(_)) => return,
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(work);
            }
        });
        let mut runs = state.into_inner().unwrap_or_else(PoisonError::into_inner)?;
        runs.failed.sort_unstable();
        Ok(runs)
    }

    /// One run; `None` when it was stopped.
    fn once(&self, number: u64) -> Result<Option<End>> {
        let mut command = launch::command(self.binary, self.test, None);
        if let Some(seeded) = self.seeded {
            seeded.library.install(&mut command, self.binary, number);
        }
        let finished = process::run(command, self.timeout, self.stop).map_err(|e| {
            let executable = self.binary.executable_of(self.test);
            Error::setup(format!("failed to start `{executable}`: {e}"))
        })?;
        let Some(outcome) = launch::outcome_of(self.binary, self.test, finished.end) else {
            return Ok(None);
        };
        if outcome.passed() {
            return Ok(Some(End::Passed));
        }
        let output = finished.output.to_text();
        Ok(Some(End::Failed(Failed {
            number,
            message: launch::explain(self.test, &outcome, &output, self.timeout).message,
            output,
        })))
    }
}

/// How one run ended.
enum End {
    Passed,
    Failed(Failed),
}

/// What came of some runs.
#[derive(Debug, Default)]
struct Runs {
    made: u64,
    /// The numbers of those that failed.
    failed: Vec<u64>,
    /// The failing one with the least number.
    first: Option<Failed>,
}

impl Runs {
    fn add(&mut self, failed: Failed) {
        self.made += 1;
        self.failed.push(failed.number);
        let first = self.first.as_ref();
        if first.is_none_or(|first| failed.number < first.number) {
            self.first = Some(failed);
        }
    }

    fn rate(&self) -> Rate {
        Rate::new(self.failed.len() as u64, self.made)
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

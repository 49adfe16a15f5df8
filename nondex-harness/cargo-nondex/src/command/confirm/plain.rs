//! Repeated runs of a test in its plain build.

use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::time::Duration;

use super::Confirmed;
use crate::campaign::{StopFlag, ended, launch, process};
use crate::error::{Error, OrSetup, Result};
use crate::judge::Required;
use crate::pool;
use crate::project::{self, EntropyLibrary, Project, TestBinary, TestCase};
use crate::statistics::Rate;

/// Seeds for the entropy of plain programs, and the library that applies them.
pub(super) struct EntropySeeds {
    pub(super) seeds: Vec<u64>,
    library: EntropyLibrary,
}

impl EntropySeeds {
    /// Prepares the library.
    ///
    /// # Errors
    /// When the tests run on another target or with a target runner, or the library cannot be
    /// built.
    pub(super) fn new(seeds: Vec<u64>, project: &Project, target: Option<&str>) -> Result<Self> {
        let has_runner = |suite: &project::Suite| !suite.binary.runner.is_empty();
        if target.is_some() || project.suites.iter().any(has_runner) {
            return Err(Error::setup(
                "entropy cannot be seeded for another target or with a target runner",
            ));
        }
        let library = EntropyLibrary::in_workspace(&project.workspace_root)?;
        Ok(EntropySeeds { seeds, library })
    }
}

/// Description of the runs of one test.
pub(super) struct PlainRuns<'a> {
    pub(super) binary: &'a TestBinary,
    pub(super) test: &'a TestCase,
    pub(super) timeout: Duration,
    pub(super) stop: &'a StopFlag,
    pub(super) seeded: Option<&'a EntropySeeds>,
    /// Job slots and test group of each run. Tests of a group may not run at once.
    pub(super) required: Required,
}

/// Run that failed, with its number or seed.
#[derive(Debug)]
struct Failed {
    number: u64,
    message: String,
    output: String,
}

impl PlainRuns<'_> {
    /// Runs the test `runs` times, `jobs` at a time. If a run fails, makes the same number of runs
    /// again, one at a time. Runs of one test may disturb each other, and then the test itself is
    /// not flaky.
    pub(super) fn confirm(&self, id: String, runs: u64, jobs: NonZeroUsize) -> Result<Confirmed> {
        let all: Vec<u64> = (0..runs).collect();
        let mut counted = self.run(&all, jobs.get())?;
        let mut beside_itself = None;
        if !counted.failed.is_empty() && jobs.get() > 1 && runs > 1 && !self.stop.is_set() {
            beside_itself = Some(counted.rate());
            let alone = self.run(&all, 1)?;
            counted = Sample { first: alone.first.or(counted.first), ..alone };
        }
        let rate = counted.rate();
        Ok(Confirmed { beside_itself, ..confirmed(id, rate, counted.first) })
    }

    /// Runs the test once with each seed, `jobs` at a time. Repeats the failing seeds one at a
    /// time.
    pub(super) fn confirm_seeds(
        &self,
        id: String,
        seeds: &[u64],
        jobs: NonZeroUsize,
    ) -> Result<Confirmed> {
        let all = self.run(seeds, jobs.get())?;
        let again = self.run(&all.failed, 1)?;
        let unrepeated = all.failed.iter().filter(|seed| !again.failed.contains(seed));
        let unrepeated_seeds = Some(unrepeated.copied().collect());
        let rate = Rate::new(again.failed.len() as u64, all.made);
        Ok(Confirmed {
            failing_seeds: Some(again.failed),
            unrepeated_seeds,
            ..confirmed(id, rate, again.first.or(all.first))
        })
    }

    /// Makes a run for each of these numbers, which are seeds if entropy is seeded.
    fn run(&self, numbers: &[u64], jobs: usize) -> Result<Sample> {
        // The first error ends the remaining runs, as a stop does.
        let error = OnceLock::new();
        let required = |_: &u64| self.required.clone();
        let ends = pool::each_within(jobs, numbers, required, |_, number| {
            if self.stop.is_set() || error.get().is_some() {
                return None;
            }
            self.once(*number).unwrap_or_else(|failed| {
                // Another thread may have set an earlier error. One error is enough.
                let _ = error.set(failed);
                None
            })
        });
        if let Some(error) = error.into_inner() {
            return Err(error);
        }
        let mut sample = Sample::default();
        for end in ends {
            match end {
                End::Passed => sample.made += 1,
                End::Failed(failed) => sample.add(failed),
            }
        }
        // The command line may give seeds in any order. The result lists them in ascending order.
        sample.failed.sort_unstable();
        Ok(sample)
    }

    /// Makes one run. Returns `None` if it was stopped.
    fn once(&self, number: u64) -> Result<Option<End>> {
        let mut command = launch::command(self.binary, self.test, None);
        if let Some(seeded) = self.seeded {
            seeded.library.install(&mut command, self.binary, number);
        }
        let executable = self.binary.executable_of(self.test);
        let finished = process::run(command, self.timeout, self.stop)
            .or_setup(format_args!("failed to start `{executable}`"))?;
        let Some(outcome) = ended::outcome_of(self.binary, self.test, finished.end) else {
            return Ok(None);
        };
        if outcome.passed() {
            return Ok(Some(End::Passed));
        }
        let output = finished.output.to_text();
        Ok(Some(End::Failed(Failed {
            number,
            message: ended::explain(self.test, &outcome, &output, self.timeout).message,
            output,
        })))
    }
}

/// Creates the result of a test from its failure rate and its first failing run.
fn confirmed(id: String, rate: Rate, first: Option<Failed>) -> Confirmed {
    let (message, output) = first.map(|first| (first.message, first.output)).unzip();
    Confirmed {
        id,
        rate,
        beside_itself: None,
        failing_seeds: None,
        unrepeated_seeds: None,
        message,
        output,
    }
}

/// Outcome of one run.
enum End {
    Passed,
    Failed(Failed),
}

/// Results of several runs.
#[derive(Debug, Default)]
struct Sample {
    made: u64,
    /// Numbers of the failing runs.
    failed: Vec<u64>,
    /// Failing run with the lowest number.
    first: Option<Failed>,
}

impl Sample {
    /// Adds a failing run.
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

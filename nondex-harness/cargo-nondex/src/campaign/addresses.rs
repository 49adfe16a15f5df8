//! Runs of all tests of a binary at random addresses, to find those that addresses decide.
//!
//! No choice and no source shows that a test depends on addresses, and each run of a test alone
//! takes a process. So the tests that use nothing else that may vary run in one process, in one
//! order, some times. A test whose outcome varies is then judged from [many runs
//! alone](crate::judge::certainty); other tests of the process cannot be the reason for a verdict.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use nondex_core::Family;

use super::Campaign;
use super::launch::Launcher;
use super::process::at_random_addresses;
use crate::judge::{Run, Runs};
use crate::project::TestCase;

/// Least and largest number of processes. A failure in one run in eight is found with probabilities
/// of 55 and 80 percent, one in every other run with 97 and more than 99.9.
const PROCESSES: [usize; 2] = [6, 12];

/// Number of tests that run in all processes of a binary, if the least number is enough for that.
const TESTS: usize = 1200;

/// Limit on the duration of all processes of one binary.
const PATIENCE: Duration = Duration::from_secs(2);

/// Tests whose first run took longer are left out.
const LONGEST: Duration = Duration::from_millis(100);

/// Time limit of each test. One that is reached is no evidence.
const LIMIT: Duration = Duration::from_secs(2);

/// Index of the folder for temporary files of these processes, which run one after the other.
const PLACE: usize = 0;

impl Campaign<'_> {
    /// Runs these tests at random addresses, and records whose outcomes vary.
    pub(super) fn run_at_addresses(&self, tests: &[usize], runs: &mut [Runs]) {
        // Tests of each binary. Those that draw random bytes run apart, with fresh folders.
        let mut groups: BTreeMap<(&str, bool), Vec<usize>> = BTreeMap::new();
        for test in tests {
            runs[*test].varies_at_addresses = Some(false);
            let (suite, case) = self.tests[*test];
            let clean = self.options[*test].clean_spec(&case.name);
            let first = runs[*test].together.of(&clean).first();
            if let Some(first) = first.filter(|run| run.took < LONGEST) {
                groups.entry((&suite.binary.id, draws(first))).or_default().push(*test);
            }
        }
        for ((_, draws), tests) in &groups {
            for (test, outcomes) in tests.iter().zip(self.outcomes_at_addresses(tests, *draws)) {
                runs[*test].varies_at_addresses = Some(varies(&outcomes));
            }
        }
    }

    /// Returns the outcomes of these tests of one binary in each process: whether the test passed,
    /// as far as it has an outcome. Each process `is_fresh` if it gets an empty folder for
    /// temporary files.
    fn outcomes_at_addresses(&self, tests: &[usize], is_fresh: bool) -> Vec<Vec<bool>> {
        let cases: Vec<&TestCase> = tests.iter().map(|test| self.tests[*test].1).collect();
        let mut outcomes = vec![Vec::new(); tests.len()];
        let Some(last) = tests.last() else { return outcomes };
        let binary = &self.tests[*last].0.binary;
        let spec = self.options[*last].natural_spec(&self.tests[*last].1.name);
        let begin = Instant::now();
        let [least, most] = PROCESSES;
        // One test, or each of very many, is tried less often.
        let processes = most.min(least + tests.len() - 1).min(least.max(TESTS / tests.len()));
        // Nobody reads the records of failed runs.
        let records = self.directory.join("addresses");
        if std::fs::create_dir_all(&records).is_err() {
            return outcomes;
        }
        let launcher = self.launcher.clone().recording_in(records.clone());
        for _ in 0..processes {
            // The budget does not count: seeds may have used it up, and these runs are few.
            if begin.elapsed() > PATIENCE || self.stop.is_set() {
                break;
            }
            let run = |folder: Option<&Path>| {
                at_random_addresses(|| launcher.experiment(folder, &[LIMIT], binary, &cases, &spec))
            };
            let made = if is_fresh { Launcher::with_fresh(PLACE, run) } else { run(None) };
            for (outcomes, run) in outcomes.iter_mut().zip(made.into_iter().flatten()) {
                if !run.is_missing && !run.ends_process() {
                    outcomes.push(run.passed());
                }
            }
        }
        let _ = std::fs::remove_dir_all(&records);
        outcomes
    }
}

/// Returns whether a run drew random values. They are the same in each run, so names of files that
/// a test makes from them are, too.
fn draws(run: &Run) -> bool {
    let mut families = run.points.iter().map(|point| point.site.family);
    families.any(|family| matches!(family, Family::Entropy | Family::HashKeys))
}

/// Returns whether two of these outcomes differ.
fn varies(outcomes: &[bool]) -> bool {
    outcomes.windows(2).any(|two| two[0] != two[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_varies_if_it_has_both_outcomes() {
        assert!(!varies(&[]) && !varies(&[true, true]) && !varies(&[false, false]));
        assert!(varies(&[true, true, false]));
    }
}

//! Tests whose outcome depends on the build. It depends on what a build script or proc macro
//! generates from random bytes, or from something that no seed controls.
//!
//! A map in such a program has another order in each build, and the build fixes it for all runs. So
//! the tests are rebuilt with other random bytes for one program at a time, and run in each build.
//! Nothing is rebuilt where all programs generate the same code from any bytes. A program that
//! generates different code from the same bytes, because it reads the date or its process number,
//! is built several times without other changes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use nondex_core::Outcome;

use super::comparison::once;
use super::message;
use super::process::at_random_addresses;
use super::stop::StopFlag;
use super::tree::Tree;
use super::{SelectedTests, by_id};
use crate::project::{self, Harness, Rebuilds, Suite, TestCase, Variation};
use crate::report::{
    BuildCause, FailureReport, Report, Step, TestReport, Verdict, combined, judged,
};

/// Time after which no more builds are made, counted from the end of the first build.
const PATIENCE: Duration = Duration::from_secs(180);

/// Like [`PATIENCE`], for a program whose output varies with the same bytes. Many projects embed a
/// date in their builds, and few have tests of it.
const LITTLE_PATIENCE: Duration = Duration::from_secs(60);

/// Number of runs in the first build, which must agree.
const FIRST_RUNS: u64 = 3;

/// Number of runs in a build whose first run differs from the first build. They must agree.
const RUNS: u64 = 5;

/// Configuration of the comparison of builds.
#[expect(missing_debug_implementations, reason = "what shows the status has none")]
pub struct Builds<'a> {
    /// The programs to vary, and how to build with each.
    pub rebuilds: &'a Rebuilds,
    /// Time limit on one run of a test.
    pub timeout: Duration,
    /// Folders in which the tests leave files.
    pub tree: &'a Tree,
    /// Flag that stops the comparison.
    pub stop: &'a StopFlag,
    /// Receives status text: what is built, and for how many tests.
    pub status: &'a dyn Fn(&str),
}

/// Result of one run of a test in a build.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sample {
    passed: bool,
    /// Message of the failure; empty where messages are not compared.
    message: String,
}

/// A test, and its result in each build.
struct Compared<'a> {
    suite: &'a Suite,
    case: &'a TestCase,
    report: &'a mut TestReport,
    samples: BTreeMap<u64, Sample>,
    /// Whether builds cannot be compared, because runs of one build differ or time out.
    is_unfit: bool,
    /// Whether runs of one build fail with different messages, which are then ignored.
    has_own_messages: bool,
    /// The first failure.
    failed: Option<FailureReport>,
    failures: u64,
    runs: u64,
}

impl Compared<'_> {
    /// Returns two builds that show that the build decides.
    fn pair(&self, variation: &Variation) -> Option<(u64, u64)> {
        if self.is_unfit {
            return None;
        }
        deciding(&self.samples, variation.is_by_chance())
    }

    /// Returns the seeds of the builds in which the test passes, or in which it fails.
    fn seeds(&self, passed: bool) -> Vec<u64> {
        let samples = self.samples.iter().filter(|(_, sample)| sample.passed == passed);
        samples.map(|(seed, _)| *seed).collect()
    }
}

/// Returns two builds that show that the build decides: one in which the test passes and one in
/// which it fails. Two builds in which it fails with different messages count too, unless the
/// output varies `by_chance`. Then a date or a process number in the message explains the
/// difference.
fn deciding(samples: &BTreeMap<u64, Sample>, by_chance: bool) -> Option<(u64, u64)> {
    let (first, sample) = samples.first_key_value()?;
    let find = |matches: &dyn Fn(&Sample) -> bool| {
        samples.iter().find(|(_, other)| matches(other)).map(|(seed, _)| *seed)
    };
    let other = find(&|other| other.passed != sample.passed)
        .or_else(|| find(&|other| !by_chance && !other.passed && other != sample))?;
    if sample.passed { Some((*first, other)) } else { Some((other, *first)) }
}

/// Compares builds, and writes to `report` which of the `selected` tests depend on the build.
pub fn compare(report: &mut Report, selected: &[SelectedTests<'_>], builds: &Builds<'_>) {
    let _lock = builds.rebuilds.lock();
    builds.tree.written().add_plain();
    let cases = by_id(selected);
    for variation in &builds.rebuilds.variations {
        // Earlier builds may have run programs of packages that are not selected now.
        let mut suites = selected.iter().map(|one| one.suite);
        if !suites.any(|suite| variation.affected.contains(&suite.binary.package)) {
            continue;
        }
        let mut tests: Vec<Compared<'_>> = report
            .tests
            .iter_mut()
            .filter_map(|report| {
                let (suite, case) = cases.get(&report.id)?;
                is_wanted(suite, report, variation).then_some(Compared {
                    suite,
                    case,
                    report,
                    samples: BTreeMap::new(),
                    is_unfit: false,
                    has_own_messages: false,
                    failed: None,
                    failures: 0,
                    runs: 0,
                })
            })
            .collect();
        let is_doctest = |test: &Compared<'_>| test.suite.binary.harness == Harness::Doctest;
        let has_doctests = tests.iter().any(is_doctest);
        let compared = if tests.is_empty() {
            Ok(())
        } else {
            at_random_addresses(|| builds.run(variation, &mut tests))
        };
        for test in tests {
            conclude(test, variation, compared.is_ok());
        }
        report.partial |= builds.stop.is_set();
        report.notes.push(note(variation, &compared, has_doctests));
    }
    combined::sum_up(report);
}

/// Returns whether a test may have its verdict because of how it was built.
fn is_wanted(suite: &Suite, report: &TestReport, variation: &Variation) -> bool {
    let is_open = match report.verdict {
        Verdict::Stable | Verdict::Broken | Verdict::Unknown => true,
        Verdict::NotRun => report.unjudged,
        _ => false,
    };
    is_open && report.sanitised_by.is_none() && variation.affected.contains(&suite.binary.package)
}

impl Builds<'_> {
    /// Runs the tests in each build.
    ///
    /// # Errors
    /// Returns the reason if not all builds were compared.
    fn run(&self, variation: &Variation, tests: &mut [Compared<'_>]) -> Result<(), String> {
        (self.status)(&format!(
            "`{}` {} times {} its {}, to run {} in each build",
            variation.package,
            variation.seeds.len(),
            if variation.is_by_chance() {
                "because of uncontrolled randomness in"
            } else {
                "with different random bytes for"
            },
            match variation.proc_macro {
                Some(_) => "proc macro",
                None => "build script",
            },
            match tests.len() {
                1 => "1 test".to_owned(),
                several => format!("{several} tests"),
            },
        ));
        let patience = if variation.is_by_chance() { LITTLE_PATIENCE } else { PATIENCE };
        let mut begin = None;
        for seed in &variation.seeds {
            if self.stop.is_set() {
                return Err("the run was stopped".to_owned());
            }
            if begin.is_some_and(|begin: Instant| begin.elapsed() > patience) {
                return Err("they take too long".to_owned());
            }
            let built = self.rebuilds.build(variation, *seed).map_err(|error| error.to_string())?;
            begin.get_or_insert_with(Instant::now);
            for test in tests.iter_mut() {
                test.run(*seed, &built.suites, self)?;
            }
        }
        Ok(())
    }
}

impl Compared<'_> {
    /// Runs the test in the build with this seed. In the first build, and in builds with another
    /// outcome, repeats the run to rule out a test that is flaky in one build.
    ///
    /// # Errors
    /// Returns the reason if no process could be run.
    fn run(&mut self, seed: u64, suites: &[Suite], builds: &Builds<'_>) -> Result<(), String> {
        let found = project::find(suites, &self.suite.binary.id, &self.case.name);
        let is_run = !self.is_unfit && self.suite.binary.harness != Harness::Doctest;
        let Some((suite, case)) = found.filter(|_| is_run) else { return Ok(()) };
        let mut runs = 0;
        loop {
            let (outcome, output) = once(&suite.binary, case, builds.timeout, builds.stop)?;
            let passed = outcome.passed();
            runs += 1;
            self.runs += 1;
            self.failures += u64::from(!passed);
            let mut message = String::new();
            if !passed {
                let failure = message::explain(&outcome, &output, builds.timeout);
                if !self.has_own_messages {
                    message.clone_from(&failure.message);
                }
                self.failed
                    .get_or_insert_with(|| FailureReport::new(outcome.clone(), Some(failure)));
            }
            let sample = Sample { passed, message };
            let wanted = match self.samples.first_key_value() {
                Some((first, usual)) if *first != seed && *usual == sample => 1,
                Some((first, _)) if *first != seed => RUNS,
                _ => FIRST_RUNS,
            };
            let before = self.samples.entry(seed).or_insert_with(|| sample.clone());
            self.is_unfit = before.passed != passed || outcome == Outcome::TimedOut;
            if *before != sample {
                self.has_own_messages = true;
                for sample in self.samples.values_mut() {
                    sample.message.clear();
                }
            }
            if self.is_unfit || runs >= wanted {
                return Ok(());
            }
        }
    }
}

/// Writes to the report of a test whether the build decides.
fn conclude(test: Compared<'_>, variation: &Variation, are_all_compared: bool) {
    let pair = test.pair(variation).zip(test.failed.clone());
    let [passes, fails] = [true, false].map(|passed| test.seeds(passed));
    let report = test.report;
    if test.runs > 0 {
        report.runs += test.runs;
        report.steps.push(Step {
            name: "builds".to_owned(),
            runs: test.runs,
            failures: test.failures,
        });
    }
    let builds = test.samples.len();
    let Some(((one, other), failed)) = pair else {
        let is_open = builds < 2 || !are_all_compared;
        if report.verdict == Verdict::Broken && is_open && !test.is_unfit {
            judged::build::may_decide(
                report,
                cause(variation, variation.varying_files(), None, None),
            );
        }
        return;
    };
    let mut files = if passes.is_empty() {
        variation.files(&[one], &[other])
    } else {
        variation.files(&passes, &fails)
    };
    if files.is_empty() {
        files = variation.varying_files();
    }
    let cause = cause(variation, files, passes.first().copied(), fails.first().copied());
    judged::build::decides(report, cause, [fails.len(), builds], failed);
}

fn cause(
    variation: &Variation,
    files: Vec<Utf8PathBuf>,
    passes: Option<u64>,
    fails: Option<u64>,
) -> BuildCause {
    let kind = match variation.proc_macro {
        Some(_) => BuildCause::PROC_MACRO,
        None => BuildCause::BUILD_SCRIPT,
    };
    let mut files = files.into_iter().map(Utf8PathBuf::into_string);
    BuildCause {
        package: variation.package.clone(),
        kind: kind.to_owned(),
        file: files.next(),
        more_files: files.collect(),
        by_chance: variation.is_by_chance(),
        passes,
        fails,
    }
}

/// Returns the report's note about a program whose output makes builds differ.
fn note(variation: &Variation, compared: &Result<(), String>, has_doctests: bool) -> String {
    let cause = cause(variation, variation.varying_files(), None, None);
    let why = if variation.is_by_chance() {
        "it reads the date, its process id or a random device"
    } else {
        "it uses the order of a map or set, or random bytes"
    };
    let mut note = format!("{cause}: {why}");
    if let Err(reason) = compared {
        note += &format!("; not all such builds were compared: {reason}");
    }
    if has_doctests {
        note += "; doctests were not run in such builds";
    }
    note
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair_of(samples: &[(u64, bool, &str)], by_chance: bool) -> Option<(u64, u64)> {
        let samples = samples.iter().map(|(seed, passed, message)| {
            let message = (*message).to_owned();
            let passed = *passed;
            (*seed, Sample { passed, message })
        });
        deciding(&samples.collect(), by_chance)
    }

    fn pair(samples: &[(u64, bool, &str)]) -> Option<(u64, u64)> {
        pair_of(samples, false)
    }

    #[test]
    fn a_build_decides_if_another_one_differs() {
        assert_eq!(pair(&[]), None);
        assert_eq!(pair(&[(0, true, ""), (1, true, "")]), None);
        assert_eq!(pair(&[(0, false, "a"), (1, false, "a")]), None);
        assert_eq!(pair(&[(0, false, "a"), (1, false, "b")]), Some((1, 0)));
        assert_eq!(pair(&[(0, false, "a"), (1, false, "b"), (2, true, "")]), Some((2, 0)));
        assert_eq!(pair(&[(0, true, ""), (1, true, ""), (2, false, "a")]), Some((0, 2)));
        assert_eq!(pair_of(&[(0, false, "a"), (1, false, "b")], true), None);
        assert_eq!(pair_of(&[(0, false, "a"), (1, true, "")], true), Some((1, 0)));
    }
}

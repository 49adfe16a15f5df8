//! Runs of all tests of a binary together in a plain build, as `cargo test` runs them. They show
//! effects of one test on another at moments that nothing else here tries.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use nondex_core::Outcome;

use super::Reruns;
use crate::campaign::process::at_random_addresses;
use crate::campaign::written_paths::WrittenPaths;
use crate::campaign::{ended, launch, process};
use crate::judge::{Fact, Slots};
use crate::project::{Harness, Suite, TestBinary, TestCase};
use crate::report::{FailureReport, Step, TestReport};

/// Name of the step in a report.
const STEP: &str = "together";

/// Limit on the duration of all runs of one binary.
const PATIENCE: Duration = Duration::from_secs(60);

/// Minimum number of runs, however long one takes.
const FEWEST: u64 = 3;

/// Results of the tests of one binary in all runs together.
#[derive(Default)]
struct Together {
    runs: u64,
    /// Tests that failed, each with its number of failed runs and its output in the first of them.
    failed: BTreeMap<String, (u64, String)>,
}

impl Reruns<'_> {
    /// Runs all tests of a binary together until enough is known. Reports those of `tests` that
    /// passed until now and fail in these runs. A binary whose process does not finish is no
    /// evidence.
    pub fn together(&self, suite: &Suite, tests: &mut [(&TestCase, &mut TestReport)]) {
        let is_libtest = matches!(suite.binary.harness, Harness::Nondex | Harness::Libtest);
        let Some((first, _)) = tests.first().filter(|_| is_libtest) else { return };
        let Ok((plain, _)) = self.comparison.find(suite, first) else { return };
        self.launcher.note(WrittenPaths::add_plain);
        // Only as many tests of a group take part as may run at the same time.
        let mut slots = Slots::new(usize::MAX);
        let required = |test: &TestCase| self.options.required(&suite.test_id(test));
        let at_once = required(first).at_once();
        let in_groups = |test: &TestCase| required(test).without_limit().in_groups();
        let skipped: Vec<&str> = suite
            .tests
            .iter()
            .filter(|test| !slots.take(&in_groups(test)))
            .map(|test| test.name.as_str())
            .collect();
        let mut found = Together::default();
        let begin = Instant::now();
        while found.runs < self.limits.together()
            && (found.runs < FEWEST || begin.elapsed() < PATIENCE)
        {
            // The results of the previous runs are kept.
            let Some(output) = at_random_addresses(|| self.all(plain, &skipped, at_once)) else {
                break;
            };
            found.add(&output);
        }
        let ran = |case: &TestCase| !skipped.contains(&case.name.as_str());
        for (case, report) in tests.iter_mut().filter(|(case, _)| ran(case)) {
            found.write(case, report, self.options.timeout);
        }
    }

    /// Runs all tests except `skipped`, at most `at_once` at the same time. Returns the output if
    /// the process finished.
    fn all(
        &self,
        binary: &TestBinary,
        skipped: &[&str],
        at_once: Option<NonZeroUsize>,
    ) -> Option<String> {
        let limit = self.options.timeout.saturating_mul(2);
        let mut command = launch::all(binary);
        command.args(at_once.map(|number| format!("--test-threads={number}")));
        command.args((!skipped.is_empty()).then_some("--exact"));
        command.args(skipped.iter().flat_map(|name| ["--skip", *name]));
        let finished = process::run(command, limit, self.stop).ok()?;
        let is_end = matches!(finished.end, process::End::Exited(0 | 101));
        is_end.then(|| finished.output.to_text())
    }
}

impl Together {
    /// Adds the results of one run from libtest's output.
    fn add(&mut self, output: &str) {
        self.runs += 1;
        for line in output.lines() {
            let name = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED"));
            let Some(name) = name else { continue };
            let first = || (0, captured(output, name).unwrap_or_default().to_owned());
            self.failed.entry(name.to_owned()).or_insert_with(first).0 += 1;
        }
    }

    /// Writes the results of a test that passed until now into its report.
    fn write(&self, case: &TestCase, report: &mut TestReport, timeout: Duration) {
        if !report.verdict.passes() || self.runs == 0 || case.ignored {
            return;
        }
        let failed = self.failed.get(&case.name);
        let failures = failed.map_or(0, |(runs, _)| *runs);
        report.runs += self.runs;
        report.steps.push(Step { name: STEP.to_owned(), runs: self.runs, failures });
        let Some((_, output)) = failed else { return };
        report.rule(Fact::Unexplained);
        report.notes.push(format!(
            "{failures} of {} runs of all tests together in a plain build failed, as `cargo test` \
             runs them, and no condition that was tried makes it fail",
            self.runs
        ));
        let failure = ended::explain(case, &Outcome::Failed, output, timeout);
        report.failures.push(FailureReport::new(Outcome::Failed, Some(failure)));
    }
}

/// Returns the output of a failed test as libtest shows it.
fn captured<'o>(output: &'o str, name: &str) -> Option<&'o str> {
    let (_, rest) = output.split_once(&format!("---- {name} stdout ----\n"))?;
    let end = rest.find("\n---- ").or_else(|| rest.find("\nfailures:\n"));
    Some(&rest[..end.unwrap_or(rest.len())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Verdict;

    const OUTPUT: &str = "\nrunning 3 tests\ntest a ... ok\ntest m::b ... FAILED\n\
        test c ... FAILED\n\nfailures:\n\n---- c stdout ----\n\n\
        thread 'c' (7) panicked at src/lib.rs:3:5:\nthree\n\n---- m::b stdout ----\n\n\
        thread 'm::b' (8) panicked at src/lib.rs:9:5:\nnine\n\n\nfailures:\n    c\n    m::b\n";

    #[test]
    fn a_test_that_fails_only_together_with_others_is_flaky_for_an_unknown_reason() {
        let mut found = Together::default();
        found.add(OUTPUT);
        found.add(&OUTPUT.replace("c ... FAILED", "c ... ok"));
        for (name, failures, line) in [("a", 0, None), ("m::b", 2, Some(9)), ("c", 1, Some(3))] {
            let case = TestCase::new(name);
            let mut report = TestReport::new("shop", "shop", name);
            report.verdict = Verdict::Stable;
            found.write(&case, &mut report, Duration::from_secs(1));
            assert_eq!((report.runs, report.steps[0].failures), (2, failures));
            assert_eq!(report.verdict == Verdict::Unknown, failures > 0, "{name}");
            let failed = report.failures.first().and_then(|failure| failure.line);
            assert_eq!(failed, line);
        }
    }

    #[test]
    fn a_verdict_that_is_known_stands() {
        let mut found = Together::default();
        found.add(OUTPUT);
        let mut report = TestReport::new("shop", "shop", "c");
        report.verdict = Verdict::NonDeterministic;
        found.write(&TestCase::new("c"), &mut report, Duration::ZERO);
        assert_eq!(report.verdict, Verdict::NonDeterministic);
        assert!(report.steps.is_empty());
    }
}

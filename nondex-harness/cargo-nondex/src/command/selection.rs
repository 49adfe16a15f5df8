//! Selects the tests that are run from all tests of a project.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use super::configuration::Asked;
use super::console::Console;
use crate::campaign::SelectedTests;
use crate::cli::filterset::WorkspaceMembers;
use crate::cli::partition::Partition;
use crate::cli::test_filter::{Match, NoTests, ResolvedFilter, TestFilter};
use crate::cli::{BuildArgs, ExtractArgs};
use crate::config::PerTest;
use crate::error::{Error, OrSetup, Result};
use crate::judge::Required;
use crate::project::{self, BuildPlan, Project, Suite, TestCase};
use crate::report::plural;

/// nextest's key for the number of tests that run at once.
const NEXTEST_THREADS: &str = "test-threads";

/// libtest's variable for the number of tests that run at once.
const LIBTEST_THREADS: &str = "RUST_TEST_THREADS";

/// Returns the build plan for these flags in the current folder. `--color` applies to cargo too.
/// With an archive, returns the plan with which it was built.
///
/// # Errors
/// When the current folder does not exist or is not UTF-8, or the archive's plan cannot be read.
pub(super) fn plan(
    build: &BuildArgs,
    archive: &ExtractArgs,
    console: &Console,
) -> Result<BuildPlan> {
    if let Some(extracted) = &archive.extracted {
        return project::plan_of_archive(extracted);
    }
    let here = camino::absolute_utf8(".").or_setup("failed to read the current folder")?;
    let mut plan = build.plan(&here);
    plan.config.extend(console.cargo_config.clone());
    Ok(plan)
}

/// Resolves the filtersets of `filter` before anything is built, so that a mistyped package is
/// reported without waiting for the compiler.
///
/// # Errors
/// When the workspace cannot be read, or a filterset names something that is not in it.
pub(super) fn resolve<'a>(filter: &'a TestFilter, plan: &BuildPlan) -> Result<ResolvedFilter<'a>> {
    filter.resolve(&workspace(plan, filter.has_filtersets())?)
}

/// Reads the workspace if `is_needed`, because filtersets are to be resolved. Returns an empty
/// workspace otherwise.
///
/// # Errors
/// When the workspace cannot be read.
pub(super) fn workspace(plan: &BuildPlan, is_needed: bool) -> Result<WorkspaceMembers> {
    if is_needed {
        Ok(WorkspaceMembers::new(&project::metadata(plan, true)?))
    } else {
        Ok(WorkspaceMembers::default())
    }
}

/// Returns the job slots and test groups of single tests, as configured.
///
/// # Errors
/// When the workspace cannot be read, or the configuration names something that is not in it.
pub(super) fn required(
    asked: &Asked,
    plan: &BuildPlan,
    suites: &[Suite],
) -> Result<BTreeMap<String, Required>> {
    let overrides = &asked.config.profile.overrides;
    let workspace = workspace(plan, !overrides.is_empty())?;
    let per_test = PerTest::new(overrides, asked.given, &workspace)?;
    Ok(per_test.required(all(suites), |suite| at_once(asked, suite).map(|(number, _)| number)))
}

/// Returns the maximum number of tests that may run at once with a test of this suite, if it is
/// lower than the default. Also returns the setting that gives it. A project whose tests share a
/// resource declares this limit for its usual runner.
pub(super) fn at_once(asked: &Asked, suite: &Suite) -> Option<(NonZeroUsize, &'static str)> {
    if asked.given.jobs {
        return None;
    }
    let of_nextest = asked.config.nextest.test_threads.map(|number| (number, NEXTEST_THREADS));
    let of_libtest = || {
        let value = suite.binary.env.get(OsStr::new(LIBTEST_THREADS))?;
        Some((value.to_str()?.parse().ok()?, LIBTEST_THREADS))
    };
    // Even with one processor, two tests are interleaved to find races.
    let usual = available_parallelism().map_or(2, NonZeroUsize::get).max(2);
    of_nextest.or_else(of_libtest).filter(|(number, _)| number.get() < usual)
}

/// Returns all tests of these binaries.
pub(super) fn all(suites: &[Suite]) -> impl Iterator<Item = (&Suite, &TestCase)> + Clone {
    suites.iter().flat_map(|suite| suite.tests.iter().map(move |test| (suite, test)))
}

/// Returns the requested tests by binary. Tests with `false` are ignored tests, which are not run.
pub(super) fn select<'a>(
    suites: &'a [Suite],
    filter: &ResolvedFilter<'_>,
    by: Divided,
) -> Vec<SelectedTests<'a>> {
    let selected = suites.iter().map(|suite| SelectedTests {
        suite,
        tests: suite
            .tests
            .iter()
            .filter_map(|test| match filter.matches(suite, test) {
                Match::Run => Some((test.clone(), true)),
                Match::Ignored => Some((test.clone(), false)),
                Match::Out => None,
            })
            .collect(),
    });
    let selected: Vec<_> = selected.filter(|selected| !selected.tests.is_empty()).collect();
    match filter.partition() {
        None => selected,
        Some(partition) => part(selected, partition, by),
    }
}

/// Unit that a partition divides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Divided {
    /// Tests.
    Tests,
    /// Binaries with all their tests. In other orders, each test may depend on each other test of
    /// its binary.
    Binaries,
}

/// Returns one part of the tests.
fn part<'a>(
    selected: Vec<SelectedTests<'a>>,
    partition: Partition,
    by: Divided,
) -> Vec<SelectedTests<'a>> {
    let mut is_in = divider(partition);
    let parts = selected.into_iter().filter_map(|mut one| {
        match by {
            Divided::Binaries if !is_in(&one.suite.binary.id, true) => return None,
            Divided::Binaries => {}
            Divided::Tests => {
                one.tests.retain(|(test, runs)| is_in(&one.suite.test_id(test), *runs));
            }
        }
        (!one.tests.is_empty()).then_some(one)
    });
    parts.collect()
}

/// Returns a function that decides for one item after the other whether it is in the part. It takes
/// the item's id, and whether the item runs. As in nextest, items that do not run are counted
/// separately.
fn divider(partition: Partition) -> impl FnMut(&str, bool) -> bool {
    let mut numbers = [0; 2];
    move |id, runs| {
        let number = &mut numbers[usize::from(runs)];
        *number += 1;
        partition.contains(*number - 1, id)
    }
}

/// Returns the tests without these ids. Leaves out executables without remaining tests to run,
/// unless `ids` is empty.
pub(super) fn without<'a>(
    selected: &[SelectedTests<'a>],
    ids: &BTreeSet<String>,
) -> Vec<SelectedTests<'a>> {
    let selected = selected.iter().cloned().map(|mut selected| {
        selected.tests.retain(|(test, _)| !ids.contains(&selected.suite.test_id(test)));
        selected
    });
    let runs = |selected: &SelectedTests<'_>| selected.running().next().is_some();
    selected.filter(|selected| ids.is_empty() || runs(selected)).collect()
}

/// Returns notes about the build that concern these tests.
pub(super) fn notes(project: &Project, selected: &[SelectedTests<'_>]) -> Vec<String> {
    project.notes_on(selected.iter().map(|selected| selected.suite.binary.id.as_str()))
}

/// Returns the number of tests that are run.
pub(super) fn running(selected: &[SelectedTests<'_>]) -> usize {
    selected.iter().flat_map(SelectedTests::running).count()
}

/// Checks that at least one test is run. Otherwise fails, warns or passes, as the filter requests.
///
/// # Errors
/// [`Error::no_tests`], which lists the existing tests.
pub(super) fn expect_some(
    suites: &[Suite],
    selected: &[SelectedTests<'_>],
    filter: &ResolvedFilter<'_>,
    console: &Console,
) -> Result<()> {
    if running(selected) > 0 {
        return Ok(());
    }
    let why = why_none(suites, selected, filter);
    match filter.no_tests() {
        NoTests::Pass => Ok(()),
        NoTests::Warn => {
            console.warning(&why);
            Ok(())
        }
        NoTests::Fail => Err(Error::no_tests(why)),
    }
}

/// Returns the reason why no test is run.
fn why_none(
    suites: &[Suite],
    selected: &[SelectedTests<'_>],
    filter: &ResolvedFilter<'_>,
) -> String {
    let tests: usize = suites.iter().map(|suite| suite.tests.len()).sum();
    let ignored: usize = selected.iter().map(|selected| selected.tests.len()).sum();
    match (tests, ignored) {
        (0, _) => "no tests to run: the selected targets have none".to_owned(),
        _ if filter.partition().is_some() => {
            "no tests to run: this part of the tests has none".to_owned()
        }
        (_, 0) => {
            let tests = plural(tests, "test");
            let hint = filter.why_none(suites);
            format!("no tests to run: the filters match none of {tests}{hint}")
        }
        (_, _) => format!(
            "no tests to run: the filters match {} only (to run: --include-ignored)",
            plural(ignored, "ignored test")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_tests_do_not_change_the_part_of_others() {
        let mut is_in = divider("1/2".parse().unwrap());
        let parts = [true, false, true, true, false, true].map(|runs| is_in("a", runs));
        assert_eq!(parts, [true, true, false, true, false, false]);
    }
}

//! From all tests of a project to those that are run.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use super::configuration::Asked;
use super::console::Console;
use crate::campaign::Selected;
use crate::cli::filterset::Workspace;
use crate::cli::partition::Partition;
use crate::cli::test_filter::{Match, NoTests, ResolvedFilter, TestFilter};
use crate::cli::{BuildArgs, ExtractArgs};
use crate::config::PerTest;
use crate::error::{Error, Result};
use crate::judge::slots::Required;
use crate::project::{self, BuildPlan, Project, Suite, TestCase};
use crate::report::listing::plural;
use crate::shell;

/// nextest's key for the number of tests that run at once.
const NEXTEST_THREADS: &str = "test-threads";

/// libtest's variable for it.
const LIBTEST_THREADS: &str = "RUST_TEST_THREADS";

/// What is built when these flags are given in the current folder; `--color` applies to cargo, too.
/// With an archive, what was built when it was packed.
///
/// # Errors
/// When the folder is not UTF-8 or not there.
pub(super) fn plan(
    build: &BuildArgs,
    archive: &ExtractArgs,
    console: &Console,
) -> Result<BuildPlan> {
    if let Some(extracted) = &archive.extracted {
        return project::plan_of_archive(extracted);
    }
    let here = camino::absolute_utf8(".")
        .map_err(|e| Error::setup(format!("failed to read the current folder: {e}")))?;
    let mut plan = build.plan(&here);
    plan.config.extend(console.cargo_config.clone());
    Ok(plan)
}

/// Resolves the filtersets of `filter`, before anything is built: a mistyped package need not wait
/// for the compiler.
///
/// # Errors
/// When the workspace cannot be read, or a filterset names what is not in it.
pub(super) fn resolve<'a>(filter: &'a TestFilter, plan: &BuildPlan) -> Result<ResolvedFilter<'a>> {
    filter.resolve(&workspace(plan, filter.has_filtersets())?)
}

/// The workspace, if filtersets are to be resolved, else none.
///
/// # Errors
/// When it cannot be read.
pub(super) fn workspace(plan: &BuildPlan, is_needed: bool) -> Result<Workspace> {
    if is_needed {
        Ok(Workspace::new(&project::metadata(plan, true)?))
    } else {
        Ok(Workspace::default())
    }
}

/// What runs of single tests take of the job slots and of test groups, by the configuration.
///
/// # Errors
/// When the workspace cannot be read, or the configuration names what is not in it.
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

/// How many tests may run at once while one of this suite does, if that is fewer than would, and
/// what says so. A project whose tests share what only one can use declares it for its usual
/// runner.
pub(super) fn at_once(asked: &Asked, suite: &Suite) -> Option<(NonZeroUsize, &'static str)> {
    if asked.given.jobs {
        return None;
    }
    let of_nextest = asked.config.nextest.test_threads.map(|number| (number, NEXTEST_THREADS));
    let of_libtest = || {
        let value = suite.binary.env.get(OsStr::new(LIBTEST_THREADS))?;
        Some((value.to_str()?.parse().ok()?, LIBTEST_THREADS))
    };
    // With one processor, too, two tests are interleaved in search of races.
    let usual = available_parallelism().map_or(2, NonZeroUsize::get).max(2);
    of_nextest.or_else(of_libtest).filter(|(number, _)| number.get() < usual)
}

/// All tests of these binaries.
pub(super) fn all(suites: &[Suite]) -> impl Iterator<Item = (&Suite, &TestCase)> + Clone {
    suites.iter().flat_map(|suite| suite.tests.iter().map(move |test| (suite, test)))
}

/// The requested tests, by binary; those with `false` are ignored tests, which are not run.
pub(super) fn select<'a>(
    suites: &'a [Suite],
    filter: &ResolvedFilter<'_>,
    by: Divided,
) -> Vec<Selected<'a>> {
    let selected = suites.iter().map(|suite| Selected {
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

/// What a partition divides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Divided {
    /// Tests.
    Tests,
    /// Binaries with all of their tests: in other orders, each may depend on each.
    Binaries,
}

/// One part of the tests.
fn part<'a>(selected: Vec<Selected<'a>>, partition: Partition, by: Divided) -> Vec<Selected<'a>> {
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

/// Whether one thing after the other, by its id and whether it runs, is in a part. As in nextest,
/// what does not run takes no place of what does.
fn divider(partition: Partition) -> impl FnMut(&str, bool) -> bool {
    let mut numbers = [0; 2];
    move |id, runs| {
        let number = &mut numbers[usize::from(runs)];
        *number += 1;
        partition.contains(*number - 1, id)
    }
}

/// The tests without those with these ids, and without executables of which none is left to run.
pub(super) fn without<'a>(selected: &[Selected<'a>], ids: &BTreeSet<String>) -> Vec<Selected<'a>> {
    let is_kept = |suite: &Suite, test| !ids.contains(&suite.test_id(test));
    let selected = selected.iter().map(|selected| {
        let tests = selected.tests.iter();
        Selected {
            suite: selected.suite,
            tests: tests.filter(|(test, _)| is_kept(selected.suite, test)).cloned().collect(),
        }
    });
    let runs = |selected: &Selected<'_>| selected.tests.iter().any(|(_, is_run)| *is_run);
    selected.filter(|selected| ids.is_empty() || runs(selected)).collect()
}

/// What the user should know of a build who runs these tests.
pub(super) fn notes(project: &Project, selected: &[Selected<'_>]) -> Vec<String> {
    project.notes_on(selected.iter().map(|selected| selected.suite.binary.id.as_str()))
}

/// How many tests are run.
pub(super) fn running(selected: &[Selected<'_>]) -> usize {
    selected.iter().flat_map(|selected| &selected.tests).filter(|(_, run)| *run).count()
}

/// An error when no test is run, or what else was requested for that.
///
/// # Errors
/// [`Error::no_tests`], which lists what there was.
pub(super) fn expect_some(
    suites: &[Suite],
    selected: &[Selected<'_>],
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

/// Why no test is run.
fn why_none(suites: &[Suite], selected: &[Selected<'_>], filter: &ResolvedFilter<'_>) -> String {
    let tests: usize = suites.iter().map(|suite| suite.tests.len()).sum();
    let ignored: usize = selected.iter().map(|selected| selected.tests.len()).sum();
    match (tests, ignored) {
        (0, _) => "no tests to run: the selected targets have none".to_owned(),
        _ if filter.partition().is_some() => {
            "no tests to run: this part of the tests has none".to_owned()
        }
        (_, 0) => {
            let hint = filter.unquoted(suites).map_or_else(String::new, |id| {
                format!("; in a shell, a name with `$` needs quotes: {}", shell::quote(&id))
            });
            let tests = plural(tests, "test");
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

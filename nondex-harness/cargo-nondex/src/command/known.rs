//! `cargo nondex known`: manages known flakes, which are tests that may be flaky until a date, and
//! marks them in reports.

use std::collections::BTreeMap;

use camino::Utf8Path;
use chrono::{Days, NaiveDate};

use super::configuration::Asked;
use super::console::Console;
use crate::cli::filterset::{Expression, Filterset, Platform, Query, WorkspaceMembers};
use crate::cli::{KnownAction, KnownAddArgs, LocationArgs, MessageFormat};
use crate::error::{Error, OrSetup, Result};
use crate::exit_code::ExitCode;
use crate::findings::known::{self, KNOWN_FILE, Known, KnownEntry, date};
use crate::project::{self, BuildPlan, Folders, Harness, Project, Suite};
use crate::report::{Overdue, Report, Sources, TestReport, plural, store};

/// Known flakes of a workspace, with their filtersets.
#[derive(Debug, Default)]
pub(super) struct KnownFlakes {
    known: Known,
    sets: Vec<(String, Filterset)>,
}

impl KnownFlakes {
    /// Reads the known flakes of the workspace at `root`. Calls `workspace`, which reads its
    /// packages, only if there is a filterset.
    ///
    /// # Errors
    /// When the file is invalid, or a filterset names something that is not in the workspace.
    pub(super) fn read(
        root: &Utf8Path,
        workspace: impl FnOnce() -> Result<WorkspaceMembers>,
    ) -> Result<Self> {
        let path = root.join(KNOWN_FILE);
        let known = Known::read(&path)?;
        let texts: Vec<String> =
            known.entries().iter().filter_map(|entry| entry.filterset.clone()).collect();
        let workspace = if texts.is_empty() { WorkspaceMembers::default() } else { workspace()? };
        let resolve = |text: String| {
            let set = Expression::parse(&text)
                .and_then(|set| set.resolve(&workspace))
                .or_setup(format_args!("failed to read `{path}`"))?;
            Ok((text, set))
        };
        let sets = texts.into_iter().map(resolve).collect::<Result<_>>()?;
        Ok(KnownFlakes { known, sets })
    }

    /// Reads the known flakes of the workspace that a command works on, before anything is built.
    pub(super) fn of(
        asked: &Asked,
        workspace: impl FnOnce() -> Result<WorkspaceMembers>,
    ) -> Result<Self> {
        match &asked.config.root {
            Some(root) => Self::read(root, workspace),
            None => Ok(Self::default()),
        }
    }

    /// Returns the entries whose test does not exist in a built project.
    pub(super) fn missing(&self, project: &Project) -> Vec<Overdue> {
        let workspace = WorkspaceMembers::new(&project.metadata);
        let built: BTreeMap<&str, &Suite> = project
            .suites
            .iter()
            // Only requested doctests are built, so the others cannot be called missing.
            .filter(|suite| suite.binary.harness != Harness::Doctest)
            .map(|suite| (suite.binary.id.as_str(), suite))
            .collect();
        let tests =
            built.values().flat_map(|suite| suite.tests.iter().map(|test| suite.test_id(test)));
        let is_complete = |binary: &str| {
            built.contains_key(binary) || workspace.binary_ids().all(|known| known != binary)
        };
        known::missing(&self.known, &tests.collect(), &is_complete)
    }

    /// Marks the tests of the report that are known flakes.
    pub(super) fn apply(&self, root: &Utf8Path, report: &mut Report) {
        let is_meant = |entry: &KnownEntry, test: &TestReport| match &entry.filterset {
            None => entry.test.as_deref() == Some(&test.id),
            Some(text) => {
                let set = self.sets.iter().find(|(known, _)| known == text);
                set.is_some_and(|(_, set)| set.contains(&query(test)))
            }
        };
        let sources = Sources::of_user(root);
        known::apply(&self.known, &is_meant, date::today(), &sources, report);
    }
}

/// Returns what a filterset matches for a test in a report. The kind and name of the binary come
/// from nextest's binary id: `serde`, `serde::name` or `serde::bin/name`.
fn query(test: &TestReport) -> Query<'_> {
    let target = test.binary.strip_prefix(&test.package).and_then(|rest| rest.strip_prefix("::"));
    let (kind, binary) = match target {
        None => ("lib", test.package.as_str()),
        Some(target) => target.split_once('/').unwrap_or(("test", target)),
    };
    Query {
        package: &test.package,
        binary,
        binary_id: &test.binary,
        kind,
        platform: if kind == "proc-macro" { Platform::Host } else { Platform::Target },
        test: &test.name,
    }
}

/// Reason of known flakes for which no other reason is given.
pub(super) const UNEXAMINED: &str = "not examined yet";

/// Default number of days until a known flake expires.
const KNOWN_FOR: u64 = 90;

/// Returns the default expiry date of known flakes.
pub(super) fn usual_expiry() -> NaiveDate {
    let today = date::today();
    today.checked_add_days(Days::new(KNOWN_FOR)).unwrap_or(today)
}

/// Runs a subcommand of `known`.
pub(super) fn known(action: &KnownAction, console: &Console) -> Result<ExitCode> {
    match action {
        KnownAction::Add(args) => add(args, console),
        KnownAction::Check(location) => check(location, console),
        KnownAction::Prune(location) => prune(location, console),
    }
}

/// Adds a test of the last report, or all that fail the run, as known flakes.
fn add(args: &KnownAddArgs, console: &Console) -> Result<ExitCode> {
    let (folders, _, report) = latest(&args.location)?;
    let tests = match &args.test {
        Some(name) => vec![choose(&report, name)?],
        None => {
            // The last report may be of a few tests only.
            let tests = plural(report.tests.len(), "test");
            console.status("Reading", &format!("the report of `{}`: {tests}", report.run.command));
            failing(&report)
        }
    };
    let path = folders.workspace_root.join(KNOWN_FILE);
    let mut known = Known::read(&path)?;
    let sources = Sources::of_user(&folders.workspace_root);
    let reason = args.reason.as_deref().unwrap_or(UNEXAMINED);
    let expires = args.expires.unwrap_or_else(usual_expiry);
    if expires < date::today() {
        console.warning(&format!("{expires} is over: the entry is overdue at once"));
    }
    for test in &tests {
        let entry =
            KnownEntry { link: args.link.clone(), ..entry(test, &sources, reason, expires) };
        known.add(entry).map_err(Error::usage)?;
        console.status("Added", &format!("{} to {KNOWN_FILE}, as {}", test.id, test.verdict));
    }
    if tests.is_empty() {
        console.note("nothing to add: no flaky test fails the last run");
        return Ok(ExitCode::Ok);
    }
    known.write(&path)?;
    Ok(ExitCode::Ok)
}

/// Returns an entry for the finding of a test in a report.
pub(super) fn entry(
    test: &TestReport,
    sources: &Sources,
    reason: &str,
    expires: NaiveDate,
) -> KnownEntry {
    KnownEntry {
        test: Some(test.id.clone()),
        filterset: None,
        reason: reason.to_owned(),
        link: None,
        expires,
        verdict: Some(test.verdict),
        cause: [known::cause(test, sources), known::shared_by_seeds(test, sources)].concat(),
    }
}

/// Returns the tests whose findings fail the run and can be known flakes.
pub(super) fn failing(report: &Report) -> Vec<&TestReport> {
    let is_advice = |test: &TestReport| test.advice().is_some() && !report.run.strict;
    let tests = report.tests.iter().filter(|test| known::may_be_known(test));
    tests.filter(|test| test.known.is_none() && !is_advice(test)).collect()
}

/// Returns the flaky test of a report that `name` means: its id, or a part of an id that no other
/// flaky test contains.
///
/// # Errors
/// When no test or several tests are meant, or the test is not flaky.
pub(super) fn choose<'a>(report: &'a Report, name: &str) -> Result<&'a TestReport> {
    if let Some(test) = report.tests.iter().find(|test| test.id == name) {
        return if known::may_be_known(test) {
            Ok(test)
        } else {
            Err(Error::usage(format!(
                "`{name}` is `{}` in the last report: only a flaky test can be a known flake",
                test.verdict
            )))
        };
    }
    let flaky: Vec<&TestReport> =
        report.tests.iter().filter(|test| known::may_be_known(test)).collect();
    // Every id contains the empty name, which a script passes if its variable is not set.
    let is_meant = |test: &&&TestReport| !name.is_empty() && test.id.contains(name);
    let mut found = flaky.iter().filter(is_meant);
    match (found.next(), found.next()) {
        (Some(test), None) => Ok(test),
        (Some(first), Some(second)) => Err(Error::usage(format!(
            "`{name}` matches several flaky tests of the last report, such as `{}` and `{}`",
            first.id, second.id
        ))),
        (None, _) => {
            let names: Vec<&str> = flaky.iter().map(|test| test.id.as_str()).collect();
            Err(Error::usage(match names.as_slice() {
                [] => format!(
                    "no test is called `{name}` in the last report, which has no flaky tests"
                ),
                names => format!(
                    "no flaky test of the last report is called `{name}`; there are: {}",
                    names.join(", ")
                ),
            }))
        }
    }
}

/// Reads the packages of the workspace that these flags select.
pub(super) fn workspace(location: &LocationArgs) -> Result<WorkspaceMembers> {
    let plan = BuildPlan::of(location.manifest_path.as_deref());
    Ok(WorkspaceMembers::new(&project::metadata(&plan, true)?))
}

/// Returns a project's folders, its known flakes, and its last report, marked with the present
/// known flakes.
fn latest(location: &LocationArgs) -> Result<(Folders, KnownFlakes, Report)> {
    let folders = location.folders()?;
    let workspace = || workspace(location);
    let flakes = KnownFlakes::read(&folders.workspace_root, workspace)?;
    let mut report = store::read_latest(&folders.target_dir)?;
    flakes.apply(&folders.workspace_root, &mut report);
    Ok((folders, flakes, report))
}

/// Lists the overdue entries. The exit code is 100 if there are any.
fn check(location: &LocationArgs, console: &Console) -> Result<ExitCode> {
    let (_, flakes, report) = latest(location)?;
    if console.format == MessageFormat::Json {
        console.json(&report.overdue)?;
    } else {
        for overdue in &report.overdue {
            console.warning(&overdue.to_string());
        }
    }
    let all = flakes.known.entries().len();
    console.status(
        "Checked",
        &format!("{}, {} overdue", plural(all, "known flake"), report.overdue.len()),
    );
    Ok(if report.overdue.is_empty() { ExitCode::Ok } else { ExitCode::Found })
}

/// Removes the overdue entries, except those of renamed tests.
fn prune(location: &LocationArgs, console: &Console) -> Result<ExitCode> {
    let (folders, mut flakes, report) = latest(location)?;
    let is_out = |entry: &KnownEntry| {
        let mut overdue = report.overdue.iter();
        // The entry of a renamed test must be changed, not removed.
        overdue.any(|overdue| overdue.entry == entry.name() && overdue.renamed.is_none())
    };
    let removed = flakes.known.remove(is_out).map_err(Error::setup)?;
    if removed > 0 {
        flakes.known.write(&folders.workspace_root.join(KNOWN_FILE))?;
    }
    for overdue in &report.overdue {
        console.note(&overdue.problem());
    }
    console.status("Removed", &plural(removed, "known flake"));
    Ok(ExitCode::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Verdict;
    use crate::report::schema::tests::report;

    #[test]
    fn a_test_is_meant_by_a_part_of_its_id_and_by_no_empty_name() {
        let mut flaky = TestReport::new("a", "a", "reads");
        flaky.verdict = Verdict::NonDeterministic;
        let report = report(vec![flaky]);
        assert_eq!(choose(&report, "read").unwrap().id, "a$reads");
        assert!(choose(&report, "").is_err() && choose(&report, "writes").is_err());
    }

    #[test]
    fn a_binary_is_known_by_its_id() {
        for (binary, kind, name) in [
            ("serde", "lib", "serde"),
            ("serde::it", "test", "it"),
            ("serde::bin/tool", "bin", "tool"),
            ("serde::example/show", "example", "show"),
        ] {
            let test = TestReport::new("serde", binary, "a::b");
            let query = query(&test);
            assert_eq!((query.kind, query.binary), (kind, name), "{binary}");
            assert_eq!((query.package, query.binary_id, query.test), ("serde", binary, "a::b"));
        }
    }
}

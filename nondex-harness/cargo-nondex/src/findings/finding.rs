//! One failing run, with all that is needed to make it again.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use camino::Utf8Path;
use nondex_core::{Choices, Level, Outcome, RunSpec, Site};
use serde::{Deserialize, Serialize};

use super::fingerprint::Fingerprint;
use crate::project::{BuildPlan, Harness, Project, Suite};
use crate::report::{Culprit, FailureReport, Report, TestReport, Verdict, id};

/// The version of [`Finding`].
pub const SCHEMA: u32 = 3;

/// A failing run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Its [id](crate::report::id).
    pub id: String,
    /// The test's id, `<binary-id>$<test name>`.
    pub test: String,
    /// The test's executable.
    pub binary: Binary,
    /// What was concluded about the test.
    pub verdict: Verdict,
    /// Whether this is the run whose replay line the report shows, not one of its other failing
    /// runs.
    pub primary: bool,
    /// What was run; it names no record.
    pub spec: RunSpec,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it failed.
    pub message: String,
    /// Where it panicked, when known.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// The calls that are responsible.
    pub culprits: Vec<Culprit>,
    /// The id of the campaign's run that found it last.
    pub run: String,
    /// When that was, in seconds since 1970.
    pub found: u64,
    /// The time limit of the run, in milliseconds.
    pub timeout_ms: u64,
    /// How the executable was built; the folder is relative to the root of the workspace.
    pub build: BuildPlan,
    /// What it was built from.
    pub fingerprint: Fingerprint,
}

/// Which executable a test is in, in the words of nextest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binary {
    /// The id.
    pub id: String,
    /// The kind of the target.
    pub kind: String,
    /// The package's name.
    pub package: String,
    /// The target's name.
    pub target: String,
}

impl Finding {
    /// The failing runs of a report on the tests of `project`, which was just built. Reads the
    /// executables of tests that failed.
    pub fn all_of(report: &Report, project: &Project) -> Vec<Finding> {
        let found = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let mut findings = Vec::new();
        for suite in &project.suites {
            let tests = report
                .tests
                .iter()
                .filter(|test| test.binary == suite.binary.id && !test.failures.is_empty());
            let mut tests = tests.peekable();
            if tests.peek().is_none() {
                continue;
            }
            let fingerprint = |executable: &Utf8Path| {
                Fingerprint::take(&project.workspace_root, &project.toolchain, executable)
            };
            let of_all = (suite.binary.harness != Harness::Doctest)
                .then(|| fingerprint(&suite.binary.executable));
            for test in tests {
                let case = suite.test(&test.name);
                let fingerprint = of_all.clone().unwrap_or_else(|| {
                    let own = case.map(|case| suite.binary.executable_of(case));
                    fingerprint(own.unwrap_or(&suite.binary.executable))
                });
                findings.extend(test.failures.iter().filter_map(|failure| {
                    Some(Finding {
                        found,
                        fingerprint: fingerprint.clone(),
                        ..Finding::of(report, test, failure)?
                    })
                }));
            }
        }
        findings
    }

    /// A run of a test in `suite` that nobody has seen fail, so that it can be made as a finding
    /// is.
    pub fn asked(
        suite: &Suite,
        spec: RunSpec,
        timeout: Duration,
        fingerprint: Fingerprint,
    ) -> Self {
        let test = format!("{}${}", suite.binary.id, spec.test);
        Finding {
            schema: SCHEMA,
            id: id::of(&test, &spec),
            test,
            binary: Binary {
                id: suite.binary.id.clone(),
                kind: suite.binary.kind.clone(),
                package: suite.binary.package.clone(),
                target: suite.binary.target.clone(),
            },
            verdict: Verdict::default(),
            primary: false,
            spec,
            outcome: Outcome::Failed,
            message: String::new(),
            file: None,
            line: None,
            culprits: Vec::new(),
            run: String::new(),
            found: 0,
            timeout_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
            build: BuildPlan::default(),
            fingerprint,
        }
    }

    /// The failing runs of a report that can be made again; those whose replay line it shows come
    /// first.
    pub fn in_report(report: &Report) -> Vec<Finding> {
        let failures = report
            .tests
            .iter()
            .flat_map(|test| test.failures.iter().map(move |failure| (test, failure)));
        let mut all: Vec<Finding> =
            failures.filter_map(|(test, failure)| Finding::of(report, test, failure)).collect();
        all.sort_by_key(|one| !one.primary);
        all
    }

    /// A failing run of a test, as far as the report knows it; `None` when it was written by a
    /// version that kept less.
    fn of(report: &Report, test: &TestReport, failure: &FailureReport) -> Option<Self> {
        let replay = test.replay.as_ref()?;
        let choices = match (failure.level, failure.seed) {
            (Some(level), Some(seed)) => Choices::all(failure.schedule, level, seed),
            _ => Choices::Canonical,
        };
        let spec = RunSpec { test: test.name.clone(), choices, ..replay.spec.clone() };
        // The failing run may be of another kind of process than the run to replay.
        let spec = match spec.interleaving() {
            _ if failure.scheduled => spec.with_scheduler(failure.max_steps.unwrap_or(0)),
            Some(tests) if failure.before == [&*tests.with] => spec,
            _ => spec.in_order(|tests| tests.before.clone_from(&failure.before)),
        };
        let id = failure.id.clone()?;
        debug_assert_eq!(id, id::of(&test.id, &spec), "the spec follows from the report");
        Some(Finding {
            schema: SCHEMA,
            primary: replay.primary.as_ref() == Some(&id),
            id,
            test: test.id.clone(),
            binary: Binary {
                id: test.binary.clone(),
                kind: replay.kind.clone(),
                package: test.package.clone(),
                target: replay.target.clone(),
            },
            verdict: test.verdict,
            spec,
            outcome: failure.outcome.clone(),
            message: failure.message.clone(),
            file: failure.file.clone(),
            line: failure.line,
            culprits: test.culprits.clone(),
            run: report.run.id.clone(),
            found: 0,
            timeout_ms: failure.limit_ms.unwrap_or(replay.timeout_ms),
            build: report.run.build.clone()?,
            fingerprint: Fingerprint {
                algorithm: report.run.algorithm,
                toolchain: report.run.toolchain.trim().to_owned(),
                lockfile: None,
                executable: None,
            },
        })
    }

    /// Whether a level and a seed bring it about every time.
    pub fn is_reproducible(&self) -> bool {
        let is_delayed = self.verdict == Verdict::NonDeterministic && !self.culprits.is_empty();
        self.verdict == Verdict::ImplementationDependent || is_delayed
    }

    /// The level and the seed, unless it was a run in canonical order.
    pub fn choice(&self) -> Option<(Level, u64)> {
        let drawn = self.spec.drawn()?;
        Some((drawn.level, drawn.seed))
    }

    /// What was run, for people: `at STD with seed 3`, `in canonical order`.
    pub fn conditions(&self) -> String {
        let before = match self.spec.before() {
            [] => String::new(),
            before => format!(" after {}", before.join(", ")),
        };
        match self.choice() {
            Some((level, seed)) => format!("at {level} with seed {seed}{before}"),
            None => format!("in canonical order{before}"),
        }
    }

    /// The calls that are responsible, as the runtime knows them.
    pub fn culprit_sites(&self) -> Vec<Site> {
        let sites = self.culprits.iter().map(|culprit| {
            let (file, line, column) = match &culprit.site {
                Some(site) => (site, 0, 0),
                None => (&culprit.file, culprit.line, culprit.column),
            };
            Site {
                api: culprit.api.clone(),
                family: culprit.family,
                file: file.clone(),
                line,
                column,
            }
        });
        sites.collect()
    }

    /// A call, for people. Of one that the runtime knows by its stack only, the culprit has the
    /// line.
    pub fn site_text(&self, site: &Site) -> String {
        let is_it = |culprit: &&Culprit| culprit.site.as_ref() == Some(&site.file);
        self.culprits.iter().find(is_it).map_or_else(
            || site.to_string(),
            |culprit| {
                let (file, line, _) = culprit.place();
                format!("{} at {file}:{line}", culprit.api)
            },
        )
    }

    /// The calls that are responsible, for people: `std::fs::read_dir at src/lib.rs:4`.
    pub fn culprit_texts(&self) -> Vec<String> {
        let texts = self.culprits.iter().map(|culprit| {
            let (file, line, _) = culprit.place();
            let suspected = if culprit.confirmed { "" } else { " (suspected)" };
            format!("{} at {file}:{line}{suspected}", culprit.api)
        });
        texts.collect()
    }
}

#[cfg(test)]
pub(super) mod tests;

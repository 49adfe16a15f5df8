//! One failing run, with everything needed to reproduce it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nondex_core::{Choices, Level, Outcome, RunSpec, Site};
use serde::{Deserialize, Serialize};

use super::fingerprint::Fingerprint;
use crate::project::{BuildPlan, Harness, Project, Suite};
use crate::report::{Culprit, FailureReport, Report, TestReport, Verdict, id};

/// The schema version of [`Finding`].
pub const SCHEMA: u32 = 3;

/// A failing run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The [id](crate::report::id) of the finding.
    pub id: String,
    /// The id of the test, `<binary-id>$<test name>`.
    pub test: String,
    /// The executable that contains the test.
    pub binary: Binary,
    /// The verdict on the test.
    pub verdict: Verdict,
    /// Whether the report shows the replay line of this run. A test may have other failing runs.
    pub primary: bool,
    /// The run's spec, without a file for its record.
    pub spec: RunSpec,
    /// The outcome of the run.
    pub outcome: Outcome,
    /// The failure message.
    pub message: String,
    /// The file of the panic, when known.
    pub file: Option<String>,
    /// The line of the panic, from 1.
    pub line: Option<u32>,
    /// The calls that are responsible for the failure.
    pub culprits: Vec<Culprit>,
    /// The id of the latest campaign that found it.
    pub run: String,
    /// Time of the latest finding, in seconds since 1970.
    pub found: u64,
    /// The time limit of the run, in milliseconds.
    pub timeout_ms: u64,
    /// How the executable was built; the directory is relative to the root of the workspace.
    pub build: BuildPlan,
    /// What the executable was built from.
    pub fingerprint: Fingerprint,
}

/// The executable that contains a test, in nextest's terms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binary {
    /// The binary id.
    pub id: String,
    /// The kind of target, such as `lib` or `test`.
    pub kind: String,
    /// The name of the package.
    pub package: String,
    /// The name of the target.
    pub target: String,
}

impl Finding {
    /// Returns the failing runs of a report on the tests of `project`, which was just built. Reads
    /// the executables that contain failed tests, to take their fingerprints.
    pub fn all_of(report: &Report, project: &Project) -> Vec<Finding> {
        let found = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let mut findings = Vec::new();
        for suite in &project.suites {
            let binary = &suite.binary;
            let fails = |test: &&TestReport| test.binary == binary.id && !test.failures.is_empty();
            // Each doctest has an executable of its own.
            let mut shared = None;
            for test in report.tests.iter().filter(fails) {
                let case = suite.test(&test.name).filter(|_| binary.harness == Harness::Doctest);
                let own = case.map(|case| binary.executable_of(case));
                let take = || {
                    let executable = own.unwrap_or(&binary.executable);
                    Fingerprint::take(&project.workspace_root, &project.toolchain, executable)
                };
                let fingerprint: Fingerprint = match own {
                    Some(_) => take(),
                    None => shared.get_or_insert_with(take).clone(),
                };
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

    /// Creates a finding for a requested run that has not been seen to fail, so that it can be
    /// replayed like a finding.
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

    /// Returns the failing runs of a report that can be replayed. The runs whose replay line the
    /// report shows come first.
    pub fn in_report(report: &Report) -> Vec<Finding> {
        let mut all: Vec<Finding> = report
            .tests
            .iter()
            .flat_map(|test| test.failures.iter().map(move |failure| (test, failure)))
            .filter_map(|(test, failure)| Finding::of(report, test, failure))
            .collect();
        all.sort_by_key(|one| !one.primary);
        all
    }

    /// Creates a finding from a failing run in a report. Returns `None` if the report lacks
    /// necessary fields because an older version wrote it.
    fn of(report: &Report, test: &TestReport, failure: &FailureReport) -> Option<Self> {
        let replay = test.replay.as_ref()?;
        let choices = match (failure.level, failure.seed) {
            (Some(level), Some(seed)) => Choices::all(failure.schedule, level, seed),
            _ => Choices::Canonical,
        };
        let spec = RunSpec { test: test.name.clone(), choices, ..replay.spec.clone() };
        // The failing run may have had another scheduler, test order or partner test than the run
        // to replay.
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

    /// Returns whether the failure occurs in every run with its level and seed.
    pub fn is_reproducible(&self) -> bool {
        let is_delayed = self.verdict == Verdict::NonDeterministic && !self.culprits.is_empty();
        self.verdict == Verdict::ImplementationDependent || is_delayed
    }

    /// Returns the level and the seed, unless the run was in canonical order.
    pub fn choice(&self) -> Option<(Level, u64)> {
        let drawn = self.spec.drawn()?;
        Some((drawn.level, drawn.seed))
    }

    /// Describes the conditions of the run for people: `at STD with seed 3`, `in canonical order`.
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

    /// Returns the calls that are responsible, as the runtime identifies them.
    pub fn culprit_sites(&self) -> Vec<Site> {
        let sites = self.culprits.iter().map(|culprit| {
            let Culprit { api, family, file, line, column, site, .. } = culprit.clone();
            match site {
                Some(file) => Site { api, family, file, line: 0, column: 0 },
                None => Site { api, family, file, line, column },
            }
        });
        sites.collect()
    }

    /// Describes a call for people. If the runtime knows the call only by its stack, the line is
    /// taken from the culprit.
    pub fn site_text(&self, site: &Site) -> String {
        let is_it = |culprit: &&Culprit| culprit.site.as_ref() == Some(&site.file);
        let culprit = self.culprits.iter().find(is_it);
        culprit.map_or_else(|| site.to_string(), Culprit::text)
    }

    /// Describes the calls that are responsible: `std::fs::read_dir at src/lib.rs:4`.
    pub fn culprit_texts(&self) -> Vec<String> {
        let texts = self.culprits.iter().map(|culprit| {
            let suspected = if culprit.confirmed { "" } else { " (suspected)" };
            format!("{}{suspected}", culprit.text())
        });
        texts.collect()
    }
}

#[cfg(test)]
pub(super) mod tests;

//! What the server offers: the last report's findings, and the commands that try one again.
//!
//! Findings are read here. A command that builds and runs tests is a process of this executable,
//! so that it is the command that a person runs, and nothing of it reaches stdout.

use std::num::NonZeroU32;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use anstream::adapter::strip_str;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::LocationArgs;
use crate::cli::filterset;
use crate::command::folders::Folders;
use crate::error::{Error, Result};
use crate::report::human::{self, Sources, View};
use crate::report::stream::{self, Finding};
use crate::report::{Report, TestReport, store};

/// Number of runs of a replay unless another one is given.
const REPLAYS: NonZeroU32 = NonZeroU32::new(20).unwrap();

/// Number of plain runs unless another one is given.
const CONFIRMATIONS: NonZeroU32 = NonZeroU32::new(100).unwrap();

/// A call of a tool.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "name", content = "arguments", rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Call {
    /// The findings of the last report.
    Findings {},
    /// One of them, explained.
    Why {
        /// The finding.
        finding: String,
    },
    /// The failing run again.
    Replay {
        /// The finding.
        finding: String,
        /// How often.
        runs: Option<NonZeroU32>,
    },
    /// Runs of a plain build.
    Confirm {
        /// The test.
        test: String,
        /// How often.
        runs: Option<NonZeroU32>,
        /// More options of the command.
        #[serde(default)]
        options: Vec<String>,
    },
}

/// A tool: its name, what it does, and the schema of its arguments.
pub(super) type Description = (&'static str, &'static str, Value);

/// The tools, as a client lists them.
pub(super) fn descriptions() -> [Description; 4] {
    let finding = json!({
        "type": "string",
        "description": "`fingerprint` of a finding, or id of its test, as `findings` lists them",
    });
    let runs = |usual: NonZeroU32| json!({ "type": "integer", "minimum": 1, "default": usual });
    let schema = |properties: Value, required: &[&str]| {
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    };
    [
        (
            "findings",
            "Findings of the last report: flaky tests with verdict, proof, responsible lines, the \
             command that shows it again, and what would disprove it. Runs no tests.",
            schema(json!({}), &[]),
        ),
        (
            "why",
            "Explains one finding: the lines, what happens there, and what to do about it. \
             Searches the responsible call with further runs only if none is confirmed yet.",
            schema(json!({ "finding": finding }), &["finding"]),
        ),
        (
            "replay",
            "Repeats the failing run of a finding with the same seed, and counts how it ends.",
            schema(json!({ "finding": finding, "runs": runs(REPLAYS) }), &["finding"]),
        ),
        (
            "confirm",
            "Runs a test many times in a plain build, without this tool: how often it fails.",
            schema(
                json!({
                    "test": { "type": "string", "description": "Id or name of the test" },
                    "runs": runs(CONFIRMATIONS),
                    "options": {
                        "type": "array",
                        "items": { "type": "string" },
                        "description": "More options of `cargo nondex confirm`, such as \
                                        `--features` and its value",
                    },
                }),
                &["test"],
            ),
        ),
    ]
}

/// The answer to a call, or the process that has to end first.
pub(super) enum Answer {
    /// The result.
    Ready(Value),
    /// What it writes is the result.
    Running(Child),
    /// It searches the cause of a finding, which is [explained](Tools::explained) by this test
    /// then.
    Searching(Child, String),
}

/// The tools of a project.
#[derive(Clone, Debug)]
pub(super) struct Tools {
    location: LocationArgs,
    place: Folders,
}

impl Tools {
    /// Those of the project at `location`.
    ///
    /// # Errors
    /// When there is no project.
    pub(super) fn new(location: &LocationArgs) -> Result<Self> {
        Ok(Tools { location: location.clone(), place: Folders::find(location)? })
    }

    /// Answers a call.
    ///
    /// # Errors
    /// When there is no report, or nothing that is meant.
    pub(super) fn answer(&self, call: &Call) -> Result<Answer> {
        match call {
            Call::Findings {} => {
                let report = self.report()?;
                let findings = stream::findings(&report, &self.sources());
                Ok(Answer::Ready(json!({
                    "command": report.run.command,
                    "partial": report.partial,
                    "findings": findings,
                })))
            }
            Call::Why { finding } => {
                let report = self.report()?;
                let found = self.found(&report, finding)?;
                let test = first_test(&report, &found);
                if test.is_dependent() && found.proof.confirmed != Some(true) {
                    let child = self.start(&["explain", &test.id])?;
                    return Ok(Answer::Searching(child, test.id.clone()));
                }
                self.explained(finding).map(Answer::Ready)
            }
            Call::Replay { finding, runs } => {
                let runs = runs.unwrap_or(REPLAYS).to_string();
                let test = self.test(finding);
                let words = ["replay", "--runs", &runs, &test];
                self.start(&words).map(Answer::Running)
            }
            Call::Confirm { test, runs, options } => {
                let runs = runs.unwrap_or(CONFIRMATIONS).to_string();
                let filter = match test.split_once('$') {
                    Some((binary, name)) => filterset::of_test(binary, name),
                    None => format!("test(={})", filterset::escaped(test)),
                };
                let mut words = vec!["confirm", "--runs", &runs, "-E", &filter];
                words.extend(options.iter().map(String::as_str));
                self.start(&words).map(Answer::Running)
            }
        }
    }

    /// What is known of a finding, for people.
    ///
    /// # Errors
    /// As of [`answer`](Self::answer).
    pub(super) fn explained(&self, text: &str) -> Result<Value> {
        let report = self.report()?;
        let found = self.found(&report, text)?;
        let view = View {
            sources: &self.sources(),
            report: None,
            elapsed: Duration::ZERO,
            brief: false,
            verbose: 1,
            quiet: false,
        };
        let test = first_test(&report, &found);
        let shown = human::render_test(test, report.run.strict, &view);
        let shown = strip_str(&shown).to_string();
        Ok(json!({ "finding": found, "explanation": shown }))
    }

    /// The finding of a report that has this fingerprint, or is about this test.
    fn found(&self, report: &Report, text: &str) -> Result<Finding> {
        let mut findings = stream::findings(report, &self.sources());
        if let Some(found) = findings.iter().position(|finding| is_meant(finding, text)) {
            return Ok(findings.swap_remove(found));
        }
        let known = findings.iter().flat_map(|finding| &finding.tests);
        let known: Vec<&str> = known.map(String::as_str).collect();
        Err(Error::usage(format!(
            "the last report has no finding `{text}`; it has findings about: {}",
            known.join(", ")
        )))
    }

    /// The test that a finding is about, or that is named.
    fn test(&self, text: &str) -> String {
        let found = self.report().and_then(|report| self.found(&report, text));
        found.map_or_else(|_| text.to_owned(), |mut found| found.tests.swap_remove(0))
    }

    fn report(&self) -> Result<Report> {
        store::read_latest(&self.place.target_dir)
    }

    fn sources(&self) -> Sources {
        Sources::of_user(&self.place.workspace_root)
    }

    /// Starts a command of this executable, which writes JSON.
    fn start(&self, words: &[&str]) -> Result<Child> {
        let failed = |e| Error::setup(format!("failed to start `cargo nondex`: {e}"));
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        command
            .args(words)
            .args(["--message-format", "json"])
            .args(self.location.words())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().map_err(failed)
    }
}

/// The test of a report that a finding is about, the first of several.
fn first_test<'r>(report: &'r Report, found: &Finding) -> &'r TestReport {
    let mut tests = report.tests.iter();
    let test = tests.find(|test| test.id == found.tests[0]);
    test.expect("a finding of a report is about tests of it")
}

/// Whether a finding is meant by its fingerprint, or by one of its tests or the name of one.
fn is_meant(finding: &Finding, text: &str) -> bool {
    let name = |id: &str| id.split_once('$').is_some_and(|(_, name)| name == text);
    finding.fingerprint == text || finding.tests.iter().any(|id| id == text || name(id))
}

/// What a command has written.
///
/// # Errors
/// The end of its messages when it has written no JSON.
pub(super) fn written(output: &Output) -> Result<Value, String> {
    let messages = String::from_utf8_lossy(&output.stderr);
    // The client's log has all of it.
    eprint!("{messages}");
    serde_json::from_slice(&output.stdout).map_err(|_| {
        let at = messages.find("error: ").unwrap_or(0);
        messages[at..].trim_end().to_owned()
    })
}

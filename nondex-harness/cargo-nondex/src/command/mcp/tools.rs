//! Tools of the server: the findings of the last report, and commands that try a finding again.
//!
//! Findings are read in this process. A command that builds and runs tests is a separate process of
//! this executable. So it does the same as the command in a terminal, and its output cannot mix
//! with the protocol on stdout.

use std::num::NonZeroU32;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use anstream::adapter::strip_str;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::{LocationArgs, filterset};
use crate::error::{Error, Result};
use crate::project::Folders;
use crate::report::human::{self, Sources, View};
use crate::report::stream::{self, Finding};
use crate::report::{Report, TestReport, store};

/// Default number of runs of a replay.
const REPLAYS: NonZeroU32 = NonZeroU32::new(20).unwrap();

/// Default number of plain runs.
const CONFIRMATIONS: NonZeroU32 = NonZeroU32::new(100).unwrap();

/// Call of a tool.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "name", content = "arguments", rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum ToolCall {
    /// Returns the findings of the last report.
    Findings {},
    /// Explains a finding.
    Why {
        /// Fingerprint of a finding, or id or name of its test.
        finding: String,
    },
    /// Repeats the failing run.
    Replay {
        /// Fingerprint of a finding, or id or name of its test.
        finding: String,
        /// Number of runs.
        runs: Option<NonZeroU32>,
    },
    /// Runs a test in a plain build.
    Confirm {
        /// Id or name of the test.
        test: String,
        /// Number of runs.
        runs: Option<NonZeroU32>,
        /// Further options of the command.
        #[serde(default)]
        options: Vec<String>,
    },
}

/// Tool: its name, its description, and the schema of its arguments.
pub(super) type Description = (&'static str, &'static str, Value);

/// Returns the tools, as a client lists them.
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
            "Repeats the failing run of a finding with the same seed, and counts the outcomes.",
            schema(json!({ "finding": finding, "runs": runs(REPLAYS) }), &["finding"]),
        ),
        (
            "confirm",
            "Runs a test many times in a plain build, without this tool, and reports how often it \
             fails.",
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

/// Returns the message about a call that cannot be read: the known tools if there is no such tool,
/// or else what is wrong and the arguments of the tool.
pub(super) fn refused(tool: &str, error: &serde_json::Error) -> String {
    let tools = descriptions();
    let Some((_, _, schema)) = tools.iter().find(|(name, ..)| *name == tool) else {
        let names = tools.each_ref().map(|(name, ..)| *name).join(", ");
        return format!("no tool is called `{tool}`; there are: {names}");
    };
    let arguments: Vec<String> = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| format!("`{name}` ({})", value["type"].as_str().unwrap_or_default()))
        .collect();
    let expected =
        if arguments.is_empty() { "no arguments".to_owned() } else { arguments.join(", ") };
    let error = error.to_string().replace("a nonzero u32", "a whole number of at least 1");
    format!("wrong arguments of `{tool}`: {error}; it takes {expected}")
}

/// Result of a call, or the process that must end first.
pub(super) enum ToolAnswer {
    /// Result.
    Ready(Value),
    /// Process whose output is the result.
    Running(Child),
    /// Process that searches for the cause of a finding. Afterwards the finding of this test is
    /// [explained](Tools::explained).
    Searching(Child, String),
}

/// Tools of a project.
#[derive(Clone, Debug)]
pub(super) struct Tools {
    location: LocationArgs,
    place: Folders,
}

impl Tools {
    /// Creates the tools of the project at `location`.
    pub(super) fn new(location: &LocationArgs) -> Result<Self> {
        Ok(Tools { location: location.clone(), place: location.folders()? })
    }

    /// Answers a call.
    ///
    /// # Errors
    /// When there is no report, or the report does not have the finding.
    pub(super) fn answer(&self, call: &ToolCall) -> Result<ToolAnswer> {
        match call {
            ToolCall::Findings {} => {
                let report = self.report()?;
                let findings = stream::findings(&report, &self.sources());
                Ok(ToolAnswer::Ready(json!({
                    "command": report.run.command,
                    "partial": report.partial,
                    "findings": findings,
                })))
            }
            ToolCall::Why { finding } => {
                let report = self.report()?;
                let found = self.found(&report, finding)?;
                let test = first_test(&report, &found);
                if test.is_dependent() && found.proof.confirmed != Some(true) {
                    let child = self.start(&["explain", &test.id])?;
                    return Ok(ToolAnswer::Searching(child, test.id.clone()));
                }
                self.explained(finding).map(ToolAnswer::Ready)
            }
            ToolCall::Replay { finding, runs } => {
                let runs = runs.unwrap_or(REPLAYS).to_string();
                let test = self.test(finding);
                let words = ["replay", "--runs", &runs, &test];
                self.start(&words).map(ToolAnswer::Running)
            }
            ToolCall::Confirm { test, runs, options } => {
                let runs = runs.unwrap_or(CONFIRMATIONS).to_string();
                let filter = match test.split_once('$') {
                    Some((binary, name)) => filterset::of_test(binary, name),
                    None => format!("test(={})", filterset::escaped(test)),
                };
                let mut words = vec!["confirm", "--runs", &runs, "-E", &filter];
                words.extend(options.iter().map(String::as_str));
                self.start(&words).map(ToolAnswer::Running)
            }
        }
    }

    /// Returns a finding and its explanation as text for people.
    ///
    /// # Errors
    /// As [`answer`](Self::answer).
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

    /// Returns the finding of a report that has this fingerprint or is about this test.
    fn found(&self, report: &Report, text: &str) -> Result<Finding> {
        let mut findings = stream::findings(report, &self.sources());
        if let Some(found) = findings.iter().position(|finding| is_meant(finding, text)) {
            return Ok(findings.swap_remove(found));
        }
        let known: Vec<&str> =
            findings.iter().flat_map(|finding| &finding.tests).map(String::as_str).collect();
        Err(Error::usage(format!(
            "the last report has no finding `{text}`; it has findings about: {}",
            known.join(", ")
        )))
    }

    /// Returns the test that a finding is about. Text that matches no finding is taken as a test.
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

    /// Starts a command of this executable, which writes JSON to stdout.
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

/// Returns the test of a report that a finding is about; the first of several.
fn first_test<'r>(report: &'r Report, found: &Finding) -> &'r TestReport {
    let mut tests = report.tests.iter();
    let test = tests.find(|test| test.id == found.tests[0]);
    test.expect("a finding of a report is about tests of it")
}

/// Returns whether `text` is the fingerprint of a finding, or the id or name of one of its tests.
fn is_meant(finding: &Finding, text: &str) -> bool {
    let name = |id: &str| id.split_once('$').is_some_and(|(_, name)| name == text);
    finding.fingerprint == text || finding.tests.iter().any(|id| id == text || name(id))
}

/// Returns the JSON that a command wrote.
///
/// # Errors
/// Returns the end of the command's messages if it wrote no JSON.
pub(super) fn parsed(output: &Output) -> Result<Value, String> {
    let messages = String::from_utf8_lossy(&output.stderr);
    // A client shows the stderr of the server in its log.
    eprint!("{messages}");
    serde_json::from_slice(&output.stdout).map_err(|_| {
        let at = messages.find("error: ").unwrap_or(0);
        messages[at..].trim_end().to_owned()
    })
}

//! Compares a replay with the recorded finding.

use anstyle::AnsiColor;
use nondex_core::{Outcome, PointRecord, RunSpec, Site, Trace};
use serde::Serialize;

use crate::cli::MessageFormat;
use crate::command::console::Console;
use crate::error::Result;
use crate::exit_code::ExitCode;
use crate::findings::Finding;
use crate::judge::Run;
use crate::report::plural;

/// Requested run, as JSON.
#[derive(Debug, Serialize)]
pub(super) struct Described<'a> {
    id: &'a str,
    test: &'a str,
    spec: &'a RunSpec,
    /// Recorded outcome of the finding.
    recorded: Option<&'a Outcome>,
}

impl<'a> Described<'a> {
    /// Describes the run of a finding.
    pub(super) fn new(finding: &'a Finding, is_recorded: bool) -> Self {
        let recorded = is_recorded.then_some(&finding.outcome);
        Described { id: &finding.id, test: &finding.test, spec: &finding.spec, recorded }
    }
}

/// Result of a replay, as JSON.
#[derive(Debug, Serialize)]
struct Replayed<'a> {
    #[serde(flatten)]
    requested: Described<'a>,
    /// Outcome of the replay.
    outcome: &'a Outcome,
    /// Whether the test failed again, and as recorded if there is a record.
    reproduced: bool,
    message: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<u32>,
    /// Changes since the finding was made, because of which the result may differ.
    warnings: Vec<String>,
    /// Output of the test.
    output: Option<&'a str>,
    /// Choice points of the responsible calls, with their stacks.
    trace: Vec<&'a PointRecord>,
    /// Operations of its threads in execution order.
    schedule: Option<&'a Trace>,
}

/// Returns the operations of a run's threads, if they were recorded.
pub(super) fn traced(run: &Run) -> Option<&Trace> {
    run.schedule.as_ref()?.trace.as_ref()
}

/// Returns whether a run failed with the outcome and message of the finding.
pub(super) fn is_as_recorded(run: &Run, finding: &Finding) -> bool {
    let message = run.failure.as_ref().map(|failure| failure.message.as_str());
    !run.passed()
        && run.outcome == finding.outcome
        && message.unwrap_or_default() == finding.message
}

/// Reports how the replay compares with the finding. Returns the exit code: 100 if the test failed.
pub(super) fn judge(
    finding: &Finding,
    is_recorded: bool,
    run: &Run,
    place: Option<(String, u32)>,
    sites: &[Site],
    warnings: Vec<String>,
    console: &Console,
) -> Result<ExitCode> {
    let message = run.failure.as_ref().map(|failure| failure.message.as_str());
    let failed = !run.passed();
    let as_recorded = is_as_recorded(run, finding);
    let points: Vec<&PointRecord> =
        run.points.iter().filter(|point| sites.contains(&point.site)).collect();
    if console.format == MessageFormat::Json {
        console.json(&Replayed {
            requested: Described::new(finding, is_recorded),
            outcome: &run.outcome,
            reproduced: failed && (as_recorded || !is_recorded),
            message,
            file: place.as_ref().map(|(file, _)| file.as_str()),
            line: place.as_ref().map(|(_, line)| *line),
            warnings,
            output: run.output.as_deref(),
            trace: points,
            schedule: traced(run),
        })?;
    } else {
        for point in points {
            console.text(&trace(point, finding));
        }
        let what = message.unwrap_or("the test failed").trim_end();
        let place = place.map_or_else(String::new, |(file, line)| format!(", at {file}:{line}"));
        let separator = if what.contains('\n') { '\n' } else { ' ' };
        if !failed {
            let text = if is_recorded {
                "it did not fail this time: it is fixed, or its failure depends on more than the \
                 choices"
            } else {
                "it does not fail this way"
            };
            console.result(AnsiColor::Yellow, "Passed", text);
        } else if !is_recorded {
            let place = place.strip_prefix(", ").map_or("", |place| place);
            let text = format!("{place}:{separator}{what}");
            console.result(AnsiColor::Red, "Failed", text.trim_start_matches(':').trim());
        } else if as_recorded {
            let text = format!("again as recorded{place}:{separator}{what}");
            console.result(AnsiColor::Red, "Failed", &text);
        } else {
            // Two outcomes may have the same message, for example if a process does not end after
            // its panic.
            let ended = |outcome: &Outcome| {
                if run.outcome == finding.outcome { "" } else { ending(outcome) }
            };
            let text = format!(
                "not as recorded{}{place}:{separator}{what}\nrecorded was{}: {}",
                ended(&run.outcome),
                ended(&finding.outcome),
                finding.message.trim_end()
            );
            console.result(AnsiColor::Red, "Failed", &text);
        }
    }
    Ok(if failed { ExitCode::Found } else { ExitCode::Ok })
}

/// Returns the outcome of a run as the end of a message.
const fn ending(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => " (passed)",
        Outcome::Failed => " (the test failed)",
        Outcome::Exited(_) => " (the process exited)",
        Outcome::Signalled(_) => " (a signal ended the process)",
        Outcome::TimedOut => " (the time limit ended it)",
    }
}

/// Returns the stack of a responsible call as text, innermost frame first.
fn trace(point: &PointRecord, finding: &Finding) -> String {
    use std::fmt::Write;
    let site = finding.site_text(&point.site);
    let mut text = format!("{site}, first of {}:\n", plural(point.count, "call"));
    for frame in &point.stack {
        let _ = writeln!(text, "    {}\n        at {}:{}", frame.function, frame.file, frame.line);
    }
    if point.stack.is_empty() {
        text.push_str("    its stack is not known\n");
    }
    text
}

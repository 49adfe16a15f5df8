//! The operations of the threads in a failing run, step by step, with a lane for each thread. If a
//! test fails in canonical order without a deadlock, the run is the one that a delay makes pass.

use std::collections::BTreeSet;

use super::delay::time;
use super::interleaving::{is_deadlock, name};
use crate::report::schema::{InterleavingReport, LaneReport, LaneStepReport, Line, TestReport};
use crate::report::thread::describe;

/// Maximum width of a lane, in characters.
const WIDEST: usize = 44;

/// The operations of the threads until the test fails or, with a delay, passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walkthrough {
    /// Names of the threads, one for each lane.
    pub threads: Vec<String>,
    /// The steps, in order.
    pub steps: Vec<WalkStep>,
    /// How the run ends.
    pub end: String,
}

/// One step of one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkStep {
    /// The index of the thread.
    pub lane: usize,
    /// What the thread does.
    pub what: String,
    /// File and line of user code, if known.
    pub place: Option<(String, u32)>,
    /// Whether the step is a delay of the thread.
    pub is_delay: bool,
    /// The object of a conflict between a delayed thread and another one, such as `the same lock`.
    pub conflict: Option<String>,
    /// The number of omitted steps before this one.
    pub skipped: u64,
}

impl Walkthrough {
    /// Creates the walk through the interleaving of a test. Returns `None` without an interleaving,
    /// or if only clocks decide.
    pub fn of(test: &TestReport) -> Option<Self> {
        let found = test.interleaving.as_ref()?;
        if test.depends_on_clocks() {
            return None;
        }
        let steps = found.steps.iter().enumerate().map(|(at, step)| WalkStep {
            lane: step.lane,
            what: what(step),
            place: step.file.clone().zip(step.line),
            is_delay: step.delay_ns.is_some(),
            conflict: conflict(found, at),
            skipped: step.skipped,
        });
        // With its culprits' delays, a test that fails in canonical order passes.
        let passes = found.failed.is_none()
            && found.steps.iter().any(|step| step.delay_ns.is_some())
            && test.fails_in_canonical_order();
        let end = match &found.failed {
            _ if passes => "the test passes".to_owned(),
            _ if is_deadlock(test) => "no thread can continue".to_owned(),
            Some(Line { file, line }) => format!("the test fails at {file}:{line}"),
            None => "the test fails".to_owned(),
        };
        Some(Walkthrough {
            threads: found.threads.iter().map(|lane| head(test, lane)).collect(),
            steps: steps.collect(),
            end,
        })
    }

    /// Returns the files of the steps.
    pub fn files(&self) -> BTreeSet<&str> {
        let places = self.steps.iter().filter_map(|step| step.place.as_ref());
        places.map(|(file, _)| file.as_str()).collect()
    }

    /// Returns the condition under which the steps occur.
    pub fn title(&self) -> String {
        let files = self.files();
        let is_delayed = self.steps.iter().any(|step| step.is_delay);
        let when = if is_delayed { "when nothing else is delayed" } else { "in canonical order" };
        match files.first() {
            Some(file) if files.len() == 1 => format!("of the lines of {file}, {when}"),
            _ => when.to_owned(),
        }
    }

    /// Draws the steps in lanes as text. Time runs downwards.
    pub(super) fn picture(&self) -> String {
        let has_files = self.files().len() > 1;
        let cells: Vec<String> = self.steps.iter().map(|step| cell(step, has_files)).collect();
        let width = |lane: usize| {
            let of_lane = self.steps.iter().zip(&cells).filter(|(step, _)| step.lane == lane);
            let longest = of_lane.map(|(_, cell)| cell.chars().count()).max().unwrap_or(0);
            longest.max(self.threads[lane].chars().count()).min(WIDEST)
        };
        let widths: Vec<usize> = (0..self.threads.len()).map(width).collect();
        let row = |text: &dyn Fn(usize) -> String| {
            let cells = widths.iter().enumerate().map(|(lane, &width)| {
                let text = cut(&text(lane));
                let pad = width.saturating_sub(text.chars().count());
                format!("{text}{}", " ".repeat(pad))
            });
            cells.collect::<Vec<_>>().join(" | ").trim_end().to_owned()
        };
        let mut lines = vec![self.title()];
        lines.push(row(&|lane| self.threads[lane].clone()));
        lines.push(widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>().join("-+-"));
        for (step, cell) in self.steps.iter().zip(&cells) {
            lines.push(row(&|lane| if lane == step.lane { cell.clone() } else { String::new() }));
        }
        lines.push(self.end.clone());
        lines.join("\n")
    }
}

/// Returns the object of the conflict that the step with this index is part of.
fn conflict(found: &InterleavingReport, at: usize) -> Option<String> {
    let known = found.conflicts.iter().find(|conflict| {
        let own = [conflict.before, conflict.after];
        conflict.meanwhile == at || own.contains(&Some(at))
    });
    known.map(super::interleaving::object)
}

/// Returns the name of a lane.
fn head(test: &TestReport, lane: &LaneReport) -> String {
    match (lane.thread.as_str(), name(test, &lane.thread)) {
        ("0", _) => "the test".to_owned(),
        (_, Some(name)) => name.to_owned(),
        (thread, None) => {
            let text = describe(thread);
            text.trim_start_matches("the ").trim_end_matches(" that the test starts").to_owned()
        }
    }
}

/// Describes what a thread does in a step.
fn what(step: &LaneStepReport) -> String {
    if let Some(delay) = step.delay_ns {
        return match delay {
            0 => "(spurious wakeup)".to_owned(),
            delay if step.what.contains("sleep") => format!("({} too late)", time(delay)),
            delay => format!("(stopped for {})", time(delay)),
        };
    }
    let value = match (step.found, step.left) {
        (Some(found), Some(left)) => format!(" {found} -> {left}"),
        (Some(found), None) => format!(" = {found}"),
        (None, Some(left)) => format!(" {left}"),
        (None, None) => String::new(),
    };
    let waits = if step.waits { ", waits" } else { "" };
    format!("{}{value}{waits}", step.what)
}

/// Returns the text of a step in its lane.
fn cell(step: &WalkStep, has_files: bool) -> String {
    let place = match &step.place {
        // The line of a delay is omitted.
        _ if step.is_delay => String::new(),
        Some((file, line)) if has_files => {
            let name = file.rsplit('/').next().unwrap_or(file);
            format!("{name}:{line} ")
        }
        Some((_, line)) => format!("{line} "),
        None => String::new(),
    };
    format!("{place}{}", step.what)
}

/// Truncates a text to the maximum width of a lane.
fn cut(text: &str) -> String {
    if text.chars().count() <= WIDEST {
        return text.to_owned();
    }
    let begin: String = text.chars().take(WIDEST - 1).collect();
    format!("{begin}…")
}

//! The sentences that a report has about a test beside its verdict.

use std::time::Duration;

use nondex_core::{Outcome, RunSpec, Selection};

use crate::judge::conclusion::Dependence;
use crate::judge::evidence::Evidence;
use crate::judge::isolation::{Interference, Reason};
use crate::judge::run::Run;
use crate::judge::{Options, patience, threads};
use crate::project::TestCase;
use crate::report::schema::{FailureReport, TestReport};

/// Why a test is judged from runs that were not scheduled. Where they end in two ways when they are, that need not be for the schedule.
pub(super) fn real_threads(evidence: &Evidence, asked: &Options) -> &'static str {
    let is_settled = evidence.contradiction(asked.is_scheduled()).is_none();
    match is_settled || evidence.all().any(|(_, run)| run.is_cut()) {
        true => {
            "it is judged with real threads and real time, because it ends differently, or not within the limits, when this tool schedules them"
        }
        false => {
            "it is judged with real threads and real time, because it failed in one run and passed in another when this tool scheduled them, \
             which may also be for what ran at the same time"
        }
    }
}

/// What can be done about a test that was ended in its clean runs.
pub(super) fn hang(failures: &[FailureReport], limit: Duration) -> Option<String> {
    let first = failures.first()?;
    (first.outcome == Outcome::TimedOut).then(|| {
        format!(
            "each run was ended after {limit:?}: if it only needs longer, as a test that compiles something does at first, \
             `--timeout SECONDS` gives it more"
        )
    })
}

/// Says that some runs took longer than they usually may.
pub(super) fn lateness(evidence: &Evidence, options: &Options) -> Option<String> {
    let usual = options.timeout;
    let late = || {
        evidence
            .all()
            .filter(|(_, run)| patience::is_late(run, usual))
    };
    let limit = late().map(|(_, run)| run.limit).max()?;
    Some(format!(
        "some of its runs took longer than the time limit of {usual:?} and were given up to {limit:?}, because the clean runs \
         end: see `--timeout`"
    ))
}

/// Says that some runs were ended before they had any.
pub(super) fn cut(evidence: &Evidence, options: &Options) -> Option<String> {
    let cut = threads::cut(evidence, options).count();
    let runs = match cut {
        0 => return None,
        1 => "1 of its runs was ended and says".to_owned(),
        many => format!("{many} of its runs were ended and say"),
    };
    Some(format!(
        "{runs} nothing, because its threads did as many operations as they may: see `--max-steps`"
    ))
}

pub(super) fn disagreement(runs: &[Run], spec: &RunSpec, options: &Options) -> String {
    let failed = runs.iter().filter(|run| !run.passed()).count();
    let all = runs.len();
    match spec.choices {
        Selection::None if !spec.scheduled && options.is_scheduled() => {
            format!("{failed} of {all} runs in base order with real threads failed")
        }
        Selection::None => format!("{failed} of {all} runs in base order failed"),
        _ => format!(
            "{failed} of {all} runs at level {} with seed {} failed",
            spec.level, spec.seed
        ),
    }
}

/// Why a test that a choice seems to decide is not judged.
pub(super) fn artefact(dependence: &Dependence) -> String {
    let calls = dependence.culprits.artefacts().unwrap_or_default();
    let calls: Vec<String> = calls
        .iter()
        .map(|call| {
            format!(
                "`{}` at {}:{}",
                call.site.api, call.site.file, call.site.line
            )
        })
        .collect();
    format!(
        "it is not judged: at level {} its outcome changes even when {} has the order of the clean runs, so that not an order \
         decides but what goes with it: what this tool does there to give one, such as allocate, or how often keys are compared",
        dependence.spec.level,
        calls.join(" and ")
    )
}

/// Why a test that was run has no verdict when the campaign was stopped.
pub(super) fn unjudged(failures: &[FailureReport]) -> String {
    let stopped = "the campaign was stopped before this test was judged";
    match failures.len() {
        0 => stopped.to_owned(),
        1 => format!("{stopped}; one of its runs failed"),
        many => format!("{stopped}; {many} of its runs failed"),
    }
}

/// Why a test is not judged of which a run could not be made.
pub(super) fn missing(why: &str) -> String {
    format!("it is not judged: {why}")
}

/// What is missing of a test that was judged before all its runs were made.
pub(super) fn provisional(report: &TestReport, test: &TestCase) -> String {
    let stopped = "the campaign was stopped before all runs of this test were made";
    match report.verdict {
        _ if report.is_dependent() => format!(
            "{stopped}: its level may be weaker, and `cargo nondex explain '{}'` goes on with the search for the culprit",
            test.name
        ),
        _ => stopped.to_owned(),
    }
}

pub(super) fn disturbance(interference: Interference) -> String {
    let [failed, runs] = interference.beside;
    let [failed_alone, runs_alone] = interference.alone;
    let (alone, why) = match interference.reason {
        Reason::Shared => (
            "alone",
            "most likely they share something outside the process, such as a path, or the processors",
        ),
        Reason::RandomName => (
            "alone with an empty folder for temporary files",
            "most likely it shares something outside the process with other tests or with its own earlier runs, such as a path with a random name, \
             which is the same in each of them",
        ),
        Reason::Time => ("alone", "beside others it takes longer than its time limit"),
    };
    format!(
        "it failed in {failed} of {runs} runs beside other tests of the campaign and in {failed_alone} of {runs_alone} {alone}: \
         {why}, so it was judged from runs alone"
    )
}

//! Notes of a report about a test, in addition to its verdict.

use std::time::Duration;

use nondex_core::{Outcome, RunSpec, Source};

use crate::judge::conclusion::Dependence;
use crate::judge::culprit::Call;
use crate::judge::{Evidence, Interference, Options, Reason, Run, certainty, patience, threads};
use crate::project::TestCase;
use crate::report::{FailureReport, TestReport, Verdict, plural};
use crate::statistics::wilson;

/// Returns why a test is judged from runs with real threads. If scheduled runs had both outcomes,
/// the schedule need not be the reason.
pub(super) fn real_threads(evidence: &Evidence, requested: &Options) -> &'static str {
    let is_settled = evidence.contradiction(requested.is_scheduled()).is_none();
    if is_settled || evidence.all().any(|(_, run)| run.has_no_outcome()) {
        "the scheduler could not reproduce its outcome within the limits; the verdict comes from \
         runs with real threads and real time"
    } else {
        "it failed in one scheduled run and passed in another, possibly because of concurrent \
         runs; the verdict comes from runs with real threads and real time"
    }
}

/// Returns advice for a test whose clean runs timed out.
pub(super) fn hang(failures: &[FailureReport], limit: Duration) -> Option<String> {
    let first = failures.first()?;
    (first.outcome == Outcome::TimedOut).then(|| {
        format!(
            "each run was stopped after {limit:?}; if the test only needs longer, set `--timeout \
             SECONDS`"
        )
    })
}

/// Reports that some runs took longer than the usual time limit.
pub(super) fn lateness(evidence: &Evidence, options: &Options) -> Option<String> {
    let usual = options.timeout;
    let late = || evidence.all().filter(|(_, run)| patience::is_late(run, usual));
    let limit = late().map(|(_, run)| run.limit).max()?;
    Some(format!(
        "some of its runs exceeded the time limit of {usual:?}, which was raised to {limit:?} \
         because the clean runs end: see `--timeout`"
    ))
}

/// Reports that a test was not run in real time, where it sleeps for too long.
pub(super) fn not_in_real_time(evidence: &Evidence, options: &Options) -> Option<String> {
    let slept = patience::beyond_real_time(options.timeout, evidence)?;
    let slept = humantime::format_duration(Duration::from_secs(slept.as_secs()));
    Some(format!(
        "it was not run in real time, where it sleeps for longer than five times the time limit: \
         {slept} of virtual time passed"
    ))
}

/// Returns why a test that passed in every run is not stable: events of some runs were lost.
pub(super) fn lost(evidence: &Evidence) -> Option<String> {
    let lost = evidence.all().filter(|(_, run)| run.lost).count();
    (lost > 0).then(|| {
        format!(
            "it is not reported as stable: the records of {lost} of {} runs miss events, such as \
             those of a thread that runs at exit, so an unrecorded choice may decide",
            evidence.count()
        )
    })
}

/// Reports runs without a result, and the reasons.
pub(super) fn cut(evidence: &Evidence, options: &Options) -> Vec<String> {
    let cut = threads::cut(evidence, options);
    let (ahead, ended): (Vec<_>, Vec<_>) = cut.partition(|run| run.has_visible_lead());
    let note = |runs: &[&Run], why: &str| {
        let count = match runs.len() {
            0 => return None,
            1 => "1 of its runs has".to_owned(),
            many => format!("{many} of its runs have"),
        };
        Some(format!("{count} no result, because {why}"))
    };
    let notes = [
        note(&ended, "its threads reached the limit of operations: see `--max-steps`"),
        note(&ahead, "virtual time was ahead of the clock that its children read"),
    ];
    notes.into_iter().flatten().collect()
}

pub(super) fn disagreement(runs: &[Run], spec: &RunSpec, options: &Options) -> String {
    let failed = runs.iter().filter(|run| !run.passed()).count();
    let all = runs.len();
    let which = match spec.drawn() {
        None if !spec.is_scheduled() && options.is_scheduled() => {
            "in canonical order with real threads".to_owned()
        }
        None => "in canonical order".to_owned(),
        Some(drawn) => format!("at level {} with seed {}", drawn.level, drawn.seed),
    };
    let [low, high] = wilson(failed as u64, all as u64).map(|bound| bound * 100.0);
    format!("{failed} of {all} runs {which} failed ({low:.0} to {high:.0} % with 95 % confidence)")
}

/// Describes the clean runs of a test whose outcome depends on addresses.
pub(super) fn fixed_addresses(clean: &[Run]) -> String {
    let ended = if clean.iter().all(Run::passed) { "passed" } else { "failed" };
    format!(
        "those runs had random addresses, as plain runs have; {} with fixed ones {ended}",
        plural(clean.len(), "run"),
    )
}

/// Describes what may decide a test that has two outcomes with the same choices.
pub(super) fn uncontrolled(sources: &[Source]) -> String {
    match names(sources).as_slice() {
        [] => "no seed and no recorded call decides its outcome: the cause may be a file that \
               another test or program changes, the process id, an address, a processor \
               instruction (`rdtsc`, `rdrand`) or a raw system call"
            .to_owned(),
        all => format!("no seed controls all that it uses: {}", all.join(", ")),
    }
}

/// Describes the same for a test that runs on the host's std, where sources are not recorded.
pub(super) fn unobserved() -> String {
    "it runs on the host's own std, as all tests of a proc macro do: no seed controls its maps, \
     its random bytes, its threads or its time"
        .to_owned()
}

/// Describes how often a test may pass that failed in each of `runs` runs, but uses uncontrolled
/// sources.
pub(super) fn may_pass(sources: &[Source], runs: usize) -> Option<String> {
    let names = names(sources);
    let bound = (certainty::bound(runs) * 100.0).ceil();
    // Scheduled runs are not random samples, so there may be no sample at all.
    (!names.is_empty() && runs > 0).then(|| {
        format!(
            "it failed in each of {runs} runs, and may pass in up to {bound} % of runs, with 95 % \
             confidence: no seed controls {}",
            names.join(", ")
        )
    })
}

/// Describes what was not tried of a test that failed in each of its runs.
pub(super) fn left_out(runs: u64) -> Option<String> {
    (runs > 0).then(|| {
        format!(
            "it may pass under seeds that did not fit into the budget: `--thorough` makes {}",
            plural(runs, "more run")
        )
    })
}

/// Describes the sources.
fn names(sources: &[Source]) -> Vec<&'static str> {
    let name = |source: &Source| match source {
        Source::Clock => "a clock",
        Source::Date => "the date or the time of day",
        Source::Sleep => "sleeping",
        Source::Thread => "threads that the machine schedules",
        Source::Child => "programs that it starts",
        Source::RandomFile => "random bytes or names, as of `/dev/urandom` or `mkstemp`",
        Source::ProcessNumber => "a process or thread id",
        Source::Port => "a port that the system chooses",
        Source::System => "memory, load or statistics of the machine",
    };
    sources.iter().map(name).collect()
}

/// Returns why a test is not judged although a choice, or a seed, seems to decide.
pub(super) fn artefact(dependence: &Dependence) -> String {
    let level = dependence.spec.level();
    let artefacts = dependence.culprits.artefacts().unwrap_or_default();
    if artefacts.is_empty() {
        return format!(
            "it is not judged: at level {level} its outcome changes although it reaches no choice, \
             so a side effect of this tool decides, such as allocations or the number of key \
             comparisons"
        );
    }
    let place =
        |call: &&Call| format!("`{}` at {}:{}", call.site.api, call.site.file, call.site.line);
    let calls: Vec<String> = artefacts.iter().map(place).collect();
    format!(
        "it is not judged: at level {level} its outcome changes even when {} has the order of the \
         clean runs, so a side effect of the permutation decides, such as allocations or the \
         number of key comparisons",
        calls.join(" and ")
    )
}

/// Describes a test that was run, but not judged before the campaign was stopped, and its failures.
pub(super) fn unjudged(failures: &[FailureReport]) -> String {
    let stopped = "the campaign was stopped before this test was judged";
    let is_clean =
        failures.iter().any(|failure| failure.level.is_none() && failure.before.is_empty());
    let failed = match failures.len() {
        0 => return stopped.to_owned(),
        _ if is_clean => "in canonical order, and a plain build was not run to compare",
        1 => "under one seed",
        many => &format!("under {many} seeds"),
    };
    format!("{stopped}; it failed {failed}")
}

/// Returns why a test that fails in canonical order is not judged when no seed was tried.
pub(super) fn untried() -> String {
    "it fails in canonical order, and no seed was tried: whether a choice decides is not known"
        .to_owned()
}

/// Describes what is missing if a test was judged before all its runs were made.
pub(super) fn provisional(report: &TestReport, test: &TestCase) -> String {
    let stopped = "the campaign was stopped before all runs of this test were made";
    let unknown = match report.verdict {
        Verdict::NotRun => "a seed decides, but whether by an order or by a delay is not known;",
        _ if report.is_dependent() => "its level may be weaker, and",
        _ => return stopped.to_owned(),
    };
    format!(
        "{stopped}: {unknown} `cargo nondex explain '{}'` continues the search for the culprit",
        test.name
    )
}

/// The end of the note about a test that other tests disturb.
pub const JUDGED_ALONE: &str = "it was judged from runs alone";

/// Describes how often a test failed together with other tests and alone.
pub(super) fn disturbance(interference: Interference) -> String {
    let [failed, runs] = interference.together;
    let [failed_alone, runs_alone] = interference.alone;
    let (alone, why) = match interference.reason {
        Reason::Shared => (
            "alone",
            "most likely they share something outside the process, such as a path, or the \
             processors",
        ),
        Reason::RandomName => (
            "alone with an empty temporary directory",
            "most likely it shares something outside the process with other tests or with its own \
             earlier runs, such as a path whose random name is the same in each run",
        ),
        Reason::Time => ("alone", "together with others it takes longer than its time limit"),
        Reason::Chance => ("alone", "chance alone may explain the difference"),
    };
    format!(
        "it failed in {failed} of {runs} runs together with other tests of the campaign and in \
         {failed_alone} of {runs_alone} {alone}: {why}, so {JUDGED_ALONE}"
    )
}

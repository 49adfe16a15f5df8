//! From the runs of a test, and what was concluded from them, to its part of the report.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::Utf8Path;
use indexmap::IndexSet;
use nondex_core::{Level, Outcome, PointRecord, RunSpec, Schedule, Selection, Site, Threads};

use super::difference;
use super::id;
use super::schema::{
    FailureReport, Latent, MAX_FAILURES, NetworkEvent, PointReport, Replay, Sanitised, Step,
    TestReport, Verdict,
};
use super::workspace::Workspace;
use crate::judge::conclusion::{Conclusion, Dependence};
use crate::judge::evidence::Evidence;
use crate::judge::isolation::{Interference, Judgement, Reason, Runs};
use crate::judge::ordinary::Ordinary;
use crate::judge::prerequisite::{self, Explanation, FailedOperation};
use crate::judge::run::Run;
use crate::judge::{Options, certainty, exhaustive, patience, sampling, specs, threads};
use crate::project::{Suite, TestCase};

/// What is written about a test that was not run.
#[must_use]
pub fn not_run(suite: &Suite, test: &TestCase) -> TestReport {
    TestReport {
        file: test.file.clone(),
        line: test.line,
        ..TestReport::new(&suite.binary.package, &suite.binary.id, &test.name)
    }
}

/// What is written about a test with these runs; without a judgement, because the campaign was stopped, it counts as not run.
#[must_use]
pub fn report(
    suite: &Suite,
    test: &TestCase,
    options: &Options,
    workspace: &Workspace,
    runs: &Runs,
    judgement: Option<&Judgement>,
) -> TestReport {
    let evidence = runs.judged_by(judgement);
    let asked = options;
    let options = &*threads::known(&test.name, asked, evidence);
    let (conclusion, explanation) = match judgement.map(|judgement| &judgement.conclusion) {
        Some(Conclusion::Explained(found)) => (Some(&found.shown), Some(&found.explanation)),
        other => (other, None),
    };
    let mut report = not_run(suite, test);
    report.runs = runs.count() as u64;
    report.elapsed_ms = u64::try_from(runs.took().as_millis()).unwrap_or(u64::MAX);
    report.sources = certainty::sources(evidence);
    report.steps = steps(evidence);
    if let Some((_, first)) = evidence.all().next() {
        report.points = points(&first.points);
        report.choice_points = report.points.iter().map(|point| point.count).sum();
    }
    // Above the weakest level only what other runs imply is known, which is no rate.
    let highest = match conclusion {
        Some(Conclusion::Dependent(dependence) | Conclusion::Artefact(dependence))
            if !options.all_levels =>
        {
            dependence.spec.level
        }
        Some(Conclusion::NonDeterministic { spec }) => spec.level,
        _ => Level::Full,
    };
    let is_found_below = |level: &Level| matches!(conclusion, Some(Conclusion::Dependent(dependence)) if *level <= dependence.spec.level);
    report.sources = certainty::sources(evidence);
    let levels = Level::ALL.into_iter();
    let levels = levels.filter(|level| options.levels.contains(level) || is_found_below(level));
    for level in levels {
        if level > highest {
            break;
        }
        let (rate, implied) = rate(
            &sampling::seed_specs(&test.name, level, options, evidence),
            evidence,
        );
        if rate[1] > 0 {
            report.failure_rate.insert(level, rate);
            report.implied += implied;
        }
    }
    let mut failing = failing_runs(evidence, options);
    // They show the same again, less realistically.
    failing.retain(|(spec, _)| spec.choices == Selection::None || spec.level <= highest);
    report.failures = failing
        .iter()
        .take(MAX_FAILURES)
        .map(|(spec, run)| failure(&report.id, spec, run, options.timeout, evidence))
        .collect();
    report.scheduled =
        scheduled::report(evidence, &failing, conclusion, workspace, &suite.binary.cwd);
    if let Some(Conclusion::Dependent(dependence)) = conclusion
        && let Some((schedule, trace)) = scheduled::traced(dependence)
    {
        let failure = report.failures.first();
        let place = failure.and_then(|failure| Some((failure.file.as_deref()?, failure.line?)));
        let end = match schedule.end {
            Some(_) => interleaving::End::Waiting,
            None => interleaving::End::Failed(place),
        };
        report.interleaving = interleaving::report(trace, end, workspace, &suite.binary.cwd);
    }
    report.output = failing.iter().find_map(|(_, run)| run.output.clone());
    report.difference = difference(evidence, &failing);
    report.notes = run_notes(evidence);
    report.notes.extend(lateness(evidence, options));
    if options.real_threads && !asked.real_threads {
        report.notes.push(REAL_THREADS.to_owned());
    }
    // What fails in every run, or is explained otherwise, is replayed whatever the course.
    let is_found = matches!(
        conclusion,
        Some(Conclusion::Dependent(_) | Conclusion::NonDeterministic { .. })
    );
    let uncertain = report.scheduled.as_ref().filter(|_| is_found);
    report
        .notes
        .extend(uncertain.and_then(scheduled::uncertainty));
    let reproduced = match conclusion {
        None => {
            if report.runs > 0 {
                report.notes.push(unjudged(&report.failures));
            }
            None
        }
        // No explanation is of an explanation.
        Some(Conclusion::Explained(_)) => None,
        Some(Conclusion::Stable | Conclusion::Latent(_)) => {
            report.verdict = Verdict::Stable;
            report.verified = exhaustive::verified(&test.name, options, evidence);
            report.sampled = sampling::levels(&test.name, options, evidence);
            report.failure_bound = Some(certainty::bound(certainty::samples(evidence)));
            if let Some(Conclusion::Latent(found)) = conclusion {
                report.search_runs = culprits::runs(evidence);
                report.latent = Some(Latent {
                    level: found.spec.level,
                    seed: found.spec.seed,
                    culprits: culprits::report(&found.culprits, test, &suite.binary.cwd, workspace),
                });
            }
            None
        }
        Some(Conclusion::Broken) => {
            report.verdict = Verdict::Broken;
            if explanation.is_none() {
                report.notes.extend(hang(&report.failures, options.timeout));
            }
            Some(specs::clean_spec(&test.name, options))
        }
        Some(Conclusion::Flaky) => {
            report.verdict = Verdict::Unknown;
            Some(specs::clean_spec(&test.name, options))
        }
        // Nothing is there to be reproduced when this tool is the reason.
        Some(Conclusion::FailsOnlyHere) => {
            report.unjudged = true;
            None
        }
        Some(Conclusion::Artefact(dependence)) => {
            report.unjudged = true;
            report.search_runs = culprits::runs(evidence);
            report.notes.push(artefact(dependence));
            None
        }
        Some(Conclusion::OrderDependent(found)) => {
            let names = runs.behind.as_ref().map(|behind| &*behind.names);
            order::dependent(
                &mut report,
                found,
                names.unwrap_or_default(),
                options,
                Threads::Each,
            );
            Some(specs::clean_spec(&test.name, options))
        }
        Some(Conclusion::NonDeterministic { spec }) => {
            report.verdict = Verdict::NonDeterministic;
            report.notes.push(
                order::disagreement(runs.behind.as_ref())
                    .unwrap_or_else(|| disagreement(evidence.of(spec), spec, options)),
            );
            Some(spec.as_ref().clone())
        }
        Some(Conclusion::Dependent(dependence)) => {
            report.reason = dependence.reason(evidence);
            report.delay_level = dependence.level_of_delays();
            report.verdict = match report.reason {
                Some(_) => Verdict::NonDeterministic,
                None => Verdict::ImplementationDependent,
            };
            report.weakest_level = Some(dependence.spec.level);
            report.culprits =
                culprits::report(&dependence.culprits, test, &suite.binary.cwd, workspace);
            report.search_runs = culprits::runs(evidence);
            report
                .notes
                .extend(dependence.culprits.notes.iter().cloned());
            let tried = sampling::seed_specs(&test.name, dependence.spec.level, options, evidence);
            let RunSpec { level, seed, .. } = dependence.spec;
            if !tried.contains(&dependence.spec) {
                let known = specs::regressions(&test.name, &[level], options);
                report.notes.push(if known.contains(&dependence.spec) {
                    format!(
                        "it is a regression of an earlier finding: level {level} with seed {seed} was kept and tried first"
                    )
                } else {
                    format!(
                        "all its orders at level {level} were tried: seed {seed} is one that shows a failing order"
                    )
                });
            }
            if dependence.passes_clean {
                Some(dependence.spec.clone())
            } else {
                report.notes.push(format!(
                    "it fails in base order too, and passes at level {} with seed {}",
                    dependence.spec.level, dependence.spec.seed
                ));
                Some(specs::clean_spec(&test.name, options))
            }
        }
    };
    let event = |one: &FailedOperation| event(one, workspace, &suite.binary.cwd);
    let seen = prerequisite::seen(evidence, &options.network);
    let shown = seen.operations.iter().take(MAX_EVENTS);
    report.network = shown.map(event).collect();
    report.hosts = seen.hosts.into_iter().collect();
    if report.verdict == Verdict::Stable && seen.is_ignored {
        let hosts = report.hosts.join(", ");
        report.notes.push(format!(
            "it passes without the network that it asks for ({hosts})"
        ));
    }
    if let Some(explanation) = explanation {
        explain(&mut report, explanation, event);
    }
    let clean = specs::clean_spec(&test.name, options);
    let verification = options.network.verification(&clean);
    report
        .notes
        .extend(verification.and_then(|spec| network::verified(evidence, &spec, report.verdict)));
    if let Some(interference) = judgement.and_then(|judgement| judgement.interference) {
        report.run_alone = true;
        report.notes.push(disturbance(interference));
    }
    if judgement.is_some_and(|judgement| judgement.is_provisional) {
        report.notes.push(provisional(&report, test));
    }
    if let Some(behind) = &runs.behind {
        report.runs += behind.processes;
        report.notes.extend(order::left_behind(behind));
    }
    if let Some(compared) = &runs.ordinary {
        let note = ordinary::note(&report, compared, workspace.root());
        report.notes.push(note);
        if let Ordinary::Runs(rate) = *compared {
            report.ordinary = Some(rate);
            report.runs += rate[1];
        }
    }
    let primary = reproduced.and_then(|spec| {
        let id = id::of(&report.id, &spec);
        let failures = &report.failures;
        let known = failures
            .iter()
            .find(|failure| failure.id.as_deref() == Some(&id));
        // A run that was only made to find a culprit is no finding of its own.
        known.or(failures.first())
    });
    report.reproduce = primary.map(|failure| reproduce::command(&report.id, failure, options));
    report.replay = (!report.failures.is_empty()).then(|| Replay {
        primary: primary.and_then(|failure| failure.id.clone()),
        kind: suite.binary.kind.clone(),
        target: suite.binary.target.clone(),
        spec: specs::clean_spec("", options),
        timeout_ms: u64::try_from(options.timeout.as_millis()).unwrap_or(u64::MAX),
    });
    let doctest = test.doctest.as_ref();
    if let Some(place) = doctest.and_then(|doctest| doctest.place.as_ref()) {
        places::in_source(&mut report, place, workspace.root());
    }
    report
}

/// Why a test is judged from runs that were not scheduled.
const REAL_THREADS: &str = "it is judged with real threads and real time, because it ends otherwise, or not within the limits, when this tool schedules them";

/// How many operations a report names of one test.
const MAX_EVENTS: usize = 20;

/// Writes what explains the failures. Without a network no more is known of the test; any other prerequisite leaves the verdict.
fn explain(
    report: &mut TestReport,
    explanation: &Explanation,
    event: impl Fn(&FailedOperation) -> NetworkEvent,
) {
    let operations = explanation.operations.iter().take(MAX_EVENTS);
    report.sanitised_by = Some(Sanitised {
        name: explanation.name.clone(),
        reason: explanation.reason.clone(),
        operations: operations.map(event).collect(),
    });
    report
        .notes
        .extend(explanation.reservations.iter().cloned());
    if explanation.is_of_network() {
        report.verdict = Verdict::Network;
        report.reason = None;
        report.weakest_level = None;
        report.culprits.clear();
    }
}

fn event(one: &FailedOperation, workspace: &Workspace, cwd: &Utf8Path) -> NetworkEvent {
    let (file, line) = workspace.nearest(&one.stack, cwd).unzip();
    NetworkEvent {
        operation: one.operation.clone(),
        address: one.target.clone(),
        error: one.error.clone(),
        file,
        line,
        thread: one.thread.clone(),
        elapsed_ms: one.elapsed_ms,
    }
}

/// What was done: clean runs, choices at levels from seeds, and the search for those that are responsible.
fn steps(evidence: &Evidence) -> Vec<Step> {
    let kind = |spec: &RunSpec| match spec.choices {
        Selection::None if spec.given.is_empty() && spec.operations == 0 => "clean",
        Selection::All if spec.given.is_empty() && spec.trace.is_empty() => {
            match evidence.chooses_timing(spec) {
                true => "interleavings",
                false => "choices",
            }
        }
        _ => "search",
    };
    let step = |name: &str| {
        let runs = || evidence.all().filter(|(spec, _)| kind(spec) == name);
        Step {
            name: name.to_owned(),
            runs: runs().count() as u64,
            failures: runs().filter(|(_, run)| !run.passed()).count() as u64,
        }
    };
    let steps = ["clean", "choices", "interleavings", "search"].map(step);
    steps.into_iter().filter(|step| step.runs > 0).collect()
}

/// How many of the specs that have an answer fail, of how many; and how many of those answers another run gave.
fn rate(specs: &[RunSpec], evidence: &Evidence) -> ([u64; 2], u64) {
    let mut rate = [0, 0];
    let mut implied = 0;
    for spec in specs {
        if let Ok(answers) = evidence.answers(std::slice::from_ref(spec)) {
            rate[0] += u64::from(!answers[0].run.passed());
            rate[1] += 1;
            implied += u64::from(answers[0].implied);
        }
    }
    (rate, implied)
}

/// The first failing run of each spec that makes no choice or all of them: clean first, then by level and seed.
fn failing_runs<'a>(evidence: &'a Evidence, options: &Options) -> Vec<(&'a RunSpec, &'a Run)> {
    let mut failing: Vec<_> = evidence
        .specs()
        .filter(|(spec, _)| {
            matches!(spec.choices, Selection::None | Selection::All)
                && spec.trace.is_empty()
                && spec.operations == 0
                && spec.network == options.network.mode
        })
        .filter_map(|(spec, runs)| Some((spec, runs.iter().find(|run| !run.passed())?)))
        .collect();
    failing.sort_by_key(|(spec, _)| {
        let position = options.seeds.iter().position(|seed| *seed == spec.seed);
        (spec.choices != Selection::None, spec.level, position)
    });
    failing
}

/// What can be done about a test that was ended in its clean runs.
fn hang(failures: &[FailureReport], limit: Duration) -> Option<String> {
    let first = failures.first()?;
    (first.outcome == Outcome::TimedOut).then(|| {
        format!(
            "each run was ended after {limit:?}: if it only needs longer, as a test that compiles something does at first, \
             `--timeout SECONDS` gives it more"
        )
    })
}

/// Says that some runs took longer than they usually may.
fn lateness(evidence: &Evidence, options: &Options) -> Option<String> {
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

fn failure(
    test_id: &str,
    spec: &RunSpec,
    run: &Run,
    usual: Duration,
    evidence: &Evidence,
) -> FailureReport {
    let is_clean = spec.choices == Selection::None;
    let failure = run.failure.clone().unwrap_or_default();
    FailureReport {
        id: Some(id::of(test_id, spec)),
        level: (!is_clean).then_some(spec.level),
        seed: (!is_clean).then_some(spec.seed),
        schedule: if is_clean {
            Schedule::default()
        } else {
            spec.schedule
        },
        message: failure.message,
        file: failure.file,
        line: failure.line,
        outcome: run.outcome.clone(),
        limit_ms: patience::needed(spec, run, usual, evidence)
            .map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)),
        before: spec.before.clone(),
        scheduled: spec.scheduled,
    }
}

/// Where the output of the first failing run departs from that of a passing one: best of all of one that made the same choices but
/// the culprits', otherwise of one in base order.
fn difference(evidence: &Evidence, failing: &[(&RunSpec, &Run)]) -> Option<String> {
    let (spec, run, output) = failing
        .iter()
        .find_map(|(spec, run)| Some((spec, run, run.output.as_deref()?)))?;
    let failure = run.failure.as_ref();
    let message = failure.map_or("", |failure| failure.message.as_str());
    let passing = |is_nearest: fn(&RunSpec, &RunSpec) -> bool| {
        evidence
            .all()
            .filter(|(passing, run)| {
                run.passed() && passing.given.is_empty() && is_nearest(passing, spec)
            })
            .find_map(|(_, run)| run.output.as_deref())
    };
    let passing = passing(|passing, spec| {
        matches!(passing.choices, Selection::Except(_))
            && (passing.level, passing.seed) == (spec.level, spec.seed)
    })
    .or_else(|| passing(|passing, _| passing.choices == Selection::None))?;
    difference::between(passing, output, message)
}

/// The notes of its runs, each once.
fn run_notes(evidence: &Evidence) -> Vec<String> {
    let notes: IndexSet<&String> = evidence.all().flat_map(|(_, run)| &run.notes).collect();
    notes.into_iter().cloned().collect()
}

fn disagreement(runs: &[Run], spec: &RunSpec, options: &Options) -> String {
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
fn artefact(dependence: &Dependence) -> String {
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
         decides but what this tool does there to give one, such as allocate",
        dependence.spec.level,
        calls.join(" and ")
    )
}

/// Why a test that was run has no verdict when the campaign was stopped.
fn unjudged(failures: &[FailureReport]) -> String {
    let stopped = "the campaign was stopped before this test was judged";
    match failures.len() {
        0 => stopped.to_owned(),
        1 => format!("{stopped}; one of its runs failed"),
        many => format!("{stopped}; {many} of its runs failed"),
    }
}

/// What is missing of a test that was judged before all its runs were made.
fn provisional(report: &TestReport, test: &TestCase) -> String {
    let stopped = "the campaign was stopped before all runs of this test were made";
    match report.verdict {
        _ if report.is_dependent() => format!(
            "{stopped}: its level may be weaker, and `cargo nondex explain '{}'` goes on with the search for the culprit",
            test.name
        ),
        _ => stopped.to_owned(),
    }
}

fn disturbance(interference: Interference) -> String {
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

/// The call sites of a run, over all threads.
fn points(records: &[PointRecord]) -> Vec<PointReport> {
    let mut sites: BTreeMap<&Site, (u64, u64)> = BTreeMap::new();
    for record in records {
        let (count, max_len) = sites.entry(&record.site).or_default();
        *count += record.count;
        *max_len = record.max_len.max(*max_len);
    }
    sites
        .into_iter()
        .map(|(site, (count, max_len))| PointReport {
            api: site.api.clone(),
            family: site.family,
            file: site.file.clone(),
            line: site.line,
            column: site.column,
            count,
            max_len,
        })
        .collect()
}

mod culprits;
mod holders;
mod interleaving;
pub mod network;
pub mod order;
mod ordinary;
mod places;
mod reproduce;
mod scheduled;
#[cfg(test)]
mod tests;

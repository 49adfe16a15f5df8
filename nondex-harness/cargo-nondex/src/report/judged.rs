//! Creates a test's part of the report, from its runs and the conclusion drawn from them.

use nondex_core::{Level, RunSpec};

use self::basis::Basis;
pub use self::notes::JUDGED_ALONE;
use super::id;
use super::schema::{
    Culprit, FailureReport, InterleavingReport, MAX_FAILURES, TestReport, Verdict,
};
use super::workspace::Workspace;
use crate::judge::{
    Conclusion, Fact, Judgement, Options, PlainBuild, Question, Reason, Run, Runs, certainty,
    further, threads,
};
use crate::project::{Suite, TestCase};

/// Reports a test that was not run.
pub fn not_run(suite: &Suite, test: &TestCase) -> TestReport {
    TestReport {
        file: test.file.clone(),
        line: test.line,
        ..TestReport::new(&suite.binary.package, &suite.binary.id, &test.name)
    }
}

/// Reports a test with these runs. Without a judgement, because the campaign was stopped, the test
/// counts as not run.
pub fn report(
    suite: &Suite,
    test: &TestCase,
    options: &Options,
    workspace: &Workspace,
    runs: &Runs,
    judgement: Option<&Judgement>,
) -> TestReport {
    let evidence = runs.judged_by(judgement);
    let question = Question::new(&test.name, options, evidence);
    let workspace = &workspace.at(&suite.binary.cwd);
    let basis = Basis {
        suite,
        test,
        options: &threads::known(question),
        requested: options,
        workspace,
        runs,
        evidence,
        judgement,
    };
    let mut report = not_run(suite, test);
    counts(&mut report, &basis);
    rates(&mut report, &basis);
    let failing = basis.failing();
    failures(&mut report, &failing, &basis);
    let delayed = delayed_run(&basis);
    schedules(&mut report, &failing, delayed.clone(), &basis);
    general_notes(&mut report, &basis);
    let reproduced = conclusion::write(&mut report, &basis);
    if let Some(found) = &delayed {
        interleaving::name_lines(&mut report.culprits, found, workspace);
    }
    if report.reason.is_some() {
        // The user's lines are more helpful than those of a runtime or a channel, so they come
        // first.
        let is_in_library = |culprit: &Culprit| !workspace.is_users(culprit.place().0);
        report.culprits.sort_by_key(is_in_library);
    }
    prerequisites::write(&mut report, &basis);
    replay(&mut report, reproduced.as_ref(), &basis);
    output(&mut report, &failing, &basis);
    // The note on the plain build reads the output.
    surroundings(&mut report, &basis);
    if report.verdict == Verdict::Passed {
        report.notes.extend(notes::lost(evidence));
    }
    if report.is_to_be_searched() {
        let search = reproduce::search(&["-E", &format!("test(={})", test.name)], options);
        report.notes.insert(0, format!("`{search}` searches the cause"));
    }
    report.describe_rate();
    for failure in &mut report.failures {
        // Debug information has absolute paths.
        failure.file = failure.file.take().map(|file| workspace.shown(&file).to_owned());
    }
    if let Some(place) = test.doctest.as_ref().and_then(|doctest| doctest.place.as_ref()) {
        places::in_source(&mut report, place, workspace.root());
    }
    external_files(&mut report, &basis);
    parting::write(&mut report, &basis);
    report
}

/// Adds a note about external files that may cause the failure. A test that first failed, and
/// passes since another test left a file, is not stable.
fn external_files(report: &mut TestReport, basis: &Basis<'_>) {
    let Some(files) = &basis.runs.files else { return };
    report.runs += files.runs;
    if report.verdict.passes() {
        let clean = basis.requested.clean_spec(&basis.test.name);
        let failed = basis.runs.together.of(&clean).iter().find(|run| !run.passed());
        let Some(failed) = failed.filter(|_| files.note.is_some()) else { return };
        report.rule(Fact::Varies);
        let failure = FailureReport::new(failed.outcome.clone(), failed.failure.clone());
        report.failures.push(failure);
    }
    if let Some(note) = &files.note {
        // The files are a known cause, so the note that guesses at uncontrolled sources is
        // redundant.
        report.notes.retain(|known| *known != notes::uncontrolled(&[]));
        report.notes.push(note.clone());
    }
}

/// Records the number and duration of the runs, the steps, and the choice points reached.
fn counts(report: &mut TestReport, basis: &Basis<'_>) {
    report.runs = basis.runs.count() as u64;
    report.elapsed_ms = u64::try_from(basis.runs.took().as_millis()).unwrap_or(u64::MAX);
    report.sources = certainty::sources(basis.evidence);
    report.steps = runs::steps(basis.evidence);
    if let Some((_, first)) = basis.evidence.all().next() {
        report.points = runs::points(&first.points);
        report.choice_points = report.points.iter().map(|point| point.count).sum();
    }
}

/// Records the failure rate at each level.
fn rates(report: &mut TestReport, basis: &Basis<'_>) {
    let is_found_below = |level: &Level| {
        matches!(basis.conclusion(),
        Some(Conclusion::Dependent(dependence)) if *level <= dependence.spec.level())
    };
    let levels = Level::ALL
        .into_iter()
        .filter(|level| basis.options.levels.contains(level) || is_found_below(level));
    let highest = basis.highest();
    for level in levels.take_while(|level| *level <= highest) {
        let specs = further::tried(basis.question(), level);
        let (rate, implied) = runs::rate(&specs, basis.evidence);
        if rate[1] > 0 {
            report.failure_rate.insert(level, rate);
        }
        report.implied += implied;
    }
}

/// Records the failing runs.
fn failures(report: &mut TestReport, failing: &[(&RunSpec, &Run)], basis: &Basis<'_>) {
    let shown = failing.iter().take(MAX_FAILURES);
    let usual = basis.options.timeout;
    let failure = |(spec, run): &(&RunSpec, &Run)| {
        let mut failure = runs::failure(&report.id, spec, run, usual, basis.evidence);
        if failure.file.is_none() {
            // A run that did not end has no panic, so the place is that of its stacks.
            let place = basis.workspace.nearest_of_stacks(&run.stacks);
            (failure.file, failure.line) = place.unzip();
        }
        failure
    };
    report.failures = shown.map(failure).collect();
}

/// Records the output of a failing run. The run of the replay line takes precedence, because the
/// report shows its message.
fn output(report: &mut TestReport, failing: &[(&RunSpec, &Run)], basis: &Basis<'_>) {
    let replay = report.replay.as_ref();
    let primary = replay.and_then(|replay| replay.primary.as_deref());
    let mut failing = failing.to_vec();
    failing.sort_by_key(|(spec, _)| Some(id::of(&report.id, spec).as_str()) != primary);
    report.output = failing.iter().find_map(|(_, run)| run.output.clone());
    report.difference = runs::difference(basis.evidence, &failing);
}

/// Records how the threads were scheduled, and what a thread did between two operations of another.
/// `delayed` is the interleaving of the run with the culprits' delays. If the test deadlocks in
/// canonical order, that run passes, and the clean run is shown instead.
fn schedules(
    report: &mut TestReport,
    failing: &[(&RunSpec, &Run)],
    delayed: Option<InterleavingReport>,
    basis: &Basis<'_>,
) {
    let Basis { evidence, workspace, .. } = *basis;
    report.scheduled = scheduled::report(evidence, failing, basis.conclusion(), workspace);
    let fails_clean = matches!(basis.conclusion(),
        Some(Conclusion::Dependent(dependence)) if !dependence.passes_clean);
    let shown = scheduled::shown(evidence).filter(|(schedule, _)| schedule.end.is_some());
    report.interleaving = match shown.filter(|_| fails_clean) {
        Some((_, trace)) => interleaving::of_deadlock(trace, workspace),
        None => delayed,
    };
}

/// Returns the interleaving of the run with only the culprits' delays, if it was traced.
fn delayed_run(basis: &Basis<'_>) -> Option<InterleavingReport> {
    let Some(Conclusion::Dependent(dependence)) = basis.conclusion() else { return None };
    let (group, schedule, trace) = scheduled::traced(dependence)?;
    let failure = group.failure.as_ref();
    let place = failure.and_then(|failure| Some((failure.file.as_deref()?, failure.line?)));
    let end = match schedule.end {
        Some(_) => interleaving::TraceEnd::Waiting,
        None => interleaving::TraceEnd::Failed(place),
    };
    interleaving::report(trace, end, basis.workspace)
}

/// Adds the notes that do not depend on the conclusion.
fn general_notes(report: &mut TestReport, basis: &Basis<'_>) {
    report.notes = runs::notes(basis.evidence);
    report.notes.extend(notes::lateness(basis.evidence, basis.options));
    report.notes.extend(notes::not_in_real_time(basis.evidence, basis.options));
    report.notes.extend(notes::cut(basis.evidence, basis.options));
    if basis.options.real_threads && !basis.requested.real_threads {
        let note = notes::real_threads(basis.evidence, basis.requested);
        report.notes.push(note.to_owned());
        report.real_threads = Some(note.to_owned());
    }
    // The note applies only to dependent tests. A test that fails in every run fails under any
    // schedule. One that fails by chance is replayed several times, and another note names the
    // source.
    let is_found = matches!(basis.conclusion(), Some(Conclusion::Dependent(_)));
    let uncertain = report.scheduled.as_ref().filter(|_| is_found);
    report.notes.extend(uncertain.and_then(scheduled::uncertainty));
}

/// Records what other tests and a plain build show about the test, and what was not done.
fn surroundings(report: &mut TestReport, basis: &Basis<'_>) {
    if let Some(judgement) = basis.judgement {
        if let Some(interference) = judgement.interference {
            report.run_alone = interference.reason != Reason::Chance;
            report.notes.push(notes::disturbance(interference));
        }
        if judgement.is_provisional {
            let provisional = notes::provisional(report, basis.test);
            report.notes.push(provisional);
        }
    }
    if let Some(evidence) = &basis.runs.after_others {
        report.runs += evidence.processes;
        if matches!(basis.conclusion(), Some(Conclusion::Broken)) {
            report.notes.extend(order::untried(evidence));
        }
    }
    if let Some(compared) = &basis.runs.plain {
        let note =
            plain::note(report, compared, basis.runs.generated.as_deref(), basis.workspace.root());
        report.notes.push(note);
        if basis.conclusion() == Some(&Conclusion::Flaky) && !report.sources.is_empty() {
            report.notes.push(notes::uncontrolled(&report.sources));
        }
        if let PlainBuild::Runs(rate) = *compared {
            report.plain = Some(rate);
            report.runs += rate[1];
        }
    }
}

/// Records how to replay the failing runs.
fn replay(report: &mut TestReport, reproduced: Option<&RunSpec>, basis: &Basis<'_>) {
    let primary = reproduced.and_then(|spec| {
        let id = id::of(&report.id, spec);
        let failures = &report.failures;
        let known = failures.iter().find(|failure| failure.id.as_deref() == Some(&id));
        // A run that only served the search for a culprit is not a listed failure.
        known.or(failures.first())
    });
    // If the test fails by chance, a single run may well pass.
    let runs = match basis.conclusion() {
        Some(Conclusion::NonDeterministic { spec }) => {
            certainty::runs_until_failure(spec, basis.evidence)
        }
        _ => 1,
    };
    let command = primary.map(|failure| {
        let command = reproduce::command(&report.id, failure, basis.options);
        match runs {
            1 => command,
            several => format!("{command} --runs {several}"),
        }
    });
    let primary = primary.and_then(|failure| failure.id.clone());
    report.reproduce = command;
    report.replay = (!report.failures.is_empty())
        .then(|| reproduce::replay(primary, basis.suite, basis.options));
}

mod basis;
pub mod build;
mod conclusion;
pub mod culprits;
mod function;
mod interleaving;
mod lock_owners;
mod notes;
pub mod order;
mod parting;
mod places;
pub mod plain;
pub mod prerequisites;
mod reproduce;
mod runs;
mod scheduled;
#[cfg(test)]
mod tests;

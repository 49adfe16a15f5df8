//! Writes the reports of order-dependent tests.

use indexmap::IndexSet;
use nondex_core::{Level, Outcome, RunSpec};

use super::{notes, reproduce};
use crate::judge::order::{AfterOthers, OrderConclusion, OrderDependence};
use crate::judge::{Explanation, Fact, Interference, Options, Reason, Run, chance};
use crate::project::Suite;
use crate::report::{Culprit, FailureReport, Order, Race, Sanitised, TestReport, id};

/// Returns the tests that have a role in a dependence. `names` are the names of the numbered tests.
fn order(found: &OrderDependence, names: &[impl AsRef<str>]) -> Order {
    let name = |test: &usize| names[*test].as_ref().to_owned();
    let distinct: IndexSet<String> = found.sets.iter().flatten().map(name).collect();
    let all = distinct.into_iter().collect();
    let [polluters, setters] =
        if found.passes_alone { [all, Vec::new()] } else { [Vec::new(), all] };
    Order {
        polluters,
        setters,
        cleaners: found.cleaners.iter().map(name).collect(),
        sets: found.sets.iter().map(|set| set.iter().map(name).collect()).collect(),
        complete: found.is_complete,
        ..Order::default()
    }
}

/// Writes that a test depends on others. `names` are the names of the numbered tests.
pub fn dependent(
    report: &mut TestReport,
    found: &OrderDependence,
    names: &[impl AsRef<str>],
    options: &Options,
) {
    let order = order(found, names);
    report.rule(Fact::Order { passes_alone: found.passes_alone });
    if let (false, Some(first)) = (found.passes_alone, order.sets.first()) {
        let spec = options.clean_spec(&report.name).after(first.clone());
        let passing = failure(&report.id, &spec, None);
        report.notes.push(format!(
            "it passes with `{}`",
            reproduce::command(&report.id, &passing, options)
        ));
    }
    if !order.complete {
        report.notes.push(
            "the search for the tests that it depends on did not finish: there may be others, and \
             fewer may suffice; `--search-runs` raises its limit"
                .to_owned(),
        );
    }
    report.order = Some(order);
}

/// Writes that a test fails after other tests only with these choices.
pub fn crossed(report: &mut TestReport, choices: Vec<Culprit>) {
    report.weakest_level = report.failures.first().and_then(|failure| failure.level);
    if choices.is_empty() {
        report.notes.push(
            "it fails after the other tests only with certain choices, and no single call was \
             found whose choice is enough"
                .to_owned(),
        );
    }
    if let Some(order) = &mut report.order {
        order.choices = choices;
    }
}

/// Writes that choices decide a test, rather than the tests before it. The numbers are the seeds
/// under which it fails alone, and all seeds.
pub fn decided_by_choices(report: &mut TestReport, [failed, all]: [u64; 2]) {
    report.rule(Fact::Choices);
    report.weakest_level = Some(Level::Std);
    report.failure_rate.insert(Level::Std, [failed, all]);
    let seeds = if report.fails_in_canonical_order() {
        format!("in canonical order, and passes under {} of {all} seeds", all - failed)
    } else {
        format!("under {failed} of {all} seeds")
    };
    report
        .notes
        .push(format!("alone it fails {seeds}: its choices decide, not the tests before it"));
}

/// Writes that a test has two outcomes after these tests.
pub fn varying(report: &mut TestReport, before: &[usize], failures: [u64; 2]) {
    report.rule(Fact::Varies);
    report.notes.push(disagreeing(before, failures));
}

/// Describes how a test that fails alone had two outcomes after others.
pub(super) fn disagreement(after: Option<&AfterOthers>) -> Option<String> {
    match after.map(|after| &after.conclusion)? {
        OrderConclusion::NonDeterministic { before, failures } => {
            Some(disagreeing(before, *failures))
        }
        _ => None,
    }
}

/// Describes how often a test failed in all runs after these tests.
pub fn disagreeing(before: &[usize], [failed, all]: [u64; 2]) -> String {
    format!("{failed} of {all} runs {} failed", place(before))
}

/// Writes that a test which passes alone failed together with others, if it did. Each pair has the
/// failures and the number of processes, together with other tests and alone.
pub fn disturbed(report: &mut TestReport, [together, alone]: [[usize; 2]; 2]) {
    if together[0] > 0 {
        let is_chance = chance::explains([[together, alone]]);
        let reason = if is_chance { Reason::Chance } else { Reason::Shared };
        report.run_alone = !is_chance;
        report.notes.push(notes::disturbance(Interference { together, alone, reason }));
    }
}

/// Writes that a test fails alone and depends on no other test. `processes` has the failures and
/// runs in processes together with others and alone, and `forks` those in forks.
pub fn failing(report: &mut TestReport, processes: [[usize; 2]; 2], forks: [usize; 2]) {
    let [failed, all] =
        processes.iter().fold(forks, |sum, [failed, all]| [sum[0] + failed, sum[1] + all]);
    report.rule(Fact::of_failures([failed, all]));
    report.notes.push(if failed < all {
        format!(
            "it failed in {failed} of {all} runs, and the tests before it in its process do not \
             decide the outcome"
        )
    } else {
        format!("it failed alone and in every order that was tried, in each of {all} runs")
    });
}

/// Writes that a test which always failed passes with scheduled threads and virtual time.
pub fn passes_scheduled(report: &mut TestReport) {
    report.rule(Fact::Varies);
    report.notes.push(
        "it passes with virtual time and one thread at a time, as in `cargo nondex run`: timing \
         decides"
            .to_owned(),
    );
}

/// Writes which prerequisite the machine lacks, so that the failures are no evidence about the
/// test.
pub fn explained(report: &mut TestReport, explanation: &Explanation) {
    report.rule(Fact::of_explanation(explanation));
    report.sanitised_by = Some(Sanitised {
        name: explanation.name.clone(),
        reason: explanation.reason.clone(),
        operations: Vec::new(),
    });
}

/// Describes a position in a test order: `alone`, `after 3 other tests`.
fn place(before: &[usize]) -> String {
    match before.len() {
        0 => "alone".to_owned(),
        1 => "after one other test".to_owned(),
        many => format!("after {many} other tests"),
    }
}

/// Describes which orders were not tried for a test that fails alone.
pub(super) fn untried(evidence: &AfterOthers) -> Option<String> {
    (!evidence.is_paired).then(|| {
        "it fails alone, and after the other tests of its binary that end, in original and reverse \
         order; `cargo nondex order` also runs it after each single test and each prefix of these \
         orders"
            .to_owned()
    })
}

/// Writes the single failing run of a test, as the run to replay.
pub fn fail(
    report: &mut TestReport,
    suite: &Suite,
    spec: &RunSpec,
    run: Option<&Run>,
    options: &Options,
) {
    let failure = failure(&report.id, spec, run);
    report.reproduce = Some(reproduce::command(&report.id, &failure, options));
    report.output = run.filter(|run| !run.passed()).and_then(|run| run.output.clone());
    let mut replay = reproduce::replay(failure.id.clone(), suite, options);
    if let Some(tests) = spec.interleaving() {
        replay.spec = replay.spec.interleaved(tests.clone());
    }
    report.replay = Some(replay);
    report.failures = vec![failure];
}

/// Writes that a test fails when another test runs in the middle of it.
pub fn racing(report: &mut TestReport, race: Race) {
    report.rule(Fact::Varies);
    let (state, at) = (&race.state, race.interrupt_at);
    let (inner, outer, end) =
        if race.inner { ("it", "that test", "that one") } else { ("that test", "it", "it") };
    report.notes.push(format!(
        "race with `{}` {} {}: it fails when {}, and passes before and after it",
        race.with,
        // Without confirmation, the cause may be another part of the state that both tests use.
        if state.confirmed { "over" } else { "possibly over" },
        if state.name.is_empty() {
            state.kind.clone()
        } else {
            format!("{} `{}`", state.kind, state.name)
        },
        match race.pause_at {
            None => format!("{inner} runs in the middle of {outer}, at access {at}"),
            Some(access) => format!(
                "{inner} begins in the middle of {outer}, at access {at}, and continues from its \
                 own access {access} after {end} has ended"
            ),
        }
    ));
    if let Some(command) = &mut report.reproduce {
        let state = crate::shell::join([format!("{}:{}", state.kind, state.name).as_str()]);
        let inner = if race.inner { " --inner" } else { "" };
        let pause =
            race.pause_at.map_or_else(String::new, |access| format!(" --pause-at {access}"));
        *command = format!("{command} --state {state} --interrupt-at {at}{inner}{pause}");
    }
    report.race = Some(race);
}

fn failure(test_id: &str, spec: &RunSpec, run: Option<&Run>) -> FailureReport {
    let outcome = run.map_or(Outcome::Failed, |run| run.outcome.clone());
    let failure = run.and_then(|run| run.failure.clone());
    FailureReport::of(id::of(test_id, spec), spec, outcome, failure)
}

//! Reports the runs of a test: how many there were of each kind, the failures, their rates, and the
//! call sites.

use std::collections::BTreeMap;
use std::time::Duration;

use indexmap::IndexSet;
use nondex_core::{PointRecord, RunSpec, Selection, Site};

use crate::judge::evidence::Answer;
use crate::judge::{Evidence, Options, Run, patience};
use crate::report::schema::{FailureReport, PointReport, Step};
use crate::report::{difference, id};

/// Returns the steps of the campaign with their runs: clean runs, choices of seeds, interleavings,
/// and the search for culprits.
pub(super) fn steps(evidence: &Evidence) -> Vec<Step> {
    let kind = |spec: &RunSpec| match spec.selection() {
        None if spec.operations() == 0 => "clean",
        Some(Selection::All) if spec.given().is_empty() && spec.trace.is_empty() => {
            if evidence.chooses_timing(spec) { "interleavings" } else { "choices" }
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

/// Returns the numbers of failures and of runs, and the number of specs whose outcome another run
/// implies. Only the first run of each spec counts: a failing spec is repeated more often than a
/// passing one, which would distort the rate. A run without an outcome does not count.
pub(super) fn rate(specs: &[RunSpec], evidence: &Evidence) -> ([u64; 2], u64) {
    let mut rate = [0, 0];
    let mut implied = 0;
    for spec in specs {
        let Ok(answers) = evidence.answers(std::slice::from_ref(spec)) else { continue };
        match answers[0] {
            Answer { run, .. } if run.has_no_outcome() => {}
            Answer { implied: true, .. } => implied += 1,
            Answer { run, .. } => {
                rate[0] += u64::from(!run.passed());
                rate[1] += 1;
            }
        }
    }
    (rate, implied)
}

/// Returns the first failing run of each spec that makes either no choices or all of them. Clean
/// runs come first, then the others by level and seed. A run of a seed without an outcome is not a
/// failure.
pub(super) fn failing_runs<'a>(
    evidence: &'a Evidence,
    options: &Options,
) -> Vec<(&'a RunSpec, &'a Run)> {
    let mut failing: Vec<_> = evidence
        .specs()
        .filter(|(spec, _)| {
            !spec.draws_some()
                && spec.trace.is_empty()
                && spec.operations() == 0
                && !spec.records_changes()
                && spec.network.mode() == options.network.mode
        })
        .filter_map(|(spec, runs)| {
            let is_clean = spec.is_clean();
            let fails = |run: &&Run| !run.passed() && (is_clean || !run.has_no_outcome());
            Some((spec, runs.iter().find(fails)?))
        })
        .collect();
    // A natural run, with random addresses and real threads, may repeat the failure of a clean run.
    if let Some(clean) = failing.iter().find(|(spec, _)| spec.is_clean() && spec.is_scheduled()) {
        let (outcome, failure) = (&clean.1.outcome, &clean.1.failure);
        failing.retain(|(spec, run)| {
            !spec.is_natural() || (&run.outcome, &run.failure) != (outcome, failure)
        });
    }
    failing.sort_by_key(|(spec, _)| {
        let position = options.seeds.iter().position(|seed| *seed == spec.seed());
        (!spec.is_clean(), spec.level(), position)
    });
    failing
}

pub(super) fn failure(
    test_id: &str,
    spec: &RunSpec,
    run: &Run,
    usual: Duration,
    evidence: &Evidence,
) -> FailureReport {
    let limit = patience::needed(spec, run, usual, evidence);
    let (outcome, failure) = (run.outcome.clone(), run.failure.clone());
    FailureReport {
        limit_ms: limit.map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)),
        ..FailureReport::of(id::of(test_id, spec), spec, outcome, failure)
    }
}

/// Returns the difference between the output of the first failing run and that of a passing run.
/// The best passing run made the same choices except for the culprits'. Otherwise it is a clean
/// run.
pub(super) fn difference(evidence: &Evidence, failing: &[(&RunSpec, &Run)]) -> Option<String> {
    let (spec, run, output) =
        failing.iter().find_map(|(spec, run)| Some((spec, run, run.output.as_deref()?)))?;
    let failure = run.failure.as_ref();
    let message = failure.map_or("", |failure| failure.message.as_str());
    let passing = |is_nearest: fn(&RunSpec, &RunSpec) -> bool| {
        evidence
            .all()
            .filter(|(passing, run)| {
                run.passed() && passing.given().is_empty() && is_nearest(passing, spec)
            })
            .find_map(|(_, run)| run.output.as_deref())
    };
    let passing = passing(|passing, spec| {
        matches!(passing.selection(), Some(Selection::Except(_)))
            && (passing.level(), passing.seed()) == (spec.level(), spec.seed())
    })
    .or_else(|| passing(|passing, _| passing.is_clean()))?;
    difference::between(passing, output, message)
}

/// Returns the distinct notes of the runs.
pub(super) fn notes(evidence: &Evidence) -> Vec<String> {
    let notes: IndexSet<&String> = evidence.all().flat_map(|(_, run)| &run.notes).collect();
    notes.into_iter().cloned().collect()
}

/// Returns the call sites of a run, over all threads.
pub(super) fn points(records: &[PointRecord]) -> Vec<PointReport> {
    let mut sites: BTreeMap<&Site, PointReport> = BTreeMap::new();
    for record in records {
        let Site { api, family, file, line, column } = record.site.clone();
        let new = PointReport { api, family, file, line, column, count: 0, max_len: 0 };
        let point = sites.entry(&record.site).or_insert(new);
        point.count += record.count;
        point.max_len = record.max_len.max(point.max_len);
    }
    sites.into_values().collect()
}

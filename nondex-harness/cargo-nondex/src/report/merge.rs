//! Merges the reports of shards, by seeds or by levels, into the report that a single run would
//! have.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::{IndexMap, IndexSet};
use nondex_core::Level;

use super::schema::{MAX_FAILURES, Report, RunInfo, Step, Summary, TestReport, Verdict};
use crate::judge::{Fact, certainty};

/// Merges reports. Each test has the combined results of all reports: the weakest level, all
/// failures, and the rates over all seeds.
///
/// # Errors
/// Returns an error when there is no report, or when the seeds of the reports do not mean the same
/// choices.
pub fn merge(reports: &[Report]) -> Result<Report, String> {
    let Some(first) = reports.first() else { return Err("there is no report to merge".to_owned()) };
    for other in reports {
        let (a, b) = (&first.run, &other.run);
        let versions = [a.algorithm, b.algorithm];
        if versions[0] != versions[1] {
            return Err(format!(
                "the reports cannot be merged: {} was made by version {} of the algorithm, {} by \
                 version {}, so their seeds mean other choices",
                a.id, versions[0], b.id, versions[1]
            ));
        }
        if (a.schedule, a.network) != (b.schedule, b.network) {
            return Err(format!(
                "the reports cannot be merged: {} and {} differ in `--schedule` or `--network`",
                a.id, b.id
            ));
        }
    }
    let run = run_info(reports);
    let mut by_id: IndexMap<&str, Vec<(&RunInfo, &TestReport)>> = IndexMap::new();
    for report in reports {
        for test in &report.tests {
            by_id.entry(&test.id).or_default().push((&report.run, test));
        }
    }
    let mut tests: Vec<TestReport> = by_id.values().map(|all| test(all, &run)).collect();
    // Like in a run: by binary, and within it in the binary's own order.
    tests.sort_by(|a, b| a.binary.cmp(&b.binary));
    let summaries = reports.iter().map(|report| &report.summary);
    let models = models_reached(summaries);
    let unchanged = reports
        .iter()
        .flat_map(|report| &report.unchanged)
        .filter(|id| !by_id.contains_key(id.as_str()));
    let notes: IndexSet<&String> = reports.iter().flat_map(|report| &report.notes).collect();
    Ok(Report {
        partial: reports.iter().any(|report| report.partial),
        notes: notes.into_iter().cloned().collect(),
        unchanged: union(unchanged),
        ..Report::new(run, tests, models)
    })
}

/// Returns `before` with the results of `after` for the tests of `after`. The durations are added.
pub fn update(before: Report, after: &Report) -> Report {
    let mut tests = before.tests;
    for new in &after.tests {
        let Some(test) = tests.iter_mut().find(|test| test.id == new.id) else {
            tests.push(new.clone());
            continue;
        };
        *test = TestReport {
            elapsed_ms: test.elapsed_ms + new.elapsed_ms,
            change: test.change.take(),
            known: test.known.take(),
            ..new.clone()
        };
    }
    let models = models_reached([&before.summary, &after.summary]);
    Report {
        run: RunInfo {
            id: after.run.id.clone(),
            command: after.run.command.clone(),
            elapsed_ms: before.run.elapsed_ms + after.run.elapsed_ms,
            ..before.run
        },
        summary: Summary::new(&tests, models),
        tests,
        ..before
    }
}

/// Returns the models that any of these reports reached, sorted by name.
fn models_reached<'a>(summaries: impl IntoIterator<Item = &'a Summary>) -> Vec<String> {
    union(summaries.into_iter().flat_map(|one| &one.models_reached))
}

/// Returns the distinct items, sorted.
fn union<'a, T: Clone + Ord + 'a>(all: impl IntoIterator<Item = &'a T>) -> Vec<T> {
    let distinct: BTreeSet<&T> = all.into_iter().collect();
    distinct.into_iter().cloned().collect()
}

fn run_info(reports: &[Report]) -> RunInfo {
    let runs = || reports.iter().map(|report| &report.run);
    let first = &reports[0].run;
    // A model that is off in one report may be reached in another.
    let models_off =
        first.models_off.iter().filter(|name| runs().all(|run| run.models_off.contains(name)));
    RunInfo {
        levels: union(runs().flat_map(|run| &run.levels)),
        seeds: union(runs().flat_map(|run| &run.seeds)),
        clean_runs: runs().map(|run| run.clean_runs).max().unwrap_or(0),
        timeout_ms: runs().map(|run| run.timeout_ms).max().unwrap_or(0),
        strict: runs().any(|run| run.strict),
        models_off: models_off.cloned().collect(),
        // Shards most likely ran in parallel.
        elapsed_ms: runs().map(|run| run.elapsed_ms).max().unwrap_or(0),
        unbuilt: union(runs().flat_map(|run| &run.unbuilt)),
        ..first.clone()
    }
}

/// Merges what several reports know of one test, starting with the report that knows most. `run` is
/// the union of the reports' runs.
fn test(all: &[(&RunInfo, &TestReport)], run: &RunInfo) -> TestReport {
    let place = |seed: Option<u64>| run.seeds.iter().position(|known| Some(*known) == seed);
    let most = all.iter().min_by_key(|(_, test)| {
        let primary = test.replay.as_ref().and_then(|replay| replay.primary.as_ref());
        let failure = test.failures.iter().find(|failure| failure.id.as_ref() == primary);
        let seed = failure.and_then(|failure| place(failure.seed));
        let rank = test.verdict.rank(test.is_dependent());
        (rank, test.weakest_level, seed)
    });
    let mut merged = most.map_or_else(|| all[0].1.clone(), |(_, test)| (*test).clone());
    let fails = all.iter().find(|(_, test)| test.verdict == Verdict::Broken);
    let passes = all.iter().find(|(_, test)| test.verdict.passes() || test.is_dependent());
    if let (Some((fails, _)), Some((passes, _)), Verdict::Broken) = (fails, passes, merged.verdict)
    {
        merged.rule(Fact::Varies);
        merged.notes.push(format!(
            "it fails in canonical order in run {}, and passes in run {}",
            fails.id, passes.id
        ));
    }
    let highest = merged.weakest_level.unwrap_or(Level::Full);
    merged.failures = Vec::new();
    for failure in all.iter().flat_map(|(_, test)| &test.failures) {
        let is_new = !merged.failures.iter().any(|known| known.id == failure.id);
        if is_new && failure.level.is_none_or(|level| level <= highest) {
            merged.failures.push(failure.clone());
        }
    }
    merged.failures.sort_by_key(|failure| (failure.level, place(failure.seed)));
    merged.failures.truncate(MAX_FAILURES);
    merged.failure_rate = rates(all, highest);
    let sum = |of: fn(&TestReport) -> u64| all.iter().map(|(_, test)| of(test)).sum();
    merged.steps = steps(all);
    merged.runs = sum(|test| test.runs);
    merged.implied = sum(|test| test.implied);
    merged.search_runs = sum(|test| test.search_runs);
    merged.elapsed_ms = sum(|test| test.elapsed_ms);
    let tests = || all.iter().map(|(_, test)| *test);
    merged.hosts = union(tests().flat_map(|test| &test.hosts));
    merged.run_alone = all.iter().any(|(_, test)| test.run_alone);
    merged.sampled = union(tests().flat_map(|test| &test.sampled));
    merged.sampled.retain(|level| *level <= highest);
    merged.alike = union(tests().flat_map(|test| &test.alike));
    merged.alike.retain(|level| *level <= highest);
    let is_stable = merged.verdict == Verdict::Stable;
    merged.verified = union(tests().flat_map(|test| &test.verified));
    merged.verified.retain(|_| is_stable);
    let schedules = all.iter().filter_map(|(_, test)| test.schedules);
    let most = schedules.max_by_key(|known| (known.preemptions, known.count));
    merged.schedules = most.filter(|_| is_stable);
    merged.sources = union(tests().flat_map(|test| &test.sources));
    let runs = usize::try_from(merged.runs).unwrap_or(usize::MAX);
    let bound = merged.failure_bound.map(|_| certainty::bound(runs));
    merged.failure_bound = bound.filter(|_| is_stable);
    merged.describe_rate();
    merged
}

/// Merges the steps of all reports by name.
fn steps(all: &[(&RunInfo, &TestReport)]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for step in all.iter().flat_map(|(_, test)| &test.steps) {
        match steps.iter_mut().find(|known| known.name == step.name) {
            Some(known) => {
                known.runs += step.runs;
                known.failures += step.failures;
            }
            None => steps.push(step.clone()),
        }
    }
    steps
}

/// Returns the rates over all seeds. Each seed counts once, since reports with the same seed have
/// the same runs.
fn rates(all: &[(&RunInfo, &TestReport)], highest: Level) -> BTreeMap<Level, [u64; 2]> {
    let mut rates = BTreeMap::new();
    for level in Level::ALL.into_iter().filter(|level| *level <= highest) {
        let mut known: Vec<(&[u64], [u64; 2])> = all
            .iter()
            .filter_map(|(run, test)| Some((run.seeds.as_slice(), *test.failure_rate.get(&level)?)))
            .collect();
        // If reports overlap in seeds, the one with the most runs counts.
        known.sort_by_key(|(_, [_, runs])| std::cmp::Reverse(*runs));
        let mut counted: BTreeSet<u64> = BTreeSet::new();
        let mut rate = [0, 0];
        for (seeds, [failed, runs]) in known {
            if seeds.iter().all(|seed| !counted.contains(seed)) {
                counted.extend(seeds);
                rate = [rate[0] + failed, rate[1] + runs];
            }
        }
        if rate[1] > 0 {
            rates.insert(level, rate);
        }
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::FailureReport;
    use crate::report::schema::tests::{report, test};
    use crate::report::schema::{KnownFlake, Replay};
    use nondex_core::{Outcome, RunSpec, Schedule};

    /// Returns a report on one test with these seeds and levels, which fails at some of them.
    fn shard(seeds: &[u64], levels: &[Level], fails: &[(Level, u64)]) -> Report {
        let failures =
            fails.iter().filter(|(level, seed)| levels.contains(level) && seeds.contains(seed));
        let weakest = failures.clone().map(|(level, _)| *level).min();
        let failures: Vec<FailureReport> = failures
            .filter(|(level, _)| Some(*level) == weakest)
            .map(|(level, seed)| FailureReport {
                id: Some(format!("{level}{seed}")),
                level: Some(*level),
                seed: Some(*seed),
                message: "no".into(),
                ..FailureReport::clean(Outcome::Failed)
            })
            .collect();
        let tried = Level::ALL.into_iter().filter(|level| match weakest {
            Some(weakest) => *level <= weakest,
            None => levels.contains(level),
        });
        let count = |level: Level| {
            let failed = fails.iter().filter(|(l, s)| *l == level && seeds.contains(s));
            [failed.count() as u64, seeds.len() as u64]
        };
        let mut report = report(vec![TestReport {
            failure_rate: tried.map(|level| (level, count(level))).collect(),
            replay: failures.first().map(|failure| Replay {
                primary: failure.id.clone(),
                kind: "lib".into(),
                target: "a".into(),
                spec: RunSpec::clean(""),
                timeout_ms: 1,
            }),
            reproduce: failures.first().map(|failure| format!("replay {:?}", failure.id)),
            weakest_level: weakest,
            failures,
            ..test(match weakest {
                Some(_) => Verdict::ImplementationDependent,
                None => Verdict::Stable,
            })
        }]);
        report.run.seeds = seeds.to_vec();
        report.run.levels = levels.to_vec();
        report.tests[0].describe_rate();
        report
    }

    #[test]
    fn shards_of_seeds_are_together_what_one_run_is() {
        use Level::{Full, One, Std};
        for fails in
            [vec![], vec![(Std, 1), (Std, 3), (One, 0)], vec![(One, 2), (Full, 0)], vec![(Full, 3)]]
        {
            let whole = shard(&[0, 1, 2, 3], &Level::ALL, &fails);
            for shards in [
                vec![vec![0, 1], vec![2, 3]],
                vec![vec![2, 3], vec![0, 1]],
                vec![vec![3], vec![0, 1, 2], vec![0, 1, 2]],
            ] {
                let shards = shards.iter().map(|seeds| shard(seeds, &Level::ALL, &fails));
                let merged = merge(&shards.collect::<Vec<_>>()).unwrap();
                assert_eq!(merged.tests, whole.tests, "{fails:?}");
                assert_eq!(merged.run.seeds, [0, 1, 2, 3]);
                assert_eq!(merged.summary, whole.summary);
            }
        }
    }

    #[test]
    fn a_test_that_is_explained_takes_longer_and_stays_what_it_was_for_others() {
        let mut before = shard(&[0], &Level::ALL, &[(Level::Std, 0)]);
        before.tests.push(TestReport { id: "b$other".into(), ..test(Verdict::Stable) });
        let known = KnownFlake { reason: "x".into(), expires: "2027-01-31".into(), link: None };
        let mut after = shard(&[0], &Level::ALL, &[(Level::Std, 0)]);
        for (report, took) in [(&mut before, 5), (&mut after, 3)] {
            report.run.elapsed_ms = 10 * took;
            report.tests[0].elapsed_ms = took;
        }
        before.tests[0].known = Some(known.clone());
        after.tests[0].notes = vec!["more".into()];
        let whole = update(before.clone(), &after);
        assert_eq!((whole.run.elapsed_ms, whole.tests[0].elapsed_ms), (80, 8));
        assert_eq!(whole.tests[0].known, Some(known));
        assert_eq!(whole.tests[0].notes, ["more"]);
        assert_eq!(whole.tests[1], before.tests[1]);
    }

    #[test]
    fn what_seeds_mean_must_be_the_same() {
        let a = shard(&[0], &Level::ALL, &[]);
        assert!(merge(&[]).unwrap_err().contains("no report"));
        let mut other = a.clone();
        other.run.algorithm += 1;
        let message = merge(&[a.clone(), other]).unwrap_err();
        assert!(message.contains("version"), "{message}");
        let mut other = a.clone();
        other.run.schedule = Schedule::Random;
        assert!(merge(&[a, other]).unwrap_err().contains("--schedule"));
    }

    #[test]
    fn a_test_that_is_broken_here_and_passes_there_is_non_deterministic() {
        let passes = shard(&[0], &Level::ALL, &[]);
        let mut fails = passes.clone();
        fails.tests[0].verdict = Verdict::Broken;
        let merged = merge(&[passes.clone(), fails.clone()]).unwrap();
        assert_eq!(merged.tests[0].verdict, Verdict::NonDeterministic);
        let merged = merge(&[fails.clone(), fails.clone()]).unwrap();
        assert_eq!(merged.tests[0].verdict, Verdict::Broken);

        let mut other = fails;
        other.tests[0].id = "b$other".into();
        let both = merge(&[passes.clone(), other.clone()]).unwrap();
        assert_eq!(both.summary.tests, 2);
        let updated = update(both, &other);
        assert_eq!((updated.summary.tests, updated.summary.broken), (2, 1));
    }
}

//! Further facts about the tests: a sentence each, or one for several tests.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use nondex_core::{Level, Source};

use crate::report::human::count::{NAMED, named};
use crate::report::human::short;
use crate::report::human::wording::called;
use crate::report::listing::plural;
use crate::report::schema::{Report, RunInfo, Scheduled, Schedules, TestReport, Verdict};

/// Describes the levels at which all orders were tried, or some seeds were skipped.
pub(super) fn levels(report: &Report) -> Vec<String> {
    let has_rate = |test: &TestReport, level: Level| test.failure_rate.contains_key(&level);
    // If few runs cover all orders, no seed is skipped.
    let is_sampled = |test: &TestReport, level: Level| {
        test.sampled.contains(&level) && !test.verified.contains(&level)
    };
    let sentences = [
        at_levels(report, "verified for all orders", |test, level| test.verified.contains(&level)),
        at_levels(report, "three of ten seeds, because each run is a sample", |test, level| {
            is_sampled(test, level) && has_rate(test, level) && !test.alike.contains(&level)
        }),
        at_levels(report, "one seed, because other levels show the same", |test, level| {
            is_sampled(test, level) && test.alike.contains(&level)
        }),
        at_levels(
            report,
            "no seeds, because only destructors, clones and comparisons see an order",
            |test, level| {
                is_sampled(test, level) && !has_rate(test, level) && !test.alike.contains(&level)
            },
        ),
    ];
    sentences.into_iter().flatten().collect()
}

/// Counts for each level the tests for which `holds` is true: `verified for all orders: 3 tests at
/// ONE, 1 test at FULL`.
fn at_levels(
    report: &Report,
    what: &str,
    holds: impl Fn(&TestReport, Level) -> bool,
) -> Option<String> {
    let count = |level: Level| {
        let count = report.tests.iter().filter(|test| holds(test, level)).count();
        (count > 0).then(|| format!("{} at {level}", plural(count, "test")))
    };
    let counts: Vec<String> = Level::ALL.into_iter().filter_map(count).collect();
    (!counts.is_empty()).then(|| format!("{what}: {}", counts.join(", ")))
}

/// Describes calls that affect only the output of passing tests: `latent: tests::prints passes, but
/// what it writes depends on HashMap::iter at src/lib.rs:4 (ONE)`. Without `all`, only the first
/// few calls and the number of the others.
pub(super) fn latent(report: &Report, all: bool) -> Vec<String> {
    let mut tests: BTreeMap<String, Vec<&TestReport>> = BTreeMap::new();
    for test in &report.tests {
        let Some(latent) = &test.latent else { continue };
        for culprit in &latent.culprits {
            let (file, line, _) = culprit.place();
            let call = format!("{} at {file}:{line} ({})", short(called(culprit)), latent.level);
            tests.entry(call).or_default().push(test);
        }
    }
    let shown = if all { usize::MAX } else { NAMED };
    let more = tests.len().saturating_sub(shown);
    let mut sentences: Vec<String> = tests
        .into_iter()
        .take(shown)
        .map(|(call, tests)| {
            let subject = match tests.as_slice() {
                [one] => format!("{} passes, but its output", one.id),
                many => format!("{} pass, but their output", plural(many.len(), "test")),
            };
            format!("latent: {subject} depends on {call}")
        })
        .collect();
    if more > 0 {
        sentences.push(format!("latent: {} more, see the report or -v", plural(more, "call")));
    }
    sentences
}

/// Lists the tests whose second run in one process has another outcome; without `all`, only a few.
pub(super) fn not_idempotent(report: &Report, all: bool) -> Option<String> {
    let (count, names) = named(report, all, |test| test.idempotent == Some(false));
    let sentence =
        format!("not idempotent, its second run in one process has another outcome: {names}");
    (count > 0).then_some(sentence)
}

/// Describes which tests passed in all schedules with few preemptions: each test if `all`, or else
/// the number of tests.
pub(super) fn schedules(report: &Report, all: bool) -> Vec<String> {
    let known = report.tests.iter().filter_map(|test| Some((test, test.schedules?)));
    if !all {
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        for (_, known) in known.filter(|(_, known)| known.preemptions > 0) {
            *counts.entry(known.preemptions).or_default() += 1;
        }
        let sentence = |(preemptions, tests): (u32, u64)| {
            let tests = plural(tests, "test");
            format!("no failure in any schedule {}: {tests}", with(preemptions))
        };
        return counts.into_iter().map(sentence).collect();
    }
    let sentence = |(test, known): (&TestReport, Schedules)| {
        let Schedules { preemptions, count, beyond } = known;
        let beyond = beyond.map_or(String::new(), |beyond| {
            let more = preemptions + 1;
            format!("; there are {beyond} or more {}, too many for --exhaustive", with(more))
        });
        let (id, count) = (&test.id, plural(count, "schedule"));
        format!("{id}: no failure in any schedule {} ({count}){beyond}", with(preemptions))
    };
    known.map(sentence).collect()
}

/// Describes stable tests that wait for something with its own timing, so that only the number of
/// runs is evidence: `1 stable test starts programs or waits for others, whose time no seed
/// chooses, and may fail in up to 14 % of runs, with 95 % confidence: a`.
pub(super) fn beyond_seeds(report: &Report, all: bool) -> Option<String> {
    let is_beyond = |test: &TestReport| {
        let is_unsure = |scheduled: &Scheduled| !scheduled.repeatable;
        let waits = test.scheduled.as_ref().is_some_and(is_unsure);
        test.verdict == Verdict::Stable && (waits || test.sources.contains(&Source::Child))
    };
    let (count, names) = named(report, all, is_beyond);
    let tests = report.tests.iter().filter(|test| is_beyond(test));
    let bound = tests.filter_map(|test| test.failure_bound).reduce(f64::max)?;
    let (tests, starts, waits) = match count {
        1 => ("1 stable test".to_owned(), "starts", "waits"),
        many => (format!("{many} stable tests"), "start", "wait"),
    };
    let percent = (bound * 100.0).ceil();
    Some(format!(
        "{tests} {starts} programs or {waits} for others, whose timing no seed controls, and may \
         fail in up to {percent} % of runs, with 95 % confidence: {names}"
    ))
}

/// Describes which stable tests read the date, and which dates the runs had.
pub(super) fn dated(report: &Report, all: bool) -> Option<String> {
    let is_dated =
        |test: &TestReport| test.verdict == Verdict::Stable && test.sources.contains(&Source::Date);
    let (count, names) = named(report, all, is_dated);
    if count == 0 {
        return None;
    }
    let dates = dates(&report.run).map_or_else(String::new, |[from, to]| {
        let end = if from.date_naive() == to.date_naive() { "%T" } else { "%F %T" };
        format!("; all runs were made from {} to {} UTC", from.format("%F %T"), to.format(end))
    });
    let tests = plural(count, "stable test");
    Some(format!("the date, which no seed controls, is read by {tests}{dates}: {names}"))
}

/// Returns the start of a run, from its id, and its end.
fn dates(run: &RunInfo) -> Option<[DateTime<Utc>; 2]> {
    let (seconds, _) = run.id.split_once('-')?;
    let from = DateTime::from_timestamp(seconds.parse().ok()?, 0)?;
    let elapsed = TimeDelta::try_milliseconds(run.elapsed_ms.try_into().ok()?)?;
    Some([from, from.checked_add_signed(elapsed)?])
}

/// Returns `with at most 2 preemptions`, or the text for none.
fn with(preemptions: u32) -> String {
    match preemptions {
        0 => "without a preemption".to_owned(),
        _ => format!("with at most {}", plural(preemptions, "preemption")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::schema::tests::{report, test};

    #[test]
    fn of_stable_tests_that_read_the_date_it_is_shown_which_dates_were_tried() {
        let dated = |id: &str, verdict| TestReport {
            id: id.to_owned(),
            sources: vec![Source::Date],
            ..test(verdict)
        };
        let mut report = report(vec![dated("a", Verdict::Stable), dated("b", Verdict::Broken)]);
        report.run.id = "1795881095-8526".to_owned();
        report.run.elapsed_ms = 30_500;
        let shown = |report: &Report| super::dated(report, false);
        assert_eq!(
            shown(&report).unwrap(),
            "the date, which no seed controls, is read by 1 stable test; all runs were made from \
             2026-11-28 15:51:35 to 15:52:05 UTC: a"
        );
        report.run.id = "merged".to_owned();
        assert!(shown(&report).unwrap().ends_with("by 1 stable test: a"));
        report.tests[0].verdict = Verdict::Broken;
        assert_eq!(shown(&report), None);
    }

    #[test]
    fn of_a_test_that_was_run_under_all_orders_no_seed_is_left_out() {
        let sampled = |verified: &[Level]| TestReport {
            sampled: vec![Level::Eq, Level::Full],
            verified: verified.to_vec(),
            ..test(Verdict::Stable)
        };
        let report = report(vec![sampled(&[Level::Eq, Level::Full]), sampled(&[Level::Full])]);
        assert_eq!(
            levels(&report),
            [
                "verified for all orders: 1 test at EQ, 2 tests at FULL",
                "no seeds, because only destructors, clones and comparisons see an order: 1 test \
                 at EQ"
            ]
        );
    }
}

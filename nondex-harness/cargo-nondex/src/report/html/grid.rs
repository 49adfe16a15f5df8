//! The runs of a test: seeds by levels, and each failing run with its message.

use std::collections::{BTreeMap, BTreeSet};

use nondex_core::Level;

use super::markup::Markup;
use crate::report::human::level_meaning;
use crate::report::{FailureReport, RunInfo, TestReport, plural};

/// The known result of one seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    Failed,
    Passed,
    /// Passed or not run: the report keeps failing runs only.
    Unknown,
}

impl Cell {
    /// Returns the CSS class, and the result in words.
    const fn shown(self) -> (&'static str, &'static str) {
        match self {
            Cell::Failed => ("f", "failed"),
            Cell::Passed => ("p", "passed"),
            Cell::Unknown => ("u", "passed or not run"),
        }
    }
}

/// The seeds of a level, with their results.
type Row = Vec<(u64, Cell)>;

/// Returns the seeds of a level with their results, or `None` if no seed of it was tried.
fn row(test: &TestReport, run: &RunInfo, level: Level) -> Option<Row> {
    let failed: BTreeSet<u64> = test
        .failures
        .iter()
        .filter(|failure| failure.level == Some(level))
        .filter_map(|failure| failure.seed)
        .collect();
    let rate = test.failure_rate.get(&level);
    if rate.is_none() && failed.is_empty() {
        return None;
    }
    let seeds: BTreeSet<u64> = run.seeds.iter().copied().collect();
    let all: BTreeSet<u64> = seeds.union(&failed).copied().collect();
    // A rate may also count seeds that are not in the run's list, such as regressions. If the
    // numbers agree, each seed was run and each failing run is listed, so the other seeds passed.
    let agrees = |tried: &BTreeSet<u64>| {
        let listed = tried.intersection(&failed).count() as u64;
        rate == Some(&[listed, tried.len() as u64])
    };
    let is_complete = agrees(&all) || agrees(&seeds);
    let cells = all.into_iter().map(|seed| {
        let cell = match (failed.contains(&seed), is_complete) {
            (true, _) => Cell::Failed,
            (false, true) => Cell::Passed,
            (false, false) => Cell::Unknown,
        };
        (seed, cell)
    });
    Some(cells.collect())
}

/// Draws the grid and the failing runs below it. `weakest` is the finding's text about the weakest
/// level: `STD: …`. Draws nothing for a test without failing runs.
pub(super) fn draw(markup: &mut Markup, test: &TestReport, run: &RunInfo, weakest: Option<&str>) {
    if test.failures.is_empty() {
        return;
    }
    let mut levels: BTreeSet<Level> = run.levels.iter().copied().collect();
    levels.extend(test.failures.iter().filter_map(|failure| failure.level));
    levels.extend(test.failure_rate.keys());
    let mut rows: BTreeMap<Level, Row> = BTreeMap::new();
    rows.extend(levels.iter().filter_map(|level| Some((*level, row(test, run, *level)?))));
    if !rows.is_empty() {
        markup.leaf("h4", &[], "Runs by level and seed");
        markup.element("dl", &[("class", "grid")], |markup| {
            for (level, cells) in &rows {
                markup.element("dt", &[], |markup| {
                    markup.leaf("b", &[], level.name());
                    let rate = test.failure_rate.get(level);
                    if let Some([failures, runs]) = rate {
                        markup.text(&format!(" {failures} of {runs} failed"));
                    }
                    markup.leaf("small", &[], &meaning(*level, test, weakest));
                });
                markup.element("dd", &[], |markup| self::cells(markup, cells));
            }
        });
        let untried = levels.iter().filter(|level| !rows.contains_key(level));
        let left_out: Vec<&str> = untried.map(|level| level.name()).collect();
        if !left_out.is_empty() {
            let text = format!("Not tried: {}", left_out.join(", "));
            markup.leaf("p", &[("class", "hint")], &text);
        }
    }
    failing(markup, &test.failures);
}

/// Returns the meaning of a level; for the weakest level, it is the finding's text.
fn meaning(level: Level, test: &TestReport, weakest: Option<&str>) -> String {
    let weakest = weakest.and_then(|text| text.strip_prefix(level.name())?.strip_prefix(": "));
    let meaning = level_meaning(level, test);
    match (weakest, test.reason) {
        (Some(weakest), _) => weakest.to_owned(),
        (None, Some(_)) => meaning.to_owned(),
        (None, None) => format!("a failure means: {meaning}"),
    }
}

fn cells(markup: &mut Markup, cells: &[(u64, Cell)]) {
    markup.element("span", &[("class", "cells")], |markup| {
        for (seed, cell) in cells {
            let (class, word) = cell.shown();
            let title = format!("seed {seed}: {word}");
            markup.element("span", &[("class", class), ("title", &title)], |markup| {
                markup.text(&seed.to_string());
                markup.leaf("i", &[("class", "sr")], &format!(" {word}"));
            });
        }
    });
}

/// Draws the failing runs, each with place and message.
fn failing(markup: &mut Markup, failures: &[FailureReport]) {
    markup.details(&plural(failures.len(), "failing run"), false, |markup| {
        markup.element("ul", &[("class", "runs")], |markup| {
            for failure in failures {
                markup.element("li", &[], |markup| one(markup, failure));
            }
        });
    });
}

fn one(markup: &mut Markup, failure: &FailureReport) {
    let spec = match (failure.level, failure.seed) {
        (Some(level), Some(seed)) => format!("{level}, seed {seed}"),
        _ if failure.before.is_empty() => "canonical order".to_owned(),
        _ => format!("after {}", failure.before.join(", ")),
    };
    markup.leaf("b", &[], &spec);
    if let (Some(file), Some(line)) = (&failure.file, failure.line) {
        markup.text(" at ");
        markup.leaf("code", &[], &format!("{file}:{line}"));
    }
    if let Some(id) = &failure.id {
        markup.text(" ");
        markup.leaf("code", &[("class", "id")], &format!("cargo nondex replay {id}"));
    }
    let first = failure.message.lines().next().unwrap_or_default();
    if !first.is_empty() {
        markup.leaf("div", &[("class", "said")], first);
    }
}

#[cfg(test)]
mod tests {
    use nondex_core::Outcome;

    use super::*;

    fn failing(seeds: &[u64]) -> TestReport {
        let failures = seeds.iter().map(|&seed| FailureReport {
            level: Some(Level::One),
            seed: Some(seed),
            ..FailureReport::clean(Outcome::Failed)
        });
        TestReport { failures: failures.collect(), ..TestReport::new("shop", "shop", "names") }
    }

    #[test]
    fn a_seed_passed_only_where_each_one_had_its_run_and_each_failing_run_is_listed() {
        let run = RunInfo { seeds: vec![0, 1, 2], ..RunInfo::default() };
        let mut test = failing(&[1]);
        for (rate, other) in [
            ([1, 3], Cell::Passed),
            // Not all seeds were run, or not all failing runs are listed.
            ([1, 2], Cell::Unknown),
            ([2, 3], Cell::Unknown),
        ] {
            test.failure_rate.insert(Level::One, rate);
            let cells = row(&test, &run, Level::One).unwrap();
            assert_eq!(cells, [(0, other), (1, Cell::Failed), (2, other)]);
        }
        assert_eq!(row(&test, &run, Level::Std), None);
    }

    #[test]
    fn a_failing_seed_that_was_added_later_has_its_cell() {
        let run = RunInfo { seeds: vec![0], ..RunInfo::default() };
        let mut test = failing(&[900]);
        for rate in [[1, 2], [0, 1]] {
            test.failure_rate.insert(Level::One, rate);
            let cells = row(&test, &run, Level::One).unwrap();
            assert_eq!(cells, [(0, Cell::Passed), (900, Cell::Failed)]);
        }
    }
}

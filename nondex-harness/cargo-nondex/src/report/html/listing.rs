//! All tests, grouped by verdict: a card for each test with a finding, one line for any other test.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::PageContext;
use super::finding::{Card, class};
use super::markup::{Markup, anchor};
use crate::report::human::{self, Entry, Tone, View};
use crate::report::schema::{Report, TestReport, Verdict};

/// Maximum number of findings that are initially unfolded.
const OPEN: usize = 3;

/// Returns the verdicts in the report with their numbers of tests, the most serious ones first.
pub(super) fn verdicts(report: &Report) -> Vec<(Verdict, usize)> {
    let mut verdicts = Verdict::ALL.to_vec();
    verdicts.sort_by_key(|verdict| Reverse(human::weight(*verdict)));
    let count = |verdict: Verdict| {
        let tests = report.tests.iter();
        (verdict, tests.filter(|test| test.verdict == verdict).count())
    };
    verdicts.into_iter().map(count).filter(|(_, count)| *count > 0).collect()
}

/// Returns the most serious tone of the tests with a verdict.
pub(super) fn tone(report: &Report, verdict: Verdict) -> Tone {
    let tests = report.tests.iter().filter(|test| test.verdict == verdict);
    tests.map(Tone::of).max().unwrap_or(Tone::Good)
}

/// Draws the groups of tests.
pub(super) fn draw(markup: &mut Markup, report: &Report, view: &View<'_>, page: &PageContext<'_>) {
    let strict = report.run.strict;
    let found = human::entries(&report.tests, strict, view);
    let brief = View { brief: true, ..*view };
    // The tests whose cause is described in full in another test's card.
    let shared: BTreeMap<&str, Entry<'_, '_>> = found
        .iter()
        .flat_map(|entry| &entry.tests[1..])
        .filter_map(|&test| {
            let own = human::entries(std::slice::from_ref(test), strict, &brief);
            Some((test.id.as_str(), own.into_iter().next()?))
        })
        .collect();
    let past = |test: &TestReport| page.past.get(&test.id).map_or(&[][..], Vec::as_slice);
    let mut cards: BTreeMap<&str, Card<'_>> = BTreeMap::new();
    for entry in &found {
        let Some((&test, others)) = entry.tests.split_first() else { continue };
        cards.insert(&test.id, Card { test, entry, full: None, others, past: past(test) });
        for &other in others {
            if let Some(entry) = shared.get(other.id.as_str()) {
                let (full, past) = (Some(test), past(other));
                cards.insert(&other.id, Card { test: other, entry, full, others: &[], past });
            }
        }
    }
    let mut open = OPEN;
    for (verdict, count) in verdicts(report) {
        let tests = report.tests.iter().filter(|test| test.verdict == verdict);
        let (mut found, rows): (Vec<&TestReport>, Vec<_>) =
            tests.partition(|test| cards.contains_key(test.id.as_str()));
        found.sort_by_key(|test| Reverse(Tone::of(test)));
        let id = format!("verdict-{}", verdict.name());
        let mut attributes = vec![("class", "group"), ("data-v", verdict.name())];
        attributes.extend((!verdict.passes()).then_some(("open", "")));
        markup.element("details", &attributes, |markup| {
            let tone = class(tone(report, verdict));
            markup.element("summary", &[("id", &id)], |markup| {
                markup.element("h2", &[("class", tone)], |markup| {
                    markup.text(verdict.name());
                    markup.text(" ");
                    markup.leaf("span", &[("class", "count")], &count.to_string());
                });
                markup.text(" ");
                markup.leaf("span", &[("class", "gloss")], verdict.meaning());
            });
            for card in found.iter().filter_map(|test| cards.get(test.id.as_str())) {
                let is_open = open > 0 && Tone::of(card.test) == Tone::Bad && card.full.is_none();
                open -= usize::from(is_open);
                card.draw(markup, is_open, &report.run, view.sources);
            }
            self::rows(markup, &rows);
        });
        markup.line();
    }
}

/// Draws the tests without a finding, grouped by binary.
fn rows(markup: &mut Markup, tests: &[&TestReport]) {
    for tests in tests.chunk_by(|one, other| one.binary == other.binary) {
        let attributes = [("class", "rows"), ("data-p", &*tests[0].package)];
        markup.element("section", &attributes, |markup| {
            markup.leaf("h3", &[("class", "binary")], &tests[0].binary);
            markup.element("ul", &[], |markup| {
                for test in tests {
                    row(markup, test);
                }
            });
        });
    }
}

fn row(markup: &mut Markup, test: &TestReport) {
    markup.element("li", &[("id", &anchor(&test.id))], |markup| {
        markup.test_link(&test.id, &test.name);
        let mut facts = Vec::new();
        if test.choice_points > 0 {
            facts.push(format!("{} choice points", test.choice_points));
        }
        if let Some(bound) = test.failure_bound {
            facts.push(format!("fails in at most {:.0} % of runs", (bound * 100.0).ceil()));
        }
        facts.extend(test.parting.as_ref().map(ToString::to_string));
        let threads = test.real_threads.as_ref();
        facts.extend(threads.map(|why| format!("with real threads and real time: {why}")));
        facts.extend(test.notes.iter().cloned());
        if !facts.is_empty() {
            markup.text(" ");
            markup.leaf("small", &[], &facts.join(" · "));
        }
    });
    markup.line();
}

/// Returns the packages of a report, sorted.
pub(super) fn packages(report: &Report) -> BTreeSet<&str> {
    report.tests.iter().map(|test| test.package.as_str()).collect()
}

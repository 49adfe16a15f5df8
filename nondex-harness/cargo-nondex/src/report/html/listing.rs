//! All tests, grouped by verdict: a card for each test with a finding, one line for any other test.

use std::collections::BTreeMap;

use super::Page;
use super::finding::{Card, class};
use super::markup::{Markup, anchor};
use crate::report::human::{self, Entry, Tone, View};
use crate::report::schema::{Report, TestReport, Verdict};

/// Maximum number of findings that are initially unfolded.
const OPEN: usize = 3;

/// The content of a test's card.
#[derive(Debug)]
struct Content<'a> {
    entry: &'a Entry<'a, 'a>,
    full: Option<&'a TestReport>,
    others: &'a [&'a TestReport],
}

/// Returns the verdicts in the report with their numbers of tests, the most serious ones first.
pub(super) fn verdicts(report: &Report) -> Vec<(Verdict, usize)> {
    let mut verdicts = Verdict::ALL.to_vec();
    verdicts.sort_by_key(|verdict| std::cmp::Reverse(human::weight(*verdict)));
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
pub(super) fn draw(markup: &mut Markup, report: &Report, view: &View<'_>, page: &Page<'_>) {
    let strict = report.run.strict;
    let found = human::entries(&report.tests, strict, view);
    let brief = View { brief: true, ..*view };
    // The tests whose cause is described in full in another test's card.
    let shared: BTreeMap<&str, Entry<'_, '_>> = found
        .iter()
        .flat_map(|entry| &entry.tests()[1..])
        .filter_map(|&test| {
            let own = human::entries(std::slice::from_ref(test), strict, &brief);
            Some((test.id.as_str(), own.into_iter().next()?))
        })
        .collect();
    let mut contents: BTreeMap<&str, Content<'_>> = BTreeMap::new();
    for entry in &found {
        let Some((&first, others)) = entry.tests().split_first() else { continue };
        let full = Content { entry, full: None, others };
        contents.insert(&first.id, full);
        for other in others {
            if let Some(entry) = shared.get(other.id.as_str()) {
                let brief = Content { entry, full: Some(first), others: &[] };
                contents.insert(&other.id, brief);
            }
        }
    }
    let mut open = OPEN;
    for (verdict, count) in verdicts(report) {
        let tests = report.tests.iter().filter(|test| test.verdict == verdict);
        let (mut cards, rows): (Vec<_>, Vec<_>) =
            tests.partition(|test| contents.contains_key(test.id.as_str()));
        cards.sort_by_key(|test| std::cmp::Reverse(Tone::of(test)));
        let id = format!("verdict-{}", verdict.name());
        let mut attributes = vec![("class", "group"), ("data-v", verdict.name())];
        if !verdict.passes() {
            attributes.push(("open", ""));
        }
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
            for test in cards {
                let Some(content) = contents.get(test.id.as_str()) else { continue };
                let is_open = open > 0 && Tone::of(test) == Tone::Bad && content.full.is_none();
                open -= usize::from(is_open);
                let card = Card {
                    test,
                    headline: content.entry.headline(),
                    diagnostic: content.entry.diagnostic(),
                    full: content.full,
                    others: content.others,
                    past: page.past.get(&test.id).map_or(&[], Vec::as_slice),
                    is_open,
                };
                card.draw(markup, &report.run, view.sources);
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
    let id = anchor(&test.id);
    markup.element("li", &[("id", &id)], |markup| {
        let address = format!("#{id}");
        markup.leaf("a", &[("href", &address)], &test.name);
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
pub(super) fn packages(report: &Report) -> Vec<&str> {
    let packages: std::collections::BTreeSet<&str> =
        report.tests.iter().map(|test| test.package.as_str()).collect();
    packages.into_iter().collect()
}

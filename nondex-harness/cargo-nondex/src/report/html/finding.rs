//! One test with a finding: its source, both runs, the message, how often it fails and the advice.

use super::markup::{Markup, anchor};
use super::past::EarlierResult;
use super::{comparison, grid, order, past, snippet, walk};
use crate::report::human::{Diagnostic, Entry, Note, Sources, Tone, Walkthrough, proof};
use crate::report::schema::{RunInfo, Step, TestReport};

/// Labels of notes that the page draws in another form.
const DRAWN: [&str; 8] =
    ["message", "help", "reproduce", "interleaving", "waits", "difference", "output", "tests"];

/// Maximum number of tests with the same cause for which the list is initially unfolded.
const LISTED: usize = 8;

/// The parts of a finding's card.
#[derive(Debug)]
pub(super) struct Card<'a> {
    /// The test.
    pub(super) test: &'a TestReport,
    /// What the report for people shows about the test.
    pub(super) entry: &'a Entry<'a, 'a>,
    /// The test whose card has the full description of the cause, if it is another one.
    pub(super) full: Option<&'a TestReport>,
    /// The other tests with the same cause.
    pub(super) others: &'a [&'a TestReport],
    /// Earlier runs of the test.
    pub(super) past: &'a [EarlierResult],
}

/// Returns the CSS class of a tone.
pub(super) const fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Mild => "mild",
        Tone::Bad => "bad",
    }
}

impl Card<'_> {
    /// Draws the card, initially unfolded if `is_open`.
    pub(super) fn draw(
        &self,
        markup: &mut Markup,
        is_open: bool,
        run: &RunInfo,
        sources: &Sources,
    ) {
        let test = self.test;
        let tone = class(Tone::of(test));
        let class = format!("card {tone}");
        let mut attributes = vec![("class", class.as_str()), ("data-p", &test.package)];
        attributes.extend(is_open.then_some(("open", "")));
        markup.element("details", &attributes, |markup| {
            markup.element("summary", &[], |markup| self.title(markup, tone));
            let id = anchor(&test.id);
            markup.element("div", &[("class", "body"), ("id", &id)], |markup| {
                self.body(markup, run, sources);
            });
        });
        markup.line();
    }

    fn title(&self, markup: &mut Markup, tone: &'static str) {
        let test = self.test;
        let badge = format!("badge {tone}");
        markup.leaf("span", &[("class", &badge)], test.verdict.name());
        markup.text(" ");
        markup.element("span", &[("class", "name")], |markup| {
            markup.leaf("span", &[("class", "binary")], &test.binary);
            markup.text(" ");
            markup.leaf("b", &[], &test.name);
        });
        for (word, holds) in [
            ("known", test.known.is_some()),
            ("sanitised", test.sanitised_by.is_some()),
            ("advice", test.advice().is_some()),
            ("flaky today", test.is_flaky_today()),
        ] {
            if holds {
                markup.text(" ");
                markup.leaf("span", &[("class", "tag")], word);
            }
        }
        let headline = self.entry.headline();
        let rest = headline
            .strip_prefix(&format!("`{}`", test.id))
            .unwrap_or(headline)
            .trim_start_matches([':', ' ']);
        if !rest.is_empty() {
            markup.text(" ");
            markup.element("span", &[("class", "head")], |markup| markup.rich(rest));
        }
    }

    fn body(&self, markup: &mut Markup, run: &RunInfo, sources: &Sources) {
        let test = self.test;
        let diagnostic = self.entry.diagnostic.as_ref();
        if let Some(full) = self.full {
            markup.element("p", &[("class", "hint")], |markup| {
                markup.text("The same cause is described in full at ");
                markup.test_link(&full.id, &full.id);
                markup.text(".");
            });
        }
        if let Some(diagnostic) = diagnostic {
            walk::waits(markup, test, sources);
            snippet::places(markup, &diagnostic.marks(), sources);
        }
        let notes = diagnostic.map_or(&[][..], Diagnostic::notes);
        let of = |label: &'static str| notes.iter().filter(move |note| note.label == label);
        for Note { text, .. } in of("message") {
            markup.leaf("h4", &[], "Message");
            markup.leaf("pre", &[("class", "message"), ("tabindex", "0")], text);
        }
        for Note { text, .. } in of("help") {
            markup.element("div", &[("class", "help")], |markup| {
                markup.leaf("b", &[], "What to do instead");
                markup.element("p", &[], |markup| markup.rich(text));
            });
        }
        for Note { text, .. } in of("reproduce") {
            markup.leaf("h4", &[], "Reproduce");
            markup.element("div", &[("class", "copy")], |markup| {
                markup.leaf("code", &[], text);
                let attributes = [("type", "button"), ("class", "js"), ("data-copy", "")];
                markup.leaf("button", &attributes, "Copy");
            });
        }
        if diagnostic.is_some() {
            comparison::choices(markup, test);
            order::draw(markup, test, sources);
            if let Some(walk) = Walkthrough::of(test) {
                walk::lanes(markup, &walk, sources);
            }
        }
        let remarks = notes.iter().filter(|note| !DRAWN.contains(&note.label.as_str()));
        let mut remarks: Vec<(&str, &str)> =
            remarks.map(|note| (heading(&note.label), note.text.as_str())).collect();
        remarks.extend(proof(test).map(|text| ("Proof", text)));
        if !remarks.is_empty() {
            markup.element("dl", &[("class", "notes")], |markup| {
                for (heading, text) in remarks {
                    markup.leaf("dt", &[], heading);
                    markup.element("dd", &[], |markup| markup.rich(text));
                }
            });
        }
        self.same_cause(markup);
        let level = diagnostic.and_then(|one| one.remark("level"));
        grid::draw(markup, test, run, level);
        steps(markup, &test.steps);
        if let Some(difference) = &test.difference {
            comparison::outputs(markup, difference);
        }
        if let Some(output) = test.output.as_deref().filter(|text| !text.is_empty()) {
            markup.details("Output of the failing run", false, |markup| {
                let output = anstream::adapter::strip_str(output).to_string();
                markup.leaf("pre", &[("tabindex", "0")], &output);
            });
        }
        past::draw(markup, self.past);
        markup.element("p", &[("class", "foot")], |markup| {
            markup.test_link(&test.id, "Link to this test");
        });
    }

    fn same_cause(&self, markup: &mut Markup) {
        let count = self.others.len();
        if count == 0 {
            return;
        }
        let title = format!("Other tests with the same cause: {count}");
        markup.details(&title, count <= LISTED, |markup| {
            markup.element("ul", &[("class", "runs")], |markup| {
                for test in self.others {
                    markup.element("li", &[], |markup| markup.test_link(&test.id, &test.id));
                }
            });
        });
    }
}

/// Returns the heading of the notes with this label.
fn heading(label: &str) -> &str {
    match label {
        "failures" => "How often it fails",
        "level" => "Level",
        "unspecified" => "What is unspecified",
        "advice" => "Why it is advice",
        "race" => "The race",
        "state" => "Shared state",
        "reached through" => "Reached through",
        "also" => "Other tests with this cause",
        "note" => "Note",
        "polluter" => "Polluter",
        "setter" => "Setter",
        "cleaners" => "Cleaners",
        "choice" => "Choice",
        "call" => "Call",
        "search" => "Search",
        other => other,
    }
}

/// Draws the steps that were tried, with their runs and failures.
fn steps(markup: &mut Markup, steps: &[Step]) {
    if steps.is_empty() {
        return;
    }
    let runs: u64 = steps.iter().map(|step| step.runs).sum();
    markup.details(&format!("What was tried: {runs} runs"), false, |markup| {
        markup.element("table", &[("class", "tried")], |markup| {
            markup.columns(["step", "runs", "failing"]);
            markup.element("tbody", &[], |markup| {
                for step in steps {
                    markup.element("tr", &[], |markup| {
                        markup.leaf("th", &[("scope", "row")], &step.name);
                        markup.leaf("td", &[], &step.runs.to_string());
                        markup.leaf("td", &[], &step.failures.to_string());
                    });
                }
            });
        });
    });
}

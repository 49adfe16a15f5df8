//! A test that depends on others: the tests in turn, and the state that one leaves to the other.

use super::markup::Markup;
use crate::report::human::{Sources, state_name};
use crate::report::schema::{SharedState, TestReport, Verdict};

/// Draws the run alone and the run after others side by side; nothing for a test that depends on no
/// other.
pub(super) fn draw(markup: &mut Markup, test: &TestReport, sources: &Sources) {
    if let (true, Some(order)) = (test.verdict.is_of_order(), &test.order) {
        let is_victim = test.verdict == Verdict::OrderDependentVictim;
        let first = order.sets.first();
        let first = first.unwrap_or(match is_victim {
            true => &order.polluters,
            false => &order.setters,
        });
        let (alone, after) = match is_victim {
            true => ("passes", "fails"),
            false => ("fails", "passes"),
        };
        markup.leaf("h4", &[], "Alone, and after other tests");
        markup.element("div", &[("class", "two")], |markup| {
            side(markup, test, "Alone", alone, &[], &[], sources);
            side(markup, test, "After", after, first, &order.state, sources);
        });
    } else if let Some(race) = &test.race {
        markup.leaf("h4", &[], "At the same time as another test");
        let with = std::slice::from_ref(&race.with);
        let state = std::slice::from_ref(&race.state);
        markup.element("div", &[("class", "two")], |markup| {
            side(markup, test, "Alone", "passes", &[], &[], sources);
            side(markup, test, "With", "fails", with, state, sources);
        });
    }
}

fn side(
    markup: &mut Markup,
    test: &TestReport,
    title: &str,
    outcome: &'static str,
    before: &[String],
    state: &[SharedState],
    sources: &Sources,
) {
    markup.element("div", &[("class", outcome)], |markup| {
        markup.element("h5", &[], |markup| {
            markup.text(title);
            markup.leaf(
                "span",
                &[("class", "outcome")],
                &format!(": the test {outcome}"),
            );
        });
        markup.element("ol", &[("class", "tests")], |markup| {
            for name in before {
                markup.element("li", &[], |markup| {
                    markup.leaf("code", &[], name);
                    for state in state {
                        let written = state.written.as_ref();
                        if let Some(written) = written.filter(|written| written.test == *name) {
                            let does = format!("changes {}", state_name(&state.kind, &state.name));
                            place(markup, &written.file, written.line, &does, sources);
                        }
                    }
                });
            }
            markup.element("li", &[], |markup| {
                markup.leaf("code", &[], &test.name);
                for state in state {
                    if let Some(read) = &state.read {
                        let does = format!("uses {}", state_name(&state.kind, &state.name));
                        place(markup, &read.file, read.line, &does, sources);
                    }
                }
            });
        });
    });
}

/// A line of a test, with what it does to the state.
fn place(markup: &mut Markup, file: &str, line: u32, does: &str, sources: &Sources) {
    markup.element("div", &[("class", "act")], |markup| {
        markup.leaf("small", &[], &format!("{file}:{line}"));
        if let Some(text) = sources.line(file, line) {
            markup.leaf("code", &[("class", "src")], text.trim());
        }
        markup.element("small", &[("class", "object")], |markup| markup.rich(does));
    });
}

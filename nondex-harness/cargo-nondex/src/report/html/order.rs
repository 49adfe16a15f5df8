//! A test that depends on others: the sequence of tests, and the state that one leaves to another.

use std::collections::BTreeSet;

use super::markup::Markup;
use crate::report::human::{Sources, state_name};
use crate::report::schema::{Race, SharedState, TestReport, Verdict};

/// What one test does while no other test runs.
#[derive(Debug)]
struct Turn<'a> {
    /// Name of the test.
    test: &'a str,
    /// What the test does, after its name; empty if it runs completely.
    does: String,
}

impl<'a> Turn<'a> {
    fn whole(test: &'a str) -> Self {
        Turn { test, does: String::new() }
    }
}

/// Returns the turns of a forced interleaving: one of the two tests runs in the middle of the
/// other.
fn turns<'a>(test: &'a str, race: &'a Race) -> Vec<Turn<'a>> {
    let (outer, inner) =
        if race.inner { (race.with.as_str(), test) } else { (test, race.with.as_str()) };
    let turn = |test, does: String| Turn { test, does };
    // Accesses are numbered from 0, as in the command that reproduces the race.
    let stops = format!("stops at access {}", race.interrupt_at);
    let first = turn(outer, stops);
    match race.pause_at {
        None => vec![
            first,
            turn(inner, "runs completely".to_owned()),
            turn(outer, "continues".to_owned()),
        ],
        Some(pause) => vec![
            first,
            turn(inner, format!("stops at access {pause}")),
            turn(outer, "continues to its end".to_owned()),
            turn(inner, "continues".to_owned()),
        ],
    }
}

/// Draws the run alone and the run after or together with other tests, side by side. Draws nothing
/// for a test that does not depend on others.
pub(super) fn draw(markup: &mut Markup, test: &TestReport, sources: &Sources) {
    let alone = || vec![Turn::whole(&test.name)];
    if let (true, Some(order)) = (test.verdict.is_of_order(), &test.order) {
        let is_victim = test.verdict == Verdict::OrderDependentVictim;
        let first =
            order.sets.first().unwrap_or(if is_victim { &order.polluters } else { &order.setters });
        let (passes, fails) = if is_victim { ("passes", "fails") } else { ("fails", "passes") };
        let before = first.iter().map(|name| Turn::whole(name));
        let after: Vec<Turn<'_>> = before.chain(alone()).collect();
        markup.leaf("h4", &[], "Alone, and after other tests");
        markup.element("div", &[("class", "two")], |markup| {
            side(markup, test, ("Alone", passes), &alone(), &[], sources);
            let states = order.state.as_slice();
            side(markup, test, ("After", fails), &after, states, sources);
        });
    } else if let Some(race) = &test.race {
        markup.leaf("h4", &[], "Alone, and at the same time as another test");
        markup.element("div", &[("class", "two")], |markup| {
            side(markup, test, ("Alone", "passes"), &alone(), &[], sources);
            let states = std::slice::from_ref(&race.state);
            let turns = turns(&test.name, race);
            side(markup, test, ("Together", "fails"), &turns, states, sources);
        });
    }
}

fn side(
    markup: &mut Markup,
    test: &TestReport,
    (title, outcome): (&str, &'static str),
    turns: &[Turn<'_>],
    states: &[SharedState],
    sources: &Sources,
) {
    markup.element("div", &[("class", outcome)], |markup| {
        markup.element("h5", &[], |markup| {
            markup.text(title);
            let text = format!(": the test {outcome}");
            markup.leaf("span", &[("class", "outcome")], &text);
        });
        // The accesses of a test are shown only at its first turn.
        let mut shown = BTreeSet::new();
        markup.element("ol", &[("class", "tests")], |markup| {
            for turn in turns {
                markup.element("li", &[], |markup| {
                    markup.leaf("code", &[], turn.test);
                    if !turn.does.is_empty() {
                        markup.text(" ");
                        markup.text(&turn.does);
                    }
                    if shown.insert(turn.test) {
                        let is_own = turn.test == test.name;
                        states
                            .iter()
                            .for_each(|state| act(markup, turn.test, is_own, state, sources));
                    }
                });
            }
        });
    });
}

/// Draws the lines at which a test changes or uses the state, if they are known.
fn act(markup: &mut Markup, test: &str, is_own: bool, state: &SharedState, sources: &Sources) {
    let name = state_name(&state.kind, &state.name);
    let written = state.written.as_ref().filter(|written| written.test == test);
    if let Some(written) = written {
        let does = format!("changes {name}");
        place(markup, &written.file, written.line, &does, sources);
    }
    if let Some(read) = state.read.as_ref().filter(|_| is_own) {
        place(markup, &read.file, read.line, &format!("uses {name}"), sources);
    }
}

/// Draws a line of a test's source with what it does to the state.
fn place(markup: &mut Markup, file: &str, line: u32, does: &str, sources: &Sources) {
    markup.element("div", &[("class", "act")], |markup| {
        markup.leaf("small", &[], &format!("{file}:{line}"));
        if let Some(text) = sources.line(file, line) {
            markup.leaf("code", &[("class", "src")], text.trim());
        }
        markup.element("small", &[("class", "object")], |markup| markup.rich(does));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn_texts(inner: bool, pause_at: Option<u64>) -> Vec<String> {
        let race =
            Race { with: "other".to_owned(), inner, interrupt_at: 2, pause_at, ..Race::default() };
        let turns = turns("own", &race);
        let words = turns.iter().map(|turn| format!("{} {}", turn.test, turn.does));
        words.collect()
    }

    #[test]
    fn of_two_tests_at_the_same_time_the_inner_one_runs_while_the_outer_one_stops() {
        let whole = ["stops at access 2", "runs completely", "continues"];
        for (inner, tests) in [(false, ["own", "other", "own"]), (true, ["other", "own", "other"])]
        {
            let expected = [0, 1, 2].map(|at| format!("{} {}", tests[at], whole[at]));
            assert_eq!(turn_texts(inner, None), expected);
        }
        assert_eq!(
            turn_texts(false, Some(0)),
            [
                "own stops at access 2",
                "other stops at access 0",
                "own continues to its end",
                "other continues",
            ]
        );
    }
}

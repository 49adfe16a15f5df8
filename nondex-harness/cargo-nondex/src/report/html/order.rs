//! A test that depends on others: the sequence of tests, and the state that one leaves to another.

use std::collections::BTreeSet;

use super::comparison::side;
use super::markup::Markup;
use super::snippet;
use crate::report::human::{Sources, state_name};
use crate::report::schema::{Race, SharedState, TestReport, Verdict};

/// What one test does while no other test runs: its name, and what it does, after the name; empty
/// if it runs completely.
type Turn<'a> = (&'a str, String);

/// Returns the turns of a forced interleaving: one of the two tests runs in the middle of the
/// other.
fn turns<'a>(test: &'a str, race: &'a Race) -> Vec<Turn<'a>> {
    let (outer, inner) =
        if race.inner { (race.with.as_str(), test) } else { (test, race.with.as_str()) };
    // Accesses are numbered from 0, as in the command that reproduces the race.
    let stops = |access: u64| format!("stops at access {access}");
    let first = (outer, stops(race.interrupt_at));
    match race.pause_at {
        None => {
            vec![first, (inner, "runs completely".to_owned()), (outer, "continues".to_owned())]
        }
        Some(pause) => vec![
            first,
            (inner, stops(pause)),
            (outer, "continues to its end".to_owned()),
            (inner, "continues".to_owned()),
        ],
    }
}

/// Draws the run alone and the run after or together with other tests, side by side. Draws nothing
/// for a test that does not depend on others.
pub(super) fn draw(markup: &mut Markup, test: &TestReport, sources: &Sources) {
    let whole = |name| (name, String::new());
    let alone = [whole(test.name.as_str())];
    let is_brittle = test.order.is_some() && test.verdict == Verdict::OrderDependentBrittle;
    let (title, label, turns, states) = match (&test.order, &test.race) {
        (Some(order), _) if test.verdict.is_of_order() => {
            let first = order.first_set().iter().map(|name| whole(name));
            let turns = first.chain(alone.clone()).collect();
            ("Alone, and after other tests", "After", turns, order.state.as_slice())
        }
        (_, Some(race)) => {
            let title = "Alone, and at the same time as another test";
            (title, "Together", turns(&test.name, race), std::slice::from_ref(&race.state))
        }
        _ => return,
    };
    let (passes, fails) = if is_brittle { ("fails", "passes") } else { ("passes", "fails") };
    markup.leaf("h4", &[], title);
    markup.element("div", &[("class", "two")], |markup| {
        for (label, outcome, turns, states) in
            [("Alone", passes, &alone[..], &[][..]), (label, fails, &turns, states)]
        {
            side(markup, label, outcome, |markup| draw_turns(markup, test, turns, states, sources));
        }
    });
}

fn draw_turns(
    markup: &mut Markup,
    test: &TestReport,
    turns: &[Turn<'_>],
    states: &[SharedState],
    sources: &Sources,
) {
    // The accesses of a test are shown only at its first turn.
    let mut shown = BTreeSet::new();
    markup.element("ol", &[("class", "tests")], |markup| {
        for (name, does) in turns {
            markup.element("li", &[], |markup| {
                markup.leaf("code", &[], name);
                if !does.is_empty() {
                    markup.text(" ");
                    markup.text(does);
                }
                if shown.insert(name) {
                    let is_own = *name == test.name;
                    states.iter().for_each(|state| act(markup, name, is_own, state, sources));
                }
            });
        }
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
        snippet::line(markup, file, line, sources);
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
        let words = turns.iter().map(|(test, does)| format!("{test} {does}"));
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

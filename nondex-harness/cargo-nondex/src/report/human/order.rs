//! Order-dependent tests: one diagnostic for each cause, which is the set of tests that make the
//! difference.

use super::View;
use super::diagnostic::{Diagnostic, Severity};
use super::{finding, state};
use crate::report::schema::{Order, SharedState, TestReport, Verdict};

/// Maximum number of tests with one cause that are named.
const NAMED: usize = 10;

/// Groups the order-dependent tests of a report by cause, each with the order of its first test.
pub(super) fn causes(tests: &[TestReport]) -> Vec<(&Order, Vec<&TestReport>)> {
    let mut causes: Vec<(&Order, Vec<&TestReport>)> = Vec::new();
    for test in tests {
        let is_shown = finding::is_of_order(test) && test.known.is_none();
        let Some(order) = test.order.as_ref().filter(|_| is_shown) else { continue };
        let same = |(known, tests): &&mut (&Order, Vec<&TestReport>)| {
            (known.first_set(), &known.sets) == (order.first_set(), &order.sets)
                && (tests[0].verdict, &tests[0].binary) == (test.verdict, &test.binary)
        };
        match causes.iter_mut().find(same) {
            Some((_, tests)) => tests.push(test),
            None => causes.push((order, vec![test])),
        }
    }
    causes
}

/// Draws one cause.
pub(super) fn diagnostic<'s>(
    order: &Order,
    tests: &[&TestReport],
    view: &View<'s>,
) -> Diagnostic<'s> {
    let (test, others) = tests.split_first().expect("a cause has a test");
    let is_victim = test.verdict == Verdict::OrderDependentVictim;
    let first = order.first_set();
    let headline = if is_victim {
        format!("`{}` fails after {}", test.id, sequence(first))
    } else {
        format!("`{}` fails unless {} ran before it", test.id, sequence(first))
    };
    let mut diagnostic = Diagnostic::new(view, Severity::Error, test.verdict, headline);
    let proven = order.state.iter().find(|state| state.confirmed);
    finding::mark(&mut diagnostic, test, view);
    for state in order.state.iter().filter(|state| state.confirmed) {
        state::lines(&mut diagnostic, state, &test.name);
        if let Some(defined) = &state.defined {
            diagnostic.secondary((&defined.file, defined.line, None), String::new());
        }
    }
    finding::failures(&mut diagnostic, test, view);
    let role = if is_victim { "polluter" } else { "setter" };
    let sets: Vec<String> = order.sets.iter().map(|set| sequence(set)).collect();
    match &sets[..] {
        [] => diagnostic.detail(role, &sequence(first)),
        // The headline names a single set.
        [one] => diagnostic.detail(role, one),
        several => diagnostic.note(role, &format!("any of\n{}", several.join("\n"))),
    }
    if !order.cleaners.is_empty() {
        diagnostic.detail("cleaners", &order.cleaners.join("\n"));
    }
    for choice in &order.choices {
        let (file, line, _) = choice.place();
        let api = &choice.api;
        let text = format!("only with other choices of `{api}` at {file}:{line}");
        diagnostic.note("choice", &text);
    }
    for state in &order.state {
        diagnostic.note("state", &state::left(state));
    }
    if !others.is_empty() {
        let most = if view.verbose == 0 { NAMED } else { others.len() };
        let mut names: Vec<String> =
            others.iter().take(most).map(|test| test.name.clone()).collect();
        if others.len() > most {
            names.push(format!("and {} more", others.len() - most));
        }
        diagnostic.note("also", &names.join("\n"));
    }
    diagnostic.note("help", fix(is_victim, proven));
    if view.verbose > 0 {
        finding::output(&mut diagnostic, test, view);
    }
    finding::close(&mut diagnostic, test, view);
    diagnostic
}

/// Formats a sequence of tests: `a`, or `a` and then `b`.
fn sequence(tests: &[String]) -> String {
    let names: Vec<String> = tests.iter().map(|test| format!("`{test}`")).collect();
    names.join(" and then ")
}

/// Returns the shortest way to make a test independent.
fn fix(is_victim: bool, state: Option<&SharedState>) -> &'static str {
    match state.map(|state| state.kind.as_str()) {
        _ if !is_victim => {
            "create the state in the test itself, or in a function that both tests call"
        }
        Some("env") => {
            "restore the variable in a guard's `Drop`, or pass the value as an argument; in \
             edition 2024 `set_var` is unsafe because other threads read the environment"
        }
        Some("cwd") => {
            "do not change the current folder: join paths to a folder, or restore it in a guard's \
             `Drop`"
        }
        Some("file") => {
            "write into a temporary directory of the test (`tempfile::tempdir()`), which is \
             removed on drop"
        }
        Some("descriptor") => "close the descriptor at the end of the test that opens it",
        Some("child") => "end the child, and wait for it, at the end of the test that starts it",
        Some("port") => "listen on port 0, and close the listener at the end of the test",
        _ => {
            "restore the state in a guard's `Drop` in the test that changes it, so that a panic \
             restores it too; a `#[serial]` group alone does not restore it"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn victims_with_other_polluters_besides_have_a_diagnostic_of_their_own() {
        let victim = |name: &str, polluters: &[&str]| TestReport {
            verdict: Verdict::OrderDependentVictim,
            order: Some(Order {
                sets: polluters.iter().map(|one| vec![(*one).to_owned()]).collect(),
                ..Order::default()
            }),
            ..TestReport::new("shop", "shop", name)
        };
        let tests =
            [victim("a", &["locks"]), victim("b", &["locks", "writes"]), victim("c", &["locks"])];
        let found = causes(&tests);
        let names: Vec<Vec<&str>> = found
            .iter()
            .map(|(_, tests)| tests.iter().map(|test| test.name.as_str()).collect())
            .collect();
        assert_eq!(names, [vec!["a", "c"], vec!["b"]]);
    }
}

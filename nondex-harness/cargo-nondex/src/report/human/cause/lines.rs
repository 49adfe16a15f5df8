//! The lines that a finding marks: of its culprits, of what leads to them, and of the failure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use nondex_core::Kind;

use crate::report::human::diagnostic::Diagnostic;
use crate::report::human::finding::{failing_place, fails_here};
use crate::report::human::wording::{called, package, what};
use crate::report::human::{View, interleaving, short, timing};
use crate::report::schema::{Culprit, ElementReport, TestReport};

/// Marks all lines. Returns the delayed thread of a race, if one of the lines shows its delay.
pub(super) fn all<'t>(
    diagnostic: &mut Diagnostic<'_>,
    test: &'t TestReport,
    view: &View<'_>,
) -> Option<&'t str> {
    let is_through =
        |culprit: &&Culprit| timing::is_of(culprit) && !view.sources.is_users(culprit.place().0);
    let (through, own): (Vec<_>, Vec<_>) = test.culprits.iter().partition(is_through);
    // Delays inside a library are marked only if no line of the user's code is better evidence.
    let has_own_line = !own.is_empty() || failing_place(test, view).is_some();
    let mut stopped = None;
    if are_waits(test, view) {
        // The lines where threads wait already show the effect of a delay, but not values or
        // orders.
        let is_shown = |one: &&Culprit| one.confirmed && one.kind != Kind::Extend;
        if let Some(culprit) = test.culprits.iter().find(is_shown) {
            draw(diagnostic, culprit, test, view);
        }
        timing::mark_waits(diagnostic, test);
    } else {
        // For a race, one culprit is enough: the conflicting access is the other line.
        let sides = interleaving::has_conflict(test) && view.brief;
        let drawn = if has_own_line { &own } else { &through };
        let longest = timing::longest(drawn).filter(|_| sides);
        stopped = longest.and_then(|culprit| Some(culprit.call.as_ref()?.thread.as_str()));
        for culprit in longest.as_ref().map_or(&drawn[..], std::slice::from_ref) {
            draw(diagnostic, culprit, test, view);
        }
        if sides {
            interleaving::mark_sleep(diagnostic, test);
            interleaving::mark(diagnostic, test, stopped);
        }
    }
    for culprit in &test.culprits {
        origins(diagnostic, culprit);
    }
    failing_line(diagnostic, test, view);
    if has_own_line {
        reached_through(diagnostic, &through, test);
    }
    stopped
}

/// Returns whether the finding marks the lines at which its threads wait.
pub(super) fn are_waits(test: &TestReport, view: &View<'_>) -> bool {
    view.brief && timing::has_waits(test)
}

/// Marks the line of a culprit, or the user's line that leads to it.
fn draw(diagnostic: &mut Diagnostic<'_>, culprit: &Culprit, test: &TestReport, view: &View<'_>) {
    let api = short(called(culprit));
    let Culprit { file, line, column, .. } = culprit;
    let shown = view.sources.shown(file);
    let mut label = timing::what_in(test, culprit).unwrap_or_else(|| what(culprit));
    if !culprit.confirmed {
        label = format!("suspected: {label}");
    }
    if file.is_empty() {
        diagnostic.note("call", &format!("`{api}` (call site without debug information): {label}"));
        return;
    }
    let users = culprit.user_file.as_deref().zip(culprit.user_line);
    let users = users.map(|(file, line)| (file, line, None));
    if timing::is_of(culprit) {
        if users.is_some() {
            let _ = write!(label, "; reached through {shown}:{line}");
        }
        diagnostic.primary(users.unwrap_or((file, *line, None)), label);
        return;
    }
    let own = (file.as_str(), *line, Some(*column).filter(|&column| column > 0));
    match (culprit.site.is_some(), users) {
        (true, Some(users)) => {
            let label = format!("leads to `{api}`, reached through {shown}:{line}; {label}");
            diagnostic.primary(users, label);
        }
        (true, None) => {
            let has_place = interleaving::has_place(test, culprit);
            let place = if has_place { "here" } else { "(call site without debug information)" };
            diagnostic.primary(own, format!("leads to `{api}` {place}; {label}"));
        }
        (false, None) => diagnostic.primary(own, label),
        (false, Some(users)) if !view.brief && view.sources.read(file).is_some() => {
            diagnostic.primary(users, format!("leads to `{api}` in {}", package(shown)));
            diagnostic.primary(own, label);
        }
        (false, Some(users)) => {
            let label = format!("leads to `{api}` at {shown}:{line}:{column}; {label}");
            diagnostic.primary(users, label);
        }
    }
}

/// Adds a note about delays in libraries. The user's code only leads to them, so its lines are not
/// marked.
fn reached_through(diagnostic: &mut Diagnostic<'_>, culprits: &[&Culprit], test: &TestReport) {
    let lines: BTreeSet<String> = culprits
        .iter()
        .filter(|culprit| !culprit.file.is_empty())
        .filter_map(|culprit| {
            let what = timing::what_in(test, culprit)?;
            Some(format!("{}:{}: {what}", culprit.file, culprit.line))
        })
        .collect();
    if !lines.is_empty() {
        let lines = lines.into_iter().collect::<Vec<_>>().join("\n");
        diagnostic.detail("reached through", &lines);
    }
}

/// Marks where a collection was created, and where its deciding elements were inserted.
fn origins(diagnostic: &mut Diagnostic<'_>, culprit: &Culprit) {
    if let Some(created) = &culprit.created {
        let place = (created.file.as_str(), created.line, created.column);
        let kind = culprit.api.rsplit("::").nth(1).unwrap_or_default();
        let is_type = kind.starts_with(char::is_uppercase);
        diagnostic.context(
            place,
            if is_type {
                format!("the `{kind}` is created here")
            } else {
                "created here".to_owned()
            },
        );
    }
    let mut places: BTreeMap<(&str, u32), Vec<&ElementReport>> = BTreeMap::new();
    for element in &culprit.element_details {
        if let (Some(file), Some(line)) = (&element.file, element.line) {
            places.entry((file, line)).or_default().push(element);
        }
    }
    for ((file, line), mut elements) in places {
        elements.sort_unstable_by_key(|element| element.index);
        let name = |element: &&ElementReport| match &element.name {
            Some(name) => format!("`{name}`"),
            None => element.index.to_string(),
        };
        let names = elements.iter().map(name).collect::<Vec<_>>().join(" and ");
        let label = match elements.len() {
            1 => format!("element {names} is inserted here"),
            _ => format!("elements {names} are inserted here"),
        };
        diagnostic.context((file, line, None), label);
    }
}

/// Marks the user's line at which the test fails, unless a culprit is at the same line.
fn failing_line(diagnostic: &mut Diagnostic<'_>, test: &TestReport, view: &View<'_>) {
    let Some(place) = failing_place(test, view) else { return };
    let is_culprit = test.culprits.iter().any(|culprit| {
        let (file, line, _) = culprit.place();
        (file, line) == (place.0, place.1)
    });
    if !is_culprit {
        diagnostic.secondary(place, fails_here("the test fails here", test, view));
    }
}

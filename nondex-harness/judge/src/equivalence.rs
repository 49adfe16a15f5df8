//! Decides which runs are redundant because another run made the same choices.
//!
//! Two runs of a test that is otherwise deterministic are equal up to the first choice that
//! differs. Suppose that two specs decide alike at every choice point that a run under the first
//! one *reached*. Then a run under the second one would be the same run.

use std::ops::Range;

use nondex_core::choice::draw;
use nondex_core::context::place;
use nondex_core::{
    ChoiceRecord, Level, PointRecord, RunSpec, Schedule, Scope, Selected, Selection, Site,
};

use super::run::Run;
use super::timing::has_timing;

/// Maximum number of elements up to which two permutations are compared. Longer ones are almost
/// never equal (1 in 8! even for eight elements).
const MAX_LEN: u64 = 8;

/// Returns whether a run under `other` makes the same choices as `run`, which was made under
/// `made`. Both specs are of the same test. Returns false if this is unknown.
pub fn decide_alike(made: &RunSpec, other: &RunSpec, run: &Run) -> bool {
    if !(made.given().is_empty() && other.given().is_empty()) {
        return made == other;
    }
    let process = |spec: &RunSpec| (spec.is_scheduled(), spec.max_steps());
    if made.before() != other.before() || process(made) != process(other) {
        return false;
    }
    if made.network != other.network {
        return false;
    }
    if (has_timing(run) || run.has_threads()) && !are_scheduled_alike(made, other) {
        return false;
    }
    let differing = differing_scopes(made, other);
    let may_differ = |point: &&PointRecord| {
        let is_there = |scope: &&Scope| is_within(scope, point);
        differing.as_ref().is_none_or(|scopes| scopes.iter().any(is_there))
    };
    run.points.iter().filter(may_differ).all(|point| alike_at(made, other, point, &run.choices))
}

/// Returns the scopes in which two specs may make different choices, if they only differ in their
/// scopes. These are all scopes except a common prefix and a common suffix. Returns `None` for any
/// other two specs.
///
/// This speeds up searches, which compare hundreds of specs with hundreds of common scopes.
fn differing_scopes<'a>(a: &'a RunSpec, b: &'a RunSpec) -> Option<Vec<&'a Scope>> {
    let drawn = |spec: &RunSpec| (spec.seed(), spec.level(), spec.schedule());
    if drawn(a) != drawn(b) {
        return None;
    }
    let (mut a, mut b) = match (a.selection()?, b.selection()?) {
        (Selection::Only(a), Selection::Only(b)) | (Selection::Except(a), Selection::Except(b)) => {
            (&a[..], &b[..])
        }
        _ => return None,
    };
    while let ([first_of_a, rest_of_a @ ..], [first_of_b, rest_of_b @ ..]) = (a, b)
        && first_of_a == first_of_b
    {
        (a, b) = (rest_of_a, rest_of_b);
    }
    while let ([rest_of_a @ .., last_of_a], [rest_of_b @ .., last_of_b]) = (a, b)
        && last_of_a == last_of_b
    {
        (a, b) = (rest_of_a, rest_of_b);
    }
    Some(a.iter().chain(b).collect())
}

/// Returns whether some of the calls at a point are in this scope.
fn is_within(scope: &Scope, point: &PointRecord) -> bool {
    let calls = scope.calls.as_ref();
    // Compare the line first: most differ in it.
    scope.site.line == point.site.line
        && calls.is_none_or(|calls| calls.thread == point.thread)
        && scope.site == point.site
}

/// Returns whether threads reach choices of threads and time under both specs or under neither.
/// They must reach the same ones up to the first choice that differs. The seed and its level
/// determine which operations are choices, so those of another spec are not among the recorded
/// points.
pub(super) fn are_scheduled_alike(a: &RunSpec, b: &RunSpec) -> bool {
    let decides = |spec: &RunSpec| match spec.selection() {
        None => false,
        Some(Selection::All | Selection::Except(_)) => true,
        Some(Selection::Only(scopes)) => {
            scopes.iter().any(|scope| scope.site.family.numbers_depend_on_level())
        }
    };
    let is_listed = |spec: &RunSpec| spec.schedule() == Schedule::Systematic;
    match (decides(a), decides(b)) {
        (false, false) => true,
        (true, true) => (a.seed(), a.level(), is_listed(a)) == (b.seed(), b.level(), is_listed(b)),
        _ => false,
    }
}

/// Returns whether the seed decides at `site` in a run of `spec`, at least for some calls.
pub fn is_made(spec: &RunSpec, site: &Site, thread: &str) -> bool {
    spec.selected(site, thread) != Selected::None
}

fn alike_at(a: &RunSpec, b: &RunSpec, point: &PointRecord, choices: &[ChoiceRecord]) -> bool {
    let (a_made, b_made) = (made(a, point), made(b, point));
    if a_made == Selected::None && b_made == Selected::None {
        return true;
    }
    // Most values depend on the seed only, not on the level.
    let family = point.site.family;
    let is_value = !family.is_of_orders();
    let is_same_seed = a.seed() == b.seed() && (is_value || a.schedule() == b.schedule());
    let is_any_level = is_value && !family.numbers_depend_on_level();
    if a_made == b_made && is_same_seed && (is_any_level || a.level() == b.level()) {
        return true;
    }
    if is_value {
        return false;
    }
    let place = place(&a.test, &point.thread, &point.site);
    let mut listed = 0;
    let are_alike = choices.iter().filter(|choice| choice.place == place).all(|choice| {
        listed += 1;
        let a_order = order(a, &a_made, a.level(), choice);
        a_order.is_some() && a_order == order(b, &b_made, a.level(), choice)
    });
    are_alike && listed == point.count
}

/// Returns which of the calls that a run reached are left to the seed.
fn made(spec: &RunSpec, point: &PointRecord) -> Selected {
    let made = spec.selected(&point.site, &point.thread);
    let (Selected::In(ranges) | Selected::NotIn(ranges)) = &made else { return made };
    match (number_within(ranges, point.count), &made) {
        (0, Selected::In(_)) => Selected::None,
        (0, _) => Selected::All,
        (all, Selected::In(_)) if all == point.count => Selected::All,
        (all, _) if all == point.count => Selected::None,
        _ => made,
    }
}

/// Returns how many of the numbers below `end` are in at least one of the ranges.
fn number_within(ranges: &[Range<u64>], end: u64) -> u64 {
    let mut ranges: Vec<_> = ranges.iter().map(|range| range.start..range.end.min(end)).collect();
    ranges.sort_unstable_by_key(|range| range.start);
    let mut number = 0;
    let mut from = 0;
    for range in ranges {
        number += range.end.saturating_sub(range.start.max(from));
        from = from.max(range.end);
    }
    number
}

/// Order of one call, as far as it is known without a run.
#[derive(PartialEq, Eq)]
enum Order {
    Base,
    Permuted(Vec<usize>),
    /// Permutation of the elements sorted by content.
    OfContents(Vec<usize>),
}

/// Returns the order that a run of `spec` takes at a choice that was recorded at level `recorded`.
fn order(spec: &RunSpec, made: &Selected, recorded: Level, choice: &ChoiceRecord) -> Option<Order> {
    if !made.contains(choice.ordinal) || choice.keeps_base(spec.level()) {
        return Some(Order::Base);
    }
    if choice.len > MAX_LEN {
        return None;
    }
    let looked_at = |level| (level == recorded).then_some(choice.aspect).flatten();
    let choice = ChoiceRecord { aspect: looked_at(spec.level()), ..*choice };
    let order: Vec<usize> = draw(spec.schedule(), spec.level(), spec.seed(), &choice)?.collect();
    Some(match spec.level() {
        Level::Eq => Order::OfContents(order),
        _ if order.is_sorted() => Order::Base,
        _ => Order::Permuted(order),
    })
}

#[cfg(test)]
mod tests;

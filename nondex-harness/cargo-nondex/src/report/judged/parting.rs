//! Finds where two equal runs of a test differ first.
//!
//! Thread operations are compared first, if the runs recorded them, since they have an order. The
//! choice points come next: one may be in one run only, or reached more often. The last comparisons
//! are of outcome and output.

use std::borrow::Cow;

use nondex_core::{Failure, PointRecord, Trace, TracedOperation};

use super::basis::Basis;
use crate::judge::ending::are_same;
use crate::judge::{Fact, Run, World};
use crate::report::listing::cut;
use crate::report::schema::{FailureReport, Line, Parting, TestReport};
use crate::report::{difference, trace};

/// Text for an event that only one of the runs has.
const NOTHING: &str = "nothing";

/// Maximum number of characters of a text that are shown.
const MAX_TEXT: usize = 80;

/// Writes where the runs that were made for comparison differ. A test with two outcomes is not
/// stable, even if it is when no other test runs.
pub(super) fn write(report: &mut TestReport, basis: &Basis<'_>) {
    let Some(world) = basis.options.world.filter(|world| world.verify) else { return };
    let spec = basis.options.world_spec(&basis.test.name, &world);
    let runs = || basis.runs.together.of(&spec).iter().chain(basis.runs.alone.of(&spec));
    let Some(first) = runs().next() else { return };
    let Some(second) = runs().find(|second| !are_same(first, second)) else { return };
    report.parting = parting(first, second, &world, basis);
    if let Some(failed) = runs().find(|run| !run.passed())
        && report.verdict.passes()
    {
        report.rule(Fact::Varies);
        let failure = FailureReport::new(failed.outcome.clone(), failed.failure.clone());
        report.failures.push(failure);
    }
}

/// Returns the first difference between two runs.
fn parting(first: &Run, second: &Run, world: &World, basis: &Basis<'_>) -> Option<Parting> {
    let name = &basis.test.name;
    let shown = basis.evidence.of(&basis.options.shown_world_spec(name, world));
    let of_operations = || match shown {
        [first, second, ..] => operations(trace(first)?, trace(second)?, basis),
        _ => None,
    };
    of_operations()
        .or_else(|| points(first, second, basis))
        .or_else(|| ends(first, second))
        .or_else(|| outputs(first, second))
}

fn trace(run: &Run) -> Option<&Trace> {
    run.schedule.as_ref()?.trace.as_ref()
}

/// Returns the first thread operation that differs.
fn operations(first: &Trace, second: &Trace, basis: &Basis<'_>) -> Option<Parting> {
    let longest = first.operations.len().max(second.operations.len());
    let of = |trace: &Trace, at: usize| trace.operations.get(at).map(|found| what(trace, found));
    let at = (0..longest).find(|at| of(first, *at) != of(second, *at))?;
    let mut known = [first, second].into_iter();
    let (trace, operation) = known.find_map(|trace| Some((trace, trace.operations.get(at)?)))?;
    let place = basis.workspace.nearest(trace::frames(trace, operation));
    let thread = trace::thread(trace, operation.thread);
    Some(Parting {
        event: operation.operation.clone(),
        thread: thread.map(|thread| thread.path.clone()),
        place: place.map(|(file, line)| Line { file, line }),
        values: [first, second].map(|trace| of(trace, at).unwrap_or_else(|| NOTHING.to_owned())),
    })
}

/// Describes an operation, without what differs between equal runs, such as the address.
fn what(trace: &Trace, operation: &TracedOperation) -> String {
    let name = trace::name(trace, operation);
    let thread = trace::thread(trace, operation.thread);
    let parts = [
        Some(operation.operation.clone()),
        name.map(|name| format!(" of {}", without_number(name))),
        operation.found.map(|found| format!(", {found} found")),
        operation.left.map(|left| format!(", {left} left")),
        thread.map(|thread| format!(" by thread {}", thread.path)),
        Some(format!(" after {} ns", operation.time)),
    ];
    parts.into_iter().flatten().collect()
}

/// Replaces numbers that the kernel assigned: `pipe:[4711]`, `file:/proc/4711/cgroup`.
fn without_number(name: &str) -> Cow<'_, str> {
    if let Some((kind @ ("pipe" | "socket"), _)) = name.split_once(":[") {
        return kind.into();
    }
    let of_process = name.strip_prefix("file:/proc/");
    match of_process.map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit())) {
        Some(rest) if rest.starts_with('/') => format!("file:/proc/self{rest}").into(),
        _ => name.into(),
    }
}

/// Returns the first choice point that differs.
fn points(first: &Run, second: &Run, basis: &Basis<'_>) -> Option<Parting> {
    let same = |one: &PointRecord, other: &PointRecord| {
        one.site == other.site && one.thread == other.thread
    };
    let mut all = first.points.iter().chain(second.points.iter()).map(|point| {
        let of = |run: &Run| {
            let found = run.points.iter().find(|found| same(found, point));
            found.map(|found| (found.count, found.max_len))
        };
        (point, [of(first), of(second)])
    });
    let (point, found) = all.find(|(_, [first, second])| first != second)?;
    let values = found.map(|found| match found {
        None => NOTHING.to_owned(),
        Some((1, len)) => format!("1 call, of {len}"),
        Some((count, len)) => format!("{count} calls, of at most {len}"),
    });
    let file = basis.workspace.shown(&point.site.file).to_owned();
    let line = point.site.line;
    Some(Parting {
        event: point.site.api.to_string(),
        thread: Some(point.thread.clone()),
        place: (line > 0).then_some(Line { file, line }),
        values,
    })
}

/// Returns the difference between the outcomes, if there is one.
fn ends(first: &Run, second: &Run) -> Option<Parting> {
    let end = |run: &Run| {
        let message = run.failure.as_ref().map(|failure: &Failure| {
            let first = failure.message.lines().next().unwrap_or_default();
            format!(": {}", cut(first, MAX_TEXT))
        });
        let end = if run.passed() { "passed" } else { "failed" };
        format!("{end}{}", message.unwrap_or_default())
    };
    let values = [end(first), end(second)];
    (values[0] != values[1]).then(|| Parting {
        event: "outcome".to_owned(),
        values,
        ..Parting::default()
    })
}

/// Returns the first line of the outputs that differs.
fn outputs(first: &Run, second: &Run) -> Option<Parting> {
    if first.written == second.written {
        return None;
    }
    let lines = |run: &Run| -> Vec<String> {
        let text = difference::normalise(run.output.as_deref().unwrap_or_default());
        text.lines().map(|line| cut(line, MAX_TEXT)).collect()
    };
    let (first, second) = (lines(first), lines(second));
    let line = |lines: &[String], at: usize| {
        let line = lines.get(at);
        line.map_or_else(|| NOTHING.to_owned(), |line| format!("`{line}`"))
    };
    let longest = first.len().max(second.len());
    let at = (0..longest).find(|at| first.get(*at) != second.get(*at));
    Some(Parting {
        event: "output".to_owned(),
        values: match at {
            Some(at) => [line(&first, at), line(&second, at)],
            None => ["something".to_owned(), "something else".to_owned()],
        },
        ..Parting::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_compared_without_numbers_of_the_kernel() {
        for (name, expected) in [
            ("pipe:[4711]", "pipe"),
            ("socket:[12]", "socket"),
            ("file:/proc/4711/cgroup", "file:/proc/self/cgroup"),
            ("file:/proc/cpuinfo", "file:/proc/cpuinfo"),
            ("file:/home/4711/x", "file:/home/4711/x"),
            ("lock", "lock"),
        ] {
            assert_eq!(without_number(name), expected);
        }
    }
}

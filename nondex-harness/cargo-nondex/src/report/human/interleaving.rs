//! The text about an interleaving: which thread is stopped, and what another thread does meanwhile.

use std::collections::BTreeSet;

use nondex_core::Family;

use super::delay::MOMENT;
use super::diagnostic::Diagnostic;
use crate::report::schema::{
    ConflictReport, Culprit, InterleavingReport, LaneStepReport, TestReport,
};
use crate::report::thread::describe;

/// Returns the text for a thread in the middle of a sentence, with its name if it has one.
pub(super) fn named(test: &TestReport, thread: &str) -> String {
    match name(test, thread) {
        Some(name) if thread != "0" => format!("thread `{name}`"),
        _ => describe(thread),
    }
}

/// Returns the name of a thread, unless another thread shares it. Threads of a pool share a name,
/// and the system keeps only the first 15 bytes of a name.
pub(super) fn name<'r>(test: &'r TestReport, thread: &str) -> Option<&'r str> {
    let lanes = test.interleaving.iter().flat_map(|found| &found.threads);
    let waits = test.scheduled.iter().flat_map(|one| &one.waits);
    let all: Vec<_> = lanes
        .map(|lane| (&lane.thread, &lane.name))
        .chain(waits.map(|wait| (&wait.thread, &wait.name)))
        .collect();
    let own = all.iter().find(|(one, name)| *one == thread && name.is_some())?;
    let is_shared = all.iter().any(|(one, name)| *one != thread && *name == own.1);
    own.1.as_deref().filter(|_| !is_shared)
}

/// Returns the index of the step that is the culprit's delay. The step has the culprit's thread and
/// its place or, if the place is not in the user's code, its duration.
fn delay(test: &TestReport, culprit: &Culprit) -> Option<usize> {
    let found = test.interleaving.as_ref()?;
    let thread = culprit.call.as_ref()?.thread.as_str();
    let duration = culprit.number.map(|number| number.value);
    let is_own = |step: &LaneStepReport| {
        step.delay_ns.is_some() && found.threads[step.lane].thread == thread
    };
    let is_here = |step: &LaneStepReport| is_own(step) && is_at(step, culprit);
    let is_as_long =
        |step: &LaneStepReport| is_own(step) && step.file.is_none() && step.delay_ns == duration;
    found.steps.iter().position(is_here).or_else(|| found.steps.iter().position(is_as_long))
}

fn is_at(step: &LaneStepReport, culprit: &Culprit) -> bool {
    let (file, line, _) = culprit.place();
    (step.file.as_deref(), step.line) == (Some(file), Some(line))
}

/// Returns whether the place of a culprit's call is known. Otherwise the culprit has the line of
/// its test.
pub(super) fn has_place(test: &TestReport, culprit: &Culprit) -> bool {
    (Some(&culprit.file), Some(culprit.line)) != (test.file.as_ref(), test.line)
}

/// Returns the call before which a culprit delays a thread, if that call is in the user's code.
pub(super) fn called<'r>(test: &'r TestReport, culprit: &Culprit) -> Option<&'r str> {
    let at = delay(test, culprit)?;
    let step = &test.interleaving.as_ref()?.steps[at];
    step.file.is_some().then_some(&step.what)
}

/// The object of a conflict in which both threads take a lock.
const LOCK: &str = "lock";

/// The text for a thread that is delayed before it has done anything.
pub(super) const BEGINS: &str = "before it begins";

/// Returns where a delayed thread is stopped relative to its culprit's line: before its operation
/// there, after it, or in the middle. Returns `None` if the thread is stopped at another line.
pub(super) fn stopped(test: &TestReport, culprit: &Culprit) -> Option<&'static str> {
    let found = test.interleaving.as_ref()?;
    let at = delay(test, culprit)?;
    let delay = &found.steps[at];
    if delay.file.is_none() {
        // The thread has no user call yet: either it has not begun, or it is inside a dependency.
        let is_started = culprit.call.as_ref()?.thread != "0" && has_place(test, culprit);
        let begins = culprit.family == Family::Schedule && is_started && delay.is_before_all();
        return begins.then_some(BEGINS);
    }
    let is_here = |step: &LaneStepReport| is_at(step, culprit);
    let own = |step: &&LaneStepReport| step.lane == delay.lane && step.delay_ns.is_none();
    let before = found.steps[..at].iter().rev().find(own);
    let after = found.steps[at + 1..].iter().find(own);
    match (before.is_some_and(is_here), after.is_some_and(is_here)) {
        (true, false) => Some("after it has done this"),
        (false, true) => Some("before it does this"),
        (true, true) => Some("in the middle of this line"),
        (false, false) => None,
    }
}

/// Returns whether another thread is known that accesses the same object during a delay.
pub(super) fn has_conflict(test: &TestReport) -> bool {
    let found = test.interleaving.as_ref();
    !test.depends_on_clocks() && found.is_some_and(|found| !found.conflicts.is_empty())
}

/// Returns the conflict of the longest delay, or the first conflict if all delays are preemptions.
fn main_conflict(found: &InterleavingReport) -> Option<&ConflictReport> {
    let delay = |conflict: &ConflictReport| {
        found.steps[conflict.delay].delay_ns.filter(|delay| *delay > MOMENT).unwrap_or(0)
    };
    found.conflicts.iter().rev().max_by_key(|conflict| delay(conflict))
}

/// Returns the sleep of a thread that is meant to give another thread enough time. A delay of the
/// other thread that outlasts the sleep makes the test fail.
pub(super) fn slept(test: &TestReport) -> Option<&LaneStepReport> {
    let found = test.interleaving.as_ref().filter(|_| has_conflict(test))?;
    // Several delays may only together outlast the sleep, so any of the conflicts may have it.
    main_conflict(found).into_iter().chain(&found.conflicts).find_map(|conflict| {
        let outlasts = found.steps[conflict.delay].delay_ns.is_some_and(|delay| delay > MOMENT);
        let sleep = &found.steps[conflict.sleep.filter(|_| outlasts)?];
        (sleep.file.is_some() && sleep.line.is_some()).then_some(sleep)
    })
}

/// Returns the wait of a thread that ends by its own time limit while another thread is delayed.
pub(super) fn timed_out(test: &TestReport) -> Option<&LaneStepReport> {
    let found = test.interleaving.as_ref().filter(|_| has_conflict(test))?;
    let is_limited = |step: &&LaneStepReport| {
        step.what.to_ascii_lowercase().contains("timeout") && step.file.is_some()
    };
    main_conflict(found).into_iter().chain(&found.conflicts).find_map(|conflict| {
        let [delay, other] = [conflict.delay, conflict.meanwhile].map(|at| &found.steps[at]);
        delay.delay_ns.filter(|delay| *delay > MOMENT)?;
        // A later step of the thread on the awaited object may be the one that conflicts.
        let is_awaited = conflict.object == LOCK || conflict.object.starts_with("channel");
        let first = if is_awaited { conflict.delay } else { conflict.meanwhile };
        let mut meanwhile = found.steps.get(first..=conflict.meanwhile)?.iter();
        meanwhile.find(|step| step.lane == other.lane && is_limited(step))
    })
}

/// Marks the line of a sleep that is meant to give another thread enough time.
pub(super) fn mark_sleep(diagnostic: &mut Diagnostic<'_>, test: &TestReport) {
    let Some(sleep) = slept(test) else { return };
    let lanes = test.interleaving.iter().flat_map(|found| &found.threads);
    let thread = lanes.map(|lane| lane.thread.as_str()).nth(sleep.lane);
    if let (Some(file), Some(line), Some(thread)) = (&sleep.file, sleep.line, thread) {
        let subject = named(test, thread);
        let label = format!("meanwhile {subject} sleeps here, without waiting for a thread");
        diagnostic.secondary((file, line, None), label);
    }
}

/// Describes the two sides of a race: `races: src/a.rs:8 and src/a.rs:9 use the same lock in either
/// order`. Returns `None` if a thread wakes late, and either more than one delay decides or both
/// sides only take a lock. In that case the test relies on the duration of a sleep.
pub(super) fn races(test: &TestReport) -> Option<String> {
    let found = test.interleaving.as_ref().filter(|_| has_conflict(test))?;
    let wakes_late = test.culprits.iter().any(|culprit| culprit.family == Family::Time);
    let is_race = |conflict: &&ConflictReport| {
        !wakes_late || test.culprits.len() == 1 && conflict.object != LOCK
    };
    let main = main_conflict(found);
    main.into_iter().chain(&found.conflicts).filter(is_race).find_map(|conflict| {
        let place = |at: usize| {
            let step = &found.steps[at];
            Some((step.file.as_deref()?, step.line?))
        };
        let own =
            [conflict.after, conflict.before].into_iter().flatten().filter_map(place).next()?;
        let other = place(conflict.meanwhile)?;
        let object = object(conflict);
        Some(if own == other {
            format!("races: two threads use {object} at {}:{}", own.0, own.1)
        } else {
            let ((file, line), (other_file, other_line)) = (own.min(other), own.max(other));
            format!(
                "races: {file}:{line} and {other_file}:{other_line} use {object} in either \
                 order"
            )
        })
    })
}

/// Marks what other threads do during the delay of `stopped`, the thread whose delay is marked.
pub(super) fn mark(diagnostic: &mut Diagnostic<'_>, test: &TestReport, stopped: Option<&str>) {
    let Some(found) = &test.interleaving else { return };
    let wait = timed_out(test);
    for conflict in &found.conflicts {
        let step = &found.steps[conflict.meanwhile];
        let wait = wait.filter(|wait| wait.lane == step.lane);
        let step = wait.unwrap_or(step);
        let thread = &found.threads[step.lane].thread;
        // The stopped thread may itself be active during the delay of a thread that is not marked.
        if stopped == Some(thread) {
            continue;
        }
        if let (Some(file), Some(line)) = (&step.file, step.line) {
            let (thread, object) = (named(test, thread), object(conflict));
            let label = match wait {
                Some(_) => format!("meanwhile the time limit of {thread} ends here"),
                None => format!("meanwhile {thread} does `{}` here, on {object}", step.what),
            };
            diagnostic.secondary((file, line, None), label);
        }
    }
}

/// Adds marks and notes about what other threads do during the delays.
pub(super) fn draw(diagnostic: &mut Diagnostic<'_>, test: &TestReport, stopped: Option<&str>) {
    let Some(found) = &test.interleaving else { return };
    if test.depends_on_clocks() {
        return;
    }
    mark_sleep(diagnostic, test);
    mark(diagnostic, test, stopped);
    // The message of a deadlock has more details.
    if !is_deadlock(test) {
        let conflicts = found.conflicts.iter();
        let sentences: BTreeSet<String> =
            conflicts.map(|conflict| sentence(test, found, conflict)).collect();
        sentences.iter().for_each(|sentence| diagnostic.detail("race", sentence));
    }
}

pub(super) fn is_deadlock(test: &TestReport) -> bool {
    test.end() == Some("deadlock")
}

/// Describes the object that two threads access.
pub(super) fn object(conflict: &ConflictReport) -> String {
    match conflict.object.split_once(':') {
        Some(("file", name)) => format!("the same file `{name}`"),
        Some(("env", name)) => format!("the same variable `{name}`"),
        Some(("cwd", _)) => "the current directory".to_owned(),
        Some(_) => "the same channel".to_owned(),
        None => format!("the same {}", conflict.object),
    }
}

/// Describes where a thread is stopped, and what another thread does meanwhile.
fn sentence(test: &TestReport, found: &InterleavingReport, conflict: &ConflictReport) -> String {
    let of = |step: &LaneStepReport| named(test, &found.threads[step.lane].thread);
    let place = |at: usize| {
        let step = &found.steps[at];
        match (&step.file, step.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ => format!("`{}`", step.what),
        }
    };
    let other = &found.steps[conflict.meanwhile];
    let does = format!(
        "{} does `{}` at {}, on {}",
        of(other),
        other.what,
        place(conflict.meanwhile),
        object(conflict)
    );
    let stopped = match (conflict.before.map(place), conflict.after) {
        (None, Some(after)) => {
            let step = &found.steps[after];
            // It may be another thread, which the delayed thread starts.
            let (subject, what, place) = (of(step), &step.what, place(after));
            return format!("{subject} reaches `{what}` at {place} too late: before that, {does}");
        }
        (Some(before), Some(after)) if before != place(after) => {
            format!(" between {before} and {}", place(after))
        }
        (Some(before), Some(_)) => format!(" at {before}"),
        (Some(before), None) => format!(" after {before}"),
        (None, None) => String::new(),
    };
    format!("{} is stopped{stopped}: meanwhile {does}", of(&found.steps[conflict.delay]))
}

#[cfg(test)]
pub(super) mod tests;

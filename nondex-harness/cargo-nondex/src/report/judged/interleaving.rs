//! Reports an interleaving: the few relevant ones among thousands of operations.
//!
//! An operation is relevant if several threads use its object, and one of them changes it.
//! Consecutive relevant operations of a thread at one place in the source form one step. A delay is
//! shown with the thread's steps before and after it, and with what other threads do to the same
//! object meanwhile.

use std::collections::BTreeSet;

use nondex_core::Trace;

use self::conflict::{Conflict, StepsAroundDelay};
use self::step::{SharedObject, ThreadStep, steps};
use crate::report::schema::{ConflictReport, InterleavingReport, LaneReport, LaneStepReport, Line};
use crate::report::{Culprit, Workspace, thread};

/// Maximum number of steps of other threads that are shown for a delay.
const MEANWHILE: usize = 4;

/// Maximum number of delays that are shown.
const MAX_DELAYS: usize = 4;

/// How the traced run ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum TraceEnd<'a> {
    /// No thread could make progress.
    Waiting,
    /// The test failed, at this place if it is known.
    Failed(Option<(&'a str, u32)>),
}

/// Reports the interleaving of a trace. Returns `None` if the trace has no delay.
pub(super) fn report(
    trace: &Trace,
    end: TraceEnd<'_>,
    workspace: &Workspace,
) -> Option<InterleavingReport> {
    let mut steps = steps(trace, workspace);
    if let TraceEnd::Failed(_) = end {
        steps.truncate(failure(trace, &steps));
    }
    let delays: Vec<usize> =
        (0..steps.len()).filter(|&at| steps[at].delay.is_some()).take(MAX_DELAYS).collect();
    if delays.is_empty() {
        return None;
    }
    let mut shown = BTreeSet::new();
    let mut conflicts = Vec::new();
    for delay in delays {
        let around = StepsAroundDelay::of(&steps, delay);
        shown.insert(delay);
        shown.extend(around.before.first());
        shown.extend(around.after.first());
        if let Some(conflict) = around.conflict(&steps) {
            let sleep = conflict.sleep(&steps);
            shown.extend([conflict.before, conflict.after, sleep].into_iter().flatten());
            let thread = steps[conflict.meanwhile].thread;
            let is_related =
                |at: &usize| steps[*at].thread == thread || steps[*at].touches(conflict.object);
            let mut same: Vec<usize> =
                around.meanwhile.iter().copied().filter(is_related).collect();
            // The steps nearest to the conflict, on both sides.
            same.sort_by_key(|at| at.abs_diff(conflict.meanwhile));
            shown.extend(same.into_iter().take(MEANWHILE));
            shown.extend(conflict.rest(&steps));
            conflicts.push(conflict);
        } else {
            shown.extend(around.meanwhile.iter().take(MEANWHILE));
        }
    }
    match end {
        TraceEnd::Waiting => shown.extend(last_waits(trace, &steps)),
        TraceEnd::Failed(place) => {
            let is_there = |step: &ThreadStep| {
                let own = step.place.as_ref();
                place.is_some() && own.map(|(file, line)| (file.as_str(), *line)) == place
            };
            shown.extend(steps.iter().rposition(is_there));
            // The conflict at the failing line comes first: other delays may only lead there.
            conflicts.sort_by_key(|conflict| {
                let is_elsewhere = !conflict.steps().any(|at| is_there(&steps[at]));
                (steps[conflict.meanwhile].allocates, is_elsewhere)
            });
        }
    }
    let mut found = shown_of(trace, &steps, &shown, &conflicts);
    if let TraceEnd::Failed(Some((file, line))) = end {
        let file = file.to_owned();
        found.failed = Some(Line { file, line });
    }
    Some(found)
}

/// Reports how a run without delays came to its deadlock: the waits, and the last steps before them
/// that use the same objects. Returns `None` if no wait is known.
pub(super) fn of_deadlock(trace: &Trace, workspace: &Workspace) -> Option<InterleavingReport> {
    let steps = steps(trace, workspace);
    let waits: BTreeSet<usize> = last_waits(trace, &steps).collect();
    let mut shown = waits.clone();
    for object in waits.iter().flat_map(|&at| steps[at].objects.keys()) {
        let uses = (0..steps.len()).rev().filter(|&at| steps[at].touches(*object));
        shown.extend(uses.take(MEANWHILE));
    }
    (!shown.is_empty()).then(|| shown_of(trace, &steps, &shown, &[]))
}

/// Returns the last step of each thread that waits there.
fn last_waits(trace: &Trace, steps: &[ThreadStep]) -> impl Iterator<Item = usize> {
    (0..trace.threads.len()).filter_map(|thread| {
        let last = steps.iter().rposition(|step| step.thread == thread)?;
        steps[last].waits.then_some(last)
    })
}

/// Gives each culprit inside a dependency a line of the user's code: where its thread uses the
/// object of a conflict or, failing that, where the other thread does.
pub(super) fn name_lines(
    culprits: &mut [Culprit],
    found: &InterleavingReport,
    workspace: &Workspace,
) {
    for culprit in culprits {
        let is_known = culprit.user_file.is_some() || workspace.is_users(&culprit.file);
        let Some(call) = culprit.call.as_ref().filter(|_| !is_known) else { continue };
        let thread_of = |at: usize| &found.threads[found.steps[at].lane].thread;
        let places = found
            .conflicts
            .iter()
            .filter(|conflict| *thread_of(conflict.delay) == call.thread)
            .flat_map(|conflict| [conflict.after, conflict.before, Some(conflict.meanwhile)]);
        let line = |at: usize| Some((found.steps[at].file.clone()?, found.steps[at].line?));
        let place = places.flatten().find_map(line);
        (culprit.user_file, culprit.user_line) = place.unzip();
    }
}

/// Returns the index of the step at which the test has failed. From there on, the test's own thread
/// only cleans up.
fn failure(trace: &Trace, steps: &[ThreadStep]) -> usize {
    let is_own = |step: &ThreadStep| thread::is_own(&trace.threads[step.thread].path);
    let last = |step: &ThreadStep| is_own(step) && !step.unwinds;
    let from = steps.iter().rposition(last).map_or(0, |last| last + 1);
    steps[from..].iter().position(is_own).map_or(steps.len(), |at| from + at)
}

/// Reports the selected steps, with their threads.
fn shown_of(
    trace: &Trace,
    steps: &[ThreadStep],
    shown: &BTreeSet<usize>,
    conflicts: &[Conflict],
) -> InterleavingReport {
    let threads: BTreeSet<usize> = shown.iter().map(|&at| steps[at].thread).collect();
    let lane = |thread: usize| threads.iter().position(|known| *known == thread);
    let place = |at: usize| shown.iter().position(|known| *known == at);
    let mut next = None;
    let lane_steps = shown.iter().map(|&at| {
        let step = &steps[at];
        let skipped = at - next.replace(at + 1).unwrap_or(at);
        let (file, line) = step.place.clone().unzip();
        LaneStepReport {
            lane: lane(step.thread).unwrap_or_default(),
            what: step.what.clone(),
            file,
            line,
            found: step.found,
            left: step.left,
            waits: step.waits,
            delay_ns: step.delay.map(|delay| delay.length),
            skipped: skipped as u64,
        }
    });
    let reported = lane_steps.collect();
    let conflicts = conflicts.iter().filter_map(|conflict| {
        Some(ConflictReport {
            object: object(trace, steps, conflict),
            before: conflict.before.and_then(place),
            delay: place(conflict.delay)?,
            meanwhile: place(conflict.meanwhile)?,
            after: conflict.after.and_then(place),
            sleep: conflict.sleep(steps).and_then(place),
        })
    });
    InterleavingReport {
        failed: None,
        conflicts: conflicts.collect(),
        steps: reported,
        threads: threads
            .iter()
            .map(|&thread| LaneReport {
                thread: trace.threads[thread].path.clone(),
                name: trace.threads[thread].name.clone(),
            })
            .collect(),
    }
}

/// Describes the object of a conflict.
fn object(trace: &Trace, steps: &[ThreadStep], conflict: &Conflict) -> String {
    if let SharedObject::Name(name) = conflict.object {
        let name = usize::try_from(name).ok().and_then(|name| trace.names.get(name));
        return name.cloned().unwrap_or_default();
    }
    let own: Vec<&ThreadStep> = conflict.steps().map(|at| &steps[at]).collect();
    let is_called =
        |step: &ThreadStep, words: &[&str]| words.iter().any(|word| step.what.contains(word));
    let has = |words: &[&str]| own.iter().any(|step| is_called(step, words));
    const LOCK: &[&str] = &["Mutex", "RwLock", "Guard", "pthread lock"];
    // Waiting for a condition variable releases the lock and acquires it again.
    let is_locked = || {
        steps.iter().filter(|step| step.touches(conflict.object)).any(|step| is_called(step, LOCK))
    };
    let waits = has(&["Condvar"]);
    let object = if has(LOCK) || (waits && is_locked()) {
        "lock"
    } else if waits {
        "condition"
    } else if has(&["Sender", "Receiver", "mpsc", "channel"]) {
        "channel"
    } else {
        "memory"
    };
    object.to_owned()
}

mod conflict;
mod step;
#[cfg(test)]
mod tests;

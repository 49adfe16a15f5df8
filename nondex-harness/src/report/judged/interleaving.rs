//! What is reported of an interleaving: of thousands of operations the few that matter.
//!
//! An operation matters if it is on what several threads use and one of them changes. Those that a thread does in one place of the source
//! without another one in between are one step. A delay is shown with the step that the thread did last, with what it does next, and
//! with what the others do meanwhile to the same thing.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;
use nondex_core::{Frame, Trace, TracedOperation};

use super::function::short;
use crate::report::schema::{ConflictReport, InterleavingReport, LaneReport, LaneStepReport, Line};
use crate::report::workspace::Workspace;

/// How many steps of the delayed thread, on each side of its delay, are looked at for what others do meanwhile.
const REACH: usize = 12;

/// How many steps of others are shown of a delay.
const MEANWHILE: usize = 4;

/// How many delays are shown.
const MAX_DELAYS: usize = 4;

/// How the run of a trace ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum End<'a> {
    /// No thread could go on.
    Waiting,
    /// It failed here, where that is known.
    Failed(Option<(&'a str, u32)>),
}

/// The interleaving of a trace; `None` when nothing is delayed in it.
pub(super) fn report(
    trace: &Trace,
    end: End<'_>,
    workspace: &Workspace,
    cwd: &Utf8Path,
) -> Option<InterleavingReport> {
    let steps = steps(trace, workspace, cwd);
    let delays: Vec<usize> = (0..steps.len())
        .filter(|&at| steps[at].delay.is_some())
        .take(MAX_DELAYS)
        .collect();
    if delays.is_empty() {
        return None;
    }
    let mut shown = BTreeSet::new();
    let mut conflicts = Vec::new();
    for delay in delays {
        let around = Around::of(&steps, delay);
        shown.insert(delay);
        shown.extend(around.before.first());
        shown.extend(around.after.first());
        if let Some(conflict) = around.conflict(&steps) {
            shown.extend([conflict.before, conflict.after].into_iter().flatten());
            let same = around.meanwhile.iter().copied().filter(|&at| {
                let thread = steps[conflict.meanwhile].thread;
                steps[at].thread == thread || steps[at].objects.contains_key(&conflict.object)
            });
            // Those next to it, on both sides.
            let near = |at: &usize| at.abs_diff(conflict.meanwhile);
            let mut same: Vec<usize> = same.collect();
            same.sort_by_key(near);
            shown.extend(same.into_iter().take(MEANWHILE));
            shown.extend(conflict.rest(&steps));
            conflicts.push(conflict);
        } else {
            shown.extend(around.meanwhile.iter().take(MEANWHILE));
        }
    }
    match end {
        End::Waiting => {
            let lanes = 0..trace.threads.len();
            shown.extend(lanes.filter_map(|thread| {
                let last = steps.iter().rposition(|step| step.thread == thread)?;
                steps[last].waits.then_some(last)
            }));
        }
        End::Failed(place) => {
            let is_there = |step: &Step| {
                let own = step.place.as_ref();
                place.is_some() && own.map(|(file, line)| (file.as_str(), *line)) == place
            };
            shown.extend(steps.iter().rposition(is_there));
        }
    }
    let mut found = shown_of(trace, &steps, &shown, &conflicts);
    if let End::Failed(Some((file, line))) = end {
        let file = file.to_owned();
        found.failed = Some(Line { file, line });
    }
    Some(found)
}

/// What several threads use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Object {
    Address(u64),
    Name(u64),
}

impl Object {
    fn of(operation: &TracedOperation) -> Option<Self> {
        let name = operation.name.map(Object::Name);
        name.or_else(|| operation.address.map(Object::Address))
    }
}

/// What a thread does in one place of the source.
#[derive(Debug)]
struct Step {
    thread: usize,
    place: Option<(String, u32)>,
    what: String,
    /// What it is done to, and whether that is changed.
    objects: BTreeMap<Object, bool>,
    /// What the user's own atomic operation found and left.
    found: Option<u64>,
    left: Option<u64>,
    waits: bool,
    delay: Option<Delay>,
    /// The virtual time of its last operation.
    time: u64,
}

/// A delay of a thread.
#[derive(Clone, Copy, Debug)]
struct Delay {
    length: u64,
    /// Whether it comes at the end of a wait, and not at once.
    is_late: bool,
}

/// What a stack says: the user's own place, and what is called there.
struct Own {
    place: Option<(String, u32)>,
    what: Option<String>,
    is_count: bool,
}

impl Own {
    fn of(frames: &[Frame], workspace: &Workspace, cwd: &Utf8Path) -> Self {
        let is_own = |frame: &Frame| workspace.user_file(&frame.file, cwd).is_some();
        let at = frames.iter().position(is_own);
        let place = at.and_then(|at| {
            let file = workspace.user_file(&frames[at].file, cwd)?;
            Some((file, frames[at].line))
        });
        let called = at.map_or(frames.len(), |at| at);
        let what = called.checked_sub(1).map(|at| short(&frames[at].function));
        // Who counts owners has nothing to tell.
        let is_count = frames[..called].iter().any(|frame| {
            let function = &frame.function;
            function.contains("sync::Arc<") || function.contains("sync::Weak<")
        });
        Own {
            place,
            what,
            is_count,
        }
    }

    /// Whether it is an atomic operation that the user's own code does.
    fn is_users_atomic(&self) -> bool {
        let what = self.what.as_deref();
        what.is_some_and(|what| what.starts_with("Atomic"))
    }
}

/// The steps of a trace.
fn steps(trace: &Trace, workspace: &Workspace, cwd: &Utf8Path) -> Vec<Step> {
    let stacks = trace.stacks.iter();
    let owns: Vec<Own> = stacks
        .map(|stack| Own::of(&stack.frames, workspace, cwd))
        .collect();
    let own = |operation: &TracedOperation| owns.get(usize::try_from(operation.stack).ok()?);
    let mut users: BTreeMap<Object, (BTreeSet<u64>, bool)> = BTreeMap::new();
    for operation in &trace.operations {
        if let Some(object) = Object::of(operation) {
            let (threads, is_changed) = users.entry(object).or_default();
            threads.insert(operation.thread);
            *is_changed |= operation.writes || operation.operation == "futex wake";
        }
    }
    let is_shared = |object: Object| {
        let (threads, is_changed) = &users[&object];
        threads.len() > 1 && *is_changed
    };
    let has_company = trace.threads.len() > 1;
    let mut steps: Vec<Step> = Vec::new();
    for operation in &trace.operations {
        let Some(own) = own(operation) else {
            continue;
        };
        let name = operation.operation.as_str();
        let is_delay = operation.length.is_some();
        let object = Object::of(operation).filter(|object| is_shared(*object) && !own.is_count);
        let waits = matches!(name, "futex wait" | "pthread wait" | "join");
        let matters = match name {
            "sleep" | "spawn" => true,
            "clock" => !has_company,
            // One that nobody has changed may be what the test expects somebody to change.
            _ => object.is_some() || waits || own.is_users_atomic(),
        };
        if !is_delay && (own.place.is_none() || !matters) {
            continue;
        }
        let thread = usize::try_from(operation.thread).unwrap_or_default();
        let what = own.what.clone().unwrap_or_else(|| name.to_owned());
        let is_same = |last: &&mut Step| {
            let place = (&last.place, &last.what) == (&own.place, &what);
            last.thread == thread && place && !is_delay && last.delay.is_none()
        };
        if let Some(step) = steps.last_mut().filter(|last| is_same(last)) {
            step.add(operation, object, waits);
            continue;
        }
        let mut step = Step {
            thread,
            place: own.place.clone(),
            what,
            objects: BTreeMap::new(),
            found: operation.found.filter(|_| own.is_users_atomic()),
            left: operation.left.filter(|_| own.is_users_atomic()),
            waits,
            delay: operation.length.map(|length| Delay {
                length,
                is_late: name == "late",
            }),
            time: operation.time,
        };
        step.add(operation, object, waits);
        steps.push(step);
    }
    steps
}

impl Step {
    fn add(&mut self, operation: &TracedOperation, object: Option<Object>, waits: bool) {
        if let Some(object) = object {
            *self.objects.entry(object).or_default() |=
                operation.writes || operation.operation == "futex wake";
        }
        self.waits = waits;
        self.time = operation.time;
    }

    fn touches(&self, object: Object) -> bool {
        self.objects.contains_key(&object)
    }

    fn changes(&self, object: Object) -> bool {
        self.objects.get(&object).copied().unwrap_or(false)
    }
}

/// The steps around a delay: those of its thread from the nearest one on, and those of the others while it lasts.
struct Around {
    delay: usize,
    before: Vec<usize>,
    after: Vec<usize>,
    meanwhile: Vec<usize>,
}

/// How many steps are shown of what both threads do to the same thing afterwards.
const REST: usize = 3;

impl Conflict {
    /// What the two threads do next to the same thing, once the delayed one has gone on.
    fn rest(&self, steps: &[Step]) -> impl Iterator<Item = usize> {
        let threads = [self.delay, self.meanwhile].map(|at| steps[at].thread);
        let from = self.after.map_or(steps.len(), |after| after + 1);
        let is_next = move |at: &usize| {
            let step = &steps[*at];
            threads.contains(&step.thread) && step.delay.is_none() && step.touches(self.object)
        };
        (from..steps.len()).filter(is_next).take(REST)
    }
}

/// A conflict among all steps.
struct Conflict {
    object: Object,
    before: Option<usize>,
    delay: usize,
    meanwhile: usize,
    after: Option<usize>,
}

impl Around {
    fn of(steps: &[Step], delay: usize) -> Self {
        let thread = steps[delay].thread;
        let is_own = |at: &usize| steps[*at].thread == thread && steps[*at].delay.is_none();
        let after: Vec<usize> = (delay + 1..steps.len())
            .filter(is_own)
            .take(REACH)
            .collect();
        let end = after.first().copied().unwrap_or(steps.len());
        // One that wakes late is waited for no longer than it is late.
        let since = match steps[delay].delay {
            Some(Delay {
                length,
                is_late: true,
            }) => steps
                .get(end)
                .map_or(0, |next| next.time.saturating_sub(length)),
            _ => 0,
        };
        let is_others = |at: &usize| {
            steps[*at].thread != thread && steps[*at].delay.is_none() && steps[*at].time >= since
        };
        Around {
            delay,
            before: (0..delay).rev().filter(is_own).take(REACH).collect(),
            meanwhile: (delay + 1..end).filter(is_others).collect(),
            after,
        }
    }

    /// What the delayed thread and another one do to the same thing: best if the delayed one does something on both sides of its delay,
    /// and the nearer the better.
    fn conflict(&self, steps: &[Step]) -> Option<Conflict> {
        let objects: BTreeSet<Object> = self
            .meanwhile
            .iter()
            .flat_map(|&at| steps[at].objects.keys().copied())
            .collect();
        let found = objects.into_iter().filter_map(|object| {
            let first = |part: &[usize]| {
                let mut part = part.iter().enumerate();
                part.find(|(_, at)| steps[**at].touches(object))
                    .map(|(far, at)| (far, *at))
            };
            let (before, after) = (first(&self.before), first(&self.after));
            let line = |at: usize| steps[at].place.as_ref();
            let changing = || {
                let changing = self
                    .meanwhile
                    .iter()
                    .filter(|at| steps[**at].changes(object));
                let changing: Vec<usize> = changing.copied().collect();
                // A lock is changed by whoever takes it; what is done under it the second time is news.
                let other = before.and_then(|(_, before)| {
                    changing
                        .iter()
                        .find(|at| line(**at) != line(before))
                        .copied()
                });
                other.or_else(|| changing.first().copied())
            };
            let any = || {
                self.meanwhile
                    .iter()
                    .copied()
                    .find(|&at| steps[at].touches(object))
            };
            let (meanwhile, is_changed) = match changing() {
                Some(at) => (at, true),
                None => (any()?, false),
            };
            let changes =
                |at: Option<(usize, usize)>| at.is_some_and(|(_, at)| steps[at].changes(object));
            let rank = match (before, after) {
                (Some(_), Some(_)) if is_changed => 0,
                (_, Some(_)) if is_changed || changes(after) => 1,
                (Some(_), _) if is_changed || changes(before) => 2,
                _ => return None,
            };
            let far = |at: Option<(usize, usize)>| at.map_or(REACH, |(far, _)| far);
            let conflict = Conflict {
                object,
                before: before.map(|(_, at)| at),
                delay: self.delay,
                meanwhile,
                after: after.map(|(_, at)| at),
            };
            Some(((rank, far(after), far(before)), conflict))
        });
        found
            .min_by_key(|(key, _)| *key)
            .map(|(_, conflict)| conflict)
    }
}

/// Those steps that are shown, with the threads that do them.
fn shown_of(
    trace: &Trace,
    steps: &[Step],
    shown: &BTreeSet<usize>,
    conflicts: &[Conflict],
) -> InterleavingReport {
    let threads: BTreeSet<usize> = shown.iter().map(|&at| steps[at].thread).collect();
    let lane = |thread: usize| threads.iter().position(|known| *known == thread);
    let place = |at: usize| shown.iter().position(|known| *known == at);
    let mut next = None;
    let reported = shown.iter().map(|&at| {
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
    let reported = reported.collect();
    let conflicts = conflicts.iter().filter_map(|conflict| {
        Some(ConflictReport {
            object: object(trace, steps, conflict),
            before: conflict.before.and_then(place),
            delay: place(conflict.delay)?,
            meanwhile: place(conflict.meanwhile)?,
            after: conflict.after.and_then(place),
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

/// What a conflict is about.
fn object(trace: &Trace, steps: &[Step], conflict: &Conflict) -> String {
    if let Object::Name(name) = conflict.object {
        let name = usize::try_from(name)
            .ok()
            .and_then(|name| trace.names.get(name));
        return name.cloned().unwrap_or_default();
    }
    let what = steps[conflict.meanwhile].what.as_str();
    let has = |words: &[&str]| words.iter().any(|word| what.contains(word));
    let object = if has(&["Mutex", "RwLock", "Guard"]) {
        "lock"
    } else if has(&["Condvar"]) {
        "condition"
    } else if has(&["Sender", "Receiver", "mpsc", "channel"]) {
        "channel"
    } else {
        "memory"
    };
    object.to_owned()
}

#[cfg(test)]
mod tests;

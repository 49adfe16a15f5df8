//! Reports threads and time.

use nondex_core::{Frame, RunSpec, ScheduleRecord, Trace, WaitRecord};

use super::lock_owners;
use crate::judge::conclusion::Dependence;
use crate::judge::culprit::Group;
use crate::judge::{Conclusion, Evidence, Question, Run, systematic};
use crate::report::schema::{Line, Scheduled, Schedules, WaitReport};
use crate::report::{Workspace, trace};

/// Returns the number of schedules with few preemptions, if the test passed under all of them.
pub(super) fn verified(question: Question<'_>) -> Option<Schedules> {
    let explored = systematic::explore(question).ok()?;
    let all = explored.all?;
    Some(Schedules {
        preemptions: all.preemptions,
        count: all.schedules,
        beyond: explored.beyond.map(|beyond| beyond.schedules),
    })
}

/// Reports what the scheduler did in the first of the `failing` runs or, without failures, in the
/// first run of all.
pub(super) fn report(
    evidence: &Evidence,
    failing: &[(&RunSpec, &Run)],
    conclusion: Option<&Conclusion>,
    workspace: &Workspace,
) -> Option<Scheduled> {
    let first = || evidence.all().next().map(|(_, run)| run);
    let run = failing.first().map(|(_, run)| *run).or_else(first)?;
    let record = run.schedule.as_ref()?;
    // A traced run is preferred, because its waits have stacks. Its trace only explains its own
    // end. If the test fails in canonical order, the run with the culprits passes.
    let traced = match conclusion {
        Some(Conclusion::Dependent(dependence)) if dependence.passes_clean => {
            traced(dependence).map(|(_, schedule, trace)| (schedule, trace))
        }
        _ => shown(evidence),
    };
    let ended = traced.and_then(|(schedule, trace)| Some((schedule.end.as_ref()?, trace)));
    let trace = ended.map(|(_, trace)| trace);
    let end = ended.map(|(end, _)| end).or(record.end.as_ref());
    let waits = end.map_or(&[][..], |end| &end.waits);
    let calls = |wait: &WaitRecord| workspace.of_users(&wait.stack).map(line).collect();
    let calls: Vec<Vec<Line>> = waits.iter().map(calls).collect();
    Some(Scheduled {
        threads: record.threads,
        steps: record.steps,
        switches: record.switches,
        holds: record.holds,
        time_us: record.time_us,
        leaks: record.leaks,
        outside: record.outside,
        asynchronous: record.asynchronous,
        repeatable: record.is_repeatable(),
        end: record.end.as_ref().map(|end| end.kind.name().to_owned()),
        after_panic: run.is_after_panic,
        waits: waits
            .iter()
            .enumerate()
            .map(|(number, wait)| self::wait(wait, caller(number, &calls), trace, workspace))
            .collect(),
    })
}

/// Returns the record and the trace of a clean run that was repeated to be shown.
pub(super) fn shown(evidence: &Evidence) -> Option<(&ScheduleRecord, &Trace)> {
    evidence.all().filter(|(spec, _)| spec.is_clean()).find_map(|(_, run)| {
        let schedule = run.schedule.as_ref()?;
        Some((schedule, schedule.trace.as_ref()?))
    })
}

/// Returns the group, record and trace of the run with only the culprits' delays, if there is one
/// with a trace.
pub(super) fn traced(dependence: &Dependence) -> Option<(&Group, &ScheduleRecord, &Trace)> {
    dependence.culprits.groups.iter().find_map(|group| {
        let schedule = group.schedule.as_ref()?;
        Some((group, schedule, schedule.trace.as_ref()?))
    })
}

/// Reports a wait with its [caller].
fn wait(
    wait: &WaitRecord,
    caller: Option<Line>,
    trace: Option<&Trace>,
    workspace: &Workspace,
) -> WaitReport {
    let nearest = workspace.nearest(&wait.stack);
    // If others wait in the same line, their calls and not that line tell them apart.
    let place = |frames: &[Frame]| {
        let found = workspace.nearest(frames);
        let is_shared = caller.is_some() && found == nearest;
        let call = if is_shared { workspace.of_users(frames).nth(1) } else { None };
        call.or(found)
    };
    let operation = api(&wait.stack).map_or_else(|| wait.operation.clone(), str::to_owned);
    let cause = trace
        .and_then(|trace| lock_owners::cause(trace, &wait.thread, &operation, workspace, place));
    let (file, line) = nearest.unzip();
    WaitReport {
        thread: wait.thread.clone(),
        name: wait.name.clone(),
        cause,
        operation,
        on: wait.on,
        file,
        line,
        caller,
        last: trace.and_then(|trace| last_line(wait, trace, workspace)),
    }
}

/// Returns the last line of the workspace that a thread ran before it waits, if it is not a call in
/// that line that waits: a task is suspended there, and an executor waits for work.
fn last_line(wait: &WaitRecord, trace: &Trace, workspace: &Workspace) -> Option<Line> {
    let inner = workspace.called(&wait.stack);
    let is_executor = inner.iter().any(|frame| frame.function.contains("block_on"));
    if !is_executor && inner.len() < wait.stack.len() {
        return None;
    }
    let nearest = workspace.nearest_of_users(&wait.stack);
    let thread = trace.threads.iter().rposition(|known| known.path == wait.thread)? as u64;
    let operations = trace.operations.iter().rev().filter(|of| of.thread == thread);
    let mut lines =
        operations.filter_map(|of| workspace.nearest_of_users(trace::frames(trace, of)));
    lines.find(|line| Some(line) != nearest.as_ref()).map(line)
}

/// Returns the innermost call that tells a wait from the others in the same line of the workspace.
/// Returns `None` without such others, or if one of them has the same calls. `calls` are the frames
/// of each wait in the workspace, the innermost first.
fn caller(number: usize, calls: &[Vec<Line>]) -> Option<Line> {
    let own = &calls[number];
    let others = calls.iter().enumerate().filter(|(other, _)| *other != number);
    let shared = others.map(|(_, other)| own.iter().zip(other).take_while(|(a, b)| a == b).count());
    shared.max().filter(|shared| *shared > 0).and_then(|shared| own.get(shared).cloned())
}

fn line((file, line): (String, u32)) -> Line {
    Line { file, line }
}

/// Returns the call of std in which a thread with this stack waits.
fn api(stack: &[Frame]) -> Option<&'static str> {
    const CALLS: [(&str, &str); 13] = [
        ("Condvar::wait", "Condvar::wait"),
        ("Mutex", "Mutex::lock"),
        ("RwLock", "RwLock"),
        ("Barrier", "Barrier::wait"),
        ("JoinHandle", "JoinHandle::join"),
        ("JoinInner", "JoinHandle::join"),
        ("thread::scope", "thread::scope"),
        ("SyncSender", "mpsc::SyncSender::send"),
        ("mpsc", "mpsc::Receiver::recv"),
        // The module differs between versions of std.
        ("::park", "thread::park"),
        ("OnceLock", "OnceLock"),
        ("once::Once", "Once::call_once"),
        ("sleep", "thread::sleep"),
    ];
    let is_std = |frame: &&Frame| frame.file.starts_with("library/");
    // The outermost match is the user's call: a channel waits in `park`.
    stack
        .iter()
        .take_while(is_std)
        .filter_map(|frame| CALLS.iter().find(|(part, _)| frame.function.contains(part)))
        .last()
        .map(|(_, name)| *name)
}

/// Describes why a replay may take another course, if it may.
pub(super) fn uncertainty(scheduled: &Scheduled) -> Option<String> {
    let counts = [
        (scheduled.leaks, "a thread slept outside the scheduler's control"),
        (scheduled.outside, "a thread waited for something outside the test's threads"),
        (scheduled.asynchronous, "a thread was stopped between two operations"),
    ];
    let causes: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| match count {
            1 => format!("{what} once"),
            _ => format!("{what} {count} times"),
        })
        .collect();
    (!causes.is_empty()).then(|| format!("replay is not certain: {}", causes.join(", and ")))
}

#[cfg(test)]
mod tests {
    use nondex_core::{TracedOperation, TracedStack, TracedThread};

    use super::*;
    use crate::judge::simulation::frame;

    #[test]
    fn the_call_of_std_that_the_users_own_code_made_is_named() {
        let std = |function| frame(function, "library/std/src/x.rs", 1);
        let user = frame("app::take", "src/lib.rs", 1);
        let start = std("core::ops::function::FnOnce::call_once");
        for (calls, expected) in [
            (
                vec![
                    std("std::sys::sync::mutex::futex::Mutex::lock_contended"),
                    std("std::sync::poison::mutex::Mutex<T>::lock"),
                ],
                Some("Mutex::lock"),
            ),
            (
                vec![std("std::thread::park"), std("std::sync::mpsc::Receiver<T>::recv")],
                Some("mpsc::Receiver::recv"),
            ),
            (
                vec![
                    std("std::thread::functions::park"),
                    std("std::sync::mpmc::array::Channel<T>::send"),
                    std("std::sync::mpsc::SyncSender<T>::send"),
                ],
                Some("mpsc::SyncSender::send"),
            ),
            (
                vec![
                    std("std::sys::sync::thread_parking::futex::Parker::park"),
                    std("std::thread::functions::park"),
                ],
                Some("thread::park"),
            ),
            (vec![std("std::thread::join_handle::JoinHandle<T>::join")], Some("JoinHandle::join")),
            (vec![], None),
        ] {
            let stack = [calls, vec![user.clone(), start.clone()]].concat();
            assert_eq!(api(&stack), expected, "{stack:?}");
        }
    }

    #[test]
    fn waits_in_one_line_are_told_apart_by_the_calls_that_led_there() {
        let line = |line: &u32| Line { file: "src/lib.rs".to_owned(), line: *line };
        let waits = |stacks: [&[u32]; 2]| {
            let called = stacks.map(|lines| lines.iter().map(line).collect());
            [0, 1].map(|number| caller(number, &called).map(|caller| caller.line))
        };
        for (stacks, callers) in [
            ([&[5, 20][..], &[5, 30]], [Some(20), Some(30)]),
            ([&[5, 8, 20], &[5, 8, 30]], [Some(20), Some(30)]),
            // Other lines, and threads that do the same.
            ([&[5, 20], &[6, 20]], [None, None]),
            ([&[5, 20], &[5, 20]], [None, None]),
            ([&[], &[]], [None, None]),
        ] {
            assert_eq!(waits(stacks), callers, "{stacks:?}");
        }
    }

    #[test]
    fn a_task_waits_in_the_line_that_its_thread_ran_last() {
        let workspace = Workspace::new(env!("CARGO_MANIFEST_DIR").into());
        let executor = |function| frame(function, "tokio-1.0.0/src/park.rs", 1);
        let user = |line| frame("app::runs", "src/lib.rs", line);
        let stacks = [
            vec![executor("tokio::sync::Mutex::lock"), user(7)],
            vec![executor("tokio::runtime::block_on"), user(9)],
        ];
        let traced = |frames| TracedStack { addresses: Vec::new(), frames };
        let operation = |stack| TracedOperation { stack, ..TracedOperation::default() };
        let trace = Trace {
            threads: vec![TracedThread { path: "0".to_owned(), name: None }],
            stacks: stacks.map(traced).into(),
            operations: vec![operation(0), operation(1)],
            ..Trace::default()
        };
        let waiting = |stack: Vec<Frame>| {
            let wait = WaitRecord { thread: "0".to_owned(), stack, ..WaitRecord::default() };
            last_line(&wait, &trace, &workspace).map(|line| line.line)
        };
        let park = executor("tokio::park");
        assert_eq!(waiting(vec![park.clone(), executor("a::block_on"), user(9)]), Some(7));
        assert_eq!(waiting(vec![park.clone()]), Some(9));
        assert_eq!(waiting(vec![park, user(9)]), None);
    }

    #[test]
    fn a_replay_is_certain_only_if_the_scheduler_saw_everything() {
        let scheduled = |leaks, outside, asynchronous| Scheduled {
            threads: 2,
            steps: 9,
            switches: 1,
            holds: 0,
            time_us: 0,
            leaks,
            outside,
            asynchronous,
            repeatable: leaks + outside + asynchronous == 0,
            end: None,
            after_panic: false,
            waits: Vec::new(),
        };
        assert_eq!(uncertainty(&scheduled(0, 0, 0)), None);
        assert_eq!(
            uncertainty(&scheduled(1, 0, 3)).unwrap(),
            "replay is not certain: a thread slept outside the scheduler's control once, and a \
             thread was stopped between two operations 3 times"
        );
    }
}

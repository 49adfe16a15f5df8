//! What is reported of threads and time.

use camino::Utf8Path;
use nondex_core::{RunSpec, ScheduleRecord, WaitRecord};

use crate::judge::conclusion::{Conclusion, Dependence};
use crate::judge::evidence::Evidence;
use crate::judge::run::Run;
use crate::report::schema::{Scheduled, WaitReport};
use crate::report::workspace::Workspace;

/// What the scheduler did in the first of the `failing` runs or, when there are none, in the first run of all.
pub(super) fn report(
    evidence: &Evidence,
    failing: &[(&RunSpec, &Run)],
    conclusion: Option<&Conclusion>,
    workspace: &Workspace,
    cwd: &Utf8Path,
) -> Option<Scheduled> {
    let first = || evidence.all().next().map(|(_, run)| run);
    let run = failing.first().map(|(_, run)| *run).or_else(first)?;
    let ScheduleRecord {
        threads,
        steps,
        switches,
        holds,
        time_us,
        leaks,
        outside,
        asynchronous,
        end,
    } = run.schedule.as_ref()?;
    // Those with a stack, where there are any.
    let traced = match conclusion {
        Some(Conclusion::Dependent(dependence)) => traced_waits(dependence),
        _ => None,
    };
    let waits = || end.as_ref().map(|end| end.waits.as_slice());
    Some(Scheduled {
        threads: *threads,
        steps: *steps,
        switches: *switches,
        holds: *holds,
        time_us: *time_us,
        leaks: *leaks,
        outside: *outside,
        asynchronous: *asynchronous,
        repeatable: run.schedule.as_ref()?.is_repeatable(),
        end: end.as_ref().map(|end| end.kind.name().to_owned()),
        waits: traced
            .or_else(waits)
            .unwrap_or_default()
            .iter()
            .map(|wait| self::wait(wait, workspace, cwd))
            .collect(),
    })
}

fn traced_waits(dependence: &Dependence) -> Option<&[WaitRecord]> {
    let groups = dependence.culprits.groups.iter();
    let mut waits = groups.map(|group| group.waits.as_slice());
    waits.find(|waits| !waits.is_empty())
}

fn wait(wait: &WaitRecord, workspace: &Workspace, cwd: &Utf8Path) -> WaitReport {
    let (file, line) = workspace.nearest(&wait.stack, cwd).unzip();
    WaitReport {
        thread: wait.thread.clone(),
        name: wait.name.clone(),
        operation: wait.operation.clone(),
        on: wait.on,
        file,
        line,
    }
}

/// Why a replay may take another course, if it may.
pub(super) fn uncertainty(scheduled: &Scheduled) -> Option<String> {
    let causes = [
        (
            scheduled.leaks,
            "a thread slept where the scheduler does not see it",
        ),
        (
            scheduled.outside,
            "a thread waited for what is outside the test's own threads",
        ),
        (
            scheduled.asynchronous,
            "a thread was stopped between two operations",
        ),
    ];
    let causes = causes.into_iter().filter(|(count, _)| *count > 0);
    let causes: Vec<String> = causes
        .map(|(count, what)| match count {
            1 => format!("{what} once"),
            _ => format!("{what} {count} times"),
        })
        .collect();
    (!causes.is_empty()).then(|| format!("replay is not certain: {}", causes.join(", and ")))
}

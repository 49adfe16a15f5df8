//! Processes that a run leaves outside of its group: daemons in another session.
//!
//! An orphan among our descendants becomes our child (see `adopt_orphans`). So a leftover of a run
//! is a child that this process did not start. The environment block that it was started with may
//! show which run it belongs to. If it was started with another environment, it may belong to any
//! run in progress when it started. It is then left alive until all of these runs have ended.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::{Pid, getpgrp};

use super::{guardian, mark};
use crate::campaign::system::{self, Process};
use crate::locked::Locked;

/// Time for killed processes to end.
const KILL_GRACE: Duration = Duration::from_millis(100);

/// A run in progress, identified by its first process.
#[derive(Debug)]
pub(super) struct RunInProgress {
    leader: i32,
    /// Start time, in the system's ticks.
    start: u64,
    /// Environment entry that no other run has.
    mark: Option<Vec<u8>>,
}

#[derive(Debug, Default)]
struct RunRegistry {
    /// Runs in progress: start and mark, by the id of the first process.
    live: BTreeMap<i32, (u64, Option<Vec<u8>>)>,
    /// Start and end of each ended run that overlapped with a run still in progress.
    ended: Vec<(u64, u64)>,
}

static RUNS: Mutex<RunRegistry> =
    Mutex::new(RunRegistry { live: BTreeMap::new(), ended: Vec::new() });

/// Lock, shared while a process is started and registered; exclusive to identify orphans.
static STARTING: RwLock<()> = RwLock::new(());

/// Prevents that this program starts a process while the guard is held.
pub(super) fn alone() -> RwLockWriteGuard<'static, ()> {
    STARTING.write().unwrap_or_else(PoisonError::into_inner)
}

/// Allows that this program starts a process while the guard is held.
pub(super) fn starting() -> RwLockReadGuard<'static, ()> {
    STARTING.read().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the first process of a run, which has this mark, by calling `start`, and registers it.
pub(super) fn start(
    mark: Option<Vec<u8>>,
    start: impl FnOnce() -> io::Result<Pid>,
) -> io::Result<RunInProgress> {
    let _starting = starting();
    let leader = start()?.as_raw();
    let start = Process::of(leader).map_or(0, |process| process.start);
    RUNS.locked().live.insert(leader, (start, mark.clone()));
    Ok(RunInProgress { leader, start, mark })
}

impl RunInProgress {
    /// Returns the id of the first process.
    pub(super) const fn leader(&self) -> Pid {
        Pid::from_raw(self.leader)
    }

    /// Ends the processes left by this run and by earlier runs, after its group has ended. They
    /// have `grace` to end by themselves. Returns whether one of them can only belong to this run.
    pub(super) fn sweep(self, grace: Duration) -> bool {
        let deadline = Instant::now() + grace;
        let mut pause = Duration::from_micros(200);
        while !adopted().is_empty() && !self.left().is_empty() && Instant::now() < deadline {
            thread::sleep(pause);
            pause = (pause * 2).min(grace / 4);
        }
        let mut is_own = false;
        // Children of killed processes become our children.
        let deadline = Instant::now() + KILL_GRACE;
        while !adopted().is_empty() && Instant::now() < deadline {
            let left = self.left();
            if left.is_empty() {
                break;
            }
            for (process, own) in left {
                is_own |= own;
                let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
            }
            thread::sleep(Duration::from_millis(1));
        }
        is_own
    }

    /// Returns the leftover processes, and whether each can only belong to this run. Reaps dead
    /// processes.
    fn left(&self) -> Vec<(i32, bool)> {
        let _alone = alone();
        let runs = RUNS.locked();
        let (us, group) = (own_id(), getpgrp().as_raw());
        let mut left = Vec::new();
        for id in adopted() {
            let Some(process) = Process::of(id) else { continue };
            let is_orphan = process.parent == us
                && process.group != group
                && !runs.live.contains_key(&id)
                && (process.group == self.leader || !runs.live.contains_key(&process.group));
            if !is_orphan {
                continue;
            }
            if process.is_dead {
                let _ = waitpid(Pid::from_raw(id), Some(WaitPidFlag::WNOHANG));
                continue;
            }
            let marked = mark::of(id);
            if let Some(own) = runs.owner(self, process.start, marked.as_deref()) {
                left.push((id, own));
            }
        }
        left
    }
}

impl Drop for RunInProgress {
    fn drop(&mut self) {
        let mut runs = RUNS.locked();
        runs.live.remove(&self.leader);
        match runs.live.values().map(|(start, _)| *start).min() {
            None => runs.ended.clear(),
            Some(first) => {
                let now = now();
                runs.ended.push((self.start, now));
                runs.ended.retain(|(_, end)| *end >= first);
            }
        }
    }
}

impl RunRegistry {
    /// Returns whether a process with this start time and mark can only belong to the ended run
    /// `run`. Returns `None` if it may belong to a run in progress.
    fn owner(&self, run: &RunInProgress, start: u64, marked: Option<&[u8]>) -> Option<bool> {
        if marked.is_some() && marked == run.mark.as_deref() {
            return Some(true);
        }
        let mut others = self.live.iter().filter(|(leader, _)| **leader != run.leader);
        if let Some(marked) = marked {
            let is_live = others.any(|(_, (_, mark))| mark.as_deref() == Some(marked));
            return (!is_live).then_some(false);
        }
        if others.any(|(_, (other, _))| *other <= start) {
            return None;
        }
        let was_concurrent = |(other, end): &(u64, u64)| (*other..=*end).contains(&start);
        Some(run.start <= start && !self.ended.iter().any(was_concurrent))
    }
}

fn own_id() -> i32 {
    Pid::this().as_raw()
}

/// Returns the current time in the system's ticks, comparable with the start of a process.
fn now() -> u64 {
    let text = std::fs::read_to_string("/proc/uptime").unwrap_or_default();
    let seconds = text.split_whitespace().next().and_then(|s| s.parse().ok());
    // Linux always reports 100 ticks a second to user space. Add one, as both values are rounded
    // down.
    seconds.map_or(u64::MAX, |seconds: f64| (seconds * 100.0) as u64 + 1)
}

/// Returns the children of our first thread, which adopts orphans, without the guardian. Without
/// that list in `/proc`, returns the children of all threads.
fn adopted() -> Vec<i32> {
    let mut children = children();
    children.retain(|id| !guardian::is_guardian(*id));
    children
}

fn children() -> Vec<i32> {
    let us = own_id();
    let text = std::fs::read_to_string(format!("/proc/self/task/{us}/children"));
    text.map_or_else(
        |_| {
            let all = system::processes();
            all.filter(|(_, process)| process.parent == us).map(|(id, _)| id).collect()
        },
        |text| text.split_whitespace().filter_map(|id| id.parse().ok()).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(leader: i32, start: u64, mark: Option<&str>) -> RunInProgress {
        RunInProgress { leader, start, mark: mark.map(|mark| mark.as_bytes().to_vec()) }
    }

    fn runs(live: &[(i32, u64, Option<&str>)], ended: &[(u64, u64)]) -> RunRegistry {
        let live = live.iter().map(|(leader, start, mark)| {
            let mark = mark.map(|mark| mark.as_bytes().to_vec());
            (*leader, (*start, mark))
        });
        RunRegistry { live: live.collect(), ended: ended.to_vec() }
    }

    /// Calls `RunRegistry::owner`, without registering the end of `run` among the runs of other
    /// tests.
    fn owner(
        runs: &RunRegistry,
        run: RunInProgress,
        start: u64,
        mark: Option<&str>,
    ) -> Option<bool> {
        let found = runs.owner(&run, start, mark.map(str::as_bytes));
        std::mem::forget(run);
        found
    }

    #[test]
    fn a_process_is_of_the_run_whose_mark_it_has() {
        let together = runs(&[(1, 10, Some("a")), (2, 10, Some("b"))], &[]);
        let own = || run(1, 10, Some("a"));
        assert_eq!(owner(&together, own(), 20, Some("a")), Some(true));
        assert_eq!(owner(&together, own(), 20, Some("b")), None);
        assert_eq!(owner(&together, own(), 20, Some("c")), Some(false));
    }

    #[test]
    fn a_process_without_a_mark_is_left_to_the_last_run_that_may_have_started_it() {
        let own = || run(1, 10, Some("a"));
        for (live, ended, expected) in [
            // No other run.
            (&[][..], &[][..], Some(true)),
            // Another run in progress began before the process.
            (&[(2, 15, None)], &[], None),
            (&[(2, 20, None)], &[], None),
            // Another run in progress began later.
            (&[(2, 21, None)], &[], Some(true)),
            // Another run, now ended, was in progress.
            (&[], &[(5, 20)], Some(false)),
            (&[], &[(5, 19), (21, 30)], Some(true)),
        ] {
            let runs = runs(live, ended);
            assert_eq!(owner(&runs, own(), 20, None), expected, "{runs:?}");
        }
        // The process started before the run.
        assert_eq!(owner(&runs(&[], &[]), own(), 9, None), Some(false));
    }

    #[test]
    fn this_process_started_before_now() {
        assert!(Process::of(own_id()).is_some_and(|us| us.start > 0 && us.start <= now()));
    }
}

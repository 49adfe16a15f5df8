//! A process that briefly outlives this program, to end runs in progress when this program is
//! killed.
//!
//! After a signal that cannot be caught, the driver cannot end its runs, and a waiting test would
//! stay forever. The guardian is another process of this executable. It learns which process groups
//! begin and end, and kills the remaining ones when the driver is gone.
//!
//! The driver learns the id of a group only after its process has started, and it may be killed in
//! between. So it first announces the environment entry that is unique to the run, and the guardian
//! looks for processes with that entry. A run of a plain build has no such entry. One that starts
//! at the very moment in which the driver is killed is not ended.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::mark;
use crate::campaign::system;
use crate::locked::Locked;
use crate::project::intercept::VARIABLE;

/// Argument that makes this executable a guardian.
pub const GUARDIAN: &str = "__guardian";

/// Id and input of this process's guardian; `None` if it could not be started.
static STARTED: OnceLock<Option<(i32, Mutex<ChildStdin>)>> = OnceLock::new();

/// Starts the guardian of this process, if it has none. If that fails, runs are just not guarded.
pub fn start() {
    STARTED.get_or_init(|| {
        let own = std::env::current_exe().ok()?;
        let mut command = Command::new(own);
        command
            .arg(GUARDIAN)
            // The guardian is not a wrapper of cargo's compiler calls.
            .env_remove(VARIABLE)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C must not end the guardian.
            .process_group(0);
        let mut child = command.spawn().ok()?;
        let id = i32::try_from(child.id()).ok()?;
        Some((id, Mutex::new(child.stdin.take()?)))
    });
}

/// Returns whether the process with this id is our guardian.
pub(super) fn is_guardian(id: i32) -> bool {
    matches!(STARTED.get(), Some(Some((guardian, _))) if *guardian == id)
}

/// A run that must end when this program is killed: its mark and its process group. Dropped once
/// the group has ended.
#[derive(Debug)]
pub(super) struct Guarded {
    mark: Option<u64>,
    group: Option<Pid>,
}

impl Guarded {
    /// Announces a run that will start with this environment entry, which no other run has.
    pub(super) fn announced(mark: Option<&[u8]>) -> Self {
        let mark = mark.map(hash);
        if let Some(mark) = mark {
            send(&format!("announced {mark}\n"));
        }
        Guarded { mark, group: None }
    }

    /// Announces that the run has started as the leader of this group.
    pub(super) fn started(&mut self, group: Pid) {
        send(&format!("started {group}\n"));
        self.group = Some(group);
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let group = self.group.map(|group| format!("ended {group}\n"));
        let mark = self.mark.map(|mark| format!("forgotten {mark}\n"));
        send(&[group, mark].map(Option::unwrap_or_default).concat());
    }
}

fn send(messages: &str) {
    if let Some(Some((_, stdin))) = STARTED.get() {
        let mut stdin = stdin.locked();
        // If the guardian is gone, runs are not guarded any more.
        let _ = stdin.write_all(messages.as_bytes());
    }
}

/// Returns a hash that is the same in the driver and in its guardian, which share one executable.
fn hash(mark: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    mark.hash(&mut hasher);
    hasher.finish()
}

/// Runs the guardian: reads messages until the driver is gone, then kills the remaining processes.
pub fn guard(messages: impl BufRead) {
    let left = Left::after(messages);
    for group in &left.groups {
        let _ = killpg(Pid::from_raw(*group), Signal::SIGKILL);
    }
    if left.marks.is_empty() {
        return;
    }
    // A process that was forked and has not executed its program yet still has the driver's
    // environment.
    for pause in [Duration::ZERO, Duration::from_millis(100)] {
        thread::sleep(pause);
        for (id, process) in system::processes() {
            let mark = mark::of(id).map(|mark| hash(&mark));
            if mark.is_some_and(|mark| left.marks.contains(&mark)) {
                let _ = killpg(Pid::from_raw(process.group), Signal::SIGKILL);
            }
        }
    }
}

/// Groups and marks that were announced and have not ended.
#[derive(Debug, Default, PartialEq, Eq)]
struct Left {
    groups: BTreeSet<i32>,
    marks: BTreeSet<u64>,
}

impl Left {
    fn after(messages: impl BufRead) -> Self {
        let mut left = Left::default();
        for message in messages.lines().map_while(Result::ok) {
            let Some((what, number)) = message.split_once(' ') else { continue };
            match (what, number.parse(), number.parse()) {
                ("announced", _, Ok(mark)) => left.marks.insert(mark),
                ("forgotten", _, Ok(mark)) => left.marks.remove(&mark),
                ("started", Ok(group), _) => left.groups.insert(group),
                ("ended", Ok(group), _) => left.groups.remove(&group),
                _ => continue,
            };
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use nondex_core::protocol::spec::SPEC_VARIABLE;

    use super::*;

    #[test]
    fn what_began_and_did_not_end_is_left() {
        let messages = "announced 7\nstarted 10\nannounced 8\nstarted 11\nended 10\nforgotten 7\n\
                        announced 9\nnothing\nstarted x\nended 11\nstarted 10\n";
        let left = Left { groups: BTreeSet::from([10]), marks: BTreeSet::from([8, 9]) };
        assert_eq!(Left::after(messages.as_bytes()), left);
    }

    #[test]
    fn a_process_that_started_unheard_is_ended() {
        let mark = format!("guardian {}", std::process::id());
        let mut child = Command::new("sleep")
            .arg("3600")
            .env(SPEC_VARIABLE, &mark)
            .process_group(0)
            .spawn()
            .unwrap();
        let entry = format!("{SPEC_VARIABLE}={mark}");
        let messages = format!("announced {}\n", hash(entry.as_bytes()));
        guard(messages.as_bytes());
        let killed = child.wait().unwrap();
        assert_eq!(killed.signal(), Some(Signal::SIGKILL as i32));
    }
}

//! A process that outlives this program for a moment, to end the runs that are under way when this
//! program is killed.
//!
//! A signal that cannot be caught leaves nobody to end them, and a test that waits would stay for
//! ever. The guardian is this executable again. It learns which process groups begin and end, and
//! kills those that are left when the driver is gone.

use std::collections::BTreeSet;
use std::io::{BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// The argument with which this executable is a guardian.
pub const GUARDIAN: &str = "__guardian";

/// The guardian of this process.
static STARTED: OnceLock<Option<(i32, Mutex<ChildStdin>)>> = OnceLock::new();

/// Starts the guardian of this process, if it has none. Without one, runs go on as before.
pub fn start() {
    STARTED.get_or_init(|| {
        let own = std::env::current_exe().ok()?;
        let mut command = Command::new(own);
        command
            .arg(GUARDIAN)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C is not meant for it.
            .process_group(0);
        let mut child = command.spawn().ok()?;
        let id = i32::try_from(child.id()).ok()?;
        Some((id, Mutex::new(child.stdin.take()?)))
    });
}

/// Whether the process with this id is our guardian.
pub(super) fn is_guardian(id: i32) -> bool {
    matches!(STARTED.get(), Some(Some((guardian, _))) if *guardian == id)
}

/// A process group that is ended with this program. Forgotten when dropped, once the group has
/// ended.
#[derive(Debug)]
pub(super) struct Guarded(Pid);

impl Guarded {
    pub(super) fn new(group: Pid) -> Self {
        tell('+', group);
        Guarded(group)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        tell('-', self.0);
    }
}

fn tell(sign: char, group: Pid) {
    if let Some(Some((_, stdin))) = STARTED.get() {
        let mut stdin = stdin.lock().unwrap_or_else(PoisonError::into_inner);
        // One that has gone guards nothing any more.
        let _ = stdin.write_all(format!("{sign}{group}\n").as_bytes());
    }
}

/// What a guardian does: listens until whom it guards for is gone, and ends what is left.
pub fn guard(messages: impl BufRead) {
    for group in left(messages) {
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
}

/// The groups that began and did not end.
fn left(messages: impl BufRead) -> BTreeSet<i32> {
    let mut groups = BTreeSet::new();
    for message in messages.lines().map_while(Result::ok) {
        let Some((sign, Ok(group))) = message.split_at_checked(1).map(|(s, g)| (s, g.parse()))
        else {
            continue;
        };
        match sign {
            "+" => groups.insert(group),
            _ => groups.remove(&group),
        };
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_began_and_did_not_end_is_left() {
        let messages = "+10\n+11\n-10\n+12\nnothing\n-11\n+10\n";
        assert_eq!(left(messages.as_bytes()), BTreeSet::from([10, 12]));
    }
}

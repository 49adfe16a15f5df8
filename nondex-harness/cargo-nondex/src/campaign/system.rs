//! Information of the system about processes.

use std::time::Duration;

/// Duration of a tick in what Linux reports (`USER_HZ`).
const TICK: Duration = Duration::from_millis(10);

/// Information of the system about a process.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) is_dead: bool,
    pub(super) parent: i32,
    pub(super) group: i32,
    /// Start time in ticks since the system started.
    pub(super) start: u64,
    /// Processor time of its threads, in the same ticks.
    busy: u64,
}

impl Process {
    /// Reads the information about the process with this id. Returns `None` if there is no such
    /// process.
    pub(super) fn of(id: i32) -> Option<Self> {
        let text = std::fs::read(format!("/proc/{id}/stat")).ok()?;
        Process::parse(&String::from_utf8_lossy(&text))
    }

    /// Returns the processor time that its threads took, without its children.
    pub(super) fn busy(&self) -> Duration {
        TICK.saturating_mul(u32::try_from(self.busy).unwrap_or(u32::MAX))
    }

    /// Parses a `stat` file. The name of the program is in parentheses and may contain any
    /// character.
    fn parse(text: &str) -> Option<Self> {
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        Some(Process {
            is_dead: matches!(*fields.first()?, "Z" | "X"),
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            start: fields.get(19)?.parse().ok()?,
            busy: fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?,
        })
    }
}

/// Returns all processes with their ids.
pub(super) fn processes() -> impl Iterator<Item = (i32, Process)> {
    std::fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|entry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        Some((id, Process::of(id)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_process_is_read_whatever_its_program_is_called() {
        let text = "7 (a) b (c) S 3 4 5 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 9 9";
        assert_eq!(
            Process::parse(text),
            Some(Process { is_dead: false, parent: 3, group: 4, start: 12345, busy: 11 })
        );
    }
}

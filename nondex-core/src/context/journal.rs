//! Where events go: appended to the record file, or kept in memory.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use crate::fork_lock::ForkLock;
use crate::json;
use crate::protocol::event::Event;

/// The events of one run.
#[derive(Debug)]
pub(crate) enum Journal {
    /// Appended to a file. It is opened for each event: tests close descriptors they do not know, and fork.
    File(PathBuf),
    /// Kept for the caller.
    Memory(ForkLock<Vec<Event>>),
}

impl Journal {
    pub(crate) fn new(file: Option<PathBuf>) -> Self {
        file.map_or_else(|| Journal::Memory(ForkLock::new(Vec::new)), Journal::File)
    }

    pub(crate) fn append(&self, event: &Event) {
        match self {
            Journal::Memory(events) => {
                let event = event.clone();
                if let Some(mut events) = events.lock() {
                    events.push(event);
                }
            }
            Journal::File(path) => {
                let mut line = json::to_string(event);
                line.push('\n');
                // A test that makes this fail (no descriptors left, a read-only root) must go on as without us; the
                // driver then sees a record without an end.
                let _ = OpenOptions::new()
                    .append(true)
                    .create(true)
                    .open(path)
                    .and_then(|mut file| file.write_all(line.as_bytes()));
            }
        }
    }

    /// How many events are kept in memory.
    pub(crate) fn len(&self) -> usize {
        match self {
            Journal::Memory(events) => events.lock().map_or(0, |events| events.len()),
            Journal::File(_) => 0,
        }
    }

    /// The events that are kept in memory.
    pub(crate) fn kept(&self) -> Vec<Event> {
        match self {
            Journal::Memory(events) => events.lock().map_or_else(Vec::new, |events| events.clone()),
            Journal::File(_) => Vec::new(),
        }
    }

    pub(crate) fn take(&self) -> Vec<Event> {
        match self {
            Journal::Memory(events) => events
                .lock()
                .map_or_else(Vec::new, |mut events| std::mem::take(&mut *events)),
            Journal::File(_) => Vec::new(),
        }
    }
}

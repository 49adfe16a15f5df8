//! Where events go: appended to the record file, or kept in memory.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

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
            Journal::File(path) => append(path, event),
        }
    }

    /// Appends what an event is in the file, a whole line, without memory; false when events are kept in memory.
    pub(crate) fn append_line(&self, line: &str) -> bool {
        match self {
            Journal::Memory(_) => false,
            Journal::File(path) => {
                write(path, line);
                true
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

/// Appends an event to a record file.
pub(crate) fn append(path: &Path, event: &Event) {
    write(path, &(json::to_string(event) + "\n"));
}

/// Appends to a file. A test that makes this fail (no descriptors left, a read-only root) must go on as without us; the driver
/// then sees a record without an end.
fn write(path: &Path, text: &str) {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(target_os = "linux")]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, crate::protocol::record::RECORD_MODE);
    let file = options.open(path);
    let _ = file.and_then(|mut file| file.write_all(text.as_bytes()));
}

//! Where events go: into the channel that the driver reads, or kept in memory.

use std::path::Path;

#[cfg(unix)]
use crate::channel::Channel;
use crate::fork_lock::ForkLock;
use crate::json;
use crate::protocol::event::Event;

/// The events of one run.
#[derive(Debug)]
pub(crate) enum Journal {
    /// Appended to a channel.
    #[cfg(unix)]
    Channel(Channel),
    /// Not kept: the record cannot be opened, as in a child with another root folder. The driver
    /// sees a record without an end.
    Lost,
    /// Kept for the caller.
    Memory(ForkLock<Vec<Event>>),
}

impl Journal {
    /// The journal in the record at a path, which is mapped now, or in memory.
    pub(crate) fn new(record: Option<&Path>) -> Self {
        record.map_or_else(|| Journal::Memory(ForkLock::new(Vec::new)), Journal::open)
    }

    #[cfg(unix)]
    fn open(record: &Path) -> Self {
        Channel::open(record).map_or(Journal::Lost, Journal::Channel)
    }

    #[cfg(not(unix))]
    fn open(_record: &Path) -> Self {
        Journal::Lost
    }

    pub(crate) fn append(&self, event: &Event) {
        match self {
            Journal::Memory(events) => {
                let event = event.clone();
                if let Some(mut events) = events.lock() {
                    events.push(event);
                }
            }
            #[cfg(unix)]
            Journal::Channel(channel) => channel.append(json::to_string(event).as_bytes()),
            Journal::Lost => {}
        }
    }

    /// Appends an event as its JSON, without memory; false when events are kept in memory.
    pub(crate) fn append_json(&self, json: &str) -> bool {
        match self {
            Journal::Memory(_) => return false,
            #[cfg(unix)]
            Journal::Channel(channel) => channel.append(json.as_bytes()),
            Journal::Lost => {}
        }
        true
    }

    /// How many events are kept in memory.
    pub(crate) fn len(&self) -> usize {
        self.memory()
            .map_or(0, |events| events.lock().map_or(0, |events| events.len()))
    }

    /// The events that are kept in memory.
    pub(crate) fn kept(&self) -> Vec<Event> {
        let events = self.memory().and_then(ForkLock::lock);
        events.map_or_else(Vec::new, |events| events.clone())
    }

    /// As [`kept`](Self::kept), and forgets them.
    pub(crate) fn take(&self) -> Vec<Event> {
        let events = self.memory().and_then(ForkLock::lock);
        events.map_or_else(Vec::new, |mut events| std::mem::take(&mut *events))
    }

    const fn memory(&self) -> Option<&ForkLock<Vec<Event>>> {
        match self {
            Journal::Memory(events) => Some(events),
            _ => None,
        }
    }
}

//! The destination of events: the channel that the driver reads, or memory.

use std::path::Path;

#[cfg(unix)]
use crate::channel::Channel;
use crate::fork_lock::ForkLock;
use crate::hidden::{self, Text};
use crate::json::{self, Object};
use crate::protocol::event::Event;

/// The events of one run.
#[derive(Debug)]
pub(crate) enum Journal {
    /// Events are appended to a channel.
    #[cfg(unix)]
    Channel(Channel),
    /// Events are lost because the record cannot be opened, as in a child with another root folder.
    /// The driver sees a record without an end.
    Lost,
    /// Events stay in memory as JSON, for the caller.
    Memory(ForkLock<hidden::Vec<Text>>),
}

impl Journal {
    /// Opens the journal in the record at a path, and maps it; without a path, it is in memory.
    pub(crate) fn new(record: Option<&Path>) -> Self {
        record.map_or_else(|| Journal::Memory(ForkLock::new(hidden::vec)), Journal::open)
    }

    #[cfg(unix)]
    fn open(record: &Path) -> Self {
        Channel::open(record).map_or(Journal::Lost, Journal::Channel)
    }

    #[cfg(not(unix))]
    fn open(_record: &Path) -> Self {
        Journal::Lost
    }

    /// Appends an event. Uses the program's allocator, so interposed calls must not call it.
    pub(crate) fn append(&self, event: &Event) {
        self.append_json(&json::to_string(event));
    }

    /// Appends an event that is JSON already. Does not use the program's allocator.
    pub(crate) fn append_json(&self, json: &str) {
        self.write(json, false);
    }

    /// Appends an event that states how a test ended.
    pub(crate) fn append_end(&self, event: &Event) {
        self.write(&json::to_string(event), true);
    }

    /// Records an event as [`record`](Self::record) does; the event states how a test ended.
    pub(crate) fn record_end(&self, kind: &str, test: &str, fields: impl FnOnce(&mut Object<'_>)) {
        self.write(&event(kind, test, fields), true);
    }

    /// Appends an event as JSON. `is_end` is whether the event states how a test ended.
    fn write(&self, json: &str, is_end: bool) {
        match self {
            Journal::Memory(events) => {
                let json = Text::from(json);
                if let Some(mut events) = events.lock() {
                    events.push(json);
                }
            }
            #[cfg(unix)]
            Journal::Channel(channel) => {
                if is_end {
                    channel.append_end(json.as_bytes());
                } else {
                    channel.append(json.as_bytes());
                }
            }
            Journal::Lost => {}
        }
    }

    /// Appends an event of this kind in this test, with these fields. Does not use the program's
    /// allocator.
    pub(crate) fn record(&self, kind: &str, test: &str, fields: impl FnOnce(&mut Object<'_>)) {
        self.append_json(&event(kind, test, fields));
    }

    /// Returns the number of events kept in memory.
    pub(crate) fn len(&self) -> usize {
        self.memory().map_or(0, |events| events.lock().map_or(0, |events| events.len()))
    }

    /// Returns the events kept in memory.
    #[inline]
    #[expect(clippy::disallowed_types, reason = "asked by the harness")]
    pub(crate) fn kept(&self) -> Vec<Event> {
        let events = self.memory().and_then(ForkLock::lock);
        events.map_or_else(Vec::new, |events| parsed(&events))
    }

    /// Returns the events kept in memory, and forgets them.
    #[inline]
    #[expect(clippy::disallowed_types, reason = "asked by the harness")]
    pub(crate) fn take(&self) -> Vec<Event> {
        let events = self.memory().and_then(ForkLock::lock);
        events.map_or_else(Vec::new, |mut events| {
            parsed(&std::mem::replace(&mut *events, hidden::vec()))
        })
    }

    const fn memory(&self) -> Option<&ForkLock<hidden::Vec<Text>>> {
        match self {
            Journal::Memory(events) => Some(events),
            _ => None,
        }
    }
}

/// Returns the JSON of an event of this kind in this test, with these fields.
pub(super) fn event(kind: &str, test: &str, fields: impl FnOnce(&mut Object<'_>)) -> Text {
    let mut text = Text::new();
    Object::write(&mut text, |event| {
        event.string("event", kind).string("test", test);
        fields(event);
    });
    text
}

#[inline]
#[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "asked by the harness")]
fn parsed(events: &[Text]) -> Vec<Event> {
    let parse = |event: &Text| json::from_str(event).expect("the runtime writes events");
    events.iter().map(parse).collect()
}

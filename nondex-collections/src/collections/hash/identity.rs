//! What a collection remembers of itself inside a test, for the levels that look at objects or contents.

use nondex_core::{Level, context, hash};

/// The identity of one collection. Collections that are filled outside a test have none.
#[derive(Debug)]
pub(super) struct Identity {
    /// See [`context::new_object`].
    object: u64,
    /// How often an element was added or removed.
    changes: u64,
    /// At level EQ, a fixed hash of the key in each slot, beside the slots; what a free slot has is of no meaning.
    contents: Option<Vec<u64>>,
}

impl Identity {
    /// A new identity, when this thread works for a test. `contents` are computed only at level EQ.
    pub(super) fn begin(contents: impl FnOnce() -> Option<Vec<u64>>) -> Option<Box<Self>> {
        let level = context::level()?;
        Some(Box::new(Identity {
            object: context::new_object(),
            changes: 0,
            contents: if level == Level::Eq { contents() } else { None },
        }))
    }

    /// Identifies the state of the object: changes with each change of it.
    pub(super) fn version(&self) -> u64 {
        hash::mix(self.object ^ hash::mix(self.changes))
    }

    /// Notes that an element was added or removed.
    pub(super) fn change(&mut self) {
        self.changes += 1;
    }

    /// The hashes of the contents, at level EQ.
    pub(super) fn contents(&self) -> Option<&Vec<u64>> {
        self.contents.as_ref()
    }

    /// The hashes of the contents, at level EQ, to be kept in step with the slots.
    pub(super) fn contents_mut(&mut self) -> Option<&mut Vec<u64>> {
        self.contents.as_mut()
    }
}

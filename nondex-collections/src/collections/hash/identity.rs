//! What a collection remembers of itself inside a test, for the levels that look at objects or contents and for runs that
//! tell where elements come from.

use ::std::sync::Arc;

use nondex_core::stack::Stack;
use nondex_core::{Level, context, hash};

/// The identity of one collection. Collections that are filled outside a test have none.
#[derive(Debug)]
pub(super) struct Identity {
    /// See [`context::new_object`].
    object: u64,
    /// How often an element was added or removed.
    changes: u64,
    /// The [version](Self::version) of the object that it is a clone of: until either changes they are one, as std clones the table.
    cloned: Option<u64>,
    /// At level EQ, a fixed hash of the key in each slot, beside the slots; what a free slot has is of no meaning.
    contents: Option<Vec<u64>>,
    /// In a run that asks for it, where the key in each slot was inserted, beside the slots.
    places: Option<Vec<Place>>,
}

/// Where a key was inserted, when that is known.
pub(super) type Place = Option<Arc<Stack>>;

/// So many insertions into one collection are told apart.
const MAX_PLACES: usize = 1 << 12;

impl Identity {
    /// A new identity for a collection of so many slots, when this thread works for a test. `contents` are computed only at
    /// level EQ.
    pub(super) fn begin(
        slots: usize,
        contents: impl FnOnce() -> Option<Vec<u64>>,
    ) -> Option<Box<Self>> {
        let level = context::level()?;
        Some(Box::new(Identity {
            object: context::new_object(),
            changes: 0,
            cloned: None,
            contents: if level == Level::Eq { contents() } else { None },
            places: context::traces_elements().then(|| vec![None; slots]),
        }))
    }

    /// Identifies the state of the object: changes with each change of it.
    pub(super) fn version(&self) -> u64 {
        match self.cloned {
            Some(original) if self.changes == 0 => original,
            _ => hash::mix(self.object ^ hash::mix(self.changes)),
        }
    }

    /// Notes that an element was removed.
    pub(super) fn change(&mut self) {
        self.changes += 1;
    }

    /// Notes that an element was added in a new slot.
    #[inline]
    pub(super) fn push(&mut self, content: u64) {
        self.changes += 1;
        if let Some(contents) = &mut self.contents {
            contents.push(content);
        }
        if let Some(places) = &mut self.places {
            places.push((places.len() < MAX_PLACES).then(|| Arc::new(Stack::capture())));
        }
    }

    /// Notes that so many slots are left.
    pub(super) fn truncate(&mut self, slots: usize) {
        if let Some(contents) = &mut self.contents {
            contents.truncate(slots);
        }
        if let Some(places) = &mut self.places {
            places.truncate(slots);
        }
    }

    /// Notes that two slots change their places.
    pub(super) fn swap(&mut self, a: usize, b: usize) {
        if let Some(contents) = &mut self.contents {
            contents.swap(a, b);
        }
        if let Some(places) = &mut self.places {
            places.swap(a, b);
        }
    }

    /// The hashes of the contents, at level EQ.
    pub(super) fn contents(&self) -> Option<&Vec<u64>> {
        self.contents.as_ref()
    }

    /// Where the key in a slot was inserted.
    pub(super) fn place(&self, slot: usize) -> Option<&Stack> {
        self.places.as_ref()?.get(slot)?.as_deref()
    }

    /// Takes over the version of the collection that this one is a new clone of, and where its keys were inserted.
    pub(super) fn inherit(&mut self, other: &Self) {
        self.cloned = Some(other.version());
        if let (Some(own), Some(places)) = (&mut self.places, &other.places) {
            own.clone_from(places);
        }
    }
}

//! What a collection remembers of itself inside a test, for the levels that look at objects or
//! contents and for runs that tell where elements come from.

use nondex_core::context::stack::Stack;
use nondex_core::{Aspect, Level, context, hash};

use super::contents::Contents;
use nondex_core::hidden::{self, Box, Vec};

/// The identity of one collection. Collections that are filled outside a test have none.
#[derive(Debug)]
pub(super) struct Identity {
    /// See [`context::new_object`].
    object: u64,
    /// How often an element was added or removed.
    changes: u64,
    /// The [version](Self::version) of the object that it is a clone of: until either changes they
    /// are one, as std clones the table.
    cloned: Option<u64>,
    /// At level EQ, what the keys are, parallel to the slots.
    contents: Option<Contents>,
    /// In a run that requests it, where the key in each slot was inserted, parallel to the slots.
    insertions: Option<Vec<Insertion>>,
}

/// Where a key was inserted, when that is known.
type Insertion = Option<Stack>;

/// Number of insertions into one collection that are distinguished.
const MAX_INSERTIONS: usize = 1 << 12;

/// Notes where the key in the next slot is inserted.
#[cold]
fn trace(insertions: &mut Vec<Insertion>) {
    let insertion = (insertions.len() < MAX_INSERTIONS).then(Stack::capture);
    insertions.push(insertion);
}

/// Forgets where the key in a slot was inserted.
#[cold]
fn forget_trace(insertions: &mut Vec<Insertion>, slot: usize) {
    insertions.swap_remove(slot);
}

impl Identity {
    /// A new identity for a collection, when this thread works for a test. `contents` are the fixed
    /// hashes of its keys, by slot; they are computed only at level EQ.
    pub(super) fn begin(contents: impl ExactSizeIterator<Item = u64>) -> Option<Box<Self>> {
        let level = context::level()?;
        let unknown = contents.len();
        Some(hidden::boxed(Identity {
            object: context::new_object(),
            changes: 0,
            cloned: None,
            contents: (level == Level::Eq).then(|| Contents::of(contents)),
            insertions: context::traces_elements()
                .then(|| hidden::collect(::std::iter::repeat_n(None, unknown))),
        }))
    }

    /// A new identity for a clone of a collection. It has the version of the original one, and its
    /// keys were inserted where those were.
    pub(super) fn begin_clone(original: &Self) -> Option<Box<Self>> {
        let mut own = Identity::begin(::std::iter::empty())?;
        own.cloned = Some(original.version());
        // Without those of the original one, they would not be parallel to the slots.
        own.contents.clone_from(&original.contents);
        own.insertions.clone_from(&original.insertions);
        Some(own)
    }

    /// Identifies the state of the object: changes with each change of it.
    fn version(&self) -> u64 {
        match self.cloned {
            Some(original) if self.changes == 0 => original,
            _ => hash::mix(self.object ^ hash::mix(self.changes)),
        }
    }

    /// What a level asks about the collection, if it is known.
    pub(super) fn aspect(&self, aspect: Aspect) -> Option<u64> {
        match aspect {
            Aspect::Content => Some(self.contents.as_ref()?.sum()),
            Aspect::Version => Some(self.version()),
            Aspect::Own => None,
        }
    }

    /// Whether it records what is in a new slot.
    #[inline]
    pub(super) const fn knows_contents(&self) -> bool {
        self.contents.is_some()
    }

    /// What the keys are, at level EQ.
    pub(super) const fn contents(&self) -> Option<&Contents> {
        self.contents.as_ref()
    }

    /// Notes that an element was added in a new slot.
    #[inline]
    pub(super) fn push(&mut self, content: u64) {
        self.changes += 1;
        if let Some(contents) = &mut self.contents {
            contents.push(content);
        }
        if let Some(insertions) = &mut self.insertions {
            trace(insertions);
        }
    }

    /// Notes that an element was removed and its slot has got what the last one had.
    #[inline]
    pub(super) fn swap_remove(&mut self, slot: usize) {
        self.changes += 1;
        if let Some(contents) = &mut self.contents {
            contents.swap_remove(slot);
        }
        if let Some(insertions) = &mut self.insertions {
            forget_trace(insertions, slot);
        }
    }

    /// Notes that all elements were removed.
    pub(super) fn clear(&mut self) {
        self.changes += 1;
        if let Some(contents) = &mut self.contents {
            contents.clear();
        }
        if let Some(insertions) = &mut self.insertions {
            insertions.clear();
        }
    }

    /// Where the key in a slot was inserted.
    pub(super) fn insertion(&self, slot: usize) -> Option<&Stack> {
        self.insertions.as_ref()?.get(slot)?.as_ref()
    }
}

//! The history of a collection inside a test. The levels that consider objects or contents need it,
//! and so do runs that report where elements were inserted.

use nondex_core::context::stack::Stack;
use nondex_core::{Aspect, Level, context, hash};

use super::contents::Contents;
use nondex_core::hidden::{self, Box, Vec};

/// The identity of one collection. Collections that are filled outside a test have none.
#[derive(Debug)]
pub(super) struct Identity {
    /// Identity of the object; see [`context::new_object`].
    object: u64,
    /// Number of insertions and removals.
    changes: u64,
    /// [Version](Self::version) of the object that this is a clone of. Until one of them changes,
    /// both have the same version, because std clones the table.
    cloned: Option<u64>,
    /// At level EQ, the contents of the keys, parallel to the slots.
    contents: Option<Contents>,
    /// In a run that requests it, the place of insertion of each key, parallel to the slots.
    insertions: Option<Vec<Insertion>>,
}

/// Stack of the insertion of a key, if it is known.
type Insertion = Option<Stack>;

/// Maximum number of insertions into one collection whose stacks are captured.
const MAX_INSERTIONS: usize = 1 << 12;

/// Records the insertion of the key in the next slot.
#[cold]
fn trace(insertions: &mut Vec<Insertion>) {
    let insertion = (insertions.len() < MAX_INSERTIONS).then(Stack::capture);
    insertions.push(insertion);
}

/// Forgets the insertion of the key in a slot.
#[cold]
fn forget_trace(insertions: &mut Vec<Insertion>, slot: usize) {
    insertions.swap_remove(slot);
}

impl Identity {
    /// Creates an identity for a collection, if this thread works for a test. `contents` are the
    /// fixed hashes of its keys, by slot; they are computed only at level EQ.
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

    /// Creates an identity for a clone of a collection. It has the version of the original, and its
    /// keys have the same places of insertion.
    pub(super) fn begin_clone(original: &Self) -> Option<Box<Self>> {
        let mut own = Identity::begin(::std::iter::empty())?;
        own.cloned = Some(original.version());
        // Must be copied even if they are missing, because they are parallel to the slots.
        own.contents.clone_from(&original.contents);
        own.insertions.clone_from(&original.insertions);
        Some(own)
    }

    /// Returns a value that identifies the state of the object and changes with each modification.
    fn version(&self) -> u64 {
        match self.cloned {
            Some(original) if self.changes == 0 => original,
            _ => hash::mix(self.object ^ hash::mix(self.changes)),
        }
    }

    /// Returns the value of an aspect of the collection, if it is known.
    pub(super) fn aspect(&self, aspect: Aspect) -> Option<u64> {
        match aspect {
            Aspect::Content => Some(self.contents.as_ref()?.sum()),
            Aspect::Version => Some(self.version()),
            Aspect::Own => None,
        }
    }

    /// Returns whether the contents of new slots are recorded.
    #[inline]
    pub(super) const fn knows_contents(&self) -> bool {
        self.contents.is_some()
    }

    /// Returns the contents of the keys, at level EQ.
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

    /// Notes that the element in a slot was removed, and that the last element took its slot.
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

    /// Returns the stack of the insertion of the key in a slot.
    pub(super) fn insertion(&self, slot: usize) -> Option<&Stack> {
        self.insertions.as_ref()?.get(slot)?.as_ref()
    }
}

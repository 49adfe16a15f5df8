//! Collections in memory of this tool, from the [arena](crate::arena).
//!
//! A test may count the requests to its `#[global_allocator]`. A collection of std requests one
//! block. The mirrored collection does the same for its entries, and keeps all other data here.

use std::fmt;
use std::ops::Deref;
use std::ptr;

use crate::arena::Arena;

/// A box that the global allocator does not see.
pub type Box<T> = allocator_api2::boxed::Box<T, Arena>;

/// A vector that the global allocator does not see.
pub type Vec<T> = allocator_api2::vec::Vec<T, Arena>;

/// A table that the global allocator does not see.
pub type Table<T> = hashbrown::HashTable<T, Arena>;

/// Returns an empty vector.
pub const fn vec<T>() -> Vec<T> {
    Vec::new_in(Arena)
}

/// Returns an empty table.
pub const fn table<T>() -> Table<T> {
    Table::new_in(Arena)
}

/// Collects all items into a vector.
pub fn collect<T>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::with_capacity_in(items.size_hint().0, Arena);
    all.extend(items);
    all
}

/// Copies items bytewise into a vector.
#[expect(
    unsafe_code,
    reason = "a vector with another allocator clones item by item: only std's own code can tell \
        which are plain"
)]
pub fn copy<T: Copy>(items: &[T]) -> Vec<T> {
    let mut all = Vec::with_capacity_in(items.len(), Arena);
    // SAFETY: there is room for this number of items. They are `Copy` and do not overlap with the
    // originals.
    unsafe {
        ptr::copy_nonoverlapping(items.as_ptr(), all.as_mut_ptr(), items.len());
        all.set_len(items.len());
    }
    all
}

/// Text that the global allocator does not see.
#[derive(Clone)]
pub struct Text(Vec<u8>);

impl Text {
    /// Returns an empty text.
    pub const fn new() -> Self {
        Text(vec())
    }

    /// Formats `arguments` as text.
    pub fn of(arguments: fmt::Arguments<'_>) -> Self {
        let mut text = Text::new();
        // `write_str` of `Text` cannot fail.
        let _ = fmt::Write::write_fmt(&mut text, arguments);
        text
    }

    /// Appends a string.
    pub fn push_str(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    /// Converts bytes to text. Replaces invalid UTF-8 by the replacement character, as
    /// [`String::from_utf8_lossy`] does.
    pub fn lossy(bytes: &[u8]) -> Self {
        let mut text = Text::new();
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            if !chunk.invalid().is_empty() {
                text.push_str("\u{fffd}");
            }
        }
        text
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Text {}

impl Default for Text {
    fn default() -> Self {
        Text::new()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text(copy(text.as_bytes()))
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push_str(text);
        Ok(())
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        // `Text` is built from whole strings only, so it is valid UTF-8.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// Allocates a box in the arena for `value`.
pub fn boxed<T>(value: T) -> Box<T> {
    Box::new_in(value, Arena)
}

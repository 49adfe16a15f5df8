//! The memory block with the entries of a collection.
#![expect(
    unsafe_code,
    reason = "a vector's destructor takes no order, and goes on after a panic, where std's table \
        does not"
)]

use ::std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use ::std::ptr::{self, NonNull};
use ::std::slice;

use super::about::About;

/// Room for entries, from the global allocator. It does not know which entries are present.
///
/// Like std's table, it is not resized in place: a test that counts allocations must see as many as
/// std makes.
#[derive(Debug)]
pub(super) struct Buffer {
    start: NonNull<u8>,
    capacity: usize,
    entry: Layout,
}

// SAFETY: it owns its memory, and does not access it through shared references.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Creates a buffer without room. Does not allocate.
    pub(super) const fn new(about: &About) -> Self {
        Buffer { start: nowhere(about.entry), capacity: 0, entry: about.entry }
    }

    /// Returns the number of entries for which there is room.
    #[inline]
    pub(super) const fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns the address of the first byte.
    #[inline]
    pub(super) const fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Returns the address of an entry.
    ///
    /// # Safety
    /// `slot` must be at most the capacity.
    #[inline]
    pub(super) unsafe fn at(&self, slot: usize) -> *mut u8 {
        // SAFETY: the address is in the block, or at its end.
        unsafe { self.start.as_ptr().add(slot * self.entry.size()) }
    }

    /// Returns the first `len` entries.
    ///
    /// # Safety
    /// The entries must be present and of this type.
    #[inline]
    pub(super) unsafe fn entries<T>(&self, len: usize) -> &[T] {
        // SAFETY: the caller upholds the contract of this function.
        unsafe { slice::from_raw_parts(self.start.as_ptr().cast(), len) }
    }

    /// Allocates a new block with room for this number of entries. Returns its layout as the error
    /// if there is no memory.
    fn allocate(capacity: usize, entry: Layout) -> Result<Self, Layout> {
        let layout = layout(capacity, entry);
        let start = if layout.size() == 0 {
            nowhere(entry)
        } else {
            // SAFETY: the size is not zero.
            NonNull::new(unsafe { alloc(layout) }).ok_or(layout)?
        };
        Ok(Buffer { start, capacity, entry })
    }

    /// Moves the first `used` entries to a new block with room for `capacity`. If there is no
    /// memory, changes nothing, and returns the layout of the block as the error.
    ///
    /// # Safety
    /// `used` must be at most both capacities.
    pub(super) unsafe fn try_resize(&mut self, capacity: usize, used: usize) -> Result<(), Layout> {
        let new = Buffer::allocate(capacity, self.entry)?;
        let (from, to) = (self.start.as_ptr(), new.start.as_ptr());
        // SAFETY: both blocks have room for this number of entries, and do not overlap. The bytes
        // are moved regardless of their content.
        unsafe {
            ptr::copy_nonoverlapping(
                from.cast::<::std::mem::MaybeUninit<u8>>(),
                to.cast(),
                used * self.entry.size(),
            );
        }
        *self = new;
        Ok(())
    }

    /// Resizes the buffer as [`Buffer::try_resize`] does, but aborts if there is no memory, as
    /// std's collections do.
    ///
    /// # Safety
    /// The requirements are those of [`Buffer::try_resize`].
    pub(super) unsafe fn resize(&mut self, capacity: usize, used: usize) {
        // SAFETY: the caller upholds the contract of this function.
        if let Err(layout) = unsafe { self.try_resize(capacity, used) } {
            handle_alloc_error(layout);
        }
    }

    /// Moves an entry to another place, which must have no entry.
    ///
    /// # Safety
    /// Both slots must be below the capacity.
    pub(super) unsafe fn relocate(&mut self, from: usize, to: usize) {
        // SAFETY: both places are in the block. They may be equal.
        unsafe {
            ptr::copy(
                self.at(from).cast::<::std::mem::MaybeUninit<u8>>(),
                self.at(to).cast(),
                self.entry.size(),
            );
        }
    }
}

/// Returns the address of a block without memory: dangling and aligned.
const fn nowhere(entry: Layout) -> NonNull<u8> {
    NonNull::new(ptr::without_provenance_mut(entry.align())).expect("an alignment is not zero")
}

/// Returns the layout of a block. Its size does not overflow, because the index rejects such
/// capacities, as std does.
fn layout(capacity: usize, entry: Layout) -> Layout {
    let size = entry.size().checked_mul(capacity);
    size.and_then(|size| Layout::from_size_align(size, entry.align()).ok())
        .expect("Hash table capacity overflow")
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let layout = layout(self.capacity, self.entry);
        if layout.size() > 0 {
            // SAFETY: it was allocated with this layout, and is not used after this.
            unsafe { dealloc(self.start.as_ptr(), layout) }
        }
    }
}

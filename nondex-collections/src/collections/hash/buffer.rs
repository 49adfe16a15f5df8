//! The block of memory that the entries of a collection are in.
#![expect(
    unsafe_code,
    reason = "a vector's destructor takes no order, and goes on after a panic, where std's table \
        does not"
)]

use ::std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use ::std::ptr::{self, NonNull};
use ::std::slice;

use super::about::About;

/// Room for entries, from the global allocator; it does not know which of them are there.
///
/// As std's table, it is not resized in place: a test that counts allocations finds as many as std
/// makes.
#[derive(Debug)]
pub(super) struct Buffer {
    start: NonNull<u8>,
    capacity: usize,
    entry: Layout,
}

// SAFETY: it owns its memory, and never reads or writes it.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// No room. Allocates nothing.
    pub(super) const fn new(about: &About) -> Self {
        Buffer { start: nowhere(about.entry), capacity: 0, entry: about.entry }
    }

    /// How many entries it has room for.
    #[inline]
    pub(super) const fn capacity(&self) -> usize {
        self.capacity
    }

    /// Its first byte.
    #[inline]
    pub(super) const fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// The place of an entry.
    ///
    /// # Safety
    /// `slot` must be at most the capacity.
    #[inline]
    pub(super) unsafe fn at(&self, slot: usize) -> *mut u8 {
        // SAFETY: inside of the block, or at its end.
        unsafe { self.start.as_ptr().add(slot * self.entry.size()) }
    }

    /// The first `len` entries.
    ///
    /// # Safety
    /// They must be there, and be of this type.
    #[inline]
    pub(super) unsafe fn entries<T>(&self, len: usize) -> &[T] {
        // SAFETY: as the caller promises.
        unsafe { slice::from_raw_parts(self.start.as_ptr().cast(), len) }
    }

    /// A new block with room for this number of entries; `None` if there is no memory.
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

    /// Moves the first `used` entries to a new block with room for `capacity`. When there is no
    /// memory, nothing has changed, and the layout of the block is the error.
    ///
    /// # Safety
    /// `used` must be at most both capacities.
    pub(super) unsafe fn try_resize(&mut self, capacity: usize, used: usize) -> Result<(), Layout> {
        let new = Buffer::allocate(capacity, self.entry)?;
        let (from, to) = (self.start.as_ptr(), new.start.as_ptr());
        // SAFETY: both blocks have room for this number of entries, and are not the same. Bytes are
        // moved as they are, whatever is in them.
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

    /// As [`Buffer::try_resize`]; ends the process when there is no memory, as every allocation of
    /// std.
    ///
    /// # Safety
    /// As for [`Buffer::try_resize`].
    pub(super) unsafe fn resize(&mut self, capacity: usize, used: usize) {
        // SAFETY: as the caller promises.
        if let Err(layout) = unsafe { self.try_resize(capacity, used) } {
            handle_alloc_error(layout);
        }
    }

    /// Moves an entry to another place, where nothing is.
    ///
    /// # Safety
    /// Both must be below the capacity.
    pub(super) unsafe fn relocate(&mut self, from: usize, to: usize) {
        // SAFETY: both are inside of the block; they may be the same.
        unsafe {
            ptr::copy(
                self.at(from).cast::<::std::mem::MaybeUninit<u8>>(),
                self.at(to).cast(),
                self.entry.size(),
            );
        }
    }
}

/// Where a block without memory starts: an aligned address at which nothing is.
const fn nowhere(entry: Layout) -> NonNull<u8> {
    NonNull::new(ptr::without_provenance_mut(entry.align())).expect("an alignment is not zero")
}

/// The layout of a block. Its size does not overflow: the index has refused such capacities, as std
/// does.
fn layout(capacity: usize, entry: Layout) -> Layout {
    let size = entry.size().checked_mul(capacity);
    size.and_then(|size| Layout::from_size_align(size, entry.align()).ok())
        .expect("Hash table capacity overflow")
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let layout = layout(self.capacity, self.entry);
        if layout.size() > 0 {
            // SAFETY: allocated with this layout, and not used after this.
            unsafe { dealloc(self.start.as_ptr(), layout) }
        }
    }
}

//! An arena in pages of this tool, independent of the program's allocators.
//!
//! A program may replace std's allocator and C's `malloc`, for example by one that locks a mutex
//! and reads a clock. Either would call interposed functions, so those functions must use neither.
//! The arena maps regions of nearly 4 MiB on demand. The first one is mapped before `main`, because
//! a test may limit further mappings. A region is divided into blocks whose sizes are powers of
//! two, and freed blocks go to a free list of their size. Larger blocks are separate mappings.
//!
//! The arena may be used in a signal handler and after `fork`: see [`fork_lock`](crate::fork_lock).
//! A handler that interrupts the arena itself gets a separate mapping.

#![expect(unsafe_code, reason = "an allocator gives out pointers")]

use std::alloc::{GlobalAlloc, Layout};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};

use allocator_api2::alloc::{AllocError, Allocator};

use crate::fork_lock::ForkLock;
use crate::pages::{self, PAGE};

/// The arena, as an allocator of collections, or of a whole library.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arena;

/// Size of a region, in bytes. Linux aligns a mapping of whole huge pages (2 MiB). The stack of the
/// first thread then has such an address, too, where a plain run has one that is random.
const REGION: usize = (1 << 22) - (1 << 16);

/// Start addresses of the regions, as far as there is room; 0 marks a free entry.
static REGIONS: [AtomicUsize; 256] = [const { AtomicUsize::new(0) }; 256];

/// Returns whether the address is in a region of the arena.
pub fn has(address: usize) -> bool {
    let starts = REGIONS.iter().map(|start| start.load(Ordering::Relaxed));
    starts.take_while(|start| *start != 0).any(|start| (start..start + REGION).contains(&address))
}

fn region() -> Option<NonNull<u8>> {
    let start = pages::anonymous(REGION)?;
    let is_free = |region: &&AtomicUsize| region.load(Ordering::Relaxed) == 0;
    if let Some(free) = REGIONS.iter().find(is_free) {
        free.store(start.addr().get(), Ordering::Relaxed);
    }
    Some(start)
}

/// Exponents of the smallest and the largest block size.
const SMALLEST: u32 = 4;
const LARGEST: u32 = 17;

struct Blocks {
    /// Free list of each size; each free block begins with the address of the next one.
    free: [*mut u8; (LARGEST - SMALLEST + 1) as usize],
    /// Unused rest of the latest region.
    next: *mut u8,
    left: usize,
}

// SAFETY: the blocks belong to the arena alone.
unsafe impl Send for Blocks {}

static BLOCKS: ForkLock<Blocks> = ForkLock::new(|| Blocks {
    free: [ptr::null_mut(); (LARGEST - SMALLEST + 1) as usize],
    next: ptr::null_mut(),
    left: 0,
});

/// Returns the exponent of the block size for a layout; `None` if it needs a separate mapping.
fn exponent(layout: Layout) -> Option<u32> {
    let size = layout.size().max(layout.align());
    let exponent = size.next_power_of_two().trailing_zeros().max(SMALLEST);
    (exponent <= LARGEST).then_some(exponent)
}

impl Blocks {
    fn take(&mut self, exponent: u32) -> Option<NonNull<u8>> {
        let free = &mut self.free[(exponent - SMALLEST) as usize];
        if let Some(block) = NonNull::new(*free) {
            // SAFETY: a block in the list begins with the address of the next one.
            *free = unsafe { block.cast::<*mut u8>().read() };
            return Some(block);
        }
        let size = 1 << exponent;
        // Blocks are aligned to their size. The skipped bytes are lost.
        let skipped = self.next.addr().wrapping_neg() & (size - 1);
        if self.left < skipped + size {
            self.next = region()?.as_ptr();
            self.left = REGION;
            return self.take(exponent);
        }
        let block = self.next.wrapping_add(skipped);
        self.next = block.wrapping_add(size);
        self.left -= skipped + size;
        NonNull::new(block)
    }

    fn give_back(&mut self, block: NonNull<u8>, exponent: u32) {
        let free = &mut self.free[(exponent - SMALLEST) as usize];
        // SAFETY: the block is free again, and long enough for an address.
        unsafe { block.cast::<*mut u8>().write(*free) };
        *free = block.as_ptr();
    }
}

/// Takes the lock of the arena for a `fork`, so that the child finds the arena in a consistent
/// state.
pub fn before_fork() {
    BLOCKS.before_fork();
}

/// Releases what [`before_fork`] took, in the parent and in the child.
pub fn after_fork() {
    BLOCKS.after_fork();
}

/// Maps the first region; must be called before `main`.
pub fn prepare() {
    let layout = Layout::new::<usize>();
    if let Ok(block) = Arena.allocate(layout) {
        // SAFETY: the block is from the same allocator, with this layout.
        unsafe { Arena.deallocate(block.cast(), layout) };
    }
}

// SAFETY: a block is allocated once until it is freed, has the requested size and alignment, and
// does not move. All values of the type are the same allocator.
unsafe impl Allocator for Arena {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let block = match exponent(layout) {
            Some(exponent) => match BLOCKS.lock() {
                Some(mut blocks) => blocks.take(exponent),
                // A signal handler interrupted the arena.
                None => pages::anonymous(PAGE.max(1 << exponent)),
            },
            // Alignments larger than a page are not supported.
            None if layout.align() > PAGE => None,
            None => pages::anonymous(layout.size().next_multiple_of(PAGE)),
        };
        // Returns exactly the requested length. A table would use the rest of the block for
        // elements, and its capacity would differ from std's.
        let block = block.ok_or(AllocError)?;
        Ok(NonNull::slice_from_raw_parts(block, layout.size()))
    }

    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        match exponent(layout) {
            Some(exponent) => {
                // Without the lock, which means in a signal handler, the block is leaked.
                if let Some(mut blocks) = BLOCKS.lock() {
                    blocks.give_back(block, exponent);
                }
            }
            None => pages::unmap(block, layout.size().next_multiple_of(PAGE)),
        }
    }
}

// SAFETY: as above; a freed block has the layout of its request.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let block = self.allocate(layout);
        block.map_or(ptr::null_mut(), |block| block.cast().as_ptr())
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if let Some(block) = NonNull::new(memory) {
            // SAFETY: the caller upholds the contract of `dealloc`.
            unsafe { self.deallocate(block, layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_every_size_are_apart_aligned_and_used_again() {
        let layouts = (0..18).map(|n| Layout::from_size_align(3 << n, 1 << n.min(12)).unwrap());
        let mut taken = Vec::new();
        for layout in layouts.clone().chain(layouts) {
            let block = Arena.allocate(layout).unwrap();
            assert_eq!(block.len(), layout.size());
            assert_eq!(block.cast::<u8>().addr().get() % layout.align(), 0);
            // SAFETY: the block has this number of bytes.
            unsafe { block.cast::<u8>().write_bytes(0xa5, layout.size()) };
            taken.push((block.cast::<u8>().addr().get(), block, layout));
        }
        taken.sort_unstable_by_key(|(address, ..)| *address);
        for pair in taken.windows(2) {
            assert!(pair[0].0 + pair[0].2.size() <= pair[1].0);
        }
        for (_, block, layout) in taken {
            // SAFETY: each is given back once, with its layout.
            unsafe { Arena.deallocate(block.cast(), layout) };
        }
        let layout = Layout::new::<[u8; 100]>();
        let first = Arena.allocate(layout).unwrap();
        assert!(has(first.cast::<u8>().addr().get()));
        assert!(!has((&raw const layout).addr()));
        // SAFETY: as above.
        unsafe { Arena.deallocate(first.cast(), layout) };
    }

    #[test]
    fn who_interrupts_the_arena_has_memory_all_the_same() {
        let layout = Layout::new::<[u64; 10]>();
        let guard = BLOCKS.lock();
        let block = Arena.allocate(layout).unwrap();
        // SAFETY: the block has this layout.
        unsafe {
            block.cast::<[u64; 10]>().write([7; 10]);
            Arena.deallocate(block.cast(), layout);
        }
        drop(guard);
    }
}

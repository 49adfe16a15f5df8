//! Addresses of what a test allocates.
//!
//! glibc gives each thread a heap that begins at a multiple of 64 MiB. So the lower bits of a
//! block's address would be the same in each run of a test. Under libtest they are not: the thread
//! of a test also gets blocks from the heap of the main thread, which begins at a random page.

#![expect(unsafe_code, reason = "the test's own allocator must not see the allocation")]

use std::alloc::{GlobalAlloc as _, Layout, System};
use std::hint;

/// Size of a page in bytes, or a part of it.
const PAGE: usize = 4096;

/// Maximum number of pages. A larger block would be mapped separately.
const PAGES: usize = 16;

/// Moves what this thread allocates next by some pages. Their number is as random as the address of
/// the thread's stack: it is the same in each run at fixed addresses.
pub(super) fn shift() {
    let on_stack = 0_u8;
    let pages = hint::black_box(&raw const on_stack).addr() / PAGE % PAGES;
    if let Ok(layout) = Layout::from_size_align(pages * PAGE + 1, 1) {
        // SAFETY: the size is not zero. Nothing uses or frees the block.
        hint::black_box(unsafe { System.alloc(layout) });
    }
}

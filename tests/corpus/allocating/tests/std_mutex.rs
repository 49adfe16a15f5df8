//! The programs over an allocator that locks a mutex of std.

mod programs;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;

struct Locked(Mutex<usize>);

// SAFETY: the system's allocator provides the memory.
unsafe impl GlobalAlloc for Locked {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let mut taken = self.0.lock().unwrap();
        *taken += layout.size();
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        let mut taken = self.0.lock().unwrap();
        *taken -= layout.size();
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Locked = Locked(Mutex::new(0));

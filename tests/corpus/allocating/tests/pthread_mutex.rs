//! The programs over an allocator that locks a mutex of pthread, and keeps its heap in a static.

mod programs;

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::ptr;

unsafe extern "C" {
    fn pthread_mutex_lock(mutex: *mut c_void) -> c_int;
    fn pthread_mutex_unlock(mutex: *mut c_void) -> c_int;
}

const SIZE: usize = 1 << 26;
const CLASSES: usize = 27;

struct Inner {
    /// A mutex of C. Zeros are an unlocked one.
    lock: [u64; 8],
    next: usize,
    /// Freed blocks, by the power of two of their size.
    free: [*mut u8; CLASSES],
}

#[repr(align(4096))]
struct Heap(UnsafeCell<[u8; SIZE]>);

struct Locked {
    inner: UnsafeCell<Inner>,
}

// SAFETY: all accesses hold the lock.
unsafe impl Sync for Locked {}
// SAFETY: as above.
unsafe impl Sync for Heap {}

static HEAP: Heap = Heap(UnsafeCell::new([0; SIZE]));

impl Locked {
    fn with<R>(&self, work: impl FnOnce(&mut Inner) -> R) -> R {
        unsafe {
            let lock = (&raw mut (*self.inner.get()).lock).cast();
            pthread_mutex_lock(lock);
            let result = work(&mut *self.inner.get());
            pthread_mutex_unlock(lock);
            result
        }
    }
}

fn class(layout: Layout) -> usize {
    let size = layout.size().max(layout.align()).max(16);
    size.next_power_of_two().trailing_zeros() as usize
}

// SAFETY: a block has one owner at a time, and its size class has room for the layout.
unsafe impl GlobalAlloc for Locked {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let class = class(layout);
        self.with(|inner| {
            let first = inner.free[class];
            if !first.is_null() {
                inner.free[class] = unsafe { first.cast::<*mut u8>().read() };
                return first;
            }
            let size = 1 << class;
            let start = inner.next.next_multiple_of(size.min(4096));
            if start + size > SIZE {
                return ptr::null_mut();
            }
            inner.next = start + size;
            unsafe { HEAP.0.get().cast::<u8>().add(start) }
        })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        let class = class(layout);
        self.with(|inner| {
            unsafe { memory.cast::<*mut u8>().write(inner.free[class]) };
            inner.free[class] = memory;
        });
    }
}

#[global_allocator]
static ALLOCATOR: Locked = Locked {
    inner: UnsafeCell::new(Inner {
        lock: [0; 8],
        next: 0,
        free: [ptr::null_mut(); CLASSES],
    }),
};

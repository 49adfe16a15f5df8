//! Numbers that identify this process and that a forked child does not share. They need no system
//! call, because a test may have forbidden those.
//!
//! They are in a page that the system wipes in a forked child (`MADV_WIPEONFORK`). A child of
//! `vfork` shares its parent's memory and thus the numbers. For a lock that a thread of the parent
//! holds, it is therefore the same process.

#![cfg_attr(
    target_os = "linux",
    expect(unsafe_code, reason = "only the system can wipe a page in a forked child")
)]

/// Returns the number of this process, which is not 0.
#[cfg(target_os = "linux")]
pub(crate) fn get() -> u32 {
    page::page().map_or_else(std::process::id, page::Page::number)
}

/// Returns the number of the system, because pages are not wiped.
#[cfg(not(target_os = "linux"))]
pub(crate) fn get() -> u32 {
    std::process::id()
}

/// Returns the number that the system gave this process. Makes one system call per process.
#[cfg(target_os = "linux")]
pub fn of_system() -> u32 {
    page::page().map_or_else(std::process::id, page::Page::number_of_system)
}

/// Returns the number that the system gave this process. Makes a system call each time, because
/// pages are not wiped.
#[cfg(not(target_os = "linux"))]
pub fn of_system() -> u32 {
    std::process::id()
}

#[cfg(target_os = "linux")]
mod page {
    use std::ffi::{c_int, c_void};
    use std::ptr;
    use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

    use crate::pages::{self, PAGE};

    unsafe extern "C" {
        fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
    }

    const WIPE_ON_FORK: c_int = 18;

    /// Layout of the start of the page; 0 means that a number is not known in this process.
    pub(super) struct Page {
        number: AtomicU32,
        of_system: AtomicU32,
    }

    /// The page: null before it is mapped, dangling if it cannot be mapped.
    static MAPPED: AtomicPtr<Page> = AtomicPtr::new(ptr::null_mut());
    const NONE: *mut Page = ptr::dangling_mut();

    /// Returns the page; `None` if it cannot be mapped.
    #[inline]
    pub(super) fn page() -> Option<&'static Page> {
        let mut page = MAPPED.load(Ordering::Acquire);
        if page.is_null() {
            page = map();
        }
        if page == NONE {
            return None;
        }
        // SAFETY: the page is mapped, begins with zeros, and stays.
        Some(unsafe { &*page })
    }

    impl Page {
        #[inline]
        pub(super) fn number(&self) -> u32 {
            match self.number.load(Ordering::Relaxed) {
                0 => begin(&self.number),
                number => number,
            }
        }

        #[inline]
        pub(super) fn number_of_system(&self) -> u32 {
            match self.of_system.load(Ordering::Relaxed) {
                0 => {
                    let number = std::process::id();
                    self.of_system.store(number, Ordering::Relaxed);
                    number
                }
                number => number,
            }
        }
    }

    /// Gives this process a number: one more than that of its parent, which survives in `LAST`.
    #[cold]
    fn begin(word: &AtomicU32) -> u32 {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let new = LAST.load(Ordering::Relaxed) + 1;
        // If two threads do this at once, both use the number that was stored first.
        let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
        let number = match word.compare_exchange(0, new, success, failure) {
            Ok(_) => new,
            Err(first) => first,
        };
        LAST.store(number, Ordering::Relaxed);
        number
    }

    #[cold]
    fn map() -> *mut Page {
        let page = pages::anonymous(PAGE).filter(|page| {
            // SAFETY: the advice is about this page alone.
            let is_wiped = unsafe { madvise(page.as_ptr().cast(), PAGE, WIPE_ON_FORK) == 0 };
            if !is_wiped {
                pages::unmap(*page, PAGE);
            }
            is_wiped
        });
        let mapped = page.map_or(NONE, |page| page.cast().as_ptr());
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        match MAPPED.compare_exchange(ptr::null_mut(), mapped, success, failure) {
            Ok(_) => mapped,
            Err(first) => {
                // No other thread has seen this page.
                page.inspect(|page| pages::unmap(*page, PAGE));
                first
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_and_all_threads_share_it() {
        let number = get();
        assert_ne!(number, 0);
        assert_eq!(std::thread::spawn(get).join().unwrap(), number);
        assert_eq!(get(), number);
        assert_eq!(of_system(), std::process::id());
        assert_eq!(of_system(), std::process::id());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_forked_child_has_another() {
        use std::ffi::c_int;
        unsafe extern "C" {
            fn fork() -> c_int;
            fn waitpid(child: c_int, status: *mut c_int, options: c_int) -> c_int;
            fn _exit(status: c_int) -> !;
        }
        let ends_with = |child: c_int| {
            let mut status = 0;
            // SAFETY: the status is written to a local variable.
            assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
            status >> 8
        };
        let number = get();
        assert_eq!(of_system(), std::process::id());
        // SAFETY: the child only compares numbers and exits.
        let child = unsafe { fork() };
        if child == 0 {
            let is_known = of_system() == std::process::id();
            let has_another = get() != number && get() == get() && is_known;
            // SAFETY: the child has nothing to clean up.
            unsafe { _exit(has_another.into()) };
        }
        assert_eq!(ends_with(child), 1);
    }
}

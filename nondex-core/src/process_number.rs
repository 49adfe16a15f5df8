//! A number of this process that a forked child does not share, without a system call.
//!
//! It lies in a page that the system wipes in a forked child (`MADV_WIPEONFORK`). A child of
//! `vfork` has its parent's memory, so it keeps the number: it is no other process for a lock that
//! a thread of the parent holds.

#![cfg_attr(
    target_os = "linux",
    expect(
        unsafe_code,
        reason = "only the system can wipe a page in a forked child"
    )
)]

/// Returns the number of this process, which is not 0.
#[cfg(target_os = "linux")]
pub(crate) fn get() -> u32 {
    page::number().unwrap_or_else(std::process::id)
}

/// As above; a system process number where pages are not wiped.
#[cfg(not(target_os = "linux"))]
pub(crate) fn get() -> u32 {
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

    /// The page: null before it is mapped, dangling where it cannot be.
    static WORD: AtomicPtr<AtomicU32> = AtomicPtr::new(ptr::null_mut());
    const NONE: *mut AtomicU32 = ptr::dangling_mut();

    /// The number of this process; `None` where the page cannot be had.
    #[inline]
    pub(super) fn number() -> Option<u32> {
        let mut page = WORD.load(Ordering::Acquire);
        if page.is_null() {
            page = map();
        }
        if page == NONE {
            return None;
        }
        // SAFETY: the page is mapped, begins with zeros, and stays.
        let word = unsafe { &*page };
        match word.load(Ordering::Relaxed) {
            0 => Some(begin(word)),
            number => Some(number),
        }
    }

    /// Gives this process a number: one more than its parent's, which a wiped page does not show.
    #[cold]
    fn begin(word: &AtomicU32) -> u32 {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let new = LAST.load(Ordering::Relaxed) + 1;
        // Of two threads that do it at once, both take the number that is there first.
        let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
        let number = match word.compare_exchange(0, new, success, failure) {
            Ok(_) => new,
            Err(first) => first,
        };
        LAST.store(number, Ordering::Relaxed);
        number
    }

    #[cold]
    fn map() -> *mut AtomicU32 {
        let page = pages::anonymous(PAGE).filter(|page| {
            // SAFETY: the advice is about this page alone.
            let is_wiped = unsafe { madvise(page.as_ptr().cast(), PAGE, WIPE_ON_FORK) == 0 };
            if !is_wiped {
                pages::unmap(*page, PAGE);
            }
            is_wiped
        });
        let word = page.map_or(NONE, |page| page.cast().as_ptr());
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        match WORD.compare_exchange(ptr::null_mut(), word, success, failure) {
            Ok(_) => word,
            Err(first) => {
                // Nobody else has seen this page.
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
            // SAFETY: the status is written to a place of this function.
            assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
            status >> 8
        };
        let number = get();
        // SAFETY: the child only compares numbers and ends.
        let child = unsafe { fork() };
        if child == 0 {
            let has_another = get() != number && get() == get();
            // SAFETY: nothing of the child is to be cleaned up.
            unsafe { _exit(has_another.into()) };
        }
        assert_eq!(ends_with(child), 1);
    }
}

//! Original functions that the interposed ones replace, and `errno`.

use ::std::ffi::{CStr, c_int, c_void};
use ::std::marker::PhantomData;
use ::std::mem::transmute_copy;
use ::std::ptr;
use ::std::sync::atomic::{AtomicPtr, Ordering};

use crate::libc;

/// Place where a function was found: the next definition of its name. The look-up takes none of the
/// tool's locks, and no thread waits for that of another. So one look-up may lead to another, and a
/// `fork` may come in between.
#[derive(Debug)]
pub(crate) struct Entry {
    name: &'static CStr,
    /// Version that the headers of today's libc select, if libraries have several. Before glibc
    /// 2.36, a look-up without a version finds the oldest one, which may behave differently.
    version: Option<&'static CStr>,
    /// Null before the look-up, [`MISSING`] if no library has the function.
    found: AtomicPtr<c_void>,
}

/// Address that no function has.
const MISSING: *mut c_void = ptr::without_provenance_mut(1);

impl Entry {
    /// Creates the place of a function, whose name ends with NUL, of this version, if it has one.
    /// The version is that on x86-64; other architectures have no older ones.
    const fn new(name: &'static str, version: &[&'static CStr]) -> Self {
        let Ok(name) = CStr::from_bytes_with_nul(name.as_bytes()) else {
            panic!("the name ends in NUL");
        };
        let has_versions = cfg!(target_arch = "x86_64") && !version.is_empty();
        Entry {
            name,
            version: if has_versions { Some(version[0]) } else { None },
            found: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Looks the function up, if that has not been done. Must be called before `main`: a look-up
    /// takes locks of the loader and, if it fails, allocates memory. A call by a test should do
    /// neither.
    pub(crate) fn prepare(&self) {
        if self.found.load(Ordering::Relaxed).is_null() {
            self.look_up();
        }
    }

    /// Returns the function, or `None` if no library has it.
    ///
    /// # Safety
    /// `F` must be the type of a pointer to the function.
    #[inline]
    unsafe fn get<F: Copy>(&self) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) }
        let mut found = self.found.load(Ordering::Relaxed);
        if found.is_null() {
            found = self.look_up();
        }
        // SAFETY: the caller promises the type, and the function is there.
        (found != MISSING).then(|| unsafe { transmute_copy::<*mut c_void, F>(&found) })
    }

    #[cold]
    fn look_up(&self) -> *mut c_void {
        let mut address = ptr::null_mut();
        if let Some(version) = self.version {
            // SAFETY: `dlvsym` takes any name and version that end in NUL.
            address =
                unsafe { libc::dlvsym(libc::RTLD_NEXT, self.name.as_ptr(), version.as_ptr()) };
        }
        if address.is_null() {
            // SAFETY: as above.
            address = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        }
        let found = if address.is_null() { MISSING } else { address };
        self.found.store(found, Ordering::Relaxed);
        found
    }
}

/// Original of a function: the one that the interposed function replaces, of the type `F`.
#[derive(Debug)]
pub(crate) struct Original<F> {
    entry: Entry,
    signature: PhantomData<F>,
}

impl<F: Copy> Original<F> {
    /// Creates the original of the function with this name, which ends with NUL, and this version,
    /// if it has one.
    ///
    /// # Safety
    /// `F` must be the type of a function pointer with the signature that libc gives the function.
    pub(crate) const unsafe fn new(name: &'static str, version: &[&'static CStr]) -> Self {
        Original { entry: Entry::new(name, version), signature: PhantomData }
    }

    pub(crate) const fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Returns the function, or `None` if no library has it.
    #[inline]
    pub(crate) fn get(&self) -> Option<F> {
        // SAFETY: `new` was promised that `F` is the type of this function.
        unsafe { self.entry.get() }
    }
}

/// Guard that restores `errno` after calls by the tool's own code.
pub(crate) struct Errno(c_int);

impl Errno {
    pub(crate) fn save() -> Self {
        Errno(errno())
    }
}

impl Drop for Errno {
    fn drop(&mut self) {
        set_errno(self.0);
    }
}

/// Returns the error of the last failed libc call of this thread.
pub(crate) fn errno() -> c_int {
    // SAFETY: the location is valid for the life of the thread.
    unsafe { *libc::__errno_location() }
}

/// Sets the error with which an interposed function fails.
pub(crate) fn set_errno(errno: c_int) {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno }
}

/// Sets `errno`, and returns the result of a function that fails.
pub(crate) fn failed(errno: c_int) -> c_int {
    set_errno(errno);
    -1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::entries;

    #[test]
    fn each_function_with_versions_is_the_one_that_the_headers_ask_for() {
        for original in entries() {
            let Some(version) = original.version else { continue };
            // SAFETY: names and versions end in NUL.
            let expected =
                unsafe { libc::dlvsym(libc::RTLD_NEXT, original.name.as_ptr(), version.as_ptr()) };
            assert!(!expected.is_null(), "{:?}", original.name);
            assert_eq!(original.look_up(), expected, "{:?}", original.name);
        }
    }

    #[test]
    fn no_other_function_has_an_older_version_that_behaves_otherwise() {
        /// All versions of glibc's functions from the first one of x86-64 on.
        const VERSIONS: [&CStr; 7] = [
            c"GLIBC_2.2.5",
            c"GLIBC_2.3",
            c"GLIBC_2.3.2",
            c"GLIBC_2.3.3",
            c"GLIBC_2.3.4",
            c"GLIBC_2.4",
            c"GLIBC_2.15",
        ];
        if !cfg!(target_arch = "x86_64") {
            return;
        }
        // The resolver's names with underscores are for old programs, and alias the same code.
        let is_other = |entry: &&'static Entry| {
            entry.version.is_none() && !entry.name.to_bytes().starts_with(b"__res_")
        };
        for original in entries().filter(is_other) {
            let found = original.look_up();
            for version in VERSIONS {
                // SAFETY: names and versions end in NUL.
                let other = unsafe {
                    libc::dlvsym(libc::RTLD_NEXT, original.name.as_ptr(), version.as_ptr())
                };
                assert!(other.is_null() || other == found, "{:?} {version:?}", original.name);
            }
        }
    }
}

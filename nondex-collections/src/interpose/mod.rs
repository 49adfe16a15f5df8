//! Functions of libc that the test executable takes from here (Linux with glibc).
//!
//! A symbol defined in the executable comes before the library's, for std, for every crate and for C code alike. Each
//! function asks the engine what to do and calls the original, found with `dlsym(RTLD_NEXT)`; outside a test, and while
//! the tool's own code runs, it does nothing else. `errno` is left as the original leaves it: std's `ReadDir` reads it.
//!
//! This folder is the only place, beside casts std itself needs, where the runtime is `unsafe`.

#![expect(unsafe_code, reason = "interposed functions have C's signatures")]

pub(crate) mod directory;
mod entropy;
mod network;
pub(crate) mod origin;
mod start;

use ::std::ffi::CStr;
use ::std::mem::transmute_copy;
use ::std::sync::OnceLock;

/// The next definition of a function after ours, looked up once.
pub(crate) struct Original<F> {
    name: &'static CStr,
    found: OnceLock<Option<F>>,
}

impl<F: Copy> Original<F> {
    /// # Safety
    /// `F` must be the type of a function pointer with the signature that libc gives `name`.
    pub(crate) const unsafe fn new(name: &'static CStr) -> Self {
        assert!(size_of::<F>() == size_of::<*mut libc::c_void>());
        Original {
            name,
            found: OnceLock::new(),
        }
    }

    /// The function, `None` when no library has it.
    pub(crate) fn get(&self) -> Option<F> {
        *self.found.get_or_init(|| {
            // SAFETY: `dlsym` takes any name that ends in NUL.
            let address = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
            // SAFETY: `new` was promised that `F` is the type of a pointer to this function; the address is not null.
            (!address.is_null())
                .then(|| unsafe { transmute_copy::<*mut libc::c_void, F>(&address) })
        })
    }
}

/// Keeps `errno` over our own calls.
pub(crate) struct Errno(libc::c_int);

impl Errno {
    pub(crate) fn save() -> Self {
        // SAFETY: the location is valid for the life of the thread.
        Errno(unsafe { *libc::__errno_location() })
    }
}

impl Drop for Errno {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { *libc::__errno_location() = self.0 }
    }
}

//! The functions behind ours, and `errno`.

use ::std::ffi::{CStr, c_int, c_void};
use ::std::marker::PhantomData;
use ::std::mem::transmute_copy;
use ::std::ptr;
use ::std::sync::atomic::{AtomicPtr, Ordering};

use crate::libc;

/// The next definition of a function after ours, looked up once. Nobody waits for the look-up: it takes no lock of ours, so
/// that a call of one function may lead to one of another, and a `fork` may come in between.
pub(crate) struct Original<F> {
    name: &'static CStr,
    /// Null before the look-up, [`MISSING`] when no library has it.
    found: AtomicPtr<c_void>,
    is: PhantomData<F>,
}

/// An address that no function has.
const MISSING: *mut c_void = ptr::without_provenance_mut(1);

impl<F: Copy> Original<F> {
    /// # Safety
    /// `F` must be the type of a function pointer with the signature that libc gives `name`.
    pub(crate) const unsafe fn new(name: &'static CStr) -> Self {
        assert!(size_of::<F>() == size_of::<*mut c_void>());
        Original {
            name,
            found: AtomicPtr::new(ptr::null_mut()),
            is: PhantomData,
        }
    }

    /// The function, `None` when no library has it.
    #[inline]
    pub(crate) fn get(&self) -> Option<F> {
        let mut found = self.found.load(Ordering::Relaxed);
        if found.is_null() {
            found = self.look_up();
        }
        // SAFETY: `new` was promised that `F` is the type of a pointer to this function, which is there.
        (found != MISSING).then(|| unsafe { transmute_copy::<*mut c_void, F>(&found) })
    }

    #[cold]
    fn look_up(&self) -> *mut c_void {
        // SAFETY: `dlsym` takes any name that ends in NUL.
        let address = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        let found = if address.is_null() { MISSING } else { address };
        self.found.store(found, Ordering::Relaxed);
        found
    }
}

/// The original of a function of libc, by its name and type.
macro_rules! original {
    ($name:literal: $type:ty) => {{
        static ORIGINAL: $crate::Original<$type> =
            // SAFETY: the type is that of the function in libc's headers.
            unsafe { $crate::Original::new($name) };
        ORIGINAL.get()
    }};
}
pub(crate) use original;

/// Keeps `errno` over our own calls.
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

/// Why the last call of libc in this thread failed.
pub(crate) fn errno() -> c_int {
    // SAFETY: the location is valid for the life of the thread.
    unsafe { *libc::__errno_location() }
}

/// Lets a call of ours fail for this reason.
pub(crate) fn set_errno(errno: c_int) {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno }
}

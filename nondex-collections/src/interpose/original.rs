//! The functions behind ours, and `errno`.

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

/// The original of a function of libc, by its name and type.
macro_rules! original {
    ($name:literal: $type:ty) => {{
        static ORIGINAL: $crate::interpose::Original<$type> =
            // SAFETY: the type is that of the function in libc's headers.
            unsafe { $crate::interpose::Original::new($name) };
        ORIGINAL.get()
    }};
}
pub(crate) use original;

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

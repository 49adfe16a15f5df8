//! `scandir` and its variants: directories that libc reads whole and returns as a list.

use ::std::ffi::{CStr, c_int, c_void};

use crate::libc::dirent64;
use nondex_core::{Caller, Model};

use super::entries::arrange_named;
use super::{own, reader};
use crate::{Errno, libc};

pub(crate) type List = *mut *mut dirent64;
pub(crate) type Filter = Option<unsafe extern "C" fn(*const dirent64) -> c_int>;
type CompareEntries = unsafe extern "C" fn(*mut *const dirent64, *mut *const dirent64) -> c_int;
pub(crate) type Compare = Option<CompareEntries>;
type Sort = unsafe extern "C" fn(*const c_void, *const c_void) -> c_int;

/// Arranges the list that `next` makes without an order, then sorts it by the caller's order.
///
/// # Safety
/// `list` must be the place that `next` writes the list to.
pub(crate) unsafe fn listed(
    list: *mut List,
    compare: Compare,
    next: impl Fn(Compare) -> c_int,
) -> c_int {
    // The caller's filter and order belong to the program, so they must not run as the tool's code.
    let Some((model, caller)) = own::work().and_then(|_work| reader()) else {
        return next(compare);
    };
    let count = next(None);
    let Ok(len) = usize::try_from(count) else { return count };
    let _errno = Errno::save();
    // SAFETY: libc has written a list of this number of entries, each with a name that ends with
    // NUL. Both kinds of comparison take pointers to places in the list.
    unsafe {
        let entries = ::std::slice::from_raw_parts_mut(list.read(), len);
        if let Some(_work) = own::work() {
            arrange_all(entries, model, caller);
        }
        if let Some(compare) = compare {
            let sort = ::std::mem::transmute::<CompareEntries, Sort>(compare);
            let (start, size) = (entries.as_mut_ptr().cast(), size_of::<*mut dirent64>());
            libc::qsort(start, len, size, Some(sort));
        }
    }
    count
}

/// Arranges a list of entries.
///
/// # Safety
/// Each entry must have a name that ends with NUL.
unsafe fn arrange_all(entries: &mut [*mut dirent64], model: &'static Model, caller: Caller) {
    fn name(entry: &*mut dirent64) -> &[u8] {
        // SAFETY: as the caller promises.
        unsafe { CStr::from_ptr((&raw const (**entry).d_name).cast()).to_bytes() }
    }
    arrange_named(entries, model, caller, name);
}

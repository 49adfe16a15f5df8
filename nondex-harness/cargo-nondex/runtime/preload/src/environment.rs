//! The environment of the program, without what is there for this library.
//!
//! It is changed where it is. A program may have its own functions for it, in place of libc's,
//! which do not work before its `main` has begun: so has bash.

use std::ffi::{CStr, CString, c_char};

/// What begins the entry that names this library to the loader, and what else was to be loaded,
/// after a colon.
const PRELOAD: &[u8] = b"LD_PRELOAD=";

unsafe extern "C" {
    static environ: *mut *mut c_char;
}

/// Removes this library, and the variables of these names.
///
/// # Safety
/// The process must have one thread.
pub(super) unsafe fn remove(names: &[&str]) {
    // SAFETY: the list ends with a null pointer, and each entry with NUL. Nobody else reads it now.
    unsafe {
        let mut from = environ;
        if from.is_null() {
            return;
        }
        let mut to = from;
        while !(*from).is_null() {
            if let Some(entry) = kept(*from, names) {
                *to = entry;
                to = to.add(1);
            }
            from = from.add(1);
        }
        *to = std::ptr::null_mut();
    }
}

/// What is left of an entry.
///
/// # Safety
/// The entry must end with NUL.
unsafe fn kept(entry: *mut c_char, names: &[&str]) -> Option<*mut c_char> {
    // SAFETY: as the caller promises.
    let text = unsafe { CStr::from_ptr(entry) }.to_bytes();
    if let Some(libraries) = text.strip_prefix(PRELOAD) {
        let colon = libraries.iter().position(|&byte| byte == b':')?;
        // An entry stays as long as the program.
        let others = [PRELOAD, &libraries[colon + 1..]].concat();
        return Some(CString::new(others).ok()?.into_raw());
    }
    let is_ours = |name: &&str| {
        let value = text.strip_prefix(name.as_bytes());
        value.is_some_and(|value| value.starts_with(b"="))
    };
    (!names.iter().any(|name| is_ours(name))).then_some(entry)
}

//! Queries for records of names: `res_query` and its variants, which also have older names for
//! programs that were linked long ago.

use ::std::ffi::{c_char, c_int, c_uchar, c_void};

use super::{by_h_errno, look_up, original};

/// Declares functions that query the records of a name, one of their arguments, and return a length
/// or -1.
macro_rules! queries {
    ($($function:ident of $name:ident ($($argument:ident: $type:ty),*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $function($($argument: $type),*) -> c_int {
            let original = original!($function($($type),*) else return -1);
            // SAFETY: the caller gives a name that ends with NUL.
            let lookup = unsafe { look_up("res_query", $name) };
            // SAFETY: the caller's arguments, unchanged.
            let call = || unsafe { original($($argument),*) };
            by_h_errno(lookup, -1, |result| result < 0, call)
        }
    )*};
}

/// Declares the functions under both names.
macro_rules! both {
    ($($function:ident $older:ident of $name:ident
        $arguments:tt;)*) => {
        queries! { $($function of $name $arguments; $older of $name $arguments;)* }
    };
}

both! {
    res_query __res_query of name
        (name: *const c_char, class: c_int, kind: c_int, answer: *mut c_uchar, len: c_int);
    res_search __res_search of name
        (name: *const c_char, class: c_int, kind: c_int, answer: *mut c_uchar, len: c_int);
    res_querydomain __res_querydomain of name
        (name: *const c_char, domain: *const c_char, class: c_int, kind: c_int,
            answer: *mut c_uchar, len: c_int);
    res_nquery __res_nquery of name
        (state: *mut c_void, name: *const c_char, class: c_int, kind: c_int, answer: *mut c_uchar,
            len: c_int);
    res_nsearch __res_nsearch of name
        (state: *mut c_void, name: *const c_char, class: c_int, kind: c_int, answer: *mut c_uchar,
            len: c_int);
    res_nquerydomain __res_nquerydomain of name
        (state: *mut c_void, name: *const c_char, domain: *const c_char, class: c_int, kind: c_int,
         answer: *mut c_uchar, len: c_int);
}

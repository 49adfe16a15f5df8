//! Queries for records of names: `res_query` and its kin, which programs that were linked long ago
//! know by other names.

use ::std::ffi::{c_char, c_int, c_uchar, c_void};

use super::{by_h_errno, look_up, original};

/// Declares functions that ask for the records of a name, one of their arguments, and return a
/// length or -1.
macro_rules! queries {
    ($($function:ident $c_name:literal of $name:ident ($($argument:ident: $type:ty),*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $function($($argument: $type),*) -> c_int {
            let Some(original) = original!($c_name: unsafe extern "C" fn($($type),*) -> c_int)
                else {
                return -1;
            };
            // SAFETY: the caller gives a name that ends with NUL.
            let lookup = unsafe { look_up("res_query", $name) };
            // SAFETY: the caller's arguments, unchanged.
            let call = || unsafe { original($($argument),*) };
            by_h_errno(lookup, -1, |result| result < 0, call)
        }
    )*};
}

/// Declares them under both names.
macro_rules! both {
    ($($function:ident $c_name:literal $older:ident $c_older:literal of $name:ident
        $arguments:tt;)*) => {
        queries! { $($function $c_name of $name $arguments; $older $c_older of $name $arguments;)* }
    };
}

both! {
    res_query c"res_query" __res_query c"__res_query" of name
        (name: *const c_char, class: c_int, kind: c_int, answer: *mut c_uchar, len: c_int);
    res_search c"res_search" __res_search c"__res_search" of name
        (name: *const c_char, class: c_int, kind: c_int, answer: *mut c_uchar, len: c_int);
    res_querydomain c"res_querydomain" __res_querydomain c"__res_querydomain" of name
        (name: *const c_char, domain: *const c_char, class: c_int, kind: c_int,
            answer: *mut c_uchar, len: c_int);
    res_nquery c"res_nquery" __res_nquery c"__res_nquery" of name
        (state: *mut c_void, name: *const c_char, class: c_int, kind: c_int, answer: *mut c_uchar,
            len: c_int);
    res_nsearch c"res_nsearch" __res_nsearch c"__res_nsearch" of name
        (state: *mut c_void, name: *const c_char, class: c_int, kind: c_int, answer: *mut c_uchar,
            len: c_int);
    res_nquerydomain c"res_nquerydomain" __res_nquerydomain c"__res_nquerydomain" of name
        (state: *mut c_void, name: *const c_char, domain: *const c_char, class: c_int, kind: c_int,
         answer: *mut c_uchar, len: c_int);
}

//! Random bytes and numbers.

use ::std::ffi::{c_int, c_uint, c_void};

use crate::entropy;

c_functions! {
    fn getrandom(buffer: *mut c_void, len: usize, flags: c_uint) -> isize, missing -1,
        layers [entropy::bytes(buffer, len, flags)];
    fn getentropy(buffer: *mut c_void, len: usize) -> c_int, missing -1,
        layers [entropy::few_bytes(buffer, len)];
    fn arc4random_buf(buffer: *mut c_void, len: usize), layers [entropy::all_bytes(buffer, len)];
    fn arc4random() -> u32, missing 0, layers [entropy::number()];
    fn arc4random_uniform(bound: u32) -> u32, missing 0, layers [entropy::number_below(bound)];
}

//! `std::fs`, with directories in the order that the run decides.
//!
//! Where libc's `readdir` is interposed (Linux with glibc as a shared library), the types are std's
//! own, because `Path::read_dir` returns them. [`read_dir`] then only tells the interposed function
//! its caller. On other systems [`ReadDir`] is a type of this crate, and `Path::read_dir` is not
//! covered.

pub use ::std::fs::*;

pub use crate::system::fs::{ReadDir, copy, read, read_dir, read_to_string, remove_dir_all};

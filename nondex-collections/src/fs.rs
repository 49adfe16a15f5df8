//! `std::fs`, with the order of directories chosen.
//!
//! Where libc's `readdir` is interposed (Linux with glibc as a shared library) the types are std's
//! own, because `Path::read_dir` returns them, and [`read_dir`] only passes to the interposer who
//! called. On other systems [`ReadDir`] is a type of ours, and `Path::read_dir` is not reached.

pub use ::std::fs::*;

pub use crate::system::fs::{ReadDir, read_dir, remove_dir_all};

//! Unspecified results of a project's own code.
//!
//! Who decides depends on how this crate was compiled. In whole-program mode it is compiled over
//! the runtime, which is named `std` and has a module `__nondex`; a glob import in a block takes
//! precedence over what is outside of the block. So the same source calls the runtime where it is,
//! and otherwise this crate's engine or nothing.

#![expect(
    clippy::allow_attributes,
    reason = "what is unused depends on what this is compiled over"
)]

#[cfg(feature = "nondex")]
#[allow(unused_imports, reason = "the runtime decides where it is")]
use crate::__nondex;

/// Canonical results, without the tool.
#[cfg(not(feature = "nondex"))]
#[allow(dead_code, reason = "the runtime decides where it is")]
mod __nondex {
    #[inline(always)]
    pub(super) const fn choose(_: usize) -> usize {
        0
    }

    #[inline(always)]
    pub(super) const fn permute<T>(_: &mut [T]) {}
}

/// Returns a number below `len` where your code promises none in particular: 0 in a plain program,
/// any under `cargo nondex`. If `len` is 0 or 1, it is 0.
///
/// ```
/// # struct Replica;
/// /// One of the replicas, whichever it is.
/// fn replica(all: &[Replica]) -> Option<&Replica> {
///     all.get(nondex_collections::choose(all.len()))
/// }
/// # assert!(replica(&[Replica, Replica]).is_some());
/// ```
#[must_use]
#[inline]
#[track_caller]
pub fn choose(len: usize) -> usize {
    #[allow(unused_imports, reason = "see above")]
    use ::std::*;
    __nondex::choose(len)
}

/// Puts `items` into some order where your code promises none: the one they have in a plain
/// program, any under `cargo nondex`.
///
/// ```
/// /// The names of all users, in no particular order.
/// fn names() -> Vec<&'static str> {
///     let mut names = vec!["ada", "bob"];
///     nondex_collections::permute(&mut names);
///     names
/// }
/// # assert_eq!(names().len(), 2);
/// ```
#[inline]
#[track_caller]
pub fn permute<T>(items: &mut [T]) {
    #[allow(unused_imports, reason = "see above")]
    use ::std::*;
    __nondex::permute(items);
}

//! Unspecified results of a project's own code.
//!
//! The way in which this crate was compiled determines what decides. In whole-program mode it is
//! compiled with the runtime, which is named `std` and has a module `__nondex`. A glob import in a
//! block takes precedence over names outside of the block. The same source therefore calls the
//! runtime if there is one. If not, it calls the engine of this crate, or nothing.

#![expect(
    clippy::allow_attributes,
    reason = "what is unused depends on what this is compiled over"
)]

#[cfg(feature = "nondex")]
#[allow(unused_imports, reason = "the runtime decides where it is")]
use crate::__nondex;

/// Canonical results, for builds without the tool.
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

/// Returns an arbitrary number below `len`, for code that promises no particular one: 0 in a plain
/// build, any under `cargo nondex`. Returns 0 if `len` is 0 or 1.
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

/// Puts `items` into an arbitrary order, for code that promises none: the present order in a plain
/// build, any under `cargo nondex`.
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

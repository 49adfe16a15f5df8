//! Environment, current directory, masks, signals, limits, and files by their paths. Reads and
//! changes are recorded if a run requests it.

use ::std::ffi::{c_char, c_int};
use ::std::fmt::Display;

use nondex_core::StateKind;
use nondex_core::hidden::Text;

use super::accessed::accessed;
use super::operations::{note_path, text};
use super::schedule;

/// Name of the mask of blocked signals among the states of signals.
pub(crate) const MASK: &str = "mask";

const EMPTY: *const c_char = c"".as_ptr();

/// Records an access to a state that a C string names, before which other threads may run.
///
/// # Safety
/// `name` must be a C string, or null.
#[inline]
pub(crate) unsafe fn named<R>(
    kind: StateKind,
    writes: bool,
    name: *const c_char,
    next: impl FnOnce() -> R,
) -> R {
    schedule::file(kind, writes, name);
    // SAFETY: as the caller promises.
    accessed(kind, writes, || unsafe { text(name) });
    next()
}

/// Records an access to the current directory, before which other threads may run.
pub(crate) fn directory<R>(writes: bool, next: impl FnOnce() -> R) -> R {
    // SAFETY: the name is a C string.
    unsafe { named(StateKind::Cwd, writes, EMPTY, next) }
}

/// Records that a link is read. The link itself may be one that no choice controls.
///
/// # Safety
/// `path` must be a C string, or null.
pub(crate) unsafe fn link<R>(path: *const c_char, next: impl FnOnce() -> R) -> R {
    schedule::file(StateKind::File, false, path);
    // SAFETY: as the caller promises.
    unsafe { note_path(path) };
    // SAFETY: as the caller promises.
    accessed(StateKind::File, false, || unsafe { text(path) });
    next()
}

/// Records that a file is renamed, before which other threads may run.
///
/// # Safety
/// The paths must be C strings, or null.
pub(crate) unsafe fn rename(
    from: *const c_char,
    to: *const c_char,
    next: impl FnOnce() -> c_int,
) -> c_int {
    schedule::file(StateKind::File, true, to);
    for path in [from, to] {
        // SAFETY: as the caller promises.
        accessed(StateKind::File, true, || unsafe { text(path) });
    }
    next()
}

/// Records an access to a state.
pub(crate) fn of<R>(
    kind: StateKind,
    writes: bool,
    name: impl Fn() -> Text,
    next: impl FnOnce() -> R,
) -> R {
    accessed(kind, writes, name);
    next()
}

/// Records an access to a state that has a number.
pub(crate) fn numbered<R>(
    kind: StateKind,
    writes: bool,
    number: impl Display,
    next: impl FnOnce() -> R,
) -> R {
    of(kind, writes, || Text::of(format_args!("{number}")), next)
}

/// Records an access to the mask of blocked signals.
pub(crate) fn mask<R>(writes: bool, next: impl FnOnce() -> R) -> R {
    of(StateKind::Signal, writes, || Text::from(MASK), next)
}

//! Operations that fail because a prerequisite is missing on this machine: recorded when the spec
//! asks for such failures.
//!
//! Every function calls the original and looks at nothing but whether it failed; then, unless the
//! spec asks for failures, one load more. Without the spec's asking, nothing else is done.

mod error;
mod file;
mod socket;
mod stream;

use ::std::ffi::{CStr, c_char, c_int};
use ::std::sync::atomic::{AtomicBool, Ordering};

use nondex_core::Context;
use nondex_core::context::operation;
use nondex_core::hidden::Text;

use super::{Errno, errno, origin};

pub(crate) use file::{not_written, note_path};

/// Whether the spec of this process asks for any failure. Set before `main`, once the spec is read:
/// reading it opens files.
static IS_OBSERVING: AtomicBool = AtomicBool::new(false);

/// Starts to look at failures, if the run's spec asks for any.
pub(crate) fn observe(context: &Context) {
    if !context.spec().observe.is_empty() {
        IS_OBSERVING.store(true, Ordering::Relaxed);
    }
}

/// Records that `operation` failed with `errno`, on request. Leaves `errno` as it is.
pub(crate) fn failed(operation: &'static str, errno: c_int, target: impl FnOnce() -> Text) {
    if IS_OBSERVING.load(Ordering::Relaxed) {
        record(operation, errno, target, true);
    }
}

/// Records that a program could not be started. `is_child` is whether this may be the forked child
/// of a process with threads, in which no lock is waited for.
///
/// # Safety
/// `program` must be null or end with NUL.
#[cfg(feature = "network")]
pub(crate) unsafe fn not_started(program: *const c_char, errno: c_int, is_child: bool) {
    if IS_OBSERVING.load(Ordering::Relaxed) {
        // SAFETY: as the caller promises.
        record("exec", errno, || unsafe { text(program) }, !is_child);
    }
}

#[cold]
fn record(operation: &'static str, errno: c_int, target: impl FnOnce() -> Text, has_stack: bool) {
    let _errno = Errno::save();
    let Some(error) = error::name(errno) else { return };
    if operation::is_observed(operation, error) {
        operation::failed(operation, error, target(), has_stack.then(origin::caller));
    }
}

/// The text of a C string.
///
/// # Safety
/// `text` must be null or end with NUL.
pub(crate) unsafe fn text(text: *const c_char) -> Text {
    if text.is_null() {
        return Text::new();
    }
    // SAFETY: it ends with NUL, as the caller promises.
    let text = unsafe { CStr::from_ptr(text) };
    Text::lossy(text.to_bytes())
}

//! Operations that fail because a prerequisite is missing on this machine. They are recorded if the
//! spec requests such failures.
//!
//! Every function calls the original and only checks whether it failed. A failure costs one
//! additional load if the spec does not request failures.

mod error;
pub(crate) mod file;
pub(crate) mod socket;
pub(crate) mod stream;

use ::std::ffi::{CStr, c_char, c_int};
use ::std::sync::atomic::{AtomicBool, Ordering};

use nondex_core::Context;
use nondex_core::context::operation;
use nondex_core::hidden::Text;

use super::{Errno, errno, origin};

pub(crate) use file::{not_written, note_path};

/// Whether the spec of this process requests any failures. Set before `main`, after the spec is
/// read, because reading it opens files.
static IS_OBSERVING: AtomicBool = AtomicBool::new(false);

/// Starts to record failures, if the run's spec requests any.
pub(crate) fn observe(context: &Context) {
    if !context.spec().observe.is_empty() {
        IS_OBSERVING.store(true, Ordering::Relaxed);
    }
}

/// Records that `operation` failed with `errno`, if requested. Leaves `errno` unchanged.
pub(crate) fn failed(operation: &'static str, errno: c_int, target: impl FnOnce() -> Text) {
    if IS_OBSERVING.load(Ordering::Relaxed) {
        record(operation, errno, target, true);
    }
}

/// Records that a program could not be started. `is_child` states that this may be the forked child
/// of a process with threads, which must not wait for locks.
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

/// Returns the text of a C string.
///
/// # Safety
/// `text` must be null or end with NUL.
pub(crate) unsafe fn text(text: *const c_char) -> Text {
    if text.is_null() {
        return Text::new();
    }
    // SAFETY: it ends with NUL, as the caller promises.
    Text::lossy(unsafe { CStr::from_ptr(text) }.to_bytes())
}

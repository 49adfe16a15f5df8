//! The process that may trace this one, where the system restricts that (Yama's `ptrace_scope`).
//!
//! The system does not report what is allowed, so the program's requests are recorded.

use ::std::ffi::{c_int, c_ulong};
use ::std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use nondex_core::process_number;

use crate::{libc, originals, schedule};

/// Last tracer that the program allowed: a process id, 0 for none, the largest number for any.
static ALLOWED: AtomicUsize = AtomicUsize::new(0);

/// Process that allowed it, because a fork does not inherit the permission.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Records the tracer that the program allows, and a filter of system calls that it installs.
pub(crate) fn requested(option: c_int, value: c_ulong, next: impl FnOnce() -> c_int) -> c_int {
    schedule::counter::will_call(libc::SYS_prctl, option.into());
    let result = next();
    if option == libc::PR_SET_PTRACER && result == 0 {
        note(value as usize);
    }
    result
}

fn note(allowed: usize) {
    ALLOWED.store(allowed, Ordering::Relaxed);
    PROCESS.store(process_number::of_system(), Ordering::Relaxed);
}

/// Returns the tracer that the program allows.
fn allowed() -> usize {
    let is_ours = PROCESS.load(Ordering::Relaxed) == process_number::of_system();
    if is_ours { ALLOWED.load(Ordering::Relaxed) } else { 0 }
}

/// Guard that lets any process trace this one. When it is dropped, the program's choice is
/// restored.
#[derive(Debug)]
pub(super) struct AnyTracer(());

impl AnyTracer {
    pub(super) fn allow() -> Self {
        set(usize::MAX);
        AnyTracer(())
    }
}

impl Drop for AnyTracer {
    fn drop(&mut self) {
        set(allowed());
    }
}

/// Sets the tracer by the original `prctl`, because this library's own one would record it.
fn set(tracer: usize) {
    if let Some(original) = originals::prctl.get() {
        // SAFETY: the call involves no memory.
        unsafe { original(libc::PR_SET_PTRACER, tracer as c_ulong, 0, 0, 0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_program_allowed_is_known_again_but_not_in_a_fork_of_it() {
        assert_eq!(allowed(), 0);
        note(7);
        drop(AnyTracer::allow());
        assert_eq!(allowed(), 7);
        PROCESS.fetch_add(1, Ordering::Relaxed);
        assert_eq!(allowed(), 0);
    }
}

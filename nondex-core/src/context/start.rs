//! Initialization of a process's context before `main`.

#![expect(clippy::disallowed_methods, reason = "called before `main`")]

use std::sync::Arc;

use super::process::{GLOBAL, global};
use super::run::Context;
use super::{entered, inheritance};
use crate::protocol::spec::{CHILD_VARIABLE, SPEC_VARIABLE};

/// Returns the context as [`global`] does, and removes the tool's variables from the environment,
/// so that a test sees the environment that cargo sets up. Makes the calling thread the main
/// thread.
///
/// # Safety
/// The process must have one thread, as before `main`.
#[expect(unsafe_code, reason = "only the caller knows that no other thread reads the environment")]
pub unsafe fn take_global() -> Option<&'static Arc<Context>> {
    let context = global();
    for variable in [SPEC_VARIABLE, CHILD_VARIABLE] {
        if std::env::var_os(variable).is_some() {
            // SAFETY: the process has one thread, as the caller promises.
            unsafe { std::env::remove_var(variable) }
        }
    }
    context.inspect(|context| entered::enter_main(context))
}

/// Returns the context of a program that is not built with the shims: that of an ancestor. If
/// called before [`global`], it determines the context of the process. Makes the calling thread the
/// main thread.
pub fn adopt() -> Option<&'static Arc<Context>> {
    let adopted = || inheritance::find().map(Context::of_child);
    let context = GLOBAL.get_or_init(adopted).as_ref();
    context.inspect(|context| entered::enter_main(context))
}

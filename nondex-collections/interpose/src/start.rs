//! What is done before `main`.

use nondex_core::Context;
use nondex_core::{arena, context, fork_lock};

use crate::given::{self, Words};
use crate::{clock, covered, fork, operations, origin, original, own, process, schedule, thread};

/// Begins the run of a test executable: reads its spec, so that no test sees our variable, and lets
/// every function here be at work.
///
/// # Safety
/// The process must have one thread, as before `main`, and these must be the variables that an
/// initialiser is given.
pub unsafe fn begin(variables: Words) {
    // What an allocator asks for, to give out the memory that this takes, is none of the test's,
    // and must not wait for this.
    let _pause = context::pause();
    // SAFETY: as the caller promises.
    unsafe { given::remember(variables) };
    arena::prepare();
    original::look_up_all();
    fork_lock::wait_by(schedule::wait_outside);
    thread::see_ends();
    clock::prepare();
    if process::find_spec() {
        // What follows takes memory, and the program's allocator may then ask for handlers, too.
        fork::prepare();
    }
    // SAFETY: as the caller promises.
    let context = unsafe { context::take_global() };
    if let Some(context) = context {
        observe(context);
        schedule::epoch::prepare(context);
        schedule::output::prepare();
        context::system::provide(&process::Process);
        origin::walk_stacks(context);
        thread::read_arguments(context);
        if context.spec().cover {
            covered::prepare(context.spec().record.as_deref());
        }
    }
    own::stands();
}

/// Lets the operations of this program be observed, for the run of `context`.
pub fn observe(context: &Context) {
    fork_lock::wait_by(schedule::wait_outside);
    thread::see_ends();
    schedule::counter::prepare();
    operations::observe(context);
    fork::prepare();
    #[cfg(feature = "network")]
    crate::network::child::prepare(context);
}

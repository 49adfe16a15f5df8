//! Initialization before `main`.

use nondex_core::{Context, TestStart};
use nondex_core::{arena, context, fork_lock};

use crate::given::{self, Words};
use crate::{
    clock, covered, fork, fork_server, operations, origin, own, process, schedule, table, thread,
};

/// Begins the run of a test executable. It reads the spec and removes its variable, so that no test
/// sees it, and enables every interposed function.
///
/// # Safety
/// The process must have one thread, as before `main`, and the lists must be those that an
/// initializer is passed.
pub unsafe fn begin(arguments: Words, variables: Words) {
    // This allocates memory, for which an allocator may call interposed functions. These calls do
    // not belong to the test, and must not wait for this function.
    let _pause = context::pause();
    // SAFETY: as the caller promises.
    unsafe { given::remember(variables) };
    arena::prepare();
    table::look_up_all();
    // Everything until here is the same in every run, and everything that follows is not.
    // SAFETY: as the caller promises.
    unsafe { fork_server::serve_if_asked(arguments, variables) };
    fork_lock::wait_by(schedule::wait_outside);
    thread::see_ends();
    clock::prepare();
    if process::find_spec() {
        // The following code allocates memory, and the allocator may then register `fork` handlers.
        // The tool's handlers must be registered first.
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
    own::set_initialized();
    if let Some(context) = context.filter(|context| context.spec().start == TestStart::Process) {
        schedule::begin(context.spec(), &context.spec().test);
    }
}

/// Sets up the observation of this program's operations, for the run of `context`.
pub fn observe(context: &Context) {
    fork_lock::wait_by(schedule::wait_outside);
    thread::see_ends();
    schedule::counter::prepare();
    operations::observe(context);
    fork::prepare();
    #[cfg(feature = "network")]
    crate::network::child::prepare(context);
}

//! Installs the panic hook, which records the message and place of panics on a test's own thread.

use std::cell::RefCell;
use std::panic::{self, PanicHookInfo};
use std::sync::{Arc, OnceLock};

use nondex_core::Failure;
use nondex_core::context::{self, Context, Entered, stack};
use nondex_core::protocol::site::portable_path;

use crate::verdict::message_of;

/// std's messages if a second panic ends the process: these are not why the test failed.
const CONSEQUENCES: [&str; 2] =
    ["panic in a destructor during cleanup", "panic in a function that cannot unwind"];

/// Panic hook.
type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

/// Test that a thread runs.
#[derive(Debug)]
struct Watched {
    context: Arc<Context>,
    test: String,
    last: Option<Failure>,
}

thread_local! {
    static WATCHED: RefCell<Option<Watched>> = const { RefCell::new(None) };
}

/// Puts the hook of the harness in front of the current one, once for the process. A test that sets
/// its own hook replaces it. The message of its panic is then taken from the payload, and the place
/// is unknown.
pub(crate) fn install_hook() {
    static PREVIOUS: OnceLock<Hook> = OnceLock::new();
    PREVIOUS.get_or_init(|| {
        let previous = panic::take_hook();
        // The hook captures nothing, so it still works if a test replaces it and puts it back
        // later.
        panic::set_hook(Box::new(|info| {
            note(info);
            if let Some(previous) = PREVIOUS.get() {
                stack::in_hook(|| previous(info));
            }
        }));
        previous
    });
}

/// Attributes panics of this thread to `test` from now on.
pub(crate) fn watch(context: &Arc<Context>, test: &str) {
    WATCHED.set(Some(Watched { context: Arc::clone(context), test: test.to_owned(), last: None }));
}

/// Ends what [`watch`] began. Returns the last panic of this thread, caught or not.
pub(crate) fn unwatch() -> Option<Failure> {
    WATCHED.take()?.last
}

fn note(info: &PanicHookInfo<'_>) {
    // A thread that ends has no test any more. A panic inside this function is not recorded.
    let _ = WATCHED.try_with(|watched| {
        let Ok(mut watched) = watched.try_borrow_mut() else { return };
        let Some(watched) = watched.as_mut() else { return };
        let message = message_of(info.payload()).unwrap_or("Box<dyn Any>");
        if watched.last.is_some() && CONSEQUENCES.contains(&message) {
            return;
        }
        let failure = Failure {
            message: message.to_owned(),
            file: info.location().map(|at| portable_path(at.file()).to_owned()),
            line: info.location().map(panic::Location::line),
        };
        // Skip repetitions: property tests panic thousands of times with the same message.
        if watched.last.as_ref() != Some(&failure) {
            let _pause = context::pause();
            Entered::panicked(&watched.test, &watched.context, failure.clone());
            watched.last = Some(failure);
        }
    });
}

//! The panic hook: what a test's own thread panicked with, and where, goes to the record of the
//! run.

use std::cell::RefCell;
use std::panic::{self, PanicHookInfo};
use std::sync::{Arc, OnceLock};

use nondex_core::Failure;
use nondex_core::context::{self, Context, Entered, stack};
use nondex_core::protocol::site::portable_path;

use crate::verdict::message_of;

/// The message of std when a second panic ends the process: not why the test failed.
const CONSEQUENCES: [&str; 2] =
    ["panic in a destructor during cleanup", "panic in a function that cannot unwind"];

/// What is called when a thread panics.
type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

/// The test that a thread runs.
#[derive(Debug)]
struct Watched {
    context: Arc<Context>,
    test: String,
    last: Option<Failure>,
}

thread_local! {
    static WATCHED: RefCell<Option<Watched>> = const { RefCell::new(None) };
}

/// Puts our hook in front of the present one, once for the process. A test that sets a hook of its
/// own replaces it: the message of its panic is then taken from what it threw, and the place is not
/// known.
pub(crate) fn install_hook() {
    static PREVIOUS: OnceLock<Hook> = OnceLock::new();
    PREVIOUS.get_or_init(|| {
        let previous = panic::take_hook();
        // It holds nothing, so that it is still there when it is put back after a test has replaced
        // it.
        panic::set_hook(Box::new(|info| {
            note(info);
            if let Some(previous) = PREVIOUS.get() {
                stack::in_hook(|| previous(info));
            }
        }));
        previous
    });
}

/// From here on, panics of this thread belong to `test`.
pub(crate) fn watch(context: &Arc<Context>, test: &str) {
    WATCHED.set(Some(Watched { context: Arc::clone(context), test: test.to_owned(), last: None }));
}

/// The end of what [`watch`] began: the last panic of this thread, caught or not.
pub(crate) fn unwatch() -> Option<Failure> {
    WATCHED.take()?.last
}

fn note(info: &PanicHookInfo<'_>) {
    // A thread that ends has no test any more, and a panic inside this very function is not noted.
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
        // Property tests panic thousands of times with the same words.
        if watched.last.as_ref() != Some(&failure) {
            let _pause = context::pause();
            Entered::panicked(&watched.test, &watched.context, failure.clone());
            watched.last = Some(failure);
        }
    });
}

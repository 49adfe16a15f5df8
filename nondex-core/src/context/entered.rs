//! The test that a thread enters, and the state that threads inherit.

#![expect(clippy::disallowed_methods, reason = "called by the harness")]

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::end;
use super::harness::has_harness;
use super::process;
use super::run::Context;
use super::slot::{PAUSES, SLOT, Slot, end_thread, flush, note_source, with_state};
use super::system::system;
use super::thread::ThreadState;
use crate::hidden::{self, Text};
use crate::protocol::event::Event;
use crate::protocol::outcome::Failure;
use crate::protocol::source::Source;
use crate::protocol::spec::TestStart;

/// What a thread did before it acted for a test. Dropping it restores that, and writes the choices
/// that the thread made for the test.
#[derive(Debug)]
struct Displaced {
    before: Option<Slot>,
    pauses: u32,
}

impl Displaced {
    /// Puts `slot` on this thread.
    fn by(slot: Slot) -> Self {
        Displaced { before: SLOT.try_with(|now| now.replace(slot)).ok(), pauses: PAUSES.replace(0) }
    }
}

impl Drop for Displaced {
    fn drop(&mut self) {
        PAUSES.set(self.pauses);
        let before = self.before.take().unwrap_or_default();
        // The flush in the destructor writes a file, so it must run outside of the borrow.
        let ended = SLOT.try_with(|slot| slot.replace(before));
        drop(ended);
    }
}

/// A test that runs on this thread. Dropping it ends the test and writes the choices of the thread.
#[derive(Debug)]
pub struct Entered {
    /// Dropped after [`Entered::drop`] has ended the schedule.
    _displaced: Displaced,
    context: Arc<Context>,
}

/// Starts `test` on this thread, which works for `context` under the root thread path from now on.
/// In a child process, the work counts for the test that started the process.
pub fn enter(context: &Arc<Context>, test: &str) -> Entered {
    let path = context.test_thread(test);
    let state = ThreadState::new(Arc::clone(context), Arc::from(context.recorded_test(test)), path);
    context.shared.tests.fetch_add(1, Ordering::Relaxed);
    end::keep(end_thread);
    let entered = Entered {
        _displaced: Displaced::by(Slot::Active(hidden::boxed(state))),
        context: Arc::clone(context),
    };
    if context.spec.is_scheduled() && context.is_own_process() {
        if let Some(system) = system() {
            system.begin_schedule(&context.spec, test);
        }
    }
    entered
}

impl Entered {
    /// Records that the test's own thread panicked.
    pub fn panicked(test: &str, context: &Context, failure: Failure) {
        if context.is_own_process() {
            context.journal.append(&Event::Panic { test: test.to_owned(), failure });
        }
    }

    /// Ends the test with its outcome.
    pub fn end(self, context: &Context, test: &str, failure: Option<Failure>, passed: bool) {
        let test = context.recorded_test(test);
        self.end_schedule();
        // The choices of the thread must be recorded before the end of the test.
        drop(self);
        let journal = &context.journal;
        context.shared.failures.read(!passed, |failure, stack| {
            journal.record("operation", test, |event| failure.write(stack, event));
        });
        context.shared.stacks.read(!passed, |operation, stack| {
            journal.record("network", test, |event| operation.fields(stack, event));
        });
        if context.is_own_process() {
            let sources = context.take_sources();
            if !sources.is_empty() {
                context.journal.append_end(&Event::Sources { test: test.to_owned(), sources });
            }
            context.journal.append_end(&Event::End { test: test.to_owned(), passed, failure });
        }
    }

    /// Stops scheduling the threads of the test, and records what the scheduler did. Only the first
    /// call has an effect.
    fn end_schedule(&self) {
        if let Some(system) = system().filter(|_| self.context.spec.is_scheduled()) {
            system.end_schedule();
        }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.end_schedule();
        self.context.shared.tests.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Guard of the harness's thread that waits for the only test. While it exists, signal handlers on
/// this thread act for the test: the system prefers the main thread for a signal to the process.
#[derive(Debug)]
#[must_use = "handlers act for the test only while the guard lives"]
pub struct Attending(#[expect(dead_code, reason = "dropped only")] Displaced);

/// Lets signal handlers on this thread act for the test. Allocates nothing until a handler makes a
/// choice.
pub fn attend() -> Attending {
    Attending(Displaced::by(Slot::Attending))
}

/// The state that a new thread inherits from the thread that starts it.
#[derive(Debug)]
pub struct Inherited(Option<hidden::Box<ThreadState>>);

/// Prepares the state of a thread that this thread is about to start, and counts it. Allocates all
/// memory that the new thread needs.
pub fn inherit() -> Inherited {
    Inherited(with_state(ThreadState::of_thread))
}

impl Inherited {
    /// Returns whether there is a state to inherit; false outside of a test.
    pub const fn is_something(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the path of the new thread.
    pub fn path(&self) -> &str {
        self.0.as_ref().map_or("", |state| &state.path)
    }

    /// Adopts the state; the new thread calls this first. Its choices are written when it ends.
    pub fn enter(self) {
        if let Some(state) = self.0 {
            end::keep(end_thread);
            let _ = SLOT.try_with(|slot| slot.replace(Slot::Active(state)));
        }
    }
}

/// Ends the calling process, as [`end_thread`] ends its thread. If no harness of this tool reports
/// the end of a test, this records the sources that the test used.
pub fn end_process() {
    end_thread();
    if has_harness() {
        return;
    }
    if let Some(context) = process::known().flatten() {
        context.record_sources();
    }
}

/// Records what this process used until now, because another program is about to replace it. That
/// program counts as a child. Does not use the program's allocator.
pub fn before_exec() {
    note_source(Source::Child);
    flush();
    if let Some(context) = process::known().flatten() {
        context.record_sources();
    }
}

/// Names the main thread of a test's child process after the process. If the process itself is the
/// test, its main thread is the test's thread.
pub(super) fn enter_main(context: &Arc<Context>) {
    let is_child = !context.process.is_empty();
    if is_child || context.spec.start == TestStart::Process {
        let test = Arc::clone(&context.test);
        let path = if is_child {
            Text::from(context.process.as_str())
        } else {
            context.test_thread(&test)
        };
        let state = ThreadState::new(Arc::clone(context), test, path);
        end::keep(end_thread);
        let _ = SLOT.try_with(|slot| slot.replace(Slot::Active(hidden::boxed(state))));
    }
}

//! Records the state that each test of a process leaves changed, and puts state back, if the spec
//! requests it.

use nondex_core::StateKind;
use nondex_core::context;
use nondex_core::context::Context;
use nondex_core::context::stack::Stack;
use nondex_core::context::system::{self, Manner, System, Tell};
use nondex_core::fork_lock::ForkLock;
use nondex_core::hidden::Text;

use super::interrupting;

/// Handle of the shared state, used on the main thread while no test runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sharing(&'static dyn System);

/// Calls a test on this thread, and records its accesses to the state that the spec watches.
pub(crate) fn watched<R>(run: Option<&Context>, test: &str, call: impl FnOnce() -> R) -> R {
    let watching = run.filter(|run| !run.spec().watch().is_empty());
    let Some((run, system)) = watching.zip(system::system()) else { return call() };
    let pause = context::pause();
    let spec = run.spec();
    // An inner test does not watch: it leaves that to the outer test.
    if let Some(tests) = spec.interleaving().filter(|_| spec.inner() == Some(test)) {
        if let Some(access) = tests.pause_at {
            system.join_watch();
            system.interrupt(access, interrupting::wait);
        }
        drop(pause);
        return call();
    }
    let tell = spec.has_lines().then_some(record_access as Tell);
    if let (Some(_), Some(mut watched)) = (tell, WATCHED.lock()) {
        *watched = Text::from(test);
    }
    let is_seen = system.watch(spec.watch(), tell);
    let mut bytes = spec.watch().iter().filter(|state| state.bytes().is_some());
    if let Some(state) = bytes.next().filter(|_| !is_seen) {
        run.note_unseen(test, state);
    }
    if let Some(tests) = spec.interleaving() {
        system.interrupt(tests.interrupt_at, interrupting::interrupt);
    }
    drop(pause);
    let result = call();
    let _pause = context::pause();
    let accesses = system.accesses();
    // With `tell`, they are already recorded.
    for access in accesses.into_iter().filter(|_| tell.is_none()) {
        let state = (access.state.kind, &*access.state.name);
        run.note_access(test, state, access.manner, &Stack::default());
    }
    interrupting::is_over();
    result
}

/// Test whose accesses are recorded.
static WATCHED: ForkLock<Text> = ForkLock::new(Text::new);

/// Records an access with its lines, before the test may end its process.
fn record_access(kind: StateKind, name: &str, manner: Manner, stack: &Stack) {
    let test = WATCHED.lock().map(|test| test.clone());
    if let Some((run, test)) = context::global().zip(test) {
        run.note_access(&test, (kind, name), manner, stack);
    }
}

impl Sharing {
    /// Saves the state before the first test, if the spec requests changes or restoring.
    pub(crate) fn begin() -> Option<Self> {
        let spec = context::global()?.spec();
        if !spec.records_changes() && spec.put_back().is_empty() {
            return None;
        }
        let system = system::system()?;
        system.mark(spec);
        Some(Sharing(system))
    }

    /// Restores the state that the spec names, before the last test.
    pub(crate) fn before_test(self, is_last: bool) {
        let context = context::global().filter(|_| is_last);
        if let Some(tests) = context.and_then(|context| context.spec().sequence()) {
            self.0.restore(&tests.put_back);
        }
    }

    /// Records the state that a test left changed.
    pub(crate) fn after_test(self, test: &str) {
        if let Some(context) = context::global().filter(|context| context.spec().records_changes())
        {
            context.note_states(test, self.0.changes());
        }
    }
}

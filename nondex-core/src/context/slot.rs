//! The slot of a thread: the test it works for, if any.

use std::cell::RefCell;
use std::sync::Arc;

use super::thread::{Reached, ThreadState};
use super::{Context, global};
use crate::hash;
use crate::level::Level;
use crate::model::{Family, Model};
use crate::record::{ChoiceRecord, Event, Failure};
use crate::site::{Caller, Site};
use crate::spec::{GivenOrder, RunSpec};

#[derive(Debug, Default)]
enum Slot {
    /// Nothing asked yet.
    #[default]
    Unknown,
    /// The process has no context.
    Inactive,
    /// The tool's own code is running.
    Paused(Box<Slot>),
    /// The thread works for a test.
    Active(Box<ThreadState>),
}

impl Slot {
    fn state(&mut self) -> Option<&mut ThreadState> {
        if let Slot::Unknown = self {
            *self = Slot::Inactive;
            if let Some(context) = global() {
                let test = Arc::from(context.spec.test.as_str());
                *self = Slot::Active(Box::new(ThreadState::new(
                    Arc::clone(context),
                    test,
                    "?".to_owned(),
                )));
            }
        }
        match self {
            Slot::Active(state) => Some(state),
            _ => None,
        }
    }
}

thread_local! {
    static SLOT: RefCell<Slot> = const { RefCell::new(Slot::Unknown) };
}

/// Runs `f` on the thread's state, unless the thread is inactive, paused, ending, or inside this very function.
fn with_state<R>(f: impl FnOnce(&mut ThreadState) -> R) -> Option<R> {
    SLOT.try_with(|slot| f(slot.try_borrow_mut().ok()?.state()?).into())
        .ok()
        .flatten()
}

/// The level of the run this thread works for, if any.
#[inline]
#[must_use]
pub fn level() -> Option<Level> {
    with_state(|state| state.context.spec.level)
}

/// Records that the thread reached a choice, and says what to make it from. `None` outside a test, while paused, and
/// for a model that is off.
pub(crate) fn reach(
    model: &'static Model,
    family: Family,
    caller: Caller,
    len: usize,
) -> Option<Reached> {
    with_state(|state| state.reach(model, family, caller, len)).flatten()
}

/// The hash of the path of this thread, if it works for a test.
pub(crate) fn path_hash() -> Option<u64> {
    with_state(|state| state.path_hash)
}

/// See [`choice::table_key`](crate::choice::table_key).
pub(crate) fn table_key(model: &'static Model, caller: Caller) -> Option<u64> {
    with_state(|state| {
        state.keys += 1;
        let id = hash::mix(state.path_hash ^ hash::mix(state.keys));
        let keys = &state.context.keys;
        if keys.are_traced {
            keys.note_creation(model, caller, &state.context.spec.trace);
        }
        id ^ keys.secret
    })
}

/// See [`choice::seen_key`](crate::choice::seen_key).
pub(crate) fn seen_key(
    model: &'static Model,
    caller: Caller,
    table_key: u64,
    is_shared: bool,
) -> u64 {
    with_state(|state| {
        let context = Arc::clone(&state.context);
        let reach = || {
            let reached = state.reach(model, Family::HashKeys, caller, 1);
            reached.is_some_and(|reached| reached.made)
        };
        let is_made = context.keys.once(table_key, is_shared, reach);
        if is_made {
            table_key
        } else {
            table_key ^ context.keys.secret
        }
    })
    // A thread that ends, say: the seed is not seen in what is not recorded.
    .unwrap_or_else(|| table_key ^ global().map_or(table_key, |context| context.keys.secret))
}

/// Notes a choice that is to be listed.
pub(crate) fn list(choice: ChoiceRecord) {
    with_state(|state| state.list(choice));
}

/// Whether the stacks of calls at `site` are asked for.
pub(crate) fn is_traced(site: &Site) -> bool {
    with_state(|state| state.context.spec.trace.contains(site)).unwrap_or(false)
}

/// Whether this run is to tell where the elements of a collection were inserted. Such a run is slow.
#[must_use]
pub fn traces_elements() -> bool {
    let asks = |spec: &RunSpec| {
        let mut given = spec.given.iter();
        !spec.trace.is_empty() && given.any(|given| matches!(given.order, GivenOrder::Steps(_)))
    };
    with_state(|state| asks(&state.context.spec)).unwrap_or(false)
}

/// Records an event, which is given the test and the thread's path, if this thread works for a test.
pub(crate) fn record(event: impl FnOnce(String, String) -> Event) {
    let state = |state: &mut ThreadState| {
        let event = event(state.test.as_ref().to_owned(), state.path.clone());
        (Arc::clone(&state.context), event)
    };
    if let Some((context, event)) = with_state(state) {
        let _pause = pause();
        context.journal.append(&event);
    }
}

/// Asks the spec of the run this thread works for.
pub(crate) fn network_spec<R>(f: impl FnOnce(&RunSpec) -> R) -> Option<R> {
    with_state(|state| f(&state.context.spec))
}

/// Records an event of the network, which is given the test and the thread's path; the path, `None` outside a test.
pub(crate) fn record_network(event: impl FnOnce(String, String) -> Event) -> Option<String> {
    let (context, test, path) = with_state(|state| {
        let test = state.test.as_ref().to_owned();
        (Arc::clone(&state.context), test, state.path.clone())
    })?;
    let event = event(test, path.clone());
    // It opens files and takes locks, through functions that ask for the state of this thread.
    let _pause = pause();
    // Only the test's own process reads them, and only for the driver, which gives it one test.
    if context.is_own_process() && context.spec.record.is_some() {
        context.stacks.note(&event);
    }
    context.journal.append(&event);
    Some(path)
}

/// Records an operation that failed, once, if this thread works for a test.
pub(crate) fn record_operation(event: impl FnOnce(String, String) -> Event) {
    let state = |state: &mut ThreadState| {
        let event = event(state.test.as_ref().to_owned(), state.path.clone());
        (Arc::clone(&state.context), event)
    };
    let Some((context, event)) = with_state(state) else {
        return;
    };
    let _pause = pause();
    let Event::Operation { operation, .. } = &event else {
        return;
    };
    if context.failures.note(operation) {
        context.journal.append(&event);
    }
}

/// A new object identity: the thread's path and a count, never an address. 0 outside a test.
#[inline]
#[must_use]
pub fn new_object() -> u64 {
    with_state(|state| {
        state.objects += 1;
        hash::mix(state.path_hash.wrapping_add(state.objects)) | 1
    })
    .unwrap_or(0)
}

/// Pauses the shims on this thread until the guard is dropped.
#[derive(Debug)]
#[must_use = "the shims are paused only while the guard lives"]
pub struct Pause(());

/// See [`Pause`].
pub fn pause() -> Pause {
    let _ = SLOT.try_with(|slot| {
        if let Ok(mut slot) = slot.try_borrow_mut() {
            let inner = std::mem::replace(&mut *slot, Slot::Inactive);
            *slot = Slot::Paused(Box::new(inner));
        }
    });
    Pause(())
}

impl Drop for Pause {
    fn drop(&mut self) {
        let _ = SLOT.try_with(|slot| {
            if let Ok(mut slot) = slot.try_borrow_mut() {
                match std::mem::replace(&mut *slot, Slot::Inactive) {
                    Slot::Paused(inner) => *slot = *inner,
                    other => *slot = other,
                }
            }
        });
    }
}

/// A test that runs on this thread. Ends when dropped: what its thread did is then written.
#[derive(Debug)]
pub struct Entered {
    before: Option<Slot>,
}

/// Starts `test` on this thread: from here on it works for `context`, with the root thread path.
pub fn enter(context: &Arc<Context>, test: &str) -> Entered {
    let state = ThreadState::new(
        Arc::clone(context),
        Arc::from(test),
        format!("{}0", context.process),
    );
    Entered {
        before: SLOT
            .try_with(|slot| slot.replace(Slot::Active(Box::new(state))))
            .ok(),
    }
}

impl Entered {
    /// Notes that the test's own thread panicked.
    pub fn panicked(test: &str, context: &Context, failure: Failure) {
        if context.is_own_process() {
            context.journal.append(&Event::Panic {
                test: test.to_owned(),
                failure,
            });
        }
    }

    /// Ends the test with its outcome.
    pub fn end(self, context: &Context, test: &str, failure: Option<Failure>, passed: bool) {
        drop(self);
        for operation in context.failures.read(!passed) {
            context.journal.append(&Event::Operation {
                test: test.to_owned(),
                operation,
            });
        }
        for (id, network) in context.stacks.read(!passed) {
            context.journal.append(&Event::Network {
                test: test.to_owned(),
                id,
                socket: None,
                network,
            });
        }
        if context.is_own_process() {
            context.journal.append(&Event::End {
                test: test.to_owned(),
                passed,
                failure,
            });
        }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let before = self.before.take().unwrap_or_default();
        // Dropped outside the borrow: its flush writes a file.
        let ended = SLOT.try_with(|slot| slot.replace(before));
        drop(ended);
    }
}

/// What a new thread inherits from the one that starts it.
#[derive(Debug)]
pub struct Inherited(Option<(Arc<Context>, Arc<str>, String)>);

/// Taken by the `thread` shim in the thread that starts another; counts the start.
#[must_use]
pub fn inherit() -> Inherited {
    Inherited(with_state(|state| {
        let path = format!("{}.{}", state.path, state.spawned);
        state.spawned += 1;
        (Arc::clone(&state.context), Arc::clone(&state.test), path)
    }))
}

impl Inherited {
    /// Called first in the new thread. The thread's points are written when it ends.
    pub fn enter(self) {
        if let Some((context, test, path)) = self.0 {
            let state = ThreadState::new(context, test, path);
            let _ = SLOT.try_with(|slot| slot.replace(Slot::Active(Box::new(state))));
        }
    }
}

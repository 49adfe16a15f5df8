//! The slot of a thread: the state of the thread in its test, if it has one.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc;

use super::attempt::NetworkOperation;
use super::end;
use super::harness::has_harness;
use super::journal;
use super::process::{global, known};
use super::run::Context;
use super::sites::Reached;
use super::thread::ThreadState;
use crate::catalogue::{Family, Level, Model};
use crate::hash;
use crate::hidden;
use crate::json::Object;
use crate::protocol::choice::Choice;
use crate::protocol::choices::GivenChoice;
use crate::protocol::point::Reading;
use crate::protocol::site::{Caller, Site};
use crate::protocol::source::Source;
use crate::protocol::spec::RunSpec;

#[derive(Debug, Default)]
pub(super) enum Slot {
    /// The thread has not used its slot yet.
    #[default]
    Unknown,
    /// The thread has not used its slot yet, and its signal handlers act for the test: see
    /// [`attend`](super::attend).
    Attending,
    /// The process has no context.
    Inactive,
    /// The thread works for a test.
    Active(hidden::Box<ThreadState>),
}

impl Slot {
    /// Returns the slot of a thread that entered no test. Returns `None` until the process has its
    /// context. An allocator may call this earlier, and finding the context would call that
    /// allocator again.
    #[cold]
    fn unnamed(&self) -> Option<Self> {
        let Some(context) = known()? else { return Some(Slot::Inactive) };
        let test = Arc::clone(&context.test);
        let path = match self {
            // The system chooses which of the two threads runs a handler. Both must draw the same.
            Slot::Attending => context.test_thread(&test),
            _ => context.unseen_thread(),
        };
        let state = ThreadState::new(Arc::clone(context), test, path);
        end::keep(end_thread);
        Some(Slot::Active(hidden::boxed(state)))
    }

    #[inline]
    fn state(&mut self) -> Option<&mut ThreadState> {
        if let Slot::Unknown | Slot::Attending = self {
            *self = self.unnamed()?;
        }
        match self {
            Slot::Active(state) => Some(state),
            _ => None,
        }
    }
}

/// The slot of a thread, until the [end of the thread](super::end). It has no destructor:
/// registering one allocates with C's `malloc`, and the thread's first use of the slot may come
/// from an allocator in its initialisation.
pub(super) struct OwnSlot(ManuallyDrop<RefCell<Slot>>);

impl OwnSlot {
    const fn new() -> Self {
        OwnSlot(ManuallyDrop::new(RefCell::new(Slot::Unknown)))
    }
}

impl Deref for OwnSlot {
    type Target = RefCell<Slot>;

    fn deref(&self) -> &RefCell<Slot> {
        &self.0
    }
}

/// Ends the calling thread: writes its choices, and records nothing more.
pub fn end_thread() {
    // Writing the choices is not an action of the test.
    let _pause = pause();
    let ended = SLOT.try_with(|slot| {
        let slot = slot.try_borrow_mut();
        slot.map(|mut slot| std::mem::replace(&mut *slot, Slot::Inactive))
    });
    drop(ended);
}

thread_local! {
    pub(super) static SLOT: OwnSlot = const { OwnSlot::new() };
    /// Number of guards that pause this thread because code of this tool runs.
    pub(super) static PAUSES: Cell<u32> = const { Cell::new(0) };
}

/// Runs `f` on the thread's state, unless the thread is inactive, paused, ending, or inside this
/// very function. The state in a forked child may still be its parent's: see [`with_state`].
#[inline]
fn with_inherited_state<R>(f: impl FnOnce(&mut ThreadState) -> R) -> Option<R> {
    if PAUSES.get() > 0 {
        return None;
    }
    SLOT.try_with(|slot| f(slot.try_borrow_mut().ok()?.state()?).into()).ok().flatten()
}

/// Runs `f` as [`with_inherited_state`] does, on a state of this process. A forked child gets it at
/// the first use and not in `fork`, after which it may be unable to allocate.
#[inline]
pub(super) fn with_state<R>(f: impl FnOnce(&mut ThreadState) -> R) -> Option<R> {
    with_inherited_state(|state| {
        if state.is_of_parent() {
            state.begin_forked_child();
        }
        f(state)
    })
}

/// Returns whether this thread is [paused](pause) or inside the engine, so that its calls are not
/// actions of the test.
pub fn is_own_work() -> bool {
    PAUSES.get() > 0 || SLOT.try_with(|slot| slot.try_borrow_mut().is_err()).unwrap_or(false)
}

/// Returns the level of the run that this thread works for, if any.
#[inline]
pub fn level() -> Option<Level> {
    with_inherited_state(|state| state.context.spec.level())
}

/// Records that the thread reached a choice, and returns the data from which it is made. Returns
/// `None` outside a test, while paused, and for a model that is off.
pub(crate) fn reach(
    model: &'static Model,
    family: Family,
    caller: Caller,
    choice: &Choice,
) -> Option<Reached> {
    with_state(|state| state.reach((model, family, caller), None, choice)).flatten()
}

/// Reaches a choice as [`reach`] does, of an order of `len` elements at a place in the source. If
/// `place` is the place of `caller`, the thread remembers the site for it.
pub(crate) fn reach_at(
    model: &'static Model,
    family: Family,
    place: &'static Location<'static>,
    caller: Caller,
    len: u64,
) -> Option<Reached> {
    let place = (caller == Caller::from(place)).then_some(place);
    let choice = Choice::Order { len };
    with_state(|state| state.reach((model, family, caller), place, &choice)).flatten()
}

/// Runs `f` on the state of this thread, if it works for a test.
#[inline]
pub(crate) fn with_thread<R>(f: impl FnOnce(&mut ThreadState) -> R) -> Option<R> {
    with_state(f)
}

/// Returns the hash of this thread's path, if it works for a test. Does not allocate.
pub(crate) fn path_hash() -> Option<u64> {
    with_inherited_state(|state| state.own_path_hash())
}

/// Implements [`choice::table_key`](crate::choice::table_key).
pub(crate) fn table_key(model: &'static Model, caller: Caller) -> Option<u64> {
    with_state(|state| {
        state.keys += 1;
        let id = hash::mix(state.path_hash ^ hash::mix(state.keys));
        let keys = &state.context.shared.keys;
        if keys.are_traced {
            keys.note_creation(model, caller, &state.context.spec.trace);
        }
        id ^ keys.secret
    })
}

/// Notes that an object created here makes a choice of `caller`'s at another place. The stack of
/// the creation then becomes the stack of that choice.
pub fn note_creation(model: &'static Model, caller: Caller) {
    with_inherited_state(|state| {
        let keys = &state.context.shared.keys;
        keys.note_creation(model, caller, &state.context.spec.trace);
    });
}

/// Returns the key of a `RandomState` without the effect of the seed.
pub(crate) fn key_without_seed(table_key: u64) -> u64 {
    let secret = with_inherited_state(|state| state.context.shared.keys.secret)
        .or_else(|| global().map(|context| context.shared.keys.secret));
    table_key ^ secret.unwrap_or(table_key)
}

/// Returns the result of `decide` for the state with this key. If it `is_shared`, all clones of the
/// state use the first result.
pub(crate) fn once(table_key: u64, is_shared: bool, decide: impl FnOnce() -> u64) -> u64 {
    match with_state(|state| Arc::clone(&state.context)) {
        Some(context) => context.shared.keys.once(table_key, is_shared, decide),
        None => decide(),
    }
}

/// Returns how this reading of the environment relates to earlier ones; `None` outside a test.
/// `content` is a hash of what was read.
pub(crate) fn reading(content: u64) -> Option<Reading> {
    with_state(|state| {
        let first = *state.context.shared.environment.get_or_init(|| content);
        let has_read = std::mem::replace(&mut state.has_read_environment, true);
        match (content == first, has_read) {
            (true, false) => Reading::First,
            (true, true) => Reading::Again,
            (false, _) => Reading::Changed,
        }
    })
}

/// Returns whether the spec requests the stacks of these calls.
pub(crate) fn is_traced(model: &Model, family: Family, caller: Caller) -> bool {
    let is_it = |site: &Site| site.is_of(model, family, caller);
    with_inherited_state(|state| state.context.spec.trace.iter().any(is_it)).unwrap_or(false)
}

/// Returns whether this run reports where the elements of a collection were inserted. Such a run is
/// slow.
pub fn traces_elements() -> bool {
    let requests = |spec: &RunSpec| {
        let mut given = spec.given().iter();
        !spec.trace.is_empty() && given.any(|given| matches!(given.choice, GivenChoice::Steps(_)))
    };
    with_inherited_state(|state| requests(&state.context.spec)).unwrap_or(false)
}

/// Records an event of this kind, if this thread works for a test. `fields` receives the path of
/// the thread, and must not use the state of the thread. Does not use the program's allocator.
pub(crate) fn record(kind: &str, fields: impl FnOnce(&str, &mut Object<'_>)) {
    record_if(kind, |_, thread, event| {
        fields(thread, event);
        true
    });
}

/// Records an event as [`record`] does, if `fields` returns true. `fields` also receives the
/// context.
pub(super) fn record_if(
    kind: &str,
    fields: impl FnOnce(&Context, &str, &mut Object<'_>) -> bool,
) -> Option<()> {
    let (context, event) = with_state(|state| {
        let mut is_wanted = false;
        let event = journal::event(kind, &state.test, |event| {
            is_wanted = fields(&state.context, &state.path, event);
        });
        is_wanted.then(|| (Arc::clone(&state.context), event))
    })??;
    let _pause = pause();
    context.journal.append_json(&event);
    Some(())
}

/// Records which code ran, if this thread's run requests it, and returns whether anything was
/// recorded. `covered` writes the fields of a [`CoveredRecord`](crate::CoveredRecord), or returns
/// false if there is no data. Does not use the program's allocator.
pub fn note_covered(covered: impl FnOnce(&mut Object<'_>) -> bool) -> bool {
    let requested = with_inherited_state(|state| {
        let context = Arc::clone(&state.context);
        context.spec.cover.then(|| (context, Arc::clone(&state.test)))
    });
    let Some((context, test)) = requested.flatten() else { return false };
    let _pause = pause();
    context.note_covered(&test, covered)
}

/// Runs `f` on the spec of the run that this thread works for.
pub(super) fn spec<R>(f: impl FnOnce(&RunSpec) -> R) -> Option<R> {
    with_inherited_state(|state| f(&state.context.spec))
}

/// Returns the path of this thread, if it works for a test.
pub(super) fn path() -> Option<hidden::Text> {
    with_state(|state| state.path.clone())
}

/// Keeps the stack of a network operation of this thread, or its new outcome.
pub(super) fn keep_stack(operation: &NetworkOperation) {
    let Some(context) = with_state(|state| Arc::clone(&state.context)) else { return };
    // Only the test's own process reads the stacks, and only under the driver, which gives it one
    // test.
    if context.is_own_process() && context.spec.record.is_some() {
        let _pause = pause();
        context.shared.stacks.note(operation);
    }
}

/// Notes that the test of this thread, if any, uses `source`. Neither allocates nor locks, so that
/// it may be called anywhere, including in a signal handler.
#[inline]
pub fn note_source(source: Source) {
    if PAUSES.try_with(Cell::get).is_ok_and(|pauses| pauses > 0) {
        return;
    }
    let _ = SLOT.try_with(|slot| {
        let Ok(slot) = slot.try_borrow() else { return };
        let context = match &*slot {
            Slot::Active(state) => Some(&state.context),
            Slot::Attending => known().flatten(),
            // Without a harness of this tool, all actions of the process are those of the test.
            Slot::Unknown if !has_harness() => known().flatten(),
            _ => None,
        };
        if let Some(context) = context {
            context.note_source(source);
        }
    });
}

/// Returns a new object identity, made from the thread's path and a count, never from an address.
/// Returns 0 outside a test.
#[inline]
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

/// Pauses the shims on this thread; see [`Pause`].
pub fn pause() -> Pause {
    PAUSES.set(PAUSES.get() + 1);
    Pause(())
}

impl Drop for Pause {
    fn drop(&mut self) {
        PAUSES.set(PAUSES.get().saturating_sub(1));
    }
}

/// Writes the choices of this thread, because the process is about to end.
pub fn flush() {
    with_state(ThreadState::flush);
}

/// Counts a child that this thread is about to fork. Does not allocate.
pub fn before_fork() {
    with_inherited_state(ThreadState::before_fork);
}

/// Marks the state of this thread as that of the [just forked](before_fork) child. Does not
/// allocate.
pub fn after_fork_in_child() {
    with_inherited_state(ThreadState::after_fork_in_child);
}

/// Counts a program that this thread is about to start, and writes the program's value of
/// [`CHILD_VARIABLE`](crate::protocol::spec::CHILD_VARIABLE) into `buffer`. Returns its length, or
/// `None` outside a test or if `buffer` is too small. Does not allocate.
pub fn name_child(buffer: &mut [u8]) -> Option<usize> {
    with_inherited_state(|state| state.name_child(buffer)).flatten()
}

/// Returns whether this is the forked child of a process in which other threads may have been
/// running. One of them may have held the lock of an allocator. Calls that do not allocate by
/// themselves must then not be made to allocate.
pub fn is_forked_beside_threads() -> bool {
    with_inherited_state(|state| state.is_forked_beside_threads).unwrap_or(false)
}

/// Returns the data for random bytes where no choice can be recorded: the thread, and how many
/// times it drew such bytes.
pub(crate) fn unrecorded() -> Option<(u64, u64)> {
    with_inherited_state(ThreadState::unrecorded)
}

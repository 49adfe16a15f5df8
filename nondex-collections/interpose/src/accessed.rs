//! Accesses to what a run watches of files, ports and what the system keeps for a process, seen by
//! the functions that make them.

use ::std::cell::Cell;
use ::std::ffi::c_long;
use ::std::sync::atomic::{AtomicBool, Ordering};

use nondex_core::context::stack::Stack;
use nondex_core::context::system::{Access, Manner, Tell};
use nondex_core::context::{is_forked_beside_threads, level, pause};
use nondex_core::fork_lock::ForkLock;
use nondex_core::hidden::{self, Text};
use nondex_core::{StateId, StateKind};

use crate::{Errno, interrupt, libc, system};

/// How many accesses of a test are kept.
const MAX_ACCESSES: usize = 64;

struct Watched {
    states: hidden::Vec<StateId>,
    accesses: hidden::Vec<(State, Manner)>,
    tell: Option<Tell>,
}

impl Watched {
    const fn nothing() -> Self {
        Watched { states: hidden::vec(), accesses: hidden::vec(), tell: None }
    }
}

/// A part of the state that is accessed: a [`StateId`], as an interposed call knows it.
#[derive(Clone)]
struct State {
    kind: StateKind,
    name: Text,
}

static IS_WATCHING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether this is the own thread of the test whose accesses are kept.
    static IS_OF_TEST: Cell<bool> = const { Cell::new(false) };
}

static WATCHED: ForkLock<Watched> = ForkLock::new(Watched::nothing);

/// Watches those of `states` that functions access, for all threads; `tell` hears of each that is
/// kept.
pub(crate) fn begin(states: &[StateId], tell: Option<Tell>) {
    let states = states.iter().filter(|state| state.kind != StateKind::Static);
    let states = hidden::collect(states.cloned());
    let is_watching = !states.is_empty();
    if let Some(mut watched) = WATCHED.lock() {
        *watched = Watched { states, accesses: hidden::vec(), tell };
    }
    IS_OF_TEST.set(is_watching);
    IS_WATCHING.store(is_watching, Ordering::Relaxed);
}

/// The end of what [`begin`] began: the accesses, in the order in which they happened.
#[expect(clippy::disallowed_types, reason = "asked by the harness")]
pub(crate) fn end() -> Vec<Access> {
    // A test that runs in the middle of this one may still have its moment to come.
    if interrupt::is_interrupting() {
        return take();
    }
    if !IS_WATCHING.swap(false, Ordering::Relaxed) {
        return Vec::new();
    }
    take()
}

#[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "asked by the harness")]
fn take() -> Vec<Access> {
    IS_OF_TEST.set(false);
    let watched = WATCHED.lock();
    let accesses =
        watched.map(|mut watched| ::std::mem::replace(&mut watched.accesses, hidden::vec()));
    let access = |(State { kind, name }, manner): (State, Manner)| Access {
        state: StateId { kind, name: (*name).to_owned() },
        manner,
    };
    accesses.into_iter().flatten().map(access).collect()
}

/// Called by a function that is about to read, or to change if it `writes`, the state of this kind
/// with this name; a path may be relative.
#[inline]
pub(crate) fn accessed(kind: StateKind, writes: bool, name: impl Fn() -> Text) {
    if IS_WATCHING.load(Ordering::Relaxed) {
        note(kind, writes, &name);
    }
}

#[cold]
fn note(kind: StateKind, writes: bool, name: &dyn Fn() -> Text) {
    // Not our own work, and not where memory may not be had.
    if level().is_none() || is_forked_beside_threads() {
        return;
    }
    let _errno = Errno::save();
    let _pause = pause();
    let mut name = name();
    let is_relative = kind == StateKind::File && !name.starts_with('/');
    if is_relative {
        name = in_current_directory(&name);
    }
    let state = State { kind, name };
    let is_wanted = is_watched(&state);
    let in_folder = State { kind: StateKind::Cwd, name: Text::new() };
    // It is searched in the current directory.
    let is_of_folder = is_relative && is_watched(&in_folder);
    if !is_wanted && !is_of_folder {
        return;
    }
    interrupt::about_to_access();
    let (is_next, interrupted) = (interrupt::is_next(), interrupt::is_moment());
    if is_wanted {
        keep(&state, writes, interrupted, is_next);
    }
    if is_of_folder {
        keep(&in_folder, false, interrupted, is_next);
    }
    if interrupted {
        interrupt::stop();
    }
}

/// Whether an access is one to what is watched, of the same kind: a name that is empty means all
/// there are.
fn is_of(watched: &StateId, accessed: &State) -> bool {
    watched.name.is_empty()
        || *watched.name == *accessed.name
        // All variables are read at once.
        || accessed.kind == StateKind::Env && accessed.name.is_empty()
        // A port may be had at several addresses.
        || accessed.kind == StateKind::Port && port(&watched.name) == port(&accessed.name)
}

fn port(address: &str) -> Option<&str> {
    address.rsplit(':').next()
}

/// A relative path as one from the root.
fn in_current_directory(path: &str) -> Text {
    let mut room = [0_u8; libc::PATH_MAX as usize];
    let arguments = [room.as_mut_ptr().addr() as c_long, room.len() as c_long, 0, 0, 0, 0];
    // SAFETY: no more is written than there is room for.
    let len = unsafe { system::call(libc::SYS_getcwd, arguments) };
    let written = usize::try_from(len).unwrap_or(0).saturating_sub(1);
    let mut name = Text::lossy(&room[..written]);
    if !name.is_empty() && !name.ends_with('/') {
        name.push_str("/");
    }
    name.push_str(path);
    name
}

fn is_watched(state: &State) -> bool {
    WATCHED.lock().is_some_and(|watched| {
        let mut wanted = watched.states.iter();
        wanted.any(|one| one.kind == state.kind && is_of(one, state))
    })
}

/// Keeps an access, if there is room for it. Where a thread is to be stopped, only that access
/// counts, and the next one after that.
fn keep(state: &State, writes: bool, interrupted: bool, is_next: bool) {
    let has_room = |watched: &Watched| watched.accesses.len() < MAX_ACCESSES;
    let is_kept = interrupted
        || is_next
        || !interrupt::is_interrupting()
            && WATCHED.lock().is_some_and(|watched| has_room(&watched));
    if !is_kept {
        return;
    }
    let manner = Manner { writes, interrupted, own: IS_OF_TEST.get() };
    let tell = WATCHED.lock().and_then(|mut watched| {
        watched.accesses.push((state.clone(), manner));
        watched.tell
    });
    if let Some(tell) = tell {
        tell(state.kind, &state.name, manner, &Stack::capture());
    }
}

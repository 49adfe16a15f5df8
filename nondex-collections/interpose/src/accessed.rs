//! Accesses to what a run watches of files, ports and what the system keeps for a process, seen by the functions that make them.

use ::std::path::Path;
use ::std::sync::atomic::{AtomicBool, Ordering};

use nondex_core::context::stack::Stack;
use nondex_core::context::system::Access;
use nondex_core::context::{is_forked_beside_threads, level, pause};
use nondex_core::fork_lock::ForkLock;
use nondex_core::{StateId, StateKind};

use crate::{Errno, meeting};

/// How many accesses of a test are kept.
const MAX_ACCESSES: usize = 64;

#[derive(Default)]
struct Watched {
    states: Vec<StateId>,
    accesses: Vec<Access>,
}

static IS_WATCHING: AtomicBool = AtomicBool::new(false);
static WATCHED: ForkLock<Watched> = ForkLock::new(Watched::default);

/// Watches those of `states` that functions access, for all threads.
pub(crate) fn begin(states: &[StateId]) {
    let is_bytes =
        |state: &StateId| matches!(state.kind, StateKind::Static | StateKind::ThreadLocal);
    let states = states.iter().filter(|state| !is_bytes(state));
    let states: Vec<StateId> = states.cloned().collect();
    let is_watching = !states.is_empty();
    if let Some(mut watched) = WATCHED.lock() {
        *watched = Watched {
            states,
            accesses: Vec::new(),
        };
    }
    IS_WATCHING.store(is_watching, Ordering::Relaxed);
}

/// The end of what [`begin`] began: the accesses, in the order in which they happened.
pub(crate) fn end() -> Vec<Access> {
    if !IS_WATCHING.swap(false, Ordering::Relaxed) {
        return Vec::new();
    }
    let watched = WATCHED
        .lock()
        .map(|mut watched| ::std::mem::take(&mut *watched));
    watched.map_or_else(Vec::new, |watched| watched.accesses)
}

/// Called by a function that is about to read, or to change if it `writes`, the state of this kind with this name; a path may be
/// relative.
#[inline]
pub(crate) fn accessed(kind: StateKind, writes: bool, name: impl Fn() -> String) {
    if IS_WATCHING.load(Ordering::Relaxed) {
        note(kind, writes, &name);
    }
}

#[cold]
fn note(kind: StateKind, writes: bool, name: &dyn Fn() -> String) {
    // Not our own work, and not where memory may not be had.
    if level().is_none() || is_forked_beside_threads() {
        return;
    }
    let _errno = Errno::save();
    let _pause = pause();
    let mut name = name();
    let is_relative = kind == StateKind::File && !name.starts_with('/');
    if is_relative {
        let path = ::std::env::current_dir()
            .unwrap_or_default()
            .join(Path::new(&name));
        name = path.to_string_lossy().into_owned();
    }
    let mut is_noted = keep(StateId { kind, name }, writes);
    if is_relative {
        // It is looked for in the current directory.
        let name = String::new();
        let kind = StateKind::Cwd;
        is_noted |= keep(StateId { kind, name }, false);
    }
    if is_noted {
        meeting::reached();
    }
}

/// Whether an access is one to what is watched, of the same kind: a name that is empty means all there are.
fn is_of(watched: &StateId, accessed: &StateId) -> bool {
    let port = |state: &StateId| state.name.rsplit(':').next().map(str::to_owned);
    watched.name.is_empty()
        || watched.name == accessed.name
        // All variables are read at once.
        || accessed.kind == StateKind::Env && accessed.name.is_empty()
        // A port may be had at several addresses.
        || accessed.kind == StateKind::Port && port(watched) == port(accessed)
}

/// Keeps an access, if it is watched. Whether it is.
fn keep(state: StateId, writes: bool) -> bool {
    let is_wanted = WATCHED.lock().is_some_and(|watched| {
        let mut wanted = watched.states.iter();
        watched.accesses.len() < MAX_ACCESSES
            && wanted.any(|one| one.kind == state.kind && is_of(one, &state))
    });
    if is_wanted {
        let stack = Stack::capture();
        if let Some(mut watched) = WATCHED.lock() {
            watched.accesses.push(Access {
                state,
                writes,
                stack,
            });
        }
    }
    is_wanted
}

//! Accesses to watched files, ports and state that the system keeps for a process. They are
//! observed by the functions that make them.

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

/// Maximum number of accesses of a test that are kept.
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

/// Part of the state that an interposed call accesses; the equivalent of a [`StateId`].
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

/// Watches those of `states` that functions access, in all threads. `tell` is called with each
/// access that is kept.
pub(crate) fn begin(states: &[StateId], tell: Option<Tell>) {
    let by_function = states.iter().filter(|state| state.kind != StateKind::Static);
    let states = hidden::collect(by_function.cloned());
    let is_watching = !states.is_empty();
    if let Some(mut watched) = WATCHED.lock() {
        *watched = Watched { states, accesses: hidden::vec(), tell };
    }
    IS_OF_TEST.set(is_watching);
    IS_WATCHING.store(is_watching, Ordering::Relaxed);
}

/// Ends what [`begin`] began. Returns the accesses in the order in which they happened.
#[expect(clippy::disallowed_types, reason = "asked by the harness")]
pub(crate) fn end() -> Vec<Access> {
    // A test that is to run in the middle of this one may not have started yet, so watching goes
    // on.
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

/// Records an access that a function is about to make. The function reads, or changes if it
/// `writes`, the state of this kind with this name. A path may be relative.
#[inline]
pub(crate) fn accessed(kind: StateKind, writes: bool, name: impl Fn() -> Text) {
    if IS_WATCHING.load(Ordering::Relaxed) {
        note(kind, writes, &name);
    }
}

#[cold]
fn note(kind: StateKind, writes: bool, name: &dyn Fn() -> Text) {
    // The tool's own accesses do not count. After a fork in a threaded process no memory may be
    // allocated.
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
    // A relative path also depends on the current directory.
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

/// Returns whether an access is one to a watched state of the same kind. An empty name represents
/// all states of the kind.
fn is_of(watched: &StateId, accessed: &State) -> bool {
    watched.name.is_empty()
        || *watched.name == *accessed.name
        // Some calls read all variables at once.
        || accessed.kind == StateKind::Env && accessed.name.is_empty()
        // A port may be open at several addresses.
        || accessed.kind == StateKind::Port && port(&watched.name) == port(&accessed.name)
}

fn port(address: &str) -> Option<&str> {
    address.rsplit(':').next()
}

/// Makes a relative path absolute.
fn in_current_directory(path: &str) -> Text {
    let mut room = [0_u8; libc::PATH_MAX as usize];
    let arguments = [room.as_mut_ptr().addr() as c_long, room.len() as c_long, 0, 0, 0, 0];
    // SAFETY: at most the length of the buffer is written.
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

/// Keeps an access, if there is room for it. If a thread is to be interrupted, only the access
/// there counts, and the next one after it.
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

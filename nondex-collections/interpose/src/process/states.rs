//! State that the tests of a process share: kept before the first test, compared after each, and
//! restored before the last.

use ::std::env;
use ::std::ffi::{OsStr, OsString};
use ::std::path::{Path, PathBuf};

use nondex_core::fork_lock::ForkLock;
use nondex_core::{RunSpec, StateChange, StateId, StateKind};

use crate::{interrupt, libc};

use super::files::{Files, Saved};
use super::image::{Bytes, Image};
use super::surroundings::{self, Room, Surroundings};

/// State at one time.
#[derive(Clone, Debug)]
struct Snapshot {
    bytes: Vec<Bytes>,
    surroundings: Surroundings,
    files: Files,
}

/// Data that is kept for a run.
#[derive(Debug)]
struct Kept {
    image: Image,
    /// Directories whose files are compared.
    roots: Vec<PathBuf>,
    /// Directory of the tool's own files.
    own: Option<PathBuf>,
    first: Snapshot,
    last: Snapshot,
    /// Files that are to be restored, as they were at first.
    saved: Vec<(String, Saved)>,
}

static KEPT: ForkLock<Option<Box<Kept>>> = ForkLock::new(|| None);

fn kept<R>(f: impl FnOnce(&mut Kept) -> R) -> Option<R> {
    let mut kept = KEPT.lock()?;
    kept.as_deref_mut().map(f)
}

impl Snapshot {
    fn take(image: &Image, roots: &[PathBuf], own: Option<&Path>) -> Self {
        // The bytes come last, so that changes by the rest of this function are in every snapshot.
        let surroundings = Surroundings::now();
        let room = Room::make();
        let files = Files::below(roots, own);
        drop(room);
        Snapshot { surroundings, files, bytes: image.bytes() }
    }

    fn changes(&self, image: &Image, after: &Snapshot) -> Vec<StateChange> {
        let mut changes = image.changes(&self.bytes, &after.bytes);
        let (before, texts) = (self.surroundings.texts(), after.surroundings.texts());
        let different = before.differences(&texts);
        changes.extend(different.map(|(state, before, after)| StateChange {
            state: state.clone(),
            before: before.cloned(),
            after: after.cloned(),
        }));
        changes.extend(self.files.changes(&after.files));
        changes
    }
}

/// Takes the first snapshot, before the first test of `spec`.
pub(super) fn mark(spec: &RunSpec) {
    let image = Image::of_process();
    let own = spec.record.as_ref().and_then(|record| record.parent()).map(Path::to_owned);
    let mut roots = Vec::new();
    if spec.records_files() {
        let surroundings = Surroundings::now();
        roots.extend(surroundings.directory().cloned());
        roots.push(::std::env::temp_dir());
        let executable = env::current_exe().unwrap_or_default();
        roots.extend(nondex_core::folder_for_tests(&executable));
        roots.dedup();
    }
    let files = spec.put_back().iter().filter(|state| state.kind == StateKind::File);
    let saved =
        files.map(|state| (state.name.clone(), Saved::of(Path::new(&state.name)))).collect();
    let first = Snapshot::take(&image, &roots, own.as_deref());
    // The other directories have too many entries, and are not recorded.
    roots.retain(|root| first.files.knows(root));
    if let Some(mut kept) = KEPT.lock() {
        *kept = Some(Box::new(Kept { image, roots, own, last: first.clone(), first, saved }));
    }
}

/// Returns the changes since the last call, or since the state was [marked](mark).
pub(super) fn changes() -> Vec<StateChange> {
    let changes = kept(|kept| {
        let now = Snapshot::take(&kept.image, &kept.roots, kept.own.as_deref());
        let changes = kept.last.changes(&kept.image, &now);
        kept.last = now;
        changes
    });
    changes.unwrap_or_default()
}

/// Restores these states to those when the state was [marked](mark).
pub(super) fn restore(states: &[StateId]) {
    kept(|kept| {
        for state in states {
            match state.kind {
                StateKind::Static => {
                    kept.image.restore(state, &kept.first.bytes);
                }
                StateKind::File => {
                    if let Some((_, saved)) =
                        kept.saved.iter().find(|(name, _)| *name == state.name)
                    {
                        saved.restore(Path::new(&state.name));
                    }
                }
                _ => kept.first.surroundings.restore(state),
            }
        }
    });
}

/// One part of the state at one time.
#[derive(Debug)]
enum Part {
    Bytes(Image, Vec<Bytes>),
    Variable(Option<OsString>),
    Directory(Option<PathBuf>),
    Umask(libc::mode_t),
    File(Saved),
}

impl Part {
    /// Takes the present state; `None` for a kind that cannot be kept alone.
    fn of(state: &StateId) -> Option<Self> {
        match state.kind {
            StateKind::Static => {
                let image = Image::of_process();
                let bytes = image.bytes();
                Some(Part::Bytes(image, bytes))
            }
            StateKind::Env => Some(Part::Variable(surroundings::variable(&state.name))),
            StateKind::Cwd => Some(Part::Directory(env::current_dir().ok())),
            StateKind::Umask => Some(Part::Umask(surroundings::umask())),
            StateKind::File => Some(Part::File(Saved::of(Path::new(&state.name)))),
            _ => None,
        }
    }

    fn put_back(&self, state: &StateId) {
        match self {
            Part::Bytes(image, bytes) => image.restore(state, bytes),
            Part::Variable(value) => {
                surroundings::set_variable(OsStr::new(&state.name), value.as_deref());
            }
            Part::Directory(Some(directory)) => _ = env::set_current_dir(directory),
            Part::Directory(None) => {}
            // SAFETY: the call involves no memory.
            Part::Umask(umask) => _ = unsafe { libc::umask(*umask) },
            Part::File(saved) => saved.restore(Path::new(&state.name)),
        }
    }
}

static PARTS: ForkLock<Vec<(StateId, Part)>> = ForkLock::new(Vec::new);

/// Action on parts of the state.
#[derive(Clone, Copy, Debug)]
enum What {
    Keep,
    Restore,
}

/// Action that is repeated before another thread first accesses these states.
static PENDING: ForkLock<Option<(What, Vec<StateId>)>> = ForkLock::new(|| None);

fn now_and_then(what: What, states: &[StateId]) {
    do_with(what, states);
    let is_called = |state: &&StateId| state.bytes().is_none();
    let states: Vec<StateId> = states.iter().filter(is_called).cloned().collect();
    if let Some(mut pending) = PENDING.lock() {
        *pending = Some((what, states));
    }
    interrupt::before_another(|| {
        let pending = PENDING.lock();
        if let Some((what, states)) = pending.and_then(|mut pending| pending.take()) {
            do_with(what, &states);
        }
    });
}

fn do_with(what: What, states: &[StateId]) {
    match what {
        What::Keep => {
            let with_part = |state: &StateId| Some((state.clone(), Part::of(state)?));
            let parts = states.iter().filter_map(with_part).collect();
            if let Some(mut kept) = PARTS.lock() {
                *kept = parts;
            }
        }
        What::Restore => restore(states),
    }
}

/// Keeps these states as they are now, and again as another thread first finds them.
pub(super) fn keep(states: &[StateId]) {
    now_and_then(What::Keep, states);
}

/// Restores these states to the first ones, now and again before another thread first accesses
/// them.
pub(super) fn hide(states: &[StateId]) {
    now_and_then(What::Restore, states);
}

/// Restores the states that were last [kept](keep).
pub(super) fn put_back() {
    if let Some(kept) = PARTS.lock() {
        kept.iter().for_each(|(state, part)| part.put_back(state));
    }
}

//! The state that tests of a process share: kept before the first, compared after each, put back
//! before the last.

use ::std::env;
use ::std::ffi::{OsStr, OsString};
use ::std::path::{Path, PathBuf};

use nondex_core::fork_lock::ForkLock;
use nondex_core::{RunSpec, StateChange, StateId, StateKind};

use crate::{interrupt, libc};

use super::files::{Files, Saved};
use super::image::{Bytes, Image};
use super::surroundings::{self, Room, Surroundings};

/// The state at one time.
#[derive(Clone, Debug)]
struct Snapshot {
    bytes: Vec<Bytes>,
    surroundings: Surroundings,
    files: Files,
}

/// What is kept for a run.
#[derive(Debug)]
struct Kept {
    image: Image,
    /// The directories whose files are looked at.
    roots: Vec<PathBuf>,
    /// Where our own files are.
    own: Option<PathBuf>,
    first: Snapshot,
    last: Snapshot,
    /// The files that are to be put back, as they were at first.
    saved: Vec<(String, Saved)>,
}

static KEPT: ForkLock<Option<Box<Kept>>> = ForkLock::new(|| None);

fn kept<R>(f: impl FnOnce(&mut Kept) -> R) -> Option<R> {
    let mut kept = KEPT.lock()?;
    kept.as_deref_mut().map(f)
}

impl Snapshot {
    fn take(image: &Image, roots: &[PathBuf], own: Option<&Path>) -> Self {
        // The bytes last: what we do ourselves is to be in both of two.
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

/// Keeps the state before the first test of `spec`.
pub(super) fn mark(spec: &RunSpec) {
    let image = Image::of_process();
    let own = spec.record.as_ref().and_then(|record| record.parent());
    let own = own.map(Path::to_owned);
    let mut roots = Vec::new();
    if spec.records_changes() {
        let surroundings = Surroundings::now();
        roots.extend(surroundings.directory().cloned());
        roots.push(::std::env::temp_dir());
        let executable = env::current_exe().unwrap_or_default();
        roots.extend(nondex_core::folder_for_tests(&executable));
        roots.dedup();
    }
    let put_back = spec.put_back().iter();
    let files = put_back.filter(|state| state.kind == StateKind::File);
    let saved = files.map(|state| (state.name.clone(), Saved::of(Path::new(&state.name))));
    let saved = saved.collect();
    let first = Snapshot::take(&image, &roots, own.as_deref());
    // The others will not be recorded.
    roots.retain(|root| first.files.knows(root));
    if let Some(mut kept) = KEPT.lock() {
        *kept = Some(Box::new(Kept { image, roots, own, last: first.clone(), first, saved }));
    }
}

/// What is different since the last call, or since the state was [marked](mark).
pub(super) fn changes() -> Vec<StateChange> {
    let changes = kept(|kept| {
        let now = Snapshot::take(&kept.image, &kept.roots, kept.own.as_deref());
        let changes = kept.last.changes(&kept.image, &now);
        kept.last = now;
        changes
    });
    changes.unwrap_or_default()
}

/// Puts these back to what they were when the state was [marked](mark).
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

/// A part of the state at one time.
#[derive(Debug)]
enum Part {
    Bytes(Image, Vec<Bytes>),
    Variable(Option<OsString>),
    Directory(Option<PathBuf>),
    Umask(libc::mode_t),
    File(Saved),
}

impl Part {
    /// As it is now; `None` of a kind that is not kept alone.
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

/// What is done with parts of the state.
#[derive(Clone, Copy, Debug)]
enum What {
    Keep,
    Restore,
}

/// What is done once more before another thread first accesses these.
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
            let parts = states.iter();
            let parts = parts.filter_map(|state| Some((state.clone(), Part::of(state)?)));
            let parts = parts.collect();
            if let Some(mut kept) = PARTS.lock() {
                *kept = parts;
            }
        }
        What::Restore => restore(states),
    }
}

/// Keeps these as they are now, and as another thread first finds them.
pub(super) fn keep(states: &[StateId]) {
    now_and_then(What::Keep, states);
}

/// Makes these what they were at first, now and when another thread first asks for them.
pub(super) fn hide(states: &[StateId]) {
    now_and_then(What::Restore, states);
}

/// Puts back what was [kept](keep) last.
pub(super) fn put_back() {
    if let Some(kept) = PARTS.lock() {
        kept.iter().for_each(|(state, part)| part.put_back(state));
    }
}

//! Which test a thread works for: the state that every choice is made from.
//!
//! A process has at most one [`Context`] of its own, read from the environment at its first choice. A thread belongs to
//! one test of one context; a thread that it starts through the `thread` shim inherits both, and extends the logical
//! thread path. While a thread is [paused](pause), the tool's own code runs: nothing is chosen or recorded.

use std::cell::RefCell;
use std::hash::Hasher;
use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;

use crate::hash::{self, FixedHasher, FixedState};
use crate::journal::Journal;
use crate::level::Level;
use crate::model::{Family, Model};
use crate::record::{Event, Failure, Frame, PointRecord};
use crate::site::{Caller, Site, portable_path};
use crate::spec::{LEVEL_VARIABLE, RunSpec, SEED_VARIABLE, SPEC_VARIABLE, Selection};

/// One run: what to decide and where to record it.
#[derive(Debug)]
pub struct Context {
    spec: RunSpec,
    journal: Journal,
}

impl Context {
    /// A context for `spec`, which records to the file it names, or in memory.
    #[must_use]
    pub fn new(spec: RunSpec) -> Arc<Self> {
        let journal = Journal::new(spec.record.clone());
        Arc::new(Context { spec, journal })
    }

    /// What this run was asked to do.
    #[must_use]
    pub const fn spec(&self) -> &RunSpec {
        &self.spec
    }

    /// The events kept in memory, when the spec names no file.
    #[must_use]
    pub fn take_events(&self) -> Vec<Event> {
        self.journal.take()
    }

    fn model_is_off(&self, model: &Model, family: Family) -> bool {
        !self.spec.models_off.is_empty() && self.spec.models_off.contains(&model.name(family))
    }
}

static GLOBAL: OnceLock<Option<Arc<Context>>> = OnceLock::new();

/// The context of this process: from [`SPEC_VARIABLE`], or from [`SEED_VARIABLE`] and [`LEVEL_VARIABLE`], or none.
///
/// A variable that cannot be understood ends the process with code 96 and a message on stderr: a run must never
/// silently not happen.
pub fn global() -> Option<&'static Arc<Context>> {
    GLOBAL
        .get_or_init(|| match from_environment() {
            Ok(spec) => spec.map(Context::new),
            Err(message) => {
                eprintln!("nondex: {message}");
                std::process::exit(96);
            }
        })
        .as_ref()
}

/// As [`global`], and removes [`SPEC_VARIABLE`] from the environment, so that a test sees what cargo gives it.
///
/// # Safety
/// The process must have one thread, as before `main`.
#[expect(
    unsafe_code,
    reason = "only the caller knows that no other thread reads the environment"
)]
pub unsafe fn take_global() -> Option<&'static Arc<Context>> {
    let context = global();
    if std::env::var_os(SPEC_VARIABLE).is_some() {
        // SAFETY: the process has one thread, as the caller promises.
        unsafe { std::env::remove_var(SPEC_VARIABLE) }
    }
    context
}

fn from_environment() -> Result<Option<RunSpec>, String> {
    if let Some(text) = std::env::var_os(SPEC_VARIABLE) {
        let text = text
            .to_str()
            .ok_or_else(|| format!("{SPEC_VARIABLE} is not UTF-8"))?;
        return RunSpec::from_json(text)
            .map(Some)
            .map_err(|e| format!("{SPEC_VARIABLE}: {e}"));
    }
    let Some(seed) = std::env::var_os(SEED_VARIABLE) else {
        return Ok(None);
    };
    let seed = seed
        .to_str()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| {
            format!("{SEED_VARIABLE} is {seed:?}, expected a whole number below 2^64")
        })?;
    let level = match std::env::var(LEVEL_VARIABLE) {
        Ok(text) => text
            .parse::<Level>()
            .map_err(|e| format!("{LEVEL_VARIABLE}: {e}"))?,
        Err(std::env::VarError::NotPresent) => Level::Full,
        Err(e) => return Err(format!("{LEVEL_VARIABLE}: {e}")),
    };
    Ok(Some(RunSpec::new("", level, seed)))
}

/// What a choice is made from, once a thread and a site are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reached {
    pub(crate) level: Level,
    pub(crate) seed: u64,
    /// Identity without the ordinal: test, site and thread.
    pub(crate) place: u64,
    /// Which call at this place it is, from 0.
    pub(crate) ordinal: u64,
    /// Whether the spec leaves this choice to the seed.
    pub(crate) made: bool,
}

#[derive(Debug)]
struct SiteState {
    site: Site,
    place: u64,
    made: bool,
    off: bool,
    calls: u64,
    count: u64,
    max_len: u64,
    stack: Vec<Frame>,
}

/// The hash of a thread's path in a test.
pub(crate) fn path_hash(test: &str, path: &str) -> u64 {
    let mut hasher = FixedHasher::default();
    hasher.write(test.as_bytes());
    hasher.write_u8(0);
    hasher.write(path.as_bytes());
    hasher.finish()
}

/// The identity, without the ordinal, of the choices that the thread makes at `site`.
pub(crate) fn place(path_hash: u64, site: &Site) -> u64 {
    hash::mix(path_hash ^ hash::of(site))
}

/// The state of one thread in one test.
#[derive(Debug)]
struct ThreadState {
    context: Arc<Context>,
    test: Arc<str>,
    path: String,
    path_hash: u64,
    spawned: u64,
    objects: u64,
    keys: u64,
    sites: HashMap<(usize, usize, u32, u32, Family), SiteState, FixedState>,
}

impl ThreadState {
    fn new(context: Arc<Context>, test: Arc<str>, path: String) -> Self {
        let path_hash = path_hash(&test, &path);
        ThreadState {
            context,
            test,
            path,
            path_hash,
            spawned: 0,
            objects: 0,
            keys: 0,
            sites: HashMap::with_hasher(FixedState),
        }
    }

    fn reach(
        &mut self,
        model: &'static Model,
        family: Family,
        caller: Caller,
        len: usize,
    ) -> Option<Reached> {
        let key = (
            std::ptr::from_ref(model).addr(),
            caller.file.as_ptr().addr(),
            caller.line,
            caller.column,
            family,
        );
        let state = match self.sites.entry(key) {
            hashbrown::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            hashbrown::hash_map::Entry::Vacant(entry) => {
                let site = Site {
                    api: model.api.to_owned(),
                    family,
                    file: portable_path(caller.file).to_owned(),
                    line: caller.line,
                    column: caller.column,
                };
                let context = &self.context;
                let mut state = SiteState {
                    place: place(self.path_hash, &site),
                    made: context.spec.choices.contains(&site)
                        && family.varies_at(context.spec.level),
                    off: context.model_is_off(model, family),
                    calls: 0,
                    count: 0,
                    max_len: 0,
                    stack: Vec::new(),
                    site,
                };
                if !state.off {
                    if context.spec.trace.contains(&state.site) {
                        state.stack = crate::stack::capture();
                    }
                    context.journal.append(&Event::Site {
                        test: self.test.as_ref().to_owned(),
                        point: PointRecord {
                            site: state.site.clone(),
                            thread: self.path.clone(),
                            count: 1,
                            max_len: len as u64,
                            stack: state.stack.clone(),
                        },
                    });
                }
                entry.insert(state)
            }
        };
        if state.off {
            return None;
        }
        let ordinal = state.calls;
        state.calls += 1;
        state.count += 1;
        state.max_len = state.max_len.max(len as u64);
        Some(Reached {
            level: self.context.spec.level,
            seed: self.context.spec.seed,
            place: state.place,
            ordinal,
            made: state.made,
        })
    }

    /// Writes what this thread did so far and forgets it.
    fn flush(&mut self) {
        let mut points: Vec<PointRecord> = self
            .sites
            .drain()
            .filter(|(_, state)| !state.off && state.count > 0)
            .map(|(_, state)| PointRecord {
                site: state.site,
                thread: self.path.clone(),
                count: state.count,
                max_len: state.max_len,
                stack: state.stack,
            })
            .collect();
        if !points.is_empty() {
            points.sort_unstable();
            self.context.journal.append(&Event::Points {
                test: self.test.as_ref().to_owned(),
                points,
            });
        }
    }
}

impl Drop for ThreadState {
    fn drop(&mut self) {
        self.flush();
    }
}

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

/// As [`reach`], for the keys of hash maps, which are no choice point.
pub(crate) fn map_keys() -> Option<Reached> {
    with_state(|state| {
        let ordinal = state.keys;
        state.keys += 1;
        let spec = &state.context.spec;
        let made = spec.level == Level::Std && !matches!(spec.choices, Selection::None);
        Reached {
            level: spec.level,
            seed: spec.seed,
            place: state.path_hash,
            ordinal,
            made,
        }
    })
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
    let state = ThreadState::new(Arc::clone(context), Arc::from(test), "0".to_owned());
    Entered {
        before: SLOT
            .try_with(|slot| slot.replace(Slot::Active(Box::new(state))))
            .ok(),
    }
}

impl Entered {
    /// Notes that the test's own thread panicked.
    pub fn panicked(test: &str, context: &Context, failure: Failure) {
        context.journal.append(&Event::Panic {
            test: test.to_owned(),
            failure,
        });
    }

    /// Ends the test with its outcome.
    pub fn end(self, context: &Context, test: &str, failure: Option<Failure>, passed: bool) {
        drop(self);
        context.journal.append(&Event::End {
            test: test.to_owned(),
            passed,
            failure,
        });
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

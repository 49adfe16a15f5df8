//! What one thread did in one test so far, and what its next choice is made from.

use std::fmt::Write;
use std::hash::Hasher;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use super::run::Context;
use super::stack;
use super::text::Text;
use crate::catalogue::{Family, Level, Model};
use crate::hash::{self, FixedHasher, FixedState};
use crate::protocol::choice::Choice;
use crate::protocol::event::Event;
use crate::protocol::point::{ChoiceRecord, PointRecord};
use crate::protocol::schedule::Schedule;
use crate::protocol::selection::Selected;
use crate::protocol::site::{Caller, Frame, Site};
use crate::protocol::spec::GivenChoice;

/// So many choices of a thread are listed one by one.
const MAX_LISTED: usize = 64;

/// What a choice is made from, once a thread and a site are known.
#[derive(Clone, Debug)]
pub(crate) struct Reached {
    pub(crate) level: Level,
    pub(crate) seed: u64,
    pub(crate) schedule: Schedule,
    /// Identity without the ordinal: test, site and thread.
    pub(crate) place: u64,
    /// Which call at this place it is, from 0.
    pub(crate) ordinal: u64,
    /// Whether the spec leaves this choice to the seed.
    pub(crate) is_selected: bool,
    /// What the spec gives for this call.
    pub(crate) given: Option<Arc<GivenChoice>>,
    /// Whether it is to be [listed](super::list).
    pub(crate) is_listed: bool,
}

#[derive(Debug)]
struct SiteState {
    site: Site,
    place: u64,
    selected: Selected,
    given: Vec<(u64, Arc<GivenChoice>)>,
    off: bool,
    is_traced: bool,
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

/// The identity, without the ordinal, of the choices that a thread makes at a site in a test: see
/// [`ChoiceRecord::place`].
#[must_use]
pub fn place(test: &str, thread: &str, site: &Site) -> u64 {
    place_of(path_hash(test, thread), site)
}

fn place_of(path_hash: u64, site: &Site) -> u64 {
    hash::mix(path_hash ^ hash::of(site))
}

/// How long the path of a child process may be.
const MAX_PATH: usize = 200;

/// The state of one thread in one test.
#[derive(Debug)]
pub(super) struct ThreadState {
    pub(super) context: Arc<Context>,
    pub(super) test: Arc<str>,
    pub(super) path: String,
    pub(super) path_hash: u64,
    pub(super) spawned: u64,
    pub(super) objects: u64,
    pub(super) keys: u64,
    /// The processes that it started or forked.
    processes: u64,
    /// The process that it belongs to.
    pid: u32,
    /// The ordinal of the child that is being forked.
    forking: u64,
    /// What the path of a forked child has after that of its parent, until it has a state of its own.
    forked: Text<64>,
    pub(super) is_forked_beside_threads: bool,
    unrecorded: u64,
    pub(super) has_read_environment: bool,
    choices: Vec<ChoiceRecord>,
    sites: HashMap<(usize, usize, u32, u32, Family), SiteState, FixedState>,
}

/// What the spec gives for calls of a thread at a site.
fn given(context: &Context, site: &Site, thread: &str) -> Vec<(u64, Arc<GivenChoice>)> {
    let given = context.spec.given.iter();
    given
        .filter(|given| given.site == *site && given.thread == thread)
        .map(|given| (given.ordinal, Arc::new(given.choice.clone())))
        .collect()
}

impl ThreadState {
    pub(super) fn new(context: Arc<Context>, test: Arc<str>, path: String) -> Self {
        let path_hash = path_hash(&test, &path);
        ThreadState {
            context,
            test,
            path,
            path_hash,
            spawned: 0,
            objects: 0,
            keys: 0,
            processes: 0,
            pid: std::process::id(),
            forking: 0,
            forked: Text::new(),
            is_forked_beside_threads: false,
            unrecorded: 0,
            has_read_environment: false,
            // Whole, so that a test that counts allocations finds none in the midst of it.
            choices: Vec::with_capacity(MAX_LISTED),
            sites: HashMap::with_hasher(FixedState),
        }
    }

    /// The state of a thread that this one is about to start.
    pub(super) fn of_thread(&mut self) -> Box<Self> {
        let path = format!("{}.{}", self.path, self.spawned);
        self.spawned += 1;
        self.context.threads.fetch_add(1, Ordering::Relaxed);
        let (context, test) = (Arc::clone(&self.context), Arc::clone(&self.test));
        Box::new(ThreadState::new(context, test, path))
    }

    /// Counts a child that is about to be forked.
    pub(super) fn before_fork(&mut self) {
        self.forking = self.processes;
        self.processes += 1;
    }

    /// Makes this the state of the child that was forked, as far as can be without memory.
    pub(super) fn after_fork_in_child(&mut self) {
        self.is_forked_beside_threads |= self.context.threads.load(Ordering::Relaxed) > 0
            || self.context.tests.load(Ordering::Relaxed) > 1;
        self.pid = std::process::id();
        self.processes = 0;
        self.unrecorded = 0;
        let _ = write!(self.forked, "/{}", self.forking);
    }

    /// The state of the forked child that this thread became, if it has none yet.
    pub(super) fn of_forked_child(&self) -> Option<Self> {
        if self.forked.as_bytes().is_empty() {
            return None;
        }
        let path = format!("{}{}", self.path, self.forked.as_str());
        let (context, test) = (Arc::clone(&self.context), Arc::clone(&self.test));
        let mut state = ThreadState::new(context, test, path);
        state.processes = self.processes;
        state.is_forked_beside_threads = self.is_forked_beside_threads;
        state.unrecorded = self.unrecorded;
        Some(state)
    }

    /// See [`name_child`](super::name_child).
    pub(super) fn name_child(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let mut path = Text::<MAX_PATH>::new();
        let ordinal = self.processes;
        self.processes += 1;
        let forked = self.forked.as_str();
        if write!(path, "{}{forked}/{ordinal}", self.path).is_err() {
            // As deep as that, it is known by a hash.
            let hash = hash::of(&(&self.path, forked, ordinal));
            path = Text::new();
            write!(path, "{hash:016x}").ok()?;
        }
        let mut text = Text::<{ MAX_PATH + 16 }>::new();
        write!(text, "{}:{}", self.context.root, path.as_str()).ok()?;
        let text = text.as_bytes();
        buffer.get_mut(..text.len())?.copy_from_slice(text);
        Some(text.len())
    }

    /// See [`unrecorded`](super::unrecorded).
    pub(super) fn unrecorded(&mut self) -> (u64, u64) {
        let ordinal = self.unrecorded;
        self.unrecorded += 1;
        (self.own_path_hash(), ordinal)
    }

    /// The hash of this thread's path, also in a forked child that has no state of its own yet.
    pub(super) fn own_path_hash(&self) -> u64 {
        match self.forked.as_str() {
            "" => self.path_hash,
            forked => hash::mix(self.path_hash ^ hash::of(forked)),
        }
    }

    pub(super) fn reach(
        &mut self,
        model: &'static Model,
        family: Family,
        caller: Caller,
        choice: &Choice,
    ) -> Option<Reached> {
        let key = (
            std::ptr::from_ref(model).addr(),
            caller.file.as_ptr().addr(),
            caller.line,
            caller.column,
            family,
        );
        let state = match self.sites.entry(key) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let site = Site::new(model, family, caller);
                let context = &self.context;
                let mut state = SiteState {
                    place: place_of(self.path_hash, &site),
                    selected: if family.varies(context.spec.level) {
                        context.spec.choices.of(&site, &self.path)
                    } else {
                        Selected::None
                    },
                    given: given(context, &site, &self.path),
                    off: context.model_is_off(model, family),
                    is_traced: false,
                    calls: 0,
                    count: 0,
                    max_len: 0,
                    stack: Vec::new(),
                    site,
                };
                if !state.off {
                    state.is_traced = context.spec.trace.contains(&state.site);
                    if state.is_traced && state.given.is_empty() {
                        let created = context.keys.created(&state.site);
                        state.stack = created.unwrap_or_else(stack::capture);
                    }
                    context.journal.append(&Event::Site {
                        test: self.test.as_ref().to_owned(),
                        point: PointRecord {
                            site: state.site.clone(),
                            thread: self.path.clone(),
                            count: 1,
                            max_len: choice.size(),
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
        state.max_len = state.max_len.max(choice.size());
        let given = state.given.iter().find(|(number, _)| *number == ordinal);
        if state.is_traced && given.is_some() {
            // Of all calls at the site, this is the one that is looked at.
            state.stack = stack::capture();
        }
        Some(Reached {
            level: self.context.spec.level,
            seed: self.context.spec.seed,
            schedule: self.context.spec.schedule,
            place: state.place,
            ordinal,
            is_selected: state.selected.contains(ordinal),
            given: given.map(|(_, choice)| Arc::clone(choice)),
            is_listed: matches!(choice, Choice::Order { .. }) && self.choices.len() < MAX_LISTED,
        })
    }

    pub(super) fn list(&mut self, choice: ChoiceRecord) {
        self.choices.push(choice);
    }

    /// Writes what this thread did so far and forgets it.
    pub(super) fn flush(&mut self) {
        if self.pid != std::process::id() || !self.forked.as_bytes().is_empty() {
            // A forked child does not say again what its parent did.
            self.sites.clear();
            return;
        }
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
                choices: std::mem::take(&mut self.choices),
            });
        }
    }
}

impl Drop for ThreadState {
    fn drop(&mut self) {
        self.flush();
    }
}

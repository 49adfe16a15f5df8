//! The state of one thread in one test, from which its next choice is made.

use std::fmt::Write;
use std::hash::Hasher;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::orders::Orders;
use super::points;
use super::run::Context;
use super::sites::{Reached, SiteState, Sites};
use super::text::Text;
use crate::catalogue::{Family, Model};
use crate::hash::{self, FixedHasher};
use crate::hidden;
use crate::process_number;
use crate::protocol::choice::Choice;
use crate::protocol::point::ChoiceRecord;
use crate::protocol::site::{Caller, Site};
use crate::protocol::source::Source;

/// Maximum number of choices of a thread that are listed individually.
const MAX_LISTED: usize = 64;

/// Returns the hash of a thread's path in a test.
pub(crate) fn path_hash(test: &str, path: &str) -> u64 {
    let mut hasher = FixedHasher::default();
    hasher.write(test.as_bytes());
    hasher.write_u8(0);
    hasher.write(path.as_bytes());
    hasher.finish()
}

/// Returns the identity, without the ordinal, of the choices that a thread makes at a site in a
/// test. See [`ChoiceRecord::place`].
pub fn place(test: &str, thread: &str, site: &Site) -> u64 {
    place_of(path_hash(test, thread), site)
}

fn place_of(path_hash: u64, site: &Site) -> u64 {
    hash::mix(path_hash ^ hash::of(site))
}

/// Maximum length of the path of a child process, in bytes.
const MAX_PATH: usize = 200;

/// The state of one thread in one test.
#[derive(Debug)]
pub(crate) struct ThreadState {
    pub(super) context: Arc<Context>,
    pub(super) test: Arc<str>,
    pub(super) path: hidden::Text,
    pub(super) path_hash: u64,
    pub(super) spawned: u64,
    pub(super) objects: u64,
    pub(super) keys: u64,
    /// Number of processes that the thread started or forked.
    processes: u64,
    /// Number of the process to which this state belongs.
    pid: u32,
    /// Ordinal of the child that is being forked.
    forking: u64,
    /// Suffix that a forked child adds to the path of its parent. Empty once the child has a
    /// separate state.
    forked: Text<64>,
    pub(super) is_forked_beside_threads: bool,
    unrecorded: u64,
    pub(super) has_read_environment: bool,
    choices: hidden::Vec<ChoiceRecord>,
    sites: Sites,
    pub(crate) orders: Orders,
}

impl ThreadState {
    pub(super) fn new(context: Arc<Context>, test: Arc<str>, path: hidden::Text) -> Self {
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
            pid: process_number::of_system(),
            forking: 0,
            forked: Text::new(),
            is_forked_beside_threads: false,
            unrecorded: 0,
            has_read_environment: false,
            choices: hidden::vec(),
            sites: Sites::new(),
            orders: Orders::new(),
        }
    }

    /// Returns the state of a thread that this thread is about to start.
    pub(super) fn of_thread(&mut self) -> hidden::Box<Self> {
        let path = hidden::Text::of(format_args!("{}.{}", &*self.path, self.spawned));
        self.spawned += 1;
        self.context.note_source(Source::Thread);
        self.context.shared.threads.fetch_add(1, Ordering::Relaxed);
        let (context, test) = (Arc::clone(&self.context), Arc::clone(&self.test));
        hidden::boxed(ThreadState::new(context, test, path))
    }

    /// Counts a child that is about to be forked.
    pub(super) fn before_fork(&mut self) {
        self.forking = self.processes;
        self.processes += 1;
        self.context.note_source(Source::Child);
    }

    /// Marks this state as that of the forked child. Does not allocate;
    /// [`begin_forked_child`](Self::begin_forked_child) does the rest.
    pub(super) fn after_fork_in_child(&mut self) {
        self.is_forked_beside_threads |= self.context.shared.threads.load(Ordering::Relaxed) > 0
            || self.context.shared.tests.load(Ordering::Relaxed) > 1;
        self.pid = process_number::of_system();
        self.processes = 0;
        self.unrecorded = 0;
        let _ = write!(self.forked, "/{}", self.forking);
    }

    /// Returns whether this thread became a forked child that has no separate state yet.
    #[inline]
    pub(super) fn is_of_parent(&self) -> bool {
        !self.forked.is_empty()
    }

    /// Replaces the state copied from the parent by a separate state of the forked child.
    #[cold]
    pub(super) fn begin_forked_child(&mut self) {
        let path = hidden::Text::of(format_args!("{}{}", &*self.path, self.forked.as_str()));
        let (context, test) = (Arc::clone(&self.context), Arc::clone(&self.test));
        let mut state = ThreadState::new(context, test, path);
        state.processes = self.processes;
        state.is_forked_beside_threads = self.is_forked_beside_threads;
        state.unrecorded = self.unrecorded;
        // The parent writes its own choices; dropping the copied state would write them again.
        std::mem::forget(std::mem::replace(self, state));
    }

    /// Implements [`name_child`](super::name_child).
    pub(super) fn name_child(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let mut path = Text::<MAX_PATH>::new();
        let ordinal = self.processes;
        self.processes += 1;
        self.context.note_source(Source::Child);
        let forked = self.forked.as_str();
        if write!(path, "{}{forked}/{ordinal}", &*self.path).is_err() {
            // The path is too long, so a hash of it identifies the child.
            let hash = hash::of(&(&*self.path, forked, ordinal));
            path = Text::new();
            write!(path, "{hash:016x}").ok()?;
        }
        let mut text = Text::<{ MAX_PATH + 16 }>::new();
        write!(text, "{}:{}", self.context.root, path.as_str()).ok()?;
        let bytes = text.as_bytes();
        buffer.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(bytes.len())
    }

    /// Implements [`unrecorded`](super::unrecorded).
    pub(super) fn unrecorded(&mut self) -> (u64, u64) {
        let ordinal = self.unrecorded;
        self.unrecorded += 1;
        (self.own_path_hash(), ordinal)
    }

    /// Returns the hash of this thread's path, also in a forked child without a separate state.
    pub(super) fn own_path_hash(&self) -> u64 {
        match self.forked.as_str() {
            "" => self.path_hash,
            forked => hash::mix(self.path_hash ^ hash::of(forked)),
        }
    }

    /// Records that the thread reached a site, and returns the data from which its choice is made.
    /// With a `place`, the thread finds the site by that place from now on.
    pub(super) fn reach(
        &mut self,
        (model, family, caller): (&'static Model, Family, Caller),
        place: Option<&'static Location<'static>>,
        choice: &Choice,
    ) -> Option<Reached> {
        let at = match self.sites.find(model, family, caller) {
            Some(at) => at,
            None => {
                let state = SiteState::begin(
                    &self.context,
                    &self.path,
                    self.path_hash,
                    (model, family, caller),
                );
                if !state.is_off() {
                    state.record(&self.context, &self.test, &self.path, choice.size());
                }
                self.sites.add(state)
            }
        };
        if self.sites.get(at).is_off() {
            return None;
        }
        if let Some(place) = place {
            self.sites.remember(place, at);
        }
        let is_order = matches!(choice, Choice::Order { .. });
        Some(self.reach_site(at, choice.size(), is_order))
    }

    /// Reaches a site as [`reach`](ThreadState::reach) does, for an order at a place that the
    /// thread remembers. Returns `None` if it does not remember the place.
    #[inline]
    pub(crate) fn reach_again(
        &mut self,
        model: &'static Model,
        family: Family,
        place: &'static Location<'static>,
        len: u64,
    ) -> Option<Reached> {
        let at = self.sites.recall(model, family, place)?;
        Some(self.reach_site(at, len, true))
    }

    #[inline(always)]
    fn reach_site(&mut self, at: usize, size: u64, is_order: bool) -> Reached {
        let is_listed = is_order && self.choices.len() < MAX_LISTED;
        self.sites.get(at).reach(&self.context, size, is_listed, at)
    }

    /// Notes the data from which the order of a choice is drawn, by its hash.
    #[inline]
    pub(crate) fn note_key(&mut self, reached: &Reached, hash: u64) {
        self.sites.note_key(reached, hash);
    }

    /// Adds a choice to the list.
    pub(crate) fn list(&mut self, choice: ChoiceRecord) {
        self.choices.push(choice);
    }

    /// Writes the choices that this thread made until now, and forgets them.
    pub(super) fn flush(&mut self) {
        if self.pid != process_number::of_system() || self.is_of_parent() {
            // The parent writes its own choices; a forked child must not repeat them.
            self.sites.take();
            return;
        }
        let mut sites = self.sites.take();
        sites.retain(SiteState::was_reached);
        if sites.is_empty() {
            return;
        }
        sites.sort_unstable_by(SiteState::compare);
        let points = sites.iter().map(SiteState::point);
        self.context.journal.record("points", &self.test, |event| {
            points::points(&self.path, points, &self.choices, event);
        });
        self.choices.clear();
    }
}

impl Drop for ThreadState {
    fn drop(&mut self) {
        self.flush();
    }
}

//! The choices of one thread in one test, by site.

use std::cmp::Ordering;
use std::panic::Location;
use std::sync::Arc;

use super::points::{self, Point};
use super::run::Context;
use super::stack::Stack;
use crate::catalogue::{Family, Level, Model};
use crate::hash;
use crate::hidden::{self, Table};
use crate::protocol::choices::GivenChoice;
use crate::protocol::schedule::Schedule;
use crate::protocol::selection::Selected;
use crate::protocol::site::{Caller, Site, portable_path};

/// The data from which a choice is made, once its thread and site are known.
#[derive(Clone, Debug)]
pub(crate) struct Reached {
    pub(crate) level: Level,
    pub(crate) seed: u64,
    pub(crate) schedule: Schedule,
    /// Identity without the ordinal: test, site and thread.
    pub(crate) place: u64,
    /// Ordinal of the call at this place, from 0.
    pub(crate) ordinal: u64,
    /// Whether the spec lets the seed decide this choice.
    pub(crate) is_selected: bool,
    /// The choice that the spec gives for this call.
    pub(crate) given: Option<Arc<GivenChoice>>,
    /// Whether the ordered elements have names.
    pub(crate) is_of_names: bool,
    /// Whether the choice is to be [listed](super::ThreadState::list).
    pub(crate) is_listed: bool,
    /// Position of the site among those of the thread.
    pub(crate) at: usize,
}

/// State of a thread at one site.
#[derive(Debug)]
pub(super) struct SiteState {
    model: &'static Model,
    family: Family,
    caller: Caller,
    place: u64,
    selected: Selected,
    given: hidden::Vec<(u64, Arc<GivenChoice>)>,
    off: bool,
    is_traced: bool,
    calls: u64,
    max_len: u64,
    keys: u64,
    stack: Stack,
}

impl SiteState {
    /// Creates the state of a site that a thread reaches for the first time.
    #[cold]
    pub(super) fn begin(
        context: &Context,
        thread: &str,
        path_hash: u64,
        (model, family, caller): (&'static Model, Family, Caller),
    ) -> Self {
        let spec = &context.spec;
        let is_site = |site: &Site| site.is_of(model, family, caller);
        let given = spec
            .given()
            .iter()
            .zip(&context.given)
            .filter(|(given, _)| given.thread == thread && is_site(&given.site));
        let mut state = SiteState {
            model,
            family,
            caller,
            place: hash::mix(path_hash ^ Site::hash_of(model, family, caller)),
            selected: spec.selected_of(is_site, family, thread),
            given: hidden::collect(
                given.map(|(given, choice)| (given.ordinal, Arc::clone(choice))),
            ),
            off: context.model_is_off(model, family)
                || !spec.files.have(family, portable_path(caller.file)),
            is_traced: spec.trace.iter().any(is_site),
            calls: 0,
            max_len: 0,
            keys: 0,
            stack: Stack::default(),
        };
        if state.is_traced && !state.off && state.given.is_empty() {
            state.stack = state.capture(context);
        }
        state
    }

    /// Returns the stack of a call. If the creation of its object or thread was noted, that stack
    /// takes precedence.
    fn capture(&self, context: &Context) -> Stack {
        let call = (self.model, self.family, self.caller);
        context.shared.keys.created(call).unwrap_or_else(Stack::capture)
    }

    /// Returns the choice that the spec gives for this call, and captures its stack on request. The
    /// stack of this call is the one to report for the site.
    #[cold]
    fn give(&mut self, ordinal: u64, context: &Context) -> Option<Arc<GivenChoice>> {
        let (_, choice) = self.given.iter().find(|(number, _)| *number == ordinal)?;
        let choice = Arc::clone(choice);
        if self.is_traced {
            self.stack = self.capture(context);
        }
        Some(choice)
    }

    /// Returns whether the model is off, so that nothing is recorded.
    pub(super) const fn is_off(&self) -> bool {
        self.off
    }

    /// Counts a call of this size, and returns the data from which its choice is made. `at` is the
    /// position of this site among those of the thread.
    #[inline(always)]
    pub(super) fn reach(
        &mut self,
        context: &Context,
        size: u64,
        is_listed: bool,
        at: usize,
    ) -> Reached {
        let ordinal = self.calls;
        self.calls += 1;
        self.max_len = self.max_len.max(size);
        let given = if self.given.is_empty() { None } else { self.give(ordinal, context) };
        Reached {
            level: context.spec.level(),
            seed: context.spec.seed(),
            schedule: context.spec.schedule(),
            place: self.place,
            ordinal,
            is_selected: self.selected.contains(ordinal),
            given,
            is_of_names: matches!(self.family, Family::Directory | Family::Environment),
            is_listed,
            at,
        }
    }

    /// Returns whether the site has calls to record.
    pub(super) const fn was_reached(&self) -> bool {
        !self.off && self.calls > 0
    }

    /// Returns the record of the site.
    pub(super) fn point(&self) -> Point<'_> {
        Point {
            api: self.model.api,
            family: self.family,
            caller: self.caller,
            count: self.calls,
            max_len: self.max_len,
            keys: self.keys,
            stack: &self.stack,
        }
    }

    /// Compares two sites by their place in the list of a thread's points.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let key = |state: &Self| {
            let Caller { file, line, column } = state.caller;
            let place = (state.model.api, state.family, portable_path(file));
            (place, line, column, state.calls, state.max_len)
        };
        key(self).cmp(&key(other))
    }

    /// Records that a thread reached the site for the first time.
    #[cold]
    pub(super) fn record(&self, context: &Context, test: &str, thread: &str, size: u64) {
        let point = Point { count: 1, max_len: size, keys: 0, ..self.point() };
        context.journal.record("site", test, |event| {
            event.object("point", |object| points::point(thread, &point, object));
        });
    }
}

/// State of a thread at all sites.
#[derive(Debug)]
pub(super) struct Sites {
    all: hidden::Vec<SiteState>,
    /// Positions in `all`, by the key of a call.
    index: Table<u32>,
    /// Cache of the sites at a few recent places.
    recent: [Option<Recent>; RECENT],
}

/// A place and the site of its calls.
#[derive(Clone, Copy, Debug)]
struct Recent {
    place: &'static Location<'static>,
    model: &'static Model,
    family: Family,
    at: u32,
}

/// Maximum number of places in the cache.
const RECENT: usize = 16;

impl Sites {
    pub(super) const fn new() -> Self {
        Sites { all: hidden::vec(), index: hidden::table(), recent: [None; RECENT] }
    }

    /// Returns the position of the site of these calls. Calls are identified by address, so one
    /// site may have several states.
    pub(super) fn find(
        &self,
        model: &'static Model,
        family: Family,
        caller: Caller,
    ) -> Option<usize> {
        let is_it = |&at: &u32| {
            let state = &self.all[at as usize];
            std::ptr::eq(state.model, model)
                && state.family == family
                && std::ptr::eq(state.caller.file.as_ptr(), caller.file.as_ptr())
                && (state.caller.line, state.caller.column) == (caller.line, caller.column)
        };
        let found = self.index.find(Sites::hash(model, family, caller), is_it)?;
        Some(*found as usize)
    }

    /// Returns a hash of the key of a call.
    fn hash(model: &'static Model, family: Family, caller: Caller) -> u64 {
        let addresses =
            std::ptr::from_ref(model).addr() ^ caller.file.as_ptr().addr().rotate_left(20);
        let place = u64::from(caller.line) << 20 ^ u64::from(caller.column) ^ (family as u64) << 56;
        hash::mix(addresses as u64 ^ place.rotate_left(32))
    }

    /// Adds a site that [`find`](Self::find) did not find, and returns its position.
    pub(super) fn add(&mut self, state: SiteState) -> usize {
        let hash = |state: &SiteState| Sites::hash(state.model, state.family, state.caller);
        let (own, at) = (hash(&state), self.all.len());
        self.all.push(state);
        let again = |&at: &u32| hash(&self.all[at as usize]);
        self.index.insert_unique(own, at as u32, again);
        at
    }

    /// Returns the site at a position.
    #[inline]
    pub(super) fn get(&mut self, at: usize) -> &mut SiteState {
        &mut self.all[at]
    }

    /// Notes the data from which the order of a reached choice is drawn, by its hash.
    #[inline]
    pub(super) fn note_key(&mut self, reached: &Reached, hash: u64) {
        // The sites may have been forgotten since: the data may be computed by the elements' code.
        if let Some(state) = self.all.get_mut(reached.at) {
            state.keys |= 1 << (hash >> 58);
        }
    }

    /// Returns the slot of the cache for a place.
    #[inline]
    fn slot(place: &'static Location<'static>) -> usize {
        std::ptr::from_ref(place).addr() / align_of::<Location<'_>>() % RECENT
    }

    /// Remembers the site of the calls at a place. May evict another place.
    pub(super) fn remember(&mut self, place: &'static Location<'static>, at: usize) {
        let state = &self.all[at];
        self.recent[Sites::slot(place)] =
            Some(Recent { place, model: state.model, family: state.family, at: at as u32 });
    }

    /// Returns the position of the site of these calls, if the cache has it.
    #[inline]
    pub(super) fn recall(
        &self,
        model: &'static Model,
        family: Family,
        place: &'static Location<'static>,
    ) -> Option<usize> {
        let recent = self.recent[Sites::slot(place)].as_ref()?;
        let is_it = std::ptr::eq(recent.place, place)
            && std::ptr::eq(recent.model, model)
            && recent.family == family;
        is_it.then_some(recent.at as usize)
    }

    /// Forgets all sites, and returns their states.
    pub(super) fn take(&mut self) -> hidden::Vec<SiteState> {
        std::mem::replace(self, Sites::new()).all
    }
}

#[cfg(test)]
mod tests;

//! What one thread did in one test so far, and what its next choice is made from.

use std::fmt::{self, Write};
use std::hash::Hasher;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hashbrown::hash_table::Entry;

use super::run::Context;
use super::stack;
use super::text::Text;
use crate::catalogue::{Family, Level, Model};
use crate::hash::{self, FixedHasher};
use crate::hidden::{self, Table};
use crate::json;
use crate::protocol::choice::Choice;
use crate::protocol::event::Event;
use crate::protocol::point::{ChoiceRecord, PointRecord};
use crate::protocol::schedule::Schedule;
use crate::protocol::selection::Selected;
use crate::protocol::site::{Caller, Frame, Site, portable_path};
use crate::protocol::source::Source;
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

/// What a thread did at one site.
#[derive(Debug)]
struct SiteState {
    model: &'static Model,
    family: Family,
    caller: Caller,
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

impl SiteState {
    /// The state of a site that a thread reaches for the first time.
    #[cold]
    fn begin(
        context: &Context,
        thread: &str,
        path_hash: u64,
        (model, family, caller): (&'static Model, Family, Caller),
    ) -> Self {
        let spec = &context.spec;
        let is_site = |site: &Site| site.is_of(model, family, caller);
        let given = spec.given.iter();
        let given = given.filter(|given| given.thread == thread && is_site(&given.site));
        let mut state = SiteState {
            model,
            family,
            caller,
            place: hash::mix(path_hash ^ Site::hash_of(model, family, caller)),
            selected: if family.varies(spec.level) && spec.schedule.chooses(family) {
                spec.choices.of_call(is_site, thread)
            } else {
                Selected::None
            },
            given: given
                .map(|given| (given.ordinal, Arc::new(given.choice.clone())))
                .collect(),
            off: context.model_is_off(model, family),
            is_traced: spec.trace.iter().any(is_site),
            calls: 0,
            count: 0,
            max_len: 0,
            stack: Vec::new(),
        };
        if state.is_traced && !state.off && state.given.is_empty() {
            state.stack = state.capture(context);
        }
        state
    }

    /// The stack of a call: where its object or its thread was created, when that was noted.
    fn capture(&self, context: &Context) -> Vec<Frame> {
        let created = context.shared.keys.created(&self.site());
        created.unwrap_or_else(stack::capture)
    }

    fn site(&self) -> Site {
        Site::new(self.model, self.family, self.caller)
    }

    /// Records that a thread reached it for the first time.
    #[cold]
    fn record(&self, context: &Context, test: &str, thread: &str, size: u64) {
        let is_written = self.stack.is_empty()
            && first_reach(test, thread, self, size)
                .is_ok_and(|line| context.journal.append_line(line.as_str()));
        if !is_written {
            context.journal.append(&Event::Site {
                test: test.to_owned(),
                point: PointRecord {
                    site: self.site(),
                    thread: thread.to_owned(),
                    count: 1,
                    max_len: size,
                    stack: self.stack.clone(),
                },
            });
        }
    }

    /// Whether it is of these calls, by address: one site may have several states.
    #[inline]
    fn is_of(&self, model: &'static Model, family: Family, caller: Caller) -> bool {
        std::ptr::eq(self.model, model)
            && self.family == family
            && std::ptr::eq(self.caller.file.as_ptr(), caller.file.as_ptr())
            && (self.caller.line, self.caller.column) == (caller.line, caller.column)
    }

    /// A hash of what [`is_of`](SiteState::is_of) looks at.
    #[inline]
    fn hash(model: &'static Model, family: Family, caller: Caller) -> u64 {
        let addresses =
            std::ptr::from_ref(model).addr() ^ caller.file.as_ptr().addr().rotate_left(20);
        let place = u64::from(caller.line) << 20 ^ u64::from(caller.column) ^ (family as u64) << 56;
        hash::mix(addresses as u64 ^ place.rotate_left(32))
    }
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

/// The event of a thread that reaches a site for the first time, a whole line of the record file. A test may count what it
/// allocates, so this takes no memory; it fails when there is too much to say.
fn first_reach(
    test: &str,
    thread: &str,
    state: &SiteState,
    size: u64,
) -> Result<Text<2048>, fmt::Error> {
    let mut line = Text::new();
    let text = &mut line;
    text.write_str(r#"{"event":"site","test":"#)?;
    json::string(test, text)?;
    text.write_str(r#","point":{"site":{"api":"#)?;
    json::string(state.model.api, text)?;
    let Caller {
        file,
        line: row,
        column,
    } = state.caller;
    write!(text, r#","family":"{}","file":"#, state.family.name())?;
    json::string(portable_path(file), text)?;
    write!(text, r#","line":{row},"column":{column}}},"thread":"#)?;
    json::string(thread, text)?;
    writeln!(text, r#","count":1,"max_len":{size}}}}}"#)?;
    Ok(line)
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
    choices: hidden::Vec<ChoiceRecord>,
    sites: Table<SiteState>,
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
            choices: hidden::vec(),
            sites: Table::new_in(std::alloc::System),
        }
    }

    /// The state of a thread that this one is about to start.
    pub(super) fn of_thread(&mut self) -> Box<Self> {
        let path = format!("{}.{}", self.path, self.spawned);
        self.spawned += 1;
        self.context.note_source(Source::Thread);
        self.context.shared.threads.fetch_add(1, Ordering::Relaxed);
        let (context, test) = (Arc::clone(&self.context), Arc::clone(&self.test));
        Box::new(ThreadState::new(context, test, path))
    }

    /// Counts a child that is about to be forked.
    pub(super) fn before_fork(&mut self) {
        self.forking = self.processes;
        self.processes += 1;
        self.context.note_source(Source::Child);
    }

    /// Makes this the state of the child that was forked, as far as can be without memory.
    pub(super) fn after_fork_in_child(&mut self) {
        self.is_forked_beside_threads |= self.context.shared.threads.load(Ordering::Relaxed) > 0
            || self.context.shared.tests.load(Ordering::Relaxed) > 1;
        self.pid = std::process::id();
        self.processes = 0;
        self.unrecorded = 0;
        let _ = write!(self.forked, "/{}", self.forking);
    }

    /// Whether this thread became a forked child, and has no state of its own yet.
    #[inline]
    pub(super) fn is_of_parent(&self) -> bool {
        !self.forked.as_bytes().is_empty()
    }

    /// Makes this the state of the forked child that this thread became.
    #[cold]
    pub(super) fn begin_forked_child(&mut self) {
        let path = format!("{}{}", self.path, self.forked.as_str());
        let (context, test) = (Arc::clone(&self.context), Arc::clone(&self.test));
        let mut state = ThreadState::new(context, test, path);
        state.processes = self.processes;
        state.is_forked_beside_threads = self.is_forked_beside_threads;
        state.unrecorded = self.unrecorded;
        // What it did belongs to the parent.
        std::mem::forget(std::mem::replace(self, state));
    }

    /// See [`name_child`](super::name_child).
    pub(super) fn name_child(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let mut path = Text::<MAX_PATH>::new();
        let ordinal = self.processes;
        self.processes += 1;
        self.context.note_source(Source::Child);
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
        let hash = SiteState::hash(model, family, caller);
        let is_it = |state: &SiteState| state.is_of(model, family, caller);
        let again = |state: &SiteState| SiteState::hash(state.model, state.family, state.caller);
        let state = match self.sites.entry(hash, is_it, again) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let state = SiteState::begin(
                    &self.context,
                    &self.path,
                    self.path_hash,
                    (model, family, caller),
                );
                if !state.off {
                    state.record(&self.context, &self.test, &self.path, choice.size());
                }
                entry.insert(state).into_mut()
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
            state.stack = state.capture(&self.context);
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
        if self.pid != std::process::id() || self.is_of_parent() {
            // A forked child does not say again what its parent did.
            self.sites.clear();
            return;
        }
        let mut points: Vec<PointRecord> = self
            .sites
            .drain()
            .filter(|state| !state.off && state.count > 0)
            .map(|state| PointRecord {
                site: state.site(),
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
                choices: self.choices.drain(..).collect(),
            });
        }
    }
}

impl Drop for ThreadState {
    fn drop(&mut self) {
        self.flush();
    }
}

#[cfg(test)]
mod tests;

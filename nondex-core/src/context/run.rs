//! One run in one process: what to decide, and where to record it.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "made before `main`, and asked by the harness"
)]

use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use super::failures::Failures;
use super::inheritance::Child;
use super::journal::{self, Journal};
use super::keys::Keys;
use super::numbered;
use super::stack::Stack;
use super::stacks::Stacks;
use super::system::{Manner, Others};
use super::written;
use crate::catalogue::{Family, Model};
use crate::hash;
use crate::hidden::Text;
use crate::json::Object;
use crate::process_number;
use crate::protocol::choices::GivenChoice;
use crate::protocol::event::Event;
use crate::protocol::fork::{ForkRecord, Forks};
use crate::protocol::network::NetworkRecord;
use crate::protocol::network::fold::{Seen, fold};
use crate::protocol::source::Source;
use crate::protocol::spec::RunSpec;
use crate::protocol::state::{AccessRecord, StateChange, StateId, StateKind};

/// One run: what to decide and where to record it.
#[derive(Debug)]
pub struct Context {
    pub(super) spec: RunSpec,
    /// The name of the test of the spec, for threads that nobody named.
    pub(super) test: Arc<str>,
    /// The choices that the spec gives, in its order.
    pub(super) given: Vec<Arc<GivenChoice>>,
    pub(super) journal: Arc<Journal>,
    /// Where the forks of this process append their events. It is opened before the first test,
    /// which may leave no descriptor free.
    forks: Option<Arc<Journal>>,
    /// The path of the main thread: empty in the test's own process, see
    /// [`inheritance`](super::inheritance).
    pub(super) process: String,
    /// The number of the test's own process.
    pub(super) root: u32,
    /// The number of this process; another one in a forked child.
    pub(super) pid: u32,
    /// What goes on in a fork that runs a test.
    pub(super) shared: Arc<Shared>,
}

/// What the tests of a process share about their runs.
#[derive(Debug)]
pub(super) struct Shared {
    /// How many threads were started.
    pub(super) threads: AtomicU32,
    /// How many threads that no shim saw start have asked for anything.
    unseen: AtomicU32,
    /// How many tests run.
    pub(super) tests: AtomicU32,
    /// The [bits](Source::bit) of what the test used that no choice controls.
    sources: AtomicU8,
    pub(super) stacks: Stacks,
    pub(super) failures: Failures,
    pub(super) keys: Keys,
    /// The content of the environment as it was read first.
    pub(super) environment: OnceLock<u64>,
}

impl Context {
    /// A context for `spec`, which records to the file it names, or in memory.
    pub fn new(mut spec: RunSpec) -> Arc<Self> {
        let process = process_number::of_system();
        spec.execution.states_mut().for_each(|state| numbered::place(state, process));
        Context::of_process(spec, String::new(), process)
    }

    pub(super) fn of_child(child: Child) -> Arc<Self> {
        Context::of_process(child.spec, child.path, child.root)
    }

    fn of_process(spec: RunSpec, process: String, root: u32) -> Arc<Self> {
        let journal = Journal::new(spec.record.as_deref());
        let forks = forks_record(&spec).map(|record| Arc::new(Journal::new(Some(&record))));
        let shared = Shared {
            keys: Keys::new(&spec),
            environment: OnceLock::new(),
            threads: AtomicU32::new(0),
            unseen: AtomicU32::new(0),
            tests: AtomicU32::new(0),
            sources: AtomicU8::new(0),
            stacks: Stacks::default(),
            failures: Failures::default(),
        };
        Arc::new(Context {
            test: Arc::from(spec.test.as_str()),
            given: given(&spec),
            spec,
            journal: Arc::new(journal),
            forks,
            process,
            root,
            pid: process_number::of_system(),
            shared: Arc::new(shared),
        })
    }

    /// The context of this process, a fork of the one with this context, in which the test of
    /// `spec` runs as if it ran in that one: a separate process for a test.
    pub(super) fn of_fork(&self, spec: RunSpec) -> Arc<Self> {
        let pid = process_number::of_system();
        Arc::new(Context {
            journal: Arc::clone(self.forks.as_ref().unwrap_or(&self.journal)),
            forks: None,
            test: Arc::from(spec.test.as_str()),
            given: given(&spec),
            spec,
            process: self.process.clone(),
            root: pid,
            pid,
            shared: Arc::clone(&self.shared),
        })
    }

    /// Whether this is the test's own process, whose end is the test's end.
    pub fn is_own_process(&self) -> bool {
        self.process.is_empty() && self.pid == process_number::of_system()
    }

    /// Notes that a test uses `source`.
    pub(super) fn note_source(&self, source: Source) {
        let noted = self.shared.sources.fetch_or(source.bit(), Ordering::Relaxed);
        if source == Source::Child && noted & source.bit() == 0 {
            // Recorded at once, because the test may not come to its end: a program records
            // nothing.
            self.note_written(None);
        }
    }

    /// What was noted since the last call.
    pub(super) fn take_sources(&self) -> Vec<Source> {
        Source::of(self.shared.sources.swap(0, Ordering::Relaxed))
    }

    /// Records what the test used, unless this is a child of it. Takes no memory of the program's.
    pub(super) fn record_sources(&self) {
        let sources = self.shared.sources.swap(0, Ordering::Relaxed);
        if sources == 0 || !self.is_own_process() {
            return;
        }
        self.journal.record_end("sources", &self.test, |event| {
            event.list("sources", Source::within(sources), |source, text| {
                text.quote(source.name());
            });
        });
    }

    /// The path of the thread of `test`. In a child process several may run at once: they are known
    /// by their names.
    pub(super) fn test_thread(&self, test: &str) -> Text {
        match self.process.as_str() {
            "" => Text::from("0"),
            process => Text::of(format_args!("{process}.t{:08x}", hash::of(test) as u32)),
        }
    }

    /// The test that what `test` does is recorded for: where a test has started an executable of
    /// tests, the former.
    pub(super) fn whose<'a>(&'a self, test: &'a str) -> &'a str {
        match self.process.as_str() {
            "" => test,
            _ => &self.spec.test,
        }
    }

    /// The path of a thread that no shim saw start: `?`, then `?1`.
    pub(super) fn unseen_thread(&self) -> Text {
        match self.shared.unseen.fetch_add(1, Ordering::Relaxed) {
            0 => Text::of(format_args!("{}?", self.process)),
            number => Text::of(format_args!("{}?{number}", self.process)),
        }
    }

    /// The request of this run.
    pub const fn spec(&self) -> &RunSpec {
        &self.spec
    }

    /// Records that this process may have written what is at this path, or anything, if the spec
    /// asks for that.
    pub(super) fn note_written(&self, path: Option<&str>) {
        if self.spec.writes {
            written::append(&self.journal, &self.spec.test, path);
        }
    }

    /// The events kept in memory, when the spec names no file.
    #[inline]
    pub fn take_events(&self) -> Vec<Event> {
        self.journal.take()
    }

    /// Records that the tests of this process have ended and forks begin. The driver applies other
    /// time limits from then on.
    pub fn note_forks(&self) {
        if let Some(forks) = &self.forks {
            forks.append_json("");
        }
    }

    /// Says how the fork that has just ended did so, after its events.
    pub fn note_fork(&self, fork: ForkRecord) {
        if let Some(forks) = &self.forks {
            forks.append(&Event::Forked { test: self.spec.test.clone(), fork });
        }
    }

    /// Says what the scheduler did in `test`: the fields of a
    /// [`ScheduleRecord`](crate::ScheduleRecord). Takes no memory of the program's.
    pub fn note_schedule(&self, test: &str, fields: impl FnOnce(&mut Object<'_>)) {
        self.journal.record_end("schedule", test, |event| {
            event.object("schedule", fields);
        });
    }

    /// Says what `test` has left changed.
    pub fn note_states(&self, test: &str, mut changes: Vec<StateChange>) {
        for StateChange { state, .. } in &mut changes {
            state.name = numbered::name(state.kind, &state.name, self.pid).to_string();
        }
        self.journal.append(&Event::States { test: test.to_owned(), changes });
    }

    /// Says that `test` has read or changed the part of the state of this kind with this name.
    /// Takes no memory of the program's.
    pub fn note_access(
        &self,
        test: &str,
        (kind, name): (StateKind, &str),
        manner: Manner,
        stack: &Stack,
    ) {
        let name = numbered::name(kind, name, self.pid);
        self.journal.record("access", test, |event| {
            event.object("access", |object| {
                object
                    .object("state", |object| {
                        object.string("kind", kind.name()).string("name", &name);
                    })
                    .boolean("writes", manner.writes);
                stack.write("stack", object);
                object.flag("own", manner.own).flag("interrupted", manner.interrupted);
            });
        });
    }

    /// Says that accesses of `test` to this part of the state cannot be seen.
    pub fn note_unseen(&self, test: &str, state: &StateId) {
        self.journal.append(&Event::Access {
            test: test.to_owned(),
            access: AccessRecord {
                state: state.clone(),
                writes: false,
                stack: Vec::new(),
                unseen: true,
                own: true,
                interrupted: false,
            },
        });
    }

    /// Says which code `test` has run: `covered` writes the fields of a
    /// [`CoveredRecord`](crate::CoveredRecord), unless nothing is known. Takes no memory of the
    /// program's. Whether anything was written.
    pub fn note_covered(&self, test: &str, covered: impl FnOnce(&mut Object<'_>) -> bool) -> bool {
        let mut is_known = false;
        let event = journal::event("covered", test, |event| {
            event.object("covered", |object| is_known = covered(object));
        });
        if is_known {
            self.journal.append_json(&event);
        }
        is_known
    }

    /// Says that no forks are made, and why.
    pub fn note_unforked(&self, others: Others) {
        self.journal.append(&Event::Unforked {
            test: self.spec.test.clone(),
            threads: others.threads,
            has_children: others.has_children,
        });
    }

    /// The record to which forks append their events; `None` when there are none, or nothing is
    /// written.
    pub fn forks_record(&self) -> Option<PathBuf> {
        forks_record(&self.spec)
    }

    /// How many events are kept in memory.
    pub fn kept(&self) -> usize {
        self.journal.len()
    }

    /// The operations of a test on other machines, when the spec names no file.
    #[inline]
    pub fn network_of(&self, test: &str) -> Vec<NetworkRecord> {
        self.network_since(0, test)
    }

    /// The operations of threads that work for no test in particular, when the spec names neither a
    /// test nor a file: those with something to say since that many events were
    /// [kept](Context::kept).
    #[inline]
    pub fn network_of_nobody(&self, since: usize) -> Vec<NetworkRecord> {
        self.network_since(since, "")
    }

    #[inline]
    fn network_since(&self, since: usize, name: &str) -> Vec<NetworkRecord> {
        fold(self.journal.kept().into_iter().skip(since).filter_map(|event| match event {
            Event::Network { test, id, socket, network } if test == name => {
                Some(Seen::Operation(id, socket, network))
            }
            Event::Received { test, socket } if test == name => Some(Seen::Received(socket)),
            _ => None,
        }))
    }

    pub(super) fn model_is_off(&self, model: &Model, family: Family) -> bool {
        !self.spec.models_off.is_empty() && self.spec.models_off.contains(&model.name(family))
    }
}

/// What a spec gives, made before a thread asks for it: that may be in an interposed call.
fn given(spec: &RunSpec) -> Vec<Arc<GivenChoice>> {
    spec.given().iter().map(|given| given.choice.clone()).map(Arc::new).collect()
}

fn forks_record(spec: &RunSpec) -> Option<PathBuf> {
    Some(spec.record.as_ref().filter(|_| spec.forks().is_some())?.with_extension(Forks::RECORD))
}

//! The context of one run in one process.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "made before `main`, and asked by the harness"
)]

use std::path::PathBuf;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};
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

/// One run: which choices to make, and where to record them.
#[derive(Debug)]
pub struct Context {
    pub(super) spec: RunSpec,
    /// Name of the test in the spec, used for threads that entered no test.
    pub(super) test: Arc<str>,
    /// The choices that the spec gives, in the order of the spec.
    pub(super) given: Vec<Arc<GivenChoice>>,
    pub(super) journal: Arc<Journal>,
    /// Journal to which the forks of this process append their events. It is opened before the
    /// first test, because a test may use up all descriptors.
    forks: Option<Arc<Journal>>,
    /// Path of the main thread; empty in the test's own process, see
    /// [`inheritance`](super::inheritance).
    pub(super) process: String,
    /// Process number of the test's own process.
    pub(super) root: u32,
    /// Number of this process; a forked child has a different one.
    pub(super) pid: u32,
    /// State common to all tests of the process. A fork that runs a test continues with it.
    pub(super) shared: Arc<Shared>,
}

/// State that the tests of a process share.
#[derive(Debug)]
pub(super) struct Shared {
    /// Number of threads started.
    pub(super) threads: AtomicU32,
    /// Number of threads that used the context although no shim saw them start.
    unseen: AtomicU32,
    /// Number of tests that are running.
    pub(super) tests: AtomicU32,
    /// [Bits](Source::bit) of the sources of nondeterminism that the test used and no choice
    /// controls.
    sources: AtomicU16,
    pub(super) stacks: Stacks,
    pub(super) failures: Failures,
    pub(super) keys: Keys,
    /// Hash of the environment at its first reading.
    pub(super) environment: OnceLock<u64>,
}

impl Context {
    /// Creates a context for `spec`. It records to the file that the spec names, or in memory.
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
            sources: AtomicU16::new(0),
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

    /// Creates the context of a fork that runs the test of `spec` alone. `self` is the context that
    /// the process was forked with. The test runs as if it were in the original process.
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

    /// Returns whether this is the test's own process, whose end is the end of the test.
    pub fn is_own_process(&self) -> bool {
        self.process.is_empty() && self.pid == process_number::of_system()
    }

    /// Notes that a test uses `source`.
    pub(super) fn note_source(&self, source: Source) {
        let noted = self.shared.sources.fetch_or(source.bit(), Ordering::Relaxed);
        if source == Source::Child && noted & source.bit() == 0 {
            // The process may be replaced by another program, which records nothing, so record this
            // now.
            self.note_written(None);
        }
    }

    /// Returns the sources noted since the last call, and forgets them.
    pub(super) fn take_sources(&self) -> Vec<Source> {
        Source::of(self.shared.sources.swap(0, Ordering::Relaxed))
    }

    /// Records the sources that the test used, also in a forked child, but not in another program.
    /// Does not use the program's allocator.
    pub(super) fn record_sources(&self) {
        let sources = self.shared.sources.swap(0, Ordering::Relaxed);
        if sources == 0 || !self.process.is_empty() {
            return;
        }
        self.journal.record_end("sources", &self.test, |event| {
            event.list("sources", Source::within(sources), |source, text| {
                text.quote(source.name());
            });
        });
    }

    /// Returns the path of the thread of `test`. Several such threads may run at once in a child
    /// process, so there the name of the test identifies them.
    pub(super) fn test_thread(&self, test: &str) -> Text {
        match self.process.as_str() {
            "" => Text::from("0"),
            process => Text::of(format_args!("{process}.t{:08x}", hash::of(test) as u32)),
        }
    }

    /// Returns the test under which the actions of `test` are recorded. In a test executable that
    /// another test started, that is the other test.
    pub(super) fn recorded_test<'a>(&'a self, test: &'a str) -> &'a str {
        match self.process.as_str() {
            "" => test,
            _ => &self.spec.test,
        }
    }

    /// Returns the path of a thread that no shim saw start: `?` for the first one, then `?1`.
    pub(super) fn unseen_thread(&self) -> Text {
        match self.shared.unseen.fetch_add(1, Ordering::Relaxed) {
            0 => Text::of(format_args!("{}?", self.process)),
            number => Text::of(format_args!("{}?{number}", self.process)),
        }
    }

    /// Returns the spec of this run.
    pub const fn spec(&self) -> &RunSpec {
        &self.spec
    }

    /// Records that this process may have written the file at `path`, or any file without a path.
    /// Does so only if the spec requests it.
    pub(super) fn note_written(&self, path: Option<&str>) {
        if self.spec.writes {
            written::append(&self.journal, &self.spec.test, path);
        }
    }

    /// Returns the events kept in memory, if the spec names no file, and forgets them.
    #[inline]
    pub fn take_events(&self) -> Vec<Event> {
        self.journal.take()
    }

    /// Records that the tests of this process have ended and that forks follow. The driver then
    /// applies different time limits.
    pub fn note_forks(&self) {
        if let Some(forks) = &self.forks {
            forks.append_json("");
        }
    }

    /// Records how the latest fork ended, after the events of that fork.
    pub fn note_fork(&self, fork: ForkRecord) {
        if let Some(forks) = &self.forks {
            forks.append(&Event::Forked { test: self.spec.test.clone(), fork });
        }
    }

    /// Records the actions of the scheduler in `test`: the fields of a
    /// [`ScheduleRecord`](crate::ScheduleRecord). Does not use the program's allocator.
    pub fn note_schedule(&self, test: &str, fields: impl FnOnce(&mut Object<'_>)) {
        self.journal.record_end("schedule", test, |event| {
            event.object("schedule", fields);
        });
    }

    /// Records the state that `test` changed and did not restore.
    pub fn note_states(&self, test: &str, mut changes: Vec<StateChange>) {
        for StateChange { state, .. } in &mut changes {
            state.name = numbered::name(state.kind, &state.name, self.pid).to_string();
        }
        self.journal.append(&Event::States { test: test.to_owned(), changes });
    }

    /// Records that `test` read or changed the part of the state with this kind and name. Does not
    /// use the program's allocator.
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

    /// Records that accesses of `test` to this part of the state cannot be observed.
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

    /// Records which code `test` ran, and returns whether anything was recorded. `covered` writes
    /// the fields of a [`CoveredRecord`](crate::CoveredRecord), or returns false if there is no
    /// data. Does not use the program's allocator.
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

    /// Records that this process cannot fork, and why.
    pub fn note_unforked(&self, others: Others) {
        self.journal.append(&Event::Unforked {
            test: self.spec.test.clone(),
            threads: others.threads,
            has_children: others.has_children,
        });
    }

    /// Returns the path of the record to which forks append their events. Returns `None` if the run
    /// has no forks or is not recorded to a file.
    pub fn forks_record(&self) -> Option<PathBuf> {
        forks_record(&self.spec)
    }

    /// Returns the number of events kept in memory.
    pub fn kept(&self) -> usize {
        self.journal.len()
    }

    /// Returns the network operations of a test, if the spec names no file.
    #[inline]
    pub fn network_of(&self, test: &str) -> Vec<NetworkRecord> {
        self.network_since(0, test)
    }

    /// Returns the network operations of threads that work for no particular test. The spec must
    /// name neither a test nor a file. Only events after the first `since` [kept](Context::kept)
    /// ones count.
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

/// Returns the choices that a spec gives. They are prepared before a thread needs them, because the
/// thread may then be in an interposed call.
fn given(spec: &RunSpec) -> Vec<Arc<GivenChoice>> {
    spec.given().iter().map(|given| given.choice.clone()).map(Arc::new).collect()
}

fn forks_record(spec: &RunSpec) -> Option<PathBuf> {
    Some(spec.record.as_ref().filter(|_| spec.forks().is_some())?.with_extension(Forks::RECORD))
}

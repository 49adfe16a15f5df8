//! Trace of the threads' operations, one after the other, in the few runs that are shown to users.
//!
//! The stack of an operation is stored as return addresses. The reader of the record resolves them
//! in the executable.

use ::std::ffi::{CStr, c_char, c_int};
use ::std::io::Write;
use ::std::sync::atomic::{AtomicU64, Ordering};

use nondex_core::hidden::{self, Text};
use nondex_core::{ScheduledTest, StateKind, json};

use super::kernel::{self, NAME};
use super::lock::Lock;
use super::shared::LEASE;
use super::thread::Ref;
use super::{Busy, Operation};
use crate::{libc, origin};

/// Number of operations until now.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// Number of the first operation that is kept: infinite, unless the spec requests a trace.
static FIRST: AtomicU64 = AtomicU64::new(u64::MAX);

static KEPT: Lock<Kept> = Lock::new(Kept::new());

/// Maximum length in bytes of a descriptor's name.
const LINK: usize = 512;

/// Object of an operation.
#[derive(Clone, Copy)]
pub(super) enum Object {
    Nothing,
    /// A place in memory.
    Address(usize),
    /// The thread that is started or joined.
    Thread(Ref),
    /// A part of the process's state, and whether it is written.
    State(StateKind, bool, *const c_char),
    /// An open file, pipe or socket, and whether it is written to.
    Descriptor(c_int, bool),
}

/// Trace of a run: a ring buffer of operations, and the data to which they refer.
pub(super) struct Kept {
    /// Maximum number of operations that are kept.
    most: usize,
    threads: hidden::Vec<Lane>,
    /// Hash of each stack, sorted, and the stack's index.
    known: hidden::Vec<(u64, u32)>,
    stacks: hidden::Vec<hidden::Vec<u64>>,
    names: hidden::Vec<hidden::Vec<u8>>,
    operations: hidden::Vec<Done>,
    /// Number of operations before the oldest one that is kept.
    skipped: u64,
    /// Index of the oldest operation.
    oldest: usize,
}

struct Lane {
    thread: Ref,
    /// Number of threads that had had the thread's place, including this one.
    life: u32,
    path: Text,
    name: Option<[u8; NAME]>,
}

#[derive(Clone, Copy, Default)]
struct Done {
    thread: u32,
    operation: &'static str,
    writes: bool,
    address: Option<usize>,
    name: Option<u32>,
    other: Option<u32>,
    found: Option<u64>,
    left: Option<u64>,
    length: Option<u64>,
    time: u64,
    unwinds: bool,
    stack: u32,
}

/// Starts to count operations, and to keep them if the run requests it.
pub(super) fn begin(test: &ScheduledTest) {
    COUNT.store(0, Ordering::Relaxed);
    if test.operations > 0 {
        let mut kept = KEPT.lock();
        kept.most = usize::try_from(test.operations).unwrap_or(usize::MAX);
        kept.skipped = test.skipped;
        FIRST.store(test.skipped, Ordering::Relaxed);
    }
}

/// Counts a look, and returns whether it is kept. No other thread of the test runs meanwhile. Looks
/// of a thread that spins are not kept. The first looks at an unchanging place tell enough, and
/// later ones would push the operations that led there out of the buffer.
#[inline]
pub(super) fn is_look_due(me: Ref) -> bool {
    !me.looks.spins() && is_due()
}

/// Returns whether an operation of this thread is kept, which may be a look.
#[inline]
pub(super) fn is_operation_due(me: Ref, operation: Operation) -> bool {
    if operation == Operation::Yield { is_look_due(me) } else { is_due() }
}

/// Counts an operation that is no look, and returns whether it is kept.
#[inline]
pub(super) fn is_due() -> bool {
    let number = COUNT.load(Ordering::Relaxed);
    COUNT.store(number + 1, Ordering::Relaxed);
    number >= FIRST.load(Ordering::Relaxed)
}

/// Returns the number of operations.
pub(super) fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// Keeps an operation of this thread.
#[cold]
pub(super) fn note(me: Ref, operation: Operation, object: Object) {
    let name = match (operation, object) {
        (Operation::File, Object::State(_, true, _)) => "change",
        (Operation::File, Object::State(_, false, _)) => "read",
        (other, _) => other.name(),
    };
    keep(me, object, Done { operation: name, ..Done::default() });
}

/// Keeps an atomic operation of this thread.
#[cold]
pub(super) fn note_atomic(
    me: Ref,
    operation: &'static str,
    address: usize,
    found: Option<u64>,
    left: Option<u64>,
) {
    let done = Done { operation, writes: left.is_some(), found, left, ..Done::default() };
    keep(me, Object::Address(address), done);
}

/// Keeps a plain access of this thread.
#[cold]
pub(super) fn note_access(me: Ref, operation: &'static str, address: usize, writes: bool) {
    let done = Done { operation, writes, ..Done::default() };
    keep(me, Object::Address(address), done);
}

/// Keeps an injected delay of this thread, or the lateness with which it wakes.
#[cold]
pub(super) fn note_delay(me: Ref, operation: &'static str, length: u64) {
    let done = Done { operation, length: Some(length), ..Done::default() };
    keep(me, Object::Nothing, done);
}

fn keep(me: Ref, object: Object, done: Done) {
    let is_busy = me.is_busy.load(Ordering::Relaxed);
    let _busy = (!is_busy).then(|| Busy::begin(me));
    let mut room = [0; origin::DEPTH];
    let stack = origin::addresses(&mut room);
    let name = object.name();
    let mut kept = KEPT.lock();
    let thread = kept.lane(me);
    let done = Done {
        thread,
        writes: done.writes || object.writes(),
        address: match object {
            Object::Address(address) => Some(address),
            _ => None,
        },
        name: name.map(|name| kept.named(name)),
        other: match object {
            Object::Thread(other) => Some(kept.lane(other)),
            _ => None,
        },
        time: LEASE.now(),
        unwinds: ::std::thread::panicking(),
        stack: kept.stack(stack),
        ..done
    };
    kept.push(done);
}

impl Object {
    const fn writes(self) -> bool {
        matches!(self, Object::State(_, true, _) | Object::Descriptor(_, true))
    }

    /// Returns the name of a part of the state, after its kind, or of the object at a
    /// descriptor.
    fn name(self) -> Option<hidden::Vec<u8>> {
        let mut name = hidden::vec();
        match self {
            Object::State(kind, _, text) => {
                name.extend_from_slice(kind.name().as_bytes());
                name.push(b':');
                if !text.is_null() {
                    // SAFETY: the caller passes the name of this state as a C string.
                    name.extend_from_slice(unsafe { CStr::from_ptr(text) }.to_bytes());
                }
            }
            Object::Descriptor(fd, _) => {
                let mut path = hidden::vec();
                let _ = write!(path, "/proc/self/fd/{fd}\0");
                let mut room = [0; LINK];
                // SAFETY: the path ends with NUL, and the link's target is written to a local
                // variable.
                let len =
                    unsafe { libc::readlink(path.as_ptr().cast(), room.as_mut_ptr().cast(), LINK) };
                let link: &[u8] = room.get(..usize::try_from(len).ok()?)?;
                if link.starts_with(b"/") {
                    name.extend_from_slice(b"file:");
                }
                name.extend_from_slice(link);
            }
            Object::Nothing | Object::Address(_) | Object::Thread(_) => return None,
        }
        Some(name)
    }
}

impl Kept {
    const fn new() -> Self {
        Kept {
            most: 0,
            threads: hidden::vec(),
            known: hidden::vec(),
            stacks: hidden::vec(),
            names: hidden::vec(),
            operations: hidden::vec(),
            skipped: 0,
            oldest: 0,
        }
    }

    /// Returns the index of a thread in the trace.
    fn lane(&mut self, thread: Ref) -> u32 {
        let life = thread.life.get();
        let is_it = |lane: &Lane| lane.thread.is(thread) && lane.life == life;
        let at = self.threads.iter().rposition(is_it).unwrap_or_else(|| {
            self.threads.push(Lane { thread, life, path: thread.path(), name: None });
            self.threads.len() - 1
        });
        // A thread receives its name before it runs any code of the program, so the name is final.
        let lane = &mut self.threads[at];
        if thread.number.get() == kernel::thread_number() {
            lane.name = kernel::thread_name();
        }
        at as u32
    }

    fn stack(&mut self, addresses: &[u64]) -> u32 {
        let hash = addresses.iter().fold(0, |hash, address| nondex_core::hash::mix(hash ^ address));
        match self.known.binary_search_by_key(&hash, |(hash, _)| *hash) {
            Ok(at) => self.known[at].1,
            Err(at) => {
                let number = self.stacks.len() as u32;
                let mut stack = hidden::vec();
                stack.extend_from_slice(addresses);
                self.stacks.push(stack);
                self.known.insert(at, (hash, number));
                number
            }
        }
    }

    fn named(&mut self, name: hidden::Vec<u8>) -> u32 {
        let at = self.names.iter().position(|known| *known == name);
        at.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        }) as u32
    }

    fn push(&mut self, done: Done) {
        if self.operations.len() < self.most {
            self.operations.push(done);
            return;
        }
        self.operations[self.oldest] = done;
        self.oldest = (self.oldest + 1) % self.most;
        self.skipped += 1;
    }
}

/// Takes the trace, and stops keeping operations.
pub(super) fn take() -> Option<Kept> {
    let was_on = FIRST.swap(u64::MAX, Ordering::Relaxed) != u64::MAX;
    was_on.then(|| ::std::mem::replace(&mut *KEPT.lock(), Kept::new()))
}

impl Kept {
    /// Writes the fields of a [`Trace`](nondex_core::Trace).
    pub(super) fn write(&self, trace: &mut json::Object<'_>) {
        trace
            .objects("threads", &self.threads, |lane, object| {
                object.string("path", &lane.path);
                if let Some(name) = self.own_name(lane) {
                    object.string("name", &Text::lossy(name));
                }
            })
            .objects("stacks", &self.stacks, |addresses, stack| {
                stack.numbers("addresses", addresses.iter().copied());
            });
        if !self.names.is_empty() {
            trace.list("names", &self.names, |name, text| {
                text.quote(&Text::lossy(name));
            });
        }
        let (newer, older) = self.operations.split_at(self.oldest);
        trace
            .objects("operations", older.iter().chain(newer), Done::write)
            .count("skipped", self.skipped);
    }

    /// Returns the name of a thread, unless it was inherited: a thread without a name has its
    /// parent's.
    fn own_name<'a>(&self, lane: &'a Lane) -> Option<&'a [u8]> {
        let name = lane.name.as_ref()?;
        let (path, _) = lane.path.rsplit_once('.')?;
        let parent = self.threads.iter().find(|other| *other.path == *path)?;
        (parent.name.as_ref() != Some(name)).then(|| kernel::until_nul(name))
    }
}

impl Done {
    fn write(&self, object: &mut json::Object<'_>) {
        let wide = |number: Option<u32>| number.map(u64::from);
        object
            .number("t", self.thread.into())
            .string("o", self.operation)
            .flag("w", self.writes)
            .optional_number("a", self.address.map(|address| address as u64))
            .optional_number("n", wide(self.name))
            .optional_number("j", wide(self.other))
            .optional_number("f", self.found)
            .optional_number("l", self.left)
            .optional_number("d", self.length)
            .number("at", self.time)
            .flag("u", self.unwinds)
            .number("s", self.stack.into());
    }
}

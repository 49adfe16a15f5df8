//! The steps of an interleaving: consecutive operations of a thread at one place in the source.

use std::collections::{BTreeMap, BTreeSet};

use nondex_core::{Frame, Trace, TracedOperation};

use crate::report::judged::function::short;
use crate::report::workspace::Workspace;

/// An object that threads access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SharedObject {
    Address(u64),
    Name(u64),
}

impl SharedObject {
    pub(super) fn of(operation: &TracedOperation) -> Option<Self> {
        operation
            .name
            .map(SharedObject::Name)
            .or_else(|| operation.address.map(SharedObject::Address))
    }
}

/// Consecutive operations of a thread at one place in the source.
#[derive(Debug)]
pub(super) struct ThreadStep {
    pub(super) thread: usize,
    pub(super) place: Option<(String, u32)>,
    pub(super) what: String,
    /// The objects of the step, and whether it changes them.
    pub(super) objects: BTreeMap<SharedObject, bool>,
    /// Threads that the step starts.
    pub(super) starts: BTreeSet<usize>,
    /// The values that an atomic operation in the user's code read and wrote.
    pub(super) found: Option<u64>,
    pub(super) left: Option<u64>,
    pub(super) waits: bool,
    pub(super) sleeps: bool,
    /// Whether the step is part of a global allocator of the user's. The same allocation may be
    /// anywhere, so it seldom explains a failure.
    pub(super) allocates: bool,
    /// Whether the thread is unwinding from a panic.
    pub(super) unwinds: bool,
    pub(super) delay: Option<Delay>,
    /// The virtual time of the last operation.
    pub(super) time: u64,
}

/// A delay of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delay {
    pub(super) length: u64,
    /// Whether the delay is a late wake at the end of a wait.
    pub(super) is_late: bool,
}

/// The relevant contents of a stack: the user's place, and the function called there.
pub(super) struct Own {
    pub(super) place: Option<(String, u32)>,
    pub(super) what: Option<String>,
    pub(super) is_count: bool,
    /// Whether the function is internal to std. The public function may have no frame, since it may
    /// end with a tail call.
    pub(super) is_inner: bool,
    pub(super) allocates: bool,
}

impl Own {
    pub(super) fn of(frames: &[Frame], workspace: &Workspace) -> Self {
        let called = workspace.called(frames);
        let place = workspace.nearest_of_users(&frames[called.len()..]);
        let callee = called.last();
        let is_inner = callee.is_some_and(|callee| callee.function.starts_with("std::sys::"));
        // Without debug information a function has no name.
        let what = callee.map(|callee| short(&callee.function)).filter(|what| !what.is_empty());
        // The reference counts of `Arc` and `Weak` are irrelevant.
        let counts = |frame: &Frame| frame.file.ends_with("alloc/src/sync.rs");
        let is_count = called.iter().any(counts);
        let allocates = frames.iter().any(|frame| frame.function.contains("GlobalAlloc>::"));
        Own { place, what, is_count, is_inner, allocates }
    }

    /// Returns whether the user's own code calls an atomic operation.
    pub(super) fn is_users_atomic(&self) -> bool {
        let what = self.what.as_deref();
        what.is_some_and(|what| what.starts_with("Atomic"))
    }
}

/// Converts a trace into its relevant steps and delays.
pub(super) fn steps(trace: &Trace, workspace: &Workspace) -> Vec<ThreadStep> {
    let owns: Vec<Own> =
        trace.stacks.iter().map(|stack| Own::of(&stack.frames, workspace)).collect();
    let own = |operation: &TracedOperation| owns.get(usize::try_from(operation.stack).ok()?);
    let mut users: BTreeMap<SharedObject, (BTreeSet<u64>, bool)> = BTreeMap::new();
    for operation in &trace.operations {
        if let Some(object) = SharedObject::of(operation) {
            let (threads, is_changed) = users.entry(object).or_default();
            threads.insert(operation.thread);
            *is_changed |= changes(operation);
        }
    }
    let is_shared = |object: SharedObject| {
        let (threads, is_changed) = &users[&object];
        threads.len() > 1 && *is_changed
    };
    let has_others = trace.threads.len() > 1;
    let mut steps: Vec<ThreadStep> = Vec::new();
    for operation in &trace.operations {
        let Some(own) = own(operation) else { continue };
        let name = operation.operation.as_str();
        let is_delay = operation.length.is_some();
        let object =
            SharedObject::of(operation).filter(|object| is_shared(*object) && !own.is_count);
        let waits = matches!(name, "futex wait" | "pthread wait" | "join");
        let matters = match name {
            "sleep" | "spawn" => true,
            "clock" => !has_others,
            // An atomic that no thread changed may be one that the test expects another thread to
            // change.
            _ => object.is_some() || waits || own.is_users_atomic(),
        };
        if !is_delay && (own.place.is_none() || !matters) {
            continue;
        }
        let thread = usize::try_from(operation.thread).unwrap_or_default();
        let is_inner_clock = name == "clock" && own.is_inner;
        let what = own.what.clone().filter(|_| !is_inner_clock).unwrap_or_else(|| name.to_owned());
        let is_same = |last: &&mut ThreadStep| {
            let place = (&last.place, &last.what) == (&own.place, &what);
            let continues = last.thread == thread && last.unwinds == operation.unwinds;
            continues && place && !is_delay && last.delay.is_none()
        };
        if let Some(step) = steps.last_mut().filter(|last| is_same(last)) {
            step.add(operation, object, waits);
            continue;
        }
        let mut step = ThreadStep {
            thread,
            place: own.place.clone(),
            what,
            objects: BTreeMap::new(),
            starts: BTreeSet::new(),
            found: operation.found.filter(|_| own.is_users_atomic()),
            left: operation.left.filter(|_| own.is_users_atomic()),
            waits,
            sleeps: name == "sleep",
            allocates: own.allocates,
            unwinds: operation.unwinds,
            delay: operation.length.map(|length| Delay { length, is_late: name == "late" }),
            time: operation.time,
        };
        step.add(operation, object, waits);
        steps.push(step);
    }
    steps
}

/// Returns whether an operation changes its object. The memory of a lock of C is changed in libc,
/// where no operation is recorded.
fn changes(operation: &TracedOperation) -> bool {
    operation.writes
        || matches!(&*operation.operation, "futex wake" | "pthread lock" | "pthread wake")
}

impl ThreadStep {
    pub(super) fn add(
        &mut self,
        operation: &TracedOperation,
        object: Option<SharedObject>,
        waits: bool,
    ) {
        if let Some(object) = object {
            *self.objects.entry(object).or_default() |= changes(operation);
        }
        let started = operation.other.filter(|_| operation.operation == "spawn");
        self.starts.extend(started.and_then(|thread| usize::try_from(thread).ok()));
        self.waits = waits;
        self.time = operation.time;
    }

    pub(super) fn touches(&self, object: SharedObject) -> bool {
        self.objects.contains_key(&object)
    }

    pub(super) fn changes(&self, object: SharedObject) -> bool {
        self.objects.get(&object).copied().unwrap_or(false)
    }

    /// Returns whether the step drops an object other than a lock guard.
    pub(super) fn drops(&self) -> bool {
        self.what == "mem::drop" || self.what.starts_with("drop ") && !self.what.ends_with("Guard")
    }
}

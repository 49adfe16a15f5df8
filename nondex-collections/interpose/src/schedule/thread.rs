//! The scheduler's data about a thread.

use ::std::cell::Cell;
use ::std::mem;
use ::std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use nondex_core::hidden::{self, Text};
use nondex_core::scheduler::{Looks, Reads, ThreadId};
use nondex_core::{Caller, hash};

use crate::libc;

pub(crate) use nondex_core::scheduler::Woken;

/// Number of kinds of choices that a thread records once.
pub(super) const MARKS: usize = 10;

/// Condition that the scheduler polls for a waiting thread; see [`wait_for`](super::wait_for).
pub(super) type Condition = *mut dyn FnMut() -> bool;

/// A thread. Its fields may be accessed by the thread itself and by the holder of the lock; atomics
/// by both at once.
pub(super) struct Thread {
    /// Number of the thread in the machine.
    pub(super) id: ThreadId,
    /// Request to the thread while it waits for the run token; a futex.
    pub(super) go: AtomicU32,
    /// Whether the thread runs the tool's own code.
    pub(super) is_busy: AtomicBool,
    pub(super) is_stuck: AtomicBool,
    /// Key that separates its choices from those of all other threads.
    pub(super) key: Cell<u64>,
    pub(super) children: Cell<u64>,
    /// Number of threads that have had this place, including this one.
    pub(super) life: Cell<u32>,
    /// Number of operations that it did while there was another thread.
    pub(super) operations: Cell<u64>,
    /// Whether it has still to record that it has a choice, for each [kind](super::choices).
    pub(super) marks: [Cell<bool>; MARKS],
    /// Call site of its first operation, if it is delayed there.
    pub(super) caller: Cell<Option<Caller>>,
    /// Places that it has read, and number of times that it was about to write one of them. Both
    /// are tracked in runs that aim.
    pub(super) reads: Reads,
    pub(super) acts: Cell<u64>,
    /// Number of times that it was about to wait for another thread.
    pub(super) waits: Cell<u64>,
    /// Number of times that it slept or waited for a time.
    pub(super) timed: Cell<u64>,
    /// Number of times that it was shown a time that could have been an old one.
    pub(super) read: Cell<u64>,
    /// Number of times that it read a clock again while there was no other thread.
    pub(super) read_alone: Cell<u64>,
    /// Its looks, by which the machine notices that it spins.
    pub(super) looks: Looks,
    /// End of the frame in which it last spun; its stack is unused below.
    pub(super) looks_from: Cell<usize>,
    /// Beginning of its stack, which grows downwards.
    pub(super) stack: Cell<usize>,
    /// Expected value of the futex: the thread waits until that changes.
    pub(super) expected: Cell<u32>,
    /// System number of the thread.
    pub(super) number: Cell<i32>,
    pub(super) handle: Cell<libc::pthread_t>,
    /// Whether it was given the processor that all threads share, and still has it.
    pub(super) shares_processor: Cell<bool>,
    pub(super) path: Cell<Option<hidden::Vec<u8>>>,
    /// Number of rounds of destructors at its end.
    pub(super) rounds: Cell<u8>,

    /// Reason why it continued last, set when it got the run token.
    pub(super) woken: Cell<Woken>,
    /// Number of its operations when it was last woken, and the address there.
    pub(super) woken_at: Cell<(u64, usize)>,
    pub(super) condition: Cell<Option<Condition>>,
    pub(super) is_detached: Cell<bool>,

    /// Index among the test's threads, in the order of their starts.
    pub(super) index: Cell<u32>,
    /// Time that a choice has added to the deadline that the thread is about to set.
    pub(super) late: Cell<u64>,
    /// Number in the report at the end of the process.
    pub(super) order: Cell<u64>,
}

/// Reference to a thread. Threads are never freed: a new one reuses the place of an ended one.
pub(super) type Ref = &'static Thread;

// SAFETY: the type's documentation states which threads may access its fields.
unsafe impl Sync for Thread {}

impl Thread {
    pub(super) fn new(id: ThreadId) -> Ref {
        let thread = Thread {
            id,
            go: AtomicU32::new(0),
            is_busy: AtomicBool::new(false),
            is_stuck: AtomicBool::new(false),
            key: Cell::new(0),
            children: Cell::new(0),
            life: Cell::new(0),
            operations: Cell::new(0),
            marks: [const { Cell::new(true) }; MARKS],
            caller: Cell::new(None),
            reads: Reads::new(),
            acts: Cell::new(0),
            waits: Cell::new(0),
            timed: Cell::new(0),
            read: Cell::new(0),
            read_alone: Cell::new(0),
            looks: Looks::new(),
            looks_from: Cell::new(0),
            stack: Cell::new(0),
            expected: Cell::new(0),
            number: Cell::new(0),
            handle: Cell::new(0),
            shares_processor: Cell::new(false),
            path: Cell::new(None),
            rounds: Cell::new(0),
            woken: Cell::new(Woken::Done),
            woken_at: Cell::new((0, 0)),
            condition: Cell::new(None),
            is_detached: Cell::new(false),
            index: Cell::new(0),
            late: Cell::new(0),
            order: Cell::new(0),
        };
        hidden::Box::leak(hidden::boxed(thread))
    }

    /// Reuses this place, whose thread has ended, for a new thread.
    pub(super) fn renew(&'static self, key: u64, path: &str) -> Ref {
        let mut bytes = hidden::vec();
        bytes.extend_from_slice(path.as_bytes());
        self.path.set(Some(bytes));
        self.go.store(0, Ordering::Relaxed);
        self.is_busy.store(false, Ordering::Relaxed);
        self.is_stuck.store(false, Ordering::Relaxed);
        self.key.set(key);
        self.life.set(self.life.get() + 1);
        for count in [
            &self.children,
            &self.operations,
            &self.acts,
            &self.waits,
            &self.timed,
            &self.read,
            &self.read_alone,
        ] {
            count.set(0);
        }
        self.reads.clear();
        for mark in &self.marks {
            mark.set(true);
        }
        self.looks.clear();
        self.looks_from.set(0);
        self.stack.set(0);
        self.number.set(0);
        self.handle.set(0);
        self.caller.set(None);
        self.rounds.set(0);
        self.woken_at.set((0, 0));
        self.condition.set(None);
        self.is_detached.set(false);
        self
    }

    /// Returns the key of this thread's next child.
    pub(super) fn next_child(&self) -> u64 {
        let ordinal = self.children.get() + 1;
        self.children.set(ordinal);
        hash::mix(self.key.get() ^ hash::mix(ordinal))
    }

    /// Sets the condition that the scheduler polls while this thread waits.
    ///
    /// # Safety
    /// The condition must be reset before it is dropped.
    pub(super) unsafe fn set_condition(&self, condition: &mut dyn FnMut() -> bool) {
        let condition: *mut (dyn FnMut() -> bool + '_) = condition;
        // SAFETY: the types differ in a lifetime, which the caller guarantees.
        let condition =
            unsafe { mem::transmute::<*mut (dyn FnMut() -> bool + '_), Condition>(condition) };
        self.condition.set(Some(condition));
    }

    pub(super) fn is(&self, other: &Thread) -> bool {
        ::std::ptr::eq(self, other)
    }

    /// Returns the thread's path, for a record.
    pub(super) fn path(&self) -> Text {
        let path = self.path.take();
        let text = path.as_deref().map(Text::lossy);
        self.path.set(path);
        text.unwrap_or_default()
    }
}

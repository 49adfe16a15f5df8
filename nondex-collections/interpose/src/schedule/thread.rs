//! The scheduler's data about a thread.

use ::std::cell::Cell;
use ::std::mem;
use ::std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use nondex_core::hidden::{self, Text};
use nondex_core::{Caller, hash};

use super::Operation;
use super::reads::Reads;
use super::states::States;
use crate::libc;

/// State of a thread as seen by the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It holds the run token.
    Running,
    /// It could run.
    Ready,
    /// It waits for another thread, for a time, or for a condition that is polled.
    Blocked,
    /// It is in a call that ends outside of the scheduler's control.
    Outside,
    /// It held the run token without progress for so long that others were allowed to run.
    Stuck,
    /// It has ended.
    Ended,
}

/// List that contains a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Nowhere,
    Ready,
    Address,
    Polls,
}

/// Reason why a blocked thread continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// The event that it waited for has happened.
    Done,
    /// Its deadline has passed.
    Time,
    /// The scheduler has ended, so the thread must wait for real.
    Free,
}

/// Number of kinds of choices that a thread records once.
pub(super) const MARKS: usize = 10;

/// Number of *looks*, operations that leave the same few places unchanged, after which the
/// scheduler checks whether a thread spins.
pub(super) const SPIN: u32 = 128;

/// Number of such looks that show that the thread does nothing else.
const SPINNING: u32 = 8 * SPIN;

/// Number of yields that show the same.
const YIELDS: u32 = 256;

/// Condition that the scheduler polls for a waiting thread; see [`wait_for`](super::wait_for).
pub(super) type Condition = *mut dyn FnMut() -> bool;

/// A thread. Its fields may be accessed by the thread itself and by the holder of the lock; atomics
/// by both at once.
pub(super) struct Thread {
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
    /// Whether it was delayed before it reads a clock, which shows the delay.
    pub(super) reads_clock: Cell<bool>,
    /// Number of looks at the same few places since it last did anything else.
    pub(super) idle: Cell<u32>,
    /// The same number at its last reading of a clock.
    pub(super) idle_at_reading: Cell<u32>,
    /// Number of times that any thread had [blocked](super::shared::Shared) at the last check.
    pub(super) looked_since: Cell<u64>,
    pub(super) looked_at: [Cell<usize>; 4],
    /// States in which it was [from time to time](super::recurrence) while it spun, and its number
    /// of looks at the last one.
    pub(super) states: Cell<States>,
    pub(super) seen_at: Cell<u32>,
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

    pub(super) state: Cell<State>,
    pub(super) operation: Cell<Operation>,
    pub(super) address: Cell<usize>,
    pub(super) bits: Cell<u32>,
    pub(super) woken: Cell<Woken>,
    /// Number of its operations when it was last woken, and the address there.
    pub(super) woken_at: Cell<(u64, usize)>,
    /// Whether it was woken and had to wait again.
    pub(super) waits_again: Cell<bool>,
    pub(super) condition: Cell<Option<Condition>>,
    pub(super) is_detached: Cell<bool>,
    pub(super) joiner: Cell<Option<Ref>>,

    pub(super) place: Cell<Place>,
    /// Neighbours in its list.
    pub(super) before: Cell<Option<Ref>>,
    pub(super) after: Cell<Option<Ref>>,
    /// Index among the test's threads, in the order of their starts.
    pub(super) index: Cell<u32>,
    /// Number of [decisions](super::systematic) that it has reached, and number of operations at
    /// the last one that delayed it.
    pub(super) decisions: Cell<u32>,
    pub(super) delayed_at: Cell<Option<u64>>,
    /// Number of all threads' operations at which it was last delayed.
    pub(super) held_at: Cell<u64>,
    pub(super) deadline: Cell<u64>,
    /// Part of the deadline that the tool has added.
    pub(super) late: Cell<u64>,
    pub(super) order: Cell<u64>,
    /// Index among the timers, plus one.
    pub(super) timer: Cell<usize>,
}

/// Reference to a thread. Threads are never freed: a new one reuses the place of an ended one.
pub(super) type Ref = &'static Thread;

// SAFETY: the type's documentation states which threads may access its fields.
unsafe impl Sync for Thread {}

impl Thread {
    pub(super) fn new() -> Ref {
        let thread = Thread {
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
            reads_clock: Cell::new(false),
            idle: Cell::new(0),
            idle_at_reading: Cell::new(0),
            looked_since: Cell::new(0),
            looked_at: [const { Cell::new(0) }; 4],
            states: Cell::new(States::default()),
            seen_at: Cell::new(0),
            looks_from: Cell::new(0),
            stack: Cell::new(0),
            expected: Cell::new(0),
            number: Cell::new(0),
            handle: Cell::new(0),
            shares_processor: Cell::new(false),
            path: Cell::new(None),
            rounds: Cell::new(0),
            state: Cell::new(State::Ready),
            operation: Cell::new(Operation::Start),
            address: Cell::new(0),
            bits: Cell::new(0),
            woken: Cell::new(Woken::Done),
            woken_at: Cell::new((0, 0)),
            waits_again: Cell::new(false),
            condition: Cell::new(None),
            is_detached: Cell::new(false),
            joiner: Cell::new(None),
            place: Cell::new(Place::Nowhere),
            before: Cell::new(None),
            after: Cell::new(None),
            index: Cell::new(0),
            decisions: Cell::new(0),
            delayed_at: Cell::new(None),
            held_at: Cell::new(0),
            deadline: Cell::new(0),
            late: Cell::new(0),
            order: Cell::new(0),
            timer: Cell::new(0),
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
        self.reads_clock.set(false);
        for mark in &self.marks {
            mark.set(true);
        }
        self.idle.set(0);
        self.idle_at_reading.set(0);
        self.states.set(States::default());
        self.seen_at.set(0);
        self.looks_from.set(0);
        self.stack.set(0);
        self.number.set(0);
        self.handle.set(0);
        self.caller.set(None);
        self.decisions.set(0);
        self.delayed_at.set(None);
        self.rounds.set(0);
        self.state.set(State::Ready);
        self.operation.set(Operation::Start);
        self.woken_at.set((0, 0));
        self.waits_again.set(false);
        self.condition.set(None);
        self.is_detached.set(false);
        self.joiner.set(None);
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

    /// Returns whether the thread is delayed.
    pub(super) fn is_held(&self) -> bool {
        self.timer.get() != 0 && self.operation.get() == Operation::Hold
    }

    /// Returns whether the thread waits for another one by spinning.
    pub(super) fn spins(&self) -> bool {
        self.idle.get() >= SPINNING
    }

    /// Returns whether the thread's loop may end after a number of looks. It reads no clock, and
    /// has not spun for longer than such loops do.
    pub(super) fn may_give_up(&self) -> bool {
        (SPINNING..16 * SPINNING).contains(&self.idle_looks())
    }

    /// Returns the number of looks as which a yield counts. A loop may end after some dozens of
    /// yields, although the thread that it waits for is still delayed.
    pub(super) fn looks_of_yield(&self) -> u32 {
        if self.spins() { SPIN / 2 } else { SPINNING / YIELDS }
    }

    /// Returns the number of looks at the same few places since the last reading of a clock, which
    /// advances.
    pub(super) fn idle_looks(&self) -> u32 {
        let idle = self.idle.get();
        match self.idle_at_reading.get() {
            at if at <= idle => idle - at,
            _ => idle,
        }
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

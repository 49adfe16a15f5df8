//! A thread as the scheduler knows it.

use ::std::cell::Cell;
use ::std::mem;
use ::std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use nondex_core::hidden::{self, Text};
use nondex_core::{Caller, hash};

use super::Operation;
use super::reads::Reads;
use super::states::States;
use crate::libc;

/// What a thread does, as far as the others are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It has the run token.
    Running,
    /// It could go on.
    Ready,
    /// It waits for another thread, for a time, or for a condition that can be polled.
    Blocked,
    /// It is in a call that the scheduler does not see the end of.
    Outside,
    /// It had the run token and did nothing with it for so long that others were let go.
    Stuck,
    /// It has ended.
    Ended,
}

/// The list that a thread stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Nowhere,
    Ready,
    Address,
    Polls,
}

/// Why a thread that was blocked goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// What it waited for has happened.
    Done,
    /// Its time has come.
    Time,
    /// The scheduler has ended: it is to wait for real.
    Free,
}

/// Number of kinds of choices that a thread records once.
pub(super) const MARKS: usize = 10;

/// How many looks at the same few places are a thread that waits for another by looking.
pub(super) const SPIN: u32 = 128;

/// How many such looks show that it does nothing else.
const SPINNING: u32 = 8 * SPIN;

/// How many yields do.
const YIELDS: u32 = 256;

/// What a waiting thread asks again and again; see [`wait_for`](super::wait_for).
pub(super) type Question = *mut dyn FnMut() -> bool;

/// A thread. Its fields belong to the thread itself, or to whoever has the lock; atomics to both.
pub(super) struct Thread {
    /// What the thread is requested to do while it waits for the run token; a futex.
    pub(super) go: AtomicU32,
    /// Our own work goes on in it.
    pub(super) is_busy: AtomicBool,
    pub(super) is_stuck: AtomicBool,
    /// Separates its choices from those of all others.
    pub(super) key: Cell<u64>,
    pub(super) children: Cell<u64>,
    /// How many threads had this place before.
    pub(super) life: Cell<u32>,
    /// How many operations it did while there was another thread.
    pub(super) operations: Cell<u64>,
    /// Whether it has still to say that there is something to choose, of each
    /// [kind](super::choices).
    pub(super) marks: [Cell<bool>; MARKS],
    /// What its first operation is known by, if it is delayed there.
    pub(super) caller: Cell<Option<Caller>>,
    /// What it has read, and how often it was about to write what it had read, in the run of a seed
    /// that asks for that.
    pub(super) reads: Reads,
    pub(super) acts: Cell<u64>,
    /// How often it was about to wait for another thread.
    pub(super) waits: Cell<u64>,
    /// How often it slept or waited for a time.
    pub(super) timed: Cell<u64>,
    /// How often it was shown a time that could have been an old one.
    pub(super) read: Cell<u64>,
    /// How often it read a clock again while there was no other thread.
    pub(super) read_alone: Cell<u64>,
    /// Whether it was delayed when it was about to read a clock, which shows that.
    pub(super) reads_clock: Cell<bool>,
    /// How long it has done nothing but look at the same few places.
    pub(super) idle: Cell<u32>,
    /// The same, when it read a clock last.
    pub(super) idle_at_reading: Cell<u32>,
    /// How often any thread had [blocked](super::shared::Shared) at the last call.
    pub(super) looked_since: Cell<u64>,
    pub(super) looked_at: [Cell<usize>; 4],
    /// What it was like [now and then](super::recurrence) while it looked, and how long it had
    /// looked when that was seen last.
    pub(super) states: Cell<States>,
    pub(super) seen_at: Cell<u32>,
    /// Where the frame ended in which it was seen to look, below which its stack has nothing.
    pub(super) looks_from: Cell<usize>,
    /// Where its stack begins, which grows downwards.
    pub(super) stack: Cell<usize>,
    /// The value that it waits for a change of, in a futex.
    pub(super) expected: Cell<u32>,
    /// Its number in the system.
    pub(super) number: Cell<i32>,
    pub(super) handle: Cell<libc::pthread_t>,
    /// Whether it was given the processor that all threads share, and has it still.
    pub(super) shares_processor: Cell<bool>,
    pub(super) path: Cell<Option<hidden::Vec<u8>>>,
    /// How often its key was given back at its end.
    pub(super) rounds: Cell<u8>,

    pub(super) state: Cell<State>,
    pub(super) operation: Cell<Operation>,
    pub(super) address: Cell<usize>,
    pub(super) bits: Cell<u32>,
    pub(super) woken: Cell<Woken>,
    /// The operation at which it was woken last, and from where.
    pub(super) woken_at: Cell<(u64, usize)>,
    /// Whether it was woken and had to wait again.
    pub(super) waits_again: Cell<bool>,
    pub(super) question: Cell<Option<Question>>,
    pub(super) is_detached: Cell<bool>,
    pub(super) joiner: Cell<Option<Ref>>,

    pub(super) place: Cell<Place>,
    /// Who stands before and after it in its list.
    pub(super) before: Cell<Option<Ref>>,
    pub(super) after: Cell<Option<Ref>>,
    /// Which one of the test it is, in the order in which they were started.
    pub(super) index: Cell<u32>,
    /// How many [decisions](super::systematic) it came to, and how many operations there had been
    /// when one held it back last.
    pub(super) decisions: Cell<u32>,
    pub(super) delayed_at: Cell<Option<u64>>,
    /// The operation of all threads at which it was delayed last.
    pub(super) held_at: Cell<u64>,
    pub(super) deadline: Cell<u64>,
    /// How much of it the tool has added.
    pub(super) late: Cell<u64>,
    pub(super) order: Cell<u64>,
    /// Where it stands among the timers, plus one.
    pub(super) timer: Cell<usize>,
}

/// Threads are never given back: another one takes the place of one that has ended.
pub(super) type Ref = &'static Thread;

// SAFETY: the type's documentation states who may access what.
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
            question: Cell::new(None),
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

    /// Makes this one, whose thread has ended, another thread.
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
        self.question.set(None);
        self.is_detached.set(false);
        self.joiner.set(None);
        self
    }

    /// What a child of this thread is known by.
    pub(super) fn next_child(&self) -> u64 {
        let ordinal = self.children.get() + 1;
        self.children.set(ordinal);
        hash::mix(self.key.get() ^ hash::mix(ordinal))
    }

    /// Sets what is requested of this thread while it waits.
    ///
    /// # Safety
    /// The question must be taken back before it ends.
    pub(super) unsafe fn will_ask(&self, question: &mut dyn FnMut() -> bool) {
        let question: *mut (dyn FnMut() -> bool + '_) = question;
        // SAFETY: the types differ in a lifetime, which the caller sees to.
        let question =
            unsafe { mem::transmute::<*mut (dyn FnMut() -> bool + '_), Question>(question) };
        self.question.set(Some(question));
    }

    /// Whether it is delayed.
    pub(super) fn is_held(&self) -> bool {
        self.timer.get() != 0 && self.operation.get() == Operation::Hold
    }

    /// Whether it waits for another one by looking.
    pub(super) fn spins(&self) -> bool {
        self.idle.get() >= SPINNING
    }

    /// Whether its loop may end after a number of looks: it reads no clock, and has not looked for
    /// longer than such loops do.
    pub(super) fn may_give_up(&self) -> bool {
        (SPINNING..16 * SPINNING).contains(&self.idle_looks())
    }

    /// How many looks a yield counts as. A loop may yield some dozens of times and then go on,
    /// although the thread that it waits for is still delayed.
    pub(super) fn looks_of_yield(&self) -> u32 {
        if self.spins() { SPIN / 2 } else { SPINNING / YIELDS }
    }

    /// How long it has looked at the same few places without reading a clock, which goes on.
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

    /// Its path, for a record.
    pub(super) fn path(&self) -> Text {
        let path = self.path.take();
        let text = path.as_deref().map(Text::lossy);
        self.path.set(path);
        text.unwrap_or_default()
    }
}

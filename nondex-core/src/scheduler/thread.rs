//! The machine's data about threads.

use std::ops::{Index, IndexMut};

use crate::hidden;

use super::operation::Operation;

/// Number of a thread's place in a machine. A new thread takes the place of an ended one, if there
/// is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(u32);

impl ThreadId {
    /// Returns the index of the place, from 0.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// State of a thread as seen by the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
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
pub enum Woken {
    /// The event that it waited for has happened.
    Done,
    /// Its deadline has passed.
    Time,
    /// It has handled a signal that another thread sent to it.
    Signal,
    /// The scheduler has ended, so the thread must wait for real.
    Free,
}

/// The machine's data about a thread.
#[derive(Debug)]
pub struct Thread {
    pub(super) state: State,
    pub(super) operation: Operation,
    /// Address at which it waits, and the bits of its wait.
    pub(super) address: usize,
    pub(super) bits: u32,
    pub(super) woken: Woken,
    /// Whether it was woken and had to wait again.
    pub(super) waits_again: bool,
    pub(super) joiner: Option<ThreadId>,
    pub(super) place: Place,
    /// Neighbours in its list.
    pub(super) before: Option<ThreadId>,
    pub(super) after: Option<ThreadId>,
    /// Index among the test's threads, in the order of their starts.
    pub(super) index: u32,
    /// Number of decisions of a systematic run that it has reached, and number of operations at the
    /// last one that delayed it.
    pub(super) decisions: u32,
    pub(super) delayed_at: Option<u64>,
    /// Number of all threads' operations at which it was last delayed.
    pub(super) held_at: u64,
    /// Whether it was delayed before it reads a clock, which shows the delay.
    pub(super) reads_clock: bool,
    pub(super) deadline: u64,
    /// Part of the deadline that a choice has added.
    pub(super) late: u64,
    pub(super) order: u64,
    /// Index among the timers, plus one.
    pub(super) timer: usize,
}

impl Thread {
    const fn new(index: u32) -> Self {
        Thread {
            state: State::Ready,
            operation: Operation::Start,
            address: 0,
            bits: 0,
            woken: Woken::Done,
            waits_again: false,
            joiner: None,
            place: Place::Nowhere,
            before: None,
            after: None,
            index,
            decisions: 0,
            delayed_at: None,
            held_at: 0,
            reads_clock: false,
            deadline: 0,
            late: 0,
            order: 0,
            timer: 0,
        }
    }

    /// Returns whether the thread is delayed.
    pub(super) fn is_held(&self) -> bool {
        self.timer != 0 && self.operation == Operation::Hold
    }

    /// Returns whether the thread waits at an address for this operation.
    pub(super) fn waits_for(&self, operation: Operation) -> bool {
        self.state == State::Blocked && self.operation == operation && self.place == Place::Address
    }
}

/// All threads of a machine.
#[derive(Debug)]
pub struct Threads {
    places: hidden::Vec<Thread>,
    /// Threads that have not ended, in the order of their starts.
    alive: hidden::Vec<ThreadId>,
    /// Places that new threads may take.
    free: hidden::Vec<ThreadId>,
    /// Number of threads that were ever added.
    started: u32,
}

impl Threads {
    pub(super) const fn new() -> Self {
        Threads { places: hidden::vec(), alive: hidden::vec(), free: hidden::vec(), started: 0 }
    }

    /// Adds a thread, in the place that became free last or a new one.
    pub(super) fn add(&mut self) -> ThreadId {
        let thread = Thread::new(self.started);
        self.started += 1;
        let id = match self.free.pop() {
            Some(id) => {
                self[id] = thread;
                id
            }
            None => {
                self.places.push(thread);
                ThreadId(self.places.len() as u32 - 1)
            }
        };
        self.alive.push(id);
        // Room for all threads, so that freeing a place never allocates.
        self.free.reserve(self.alive.len());
        id
    }

    /// Marks a thread as ended.
    pub(super) fn end(&mut self, id: ThreadId) {
        self[id].state = State::Ended;
        self.alive.retain(|other| *other != id);
    }

    /// Frees the place of an ended thread.
    pub(super) fn give_back(&mut self, id: ThreadId) {
        self.free.push(id);
    }

    /// Forgets that any thread is alive, and returns those that are.
    pub(super) fn take_alive(&mut self) -> hidden::Vec<ThreadId> {
        std::mem::replace(&mut self.alive, hidden::vec())
    }

    /// Returns the threads that have not ended, in the order of their starts.
    pub fn alive(&self) -> &[ThreadId] {
        &self.alive
    }

    /// Returns the number of threads that were ever added.
    pub const fn started(&self) -> u32 {
        self.started
    }

    /// Returns the state of a thread.
    pub fn state(&self, id: ThreadId) -> State {
        self[id].state
    }

    /// Returns the operation that a thread is in, if it does not run.
    pub fn operation(&self, id: ThreadId) -> Operation {
        self[id].operation
    }

    /// Returns the address at which a thread waits, or waited last.
    pub fn address(&self, id: ThreadId) -> usize {
        self[id].address
    }

    /// Returns the address at which a thread waits for this operation; `None` if it does not.
    pub fn waits_for(&self, id: ThreadId, operation: Operation) -> Option<usize> {
        let thread = &self[id];
        thread.waits_for(operation).then_some(thread.address)
    }

    /// Returns the index of a thread among all threads, in the order of their starts.
    pub fn number(&self, id: ThreadId) -> u32 {
        self[id].index
    }
}

impl Index<ThreadId> for Threads {
    type Output = Thread;

    fn index(&self, id: ThreadId) -> &Thread {
        &self.places[id.index()]
    }
}

impl IndexMut<ThreadId> for Threads {
    fn index_mut(&mut self, id: ThreadId) -> &mut Thread {
        &mut self.places[id.index()]
    }
}

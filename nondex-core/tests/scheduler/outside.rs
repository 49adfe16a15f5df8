//! The simulated system outside of the threads: real time, children, descriptors. It also knows
//! what each thread waits for, and checks each jump of virtual time.

use nondex_core::scheduler::{Harness, Looks, ThreadId, Threads, World};

use super::program::OBJECTS;

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    /// It runs, or could.
    Nothing,
    Address(usize),
    Read(usize),
    Join(usize),
    Time,
    /// An injected delay, and whether the thread is about to read a clock.
    Delay(bool),
    /// Something outside, until this real time.
    Outside(u64),
}

/// Wait of one thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) on: On,
    pub(super) deadline: Option<u64>,
    /// Part of the deadline that a choice has added.
    pub(super) late: u64,
    /// Whether a fence has taken that part away while the thread waited.
    pub(super) lost_delay: bool,
    /// Whether the event that it waits for has happened.
    pub(super) is_granted: bool,
    /// Number of the wait among those with a deadline.
    pub(super) order: u64,
}

impl Wait {
    pub(super) const NONE: Wait = Wait {
        on: On::Nothing,
        deadline: None,
        late: 0,
        lost_delay: false,
        is_granted: false,
        order: 0,
    };
}

/// The outside, with the waits of all threads by their numbers in the machine.
#[derive(Debug)]
pub(super) struct Outside {
    /// Real time since the start.
    pub(super) real: u64,
    /// Ends of the children that live, and the descriptors to which they write then.
    pub(super) children: Vec<(u64, usize)>,
    /// Number of calls and unseen threads that are outside.
    pub(super) calls: usize,
    /// Number of messages in each descriptor.
    pub(super) messages: [usize; OBJECTS],
    /// Whether another process could write to the descriptors.
    pub(super) is_open: bool,
    pub(super) waits: Vec<Wait>,
    pub(super) looks: Vec<Looks>,
    /// Real time until which a thread that has ended is still there.
    pub(super) leaving_until: u64,
    /// Whether virtual time is advanced to real time, before a child starts.
    pub(super) catches_up: bool,
    pub(super) jumps: usize,
    /// Time to which virtual time jumps.
    pub(super) jumps_to: Option<u64>,
}

impl Outside {
    pub(super) fn new(is_open: bool) -> Self {
        Outside {
            real: 0,
            children: Vec::new(),
            calls: 0,
            messages: [0; OBJECTS],
            is_open,
            waits: Vec::new(),
            looks: Vec::new(),
            leaving_until: 0,
            catches_up: false,
            jumps: 0,
            jumps_to: None,
        }
    }

    /// Returns whether anything lives in real time.
    pub(super) fn is_any(&self) -> bool {
        self.calls > 0 || !self.children.is_empty()
    }

    /// Ends all injected delays when the first thing begins to live in real time.
    pub(super) fn open_fence(&mut self) {
        if self.is_any() {
            return;
        }
        for wait in &mut self.waits {
            if matches!(wait.on, On::Delay(_)) {
                wait.deadline = None;
            }
            let late = std::mem::take(&mut wait.late);
            wait.lost_delay |= late > 0;
            wait.deadline = wait.deadline.map(|deadline| deadline - late);
        }
    }

    /// Returns whether a thread of the program waits for a time. An injected delay does not count.
    fn sleeps(&self) -> bool {
        let is_delay = |wait: &Wait| matches!(wait.on, On::Delay(_));
        self.waits.iter().any(|wait| !is_delay(wait) && wait.deadline.is_some())
    }
}

impl World for Outside {
    fn real_time(&self) -> u64 {
        self.real
    }

    fn is_true(&mut self, thread: ThreadId) -> bool {
        let wait = &mut self.waits[thread.index()];
        let On::Read(descriptor) = wait.on else { panic!("{thread:?} is polled: {wait:?}") };
        wait.is_granted |= self.messages[descriptor] > 0;
        self.messages[descriptor] > 0
    }

    fn has_changed(&self, _: ThreadId, _: usize) -> bool {
        false
    }

    fn looks(&self, thread: ThreadId) -> &Looks {
        &self.looks[thread.index()]
    }

    fn will_jump(&mut self, now: u64, passed: u64) {
        if passed == 0 || self.catches_up {
            return;
        }
        self.jumps += 1;
        self.jumps_to = Some(now + passed);
        assert!(!self.is_any(), "time jumps while something lives in real time");
        let reads_clock = self.waits.iter().any(|wait| wait.on == On::Delay(true));
        assert!(self.sleeps() || reads_clock, "a delay takes time while nobody sleeps");
        let first = self.waits.iter().filter_map(|wait| wait.deadline).min();
        assert_eq!(first, Some(now + passed), "time jumps to the next deadline");
    }

    fn yield_processor(&self) {}

    fn have_orphans_ended(&mut self) -> bool {
        false
    }

    fn is_any_leaving(&self) -> bool {
        self.real < self.leaving_until
    }

    fn is_filtered(&self) -> bool {
        false
    }

    fn is_closed(&self) -> bool {
        !self.is_open
    }

    fn may_be_woken(&self, _: &Threads) -> bool {
        false
    }

    fn sees_shared_memory(&self, _: ThreadId) -> bool {
        false
    }

    fn harness(&self) -> Harness {
        Harness::Waits
    }
}

//! A simulated kernel: runs the threads of a program as a machine decides, and checks each decision
//! against what the threads wait for.

use nondex_core::ScheduleEndKind;
use nondex_core::choice::stops::Stop;
use nondex_core::scheduler::{Lease, Looks, Machine, Next, STEP, State, ThreadId, Woken};

use super::choices::{Choices, Draw};
use super::outside::{On, Outside, Wait};
use super::program::{OBJECTS, Program};

/// Maximum number of operations of a run.
pub(super) const MAX_STEPS: u64 = 3_000;

/// Limit on the time that a test may sleep.
const HOUR: u64 = 3_600_000_000_000;

/// Address of the first lock. Condition variables and semaphores follow.
const ADDRESS: usize = 0x1000;

/// Kinds of objects at which threads wait.
#[derive(Clone, Copy)]
pub(super) enum Object {
    Lock,
    Condition,
    Semaphore,
}

pub(super) fn address(kind: Object, number: usize) -> usize {
    ADDRESS + 8 * (kind as usize * OBJECTS + number)
}

/// A simulated thread.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) id: ThreadId,
    /// Index of its body.
    pub(super) body: usize,
    /// Index of the operation, and number of its step.
    pub(super) at: usize,
    pub(super) step: usize,
    pub(super) operations: u64,
    /// Value of the condition variable before the lock was released.
    pub(super) seen: u64,
    /// Whether it was woken at its place before, and another thread was faster.
    pub(super) waits_again: bool,
    /// Why it was woken last.
    pub(super) woken: Woken,
    /// Number of switches since the thread became ready.
    passed_over: usize,
    /// Threads that it has started.
    pub(super) started: Vec<usize>,
    pub(super) has_ended: bool,
    pub(super) decisions: u32,
}

/// Course of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Course {
    /// Threads and operations in the order in which they ran, with the time of each.
    pub(super) steps: Vec<(usize, usize, u64)>,
    pub(super) draws: Vec<Draw>,
    pub(super) end: Option<ScheduleEndKind>,
    pub(super) now: u64,
    /// Largest number of switches for which a ready thread waited.
    pub(super) passed_over: usize,
    /// Decisions of a systematic run.
    pub(super) decisions: Vec<Stop>,
    /// Values of the variables, and those that were read, by thread.
    pub(super) memory: Vec<u64>,
    pub(super) read: Vec<(usize, u64)>,
    pub(super) threads: usize,
    pub(super) jumps: usize,
    pub(super) impatient: usize,
}

/// The kernel.
pub(super) struct Kernel<'a> {
    pub(super) lease: &'a Lease,
    pub(super) machine: Machine<'a>,
    pub(super) outside: Outside,
    pub(super) program: &'a Program,
    pub(super) choices: Choices,
    pub(super) tasks: Vec<Task>,
    /// Tasks by their numbers in the machine.
    places: Vec<usize>,
    pub(super) current: Option<usize>,
    /// Real time that an operation takes.
    cost: u64,
    /// Threads that wait at addresses, in the order in which they came, by the model.
    pub(super) queue: Vec<(usize, usize)>,
    pub(super) owners: [Option<usize>; OBJECTS],
    pub(super) conditions: [u64; OBJECTS],
    pub(super) permits: [usize; OBJECTS],
    pub(super) flags: [bool; OBJECTS],
    pub(super) course: Course,
    /// Number of waits that have begun.
    waits: u64,
    /// Virtual and real time when the first thing began to live in real time.
    pub(super) fence: Option<(u64, u64)>,
    /// Virtual and real time at the last reading while something was outside.
    pub(super) read_at: Option<(u64, u64)>,
}

/// Deadline of a wait, and the part of it that a choice has added.
pub(super) type Limit = Option<(u64, u64)>;

impl<'a> Kernel<'a> {
    pub(super) fn new(
        lease: &'a Lease,
        program: &'a Program,
        choices: Choices,
        cost: u64,
        is_open: bool,
    ) -> Self {
        let mut machine = Machine::new(lease);
        machine.begin(MAX_STEPS, matches!(choices, Choices::Stops(_)));
        let course = Course {
            steps: Vec::new(),
            draws: Vec::new(),
            end: None,
            now: 0,
            passed_over: 0,
            decisions: Vec::new(),
            memory: vec![0; OBJECTS],
            read: Vec::new(),
            threads: 0,
            jumps: 0,
            impatient: 0,
        };
        let mut kernel = Kernel {
            lease,
            machine,
            outside: Outside::new(is_open),
            program,
            choices,
            tasks: Vec::new(),
            places: Vec::new(),
            current: None,
            cost,
            queue: Vec::new(),
            owners: [None; OBJECTS],
            conditions: [0; OBJECTS],
            permits: [0; OBJECTS],
            flags: [false; OBJECTS],
            course,
            waits: 0,
            fence: None,
            read_at: None,
        };
        let first = kernel.add(0);
        kernel.machine.run(kernel.tasks[first].id);
        kernel.current = Some(first);
        kernel
    }

    /// Adds a thread, which is in no list yet.
    pub(super) fn add(&mut self, body: usize) -> usize {
        let id = self.machine.add();
        let task = self.tasks.len();
        self.tasks.push(Task {
            id,
            body,
            at: 0,
            step: 0,
            operations: 0,
            seen: 0,
            waits_again: false,
            woken: Woken::Done,
            passed_over: 0,
            started: Vec::new(),
            has_ended: false,
            decisions: 0,
        });
        if id.index() == self.places.len() {
            self.places.push(task);
            self.outside.waits.push(Wait::NONE);
            self.outside.looks.push(Looks::new());
        }
        self.places[id.index()] = task;
        self.outside.waits[id.index()] = Wait::NONE;
        self.outside.looks[id.index()].clear();
        task
    }

    /// Runs until all threads have ended, the machine ends the run, or `most` steps were made.
    pub(super) fn run(mut self, most: usize) -> Course {
        for _ in 0..most {
            if self.course.end.is_some() || self.machine.threads().alive().is_empty() {
                break;
            }
            self.outside.real += self.cost;
            match self.current {
                Some(task) => {
                    assert_eq!(self.machine.running(), Some(self.tasks[task].id));
                    self.step(task);
                }
                None => self.pick(),
            }
            self.pass_real_time();
        }
        self.course.now = self.lease.now();
        self.course.threads = self.tasks.len();
        self.course.jumps = self.outside.jumps;
        self.stop();
        self.course
    }

    /// Stops the scheduler where it is, as at the end of a test, and checks that nothing is left.
    fn stop(&mut self) {
        let freed = self.machine.free_all();
        let alive = self.tasks.iter().filter(|task| !task.has_ended).map(|task| task.id);
        let mut alive: Vec<_> = alive.collect();
        alive.sort();
        let mut freed: Vec<_> = freed.iter().copied().collect();
        freed.sort();
        assert_eq!(freed, alive);
        assert!(!self.machine.has_candidates(), "a list has a thread");
        assert_eq!((self.lease.ready(), self.lease.alive()), (0, 0));
        let waits = |address: &usize| self.machine.waiting_at(*address).next().is_some();
        let kinds = [Object::Lock, Object::Condition, Object::Semaphore];
        let mut addresses =
            kinds.iter().flat_map(|kind| (0..OBJECTS).map(|number| address(*kind, number)));
        assert_eq!(addresses.find(waits), None);
    }

    pub(super) fn wait_of(&mut self, task: usize) -> &mut Wait {
        &mut self.outside.waits[self.tasks[task].id.index()]
    }

    /// Chooses the next thread, after the running one has lost the run token.
    fn pick(&mut self) {
        self.outside.jumps_to = None;
        let next = self.machine.pick(&mut self.outside);
        if let Some(time) = self.outside.jumps_to.take() {
            assert_eq!(self.lease.now(), time, "the jump was longer or shorter");
        }
        match next {
            Next::Thread(next) => self.switch_to(next),
            Next::Nobody => {
                let is_leaving = self.outside.real < self.outside.leaving_until;
                assert!(
                    self.outside.is_any() || self.is_stuck(),
                    "a thread could run, but nobody does"
                );
                assert!(
                    self.outside.is_any() || is_leaving || self.may_be_woken(),
                    "nobody can run any more, but it is no deadlock"
                );
                let pause = if self.outside.is_any() { 1_000_000 } else { 100_000_000 };
                let next = self.next_event().unwrap_or(u64::MAX);
                self.outside.real = next.min(self.outside.real + pause);
            }
            Next::End(kind) => {
                match kind {
                    ScheduleEndKind::Deadlock => {
                        assert!(self.is_stuck() && !self.outside.is_any(), "it is no deadlock");
                    }
                    ScheduleEndKind::Outside => {
                        assert!(self.is_stuck() && self.may_be_woken(), "it is a deadlock");
                    }
                    ScheduleEndKind::Time => assert!(self.lease.now() > HOUR),
                    _ => panic!("ends by {kind:?} while nobody runs"),
                }
                self.course.end = Some(kind);
            }
        }
    }

    /// Returns whether no thread can go on, and none waits for a time.
    fn is_stuck(&self) -> bool {
        let mut alive = self.tasks.iter().filter(|task| !task.has_ended);
        alive.all(|task| {
            let wait = &self.outside.waits[task.id.index()];
            let is_awaited = match wait.on {
                On::Address(_) | On::Join(_) => wait.is_granted,
                On::Read(descriptor) => self.outside.messages[descriptor] > 0,
                On::Nothing | On::Time | On::Delay(_) | On::Outside(_) => true,
            };
            !is_awaited && wait.deadline.is_none()
        })
    }

    /// Returns whether something that is not seen could wake a thread.
    fn may_be_woken(&self) -> bool {
        let reads = |wait: &Wait| matches!(wait.on, On::Read(_));
        let is_any = self.outside.waits.iter().any(reads);
        let counts = &self.machine.counts;
        is_any && (self.outside.is_open || counts.outside + counts.leaks > 0)
    }

    /// Makes a thread the running one, if the model allows it.
    pub(super) fn switch_to(&mut self, next: ThreadId) {
        let now = self.lease.now();
        let task = self.places[next.index()];
        self.machine.counts.switches += 1;
        self.machine.run(next);
        self.tasks[task].woken = self.machine.woken(next);
        for other in &mut self.tasks {
            let is_ready = self.machine.threads().state(other.id) == State::Ready;
            other.passed_over =
                if is_ready && !other.has_ended { other.passed_over + 1 } else { 0 };
            self.course.passed_over = self.course.passed_over.max(other.passed_over);
        }
        let (id, wait) = (self.tasks[task].id, *self.wait_of(task));
        assert_eq!(id, next);
        let has_timed_out = self.tasks[task].woken == Woken::Time;
        let is_over = wait.deadline.is_some_and(|deadline| deadline <= now);
        match wait.on {
            On::Nothing | On::Delay(_) => {}
            On::Time => {
                assert!(is_over, "wakes before its time");
                self.assert_first(task);
            }
            On::Outside(until) => assert!(until <= self.outside.real, "is still outside"),
            On::Address(_) | On::Read(_) | On::Join(_) if has_timed_out => {
                assert!(is_over, "times out before its time");
                assert!(!wait.is_granted, "times out although it was woken");
                self.assert_first(task);
            }
            On::Address(_) | On::Read(_) | On::Join(_) => {
                assert!(wait.is_granted, "goes on although nobody woke it");
            }
        }
        self.queue.retain(|(_, other)| *other != task);
        *self.wait_of(task) = Wait::NONE;
        self.current = Some(task);
        self.go_first(task);
    }

    /// Asserts that no thread still waits for an earlier time than this one, whose time has come.
    fn assert_first(&self, task: usize) {
        let place = self.tasks[task].id.index();
        let rank = |wait: &Wait| (wait.deadline, wait.order);
        let own = rank(&self.outside.waits[place]);
        let mut others = self.outside.waits.iter().enumerate().filter(|(at, _)| *at != place);
        let is_earlier = |wait: &Wait| {
            let is_delay = matches!(wait.on, On::Delay(_));
            // This thread may have been woken before the deadline of the other became earlier.
            let counts = !is_delay && !wait.lost_delay && !wait.is_granted;
            counts && wait.deadline.is_some() && rank(wait) < own
        };
        assert!(!others.any(|(_, wait)| is_earlier(wait)), "wakes before an earlier one");
    }

    /// Blocks the running thread.
    pub(super) fn block(&mut self, task: usize, on: On, limit: Limit) {
        self.waits += 1;
        let (deadline, late) = limit.map_or((None, 0), |(deadline, late)| (Some(deadline), late));
        if let On::Address(address) = on {
            self.queue.push((address, task));
        }
        *self.wait_of(task) = Wait { on, deadline, late, order: self.waits, ..Wait::NONE };
        self.machine.block(self.tasks[task].id);
        self.machine.release();
        self.current = None;
    }

    /// Sets the time limit of a thread that is about to block, as late as the run chooses.
    pub(super) fn set_limit(&mut self, task: usize, time: Option<u64>) -> Limit {
        let deadline = self.lease.now() + time?;
        let late = self.choices.late(task, self.tasks[task].operations);
        self.machine.add_delay(late);
        self.machine.wait_until(self.tasks[task].id, deadline + late, late);
        Some((deadline + late, late))
    }

    /// Ends the running thread.
    pub(super) fn end_thread(&mut self, task: usize) {
        self.lease.pass(STEP);
        self.lease.count_step();
        self.tasks[task].has_ended = true;
        if task % 3 == 2 {
            // The system takes some time to end it.
            self.outside.leaving_until = self.outside.real + 5_000;
        }
        for wait in &mut self.outside.waits {
            wait.is_granted |= wait.on == On::Join(task);
        }
        *self.wait_of(task) = Wait::NONE;
        let id = self.tasks[task].id;
        let is_joined = self.machine.is_joined(id);
        self.machine.remove(id);
        self.machine.release();
        self.current = None;
        if task % 2 == 1 && !is_joined {
            // It is detached, so another thread may take its place.
            self.machine.give_back(id);
        }
    }
}

//! Operations of the running thread: the machine decides whether others run, and a choice may delay
//! the thread.

use nondex_core::choice::hold::longest;
use nondex_core::choice::stops::Stop;
use nondex_core::scheduler::{Operation, Request, STEP, Turn};
use nondex_core::{Level, ScheduleEndKind};

use super::choices::Choices;
use super::kernel::{Kernel, MAX_STEPS};
use super::outside::On;

impl Kernel<'_> {
    /// Marks an operation of the running thread. Returns whether it still runs.
    pub(super) fn begin(&mut self, task: usize, operation: Operation) -> bool {
        self.course.steps.push((task, self.tasks[task].at, self.lease.now()));
        self.lease.set_now(self.lease.now() + STEP);
        let looks = &self.outside.looks[self.tasks[task].id.index()];
        match operation {
            Operation::Atomic | Operation::Clock => {}
            Operation::Yield => looks.add_yield(),
            _ => looks.end(),
        }
        if self.lease.alive() < 2 {
            return true;
        }
        self.tasks[task].operations += 1;
        self.lease.count_step();
        let hold = self.hold(task, operation);
        let yields = operation == Operation::Yield;
        if hold > 0 || yields || self.lease.now() >= self.lease.attention() {
            return self.reschedule(task, hold, yields, operation == Operation::Clock && hold > 0);
        }
        true
    }

    fn hold(&mut self, task: usize, operation: Operation) -> u64 {
        if !self.outside.children.is_empty() {
            return 0;
        }
        if self.machine.is_systematic() {
            let is_yield = operation == Operation::Yield;
            return if is_yield { 0 } else { self.decide(task) };
        }
        let number = self.tasks[task].operations;
        self.choices.hold(task, operation, number, &mut self.course.draws)
    }

    /// Returns how long a systematic run delays a thread here.
    fn decide(&mut self, task: usize) -> u64 {
        let id = self.tasks[task].id;
        let Some(number) = self.machine.count_decision(id) else { return 0 };
        assert_eq!(number, self.tasks[task].decisions);
        self.tasks[task].decisions += 1;
        let stop = Stop { thread: self.machine.threads().number(id), number };
        self.course.decisions.push(stop);
        let Choices::Stops(stops) = &self.choices else { return 0 };
        if !stops.contains(&stop) {
            return 0;
        }
        self.machine.note_delayed(id);
        longest(Level::Std)
    }

    /// Lets others go first after this thread has got the run token, if a list requires it.
    pub(super) fn go_first(&mut self, task: usize) {
        if self.machine.is_systematic() && self.decide(task) > 0 {
            self.machine.delay(self.tasks[task].id, longest(Level::Std));
            let deadline = self.lease.now() + longest(Level::Std);
            self.block(task, On::Delay(false), Some((deadline, 0)));
        }
    }

    /// Lets the machine decide whether others run. Returns whether the thread still runs.
    pub(super) fn reschedule(
        &mut self,
        task: usize,
        hold: u64,
        yields: bool,
        reads_clock: bool,
    ) -> bool {
        let id = self.tasks[task].id;
        let spins = self.outside.looks[id.index()].spins();
        if let Some(kind) = self.machine.end_of_running(id, spins, &mut self.outside) {
            assert!(kind != ScheduleEndKind::Steps || self.lease.steps() > MAX_STEPS);
            self.course.end = Some(kind);
            return false;
        }
        let reads_clock = reads_clock && !self.machine.is_systematic();
        let request = Request { hold, yields, spins, reads_clock, is_own_code: false };
        match self.machine.reschedule(id, request, &mut self.outside) {
            Turn::Continue => {
                assert!(!yields || self.machine.is_none_ready(), "a yield lets nobody run");
                return true;
            }
            Turn::Switch(next) => self.switch_to(next),
            Turn::Delay => {
                let deadline = self.lease.now() + hold;
                self.block(task, On::Delay(reads_clock), Some((deadline, 0)));
            }
        }
        false
    }
}

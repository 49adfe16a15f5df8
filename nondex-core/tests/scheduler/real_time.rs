//! What lives in real time: children, calls outside, and threads that the machine does not see.
//! Virtual time must keep up with it.

use nondex_core::scheduler::{Operation, State, Woken};

use super::kernel::Kernel;
use super::outside::{On, Wait};
use super::program::OBJECTS;

/// Real time after which the watcher takes the run token from a thread that makes no progress.
const UNSEEN: u64 = 50_000_000;

impl Kernel<'_> {
    /// Returns the next real time at which something happens outside.
    pub(super) fn next_event(&self) -> Option<u64> {
        let children = self.outside.children.iter().map(|(end, _)| *end);
        let calls = self.outside.waits.iter().filter_map(|wait| match wait.on {
            On::Outside(until) => Some(until),
            _ => None,
        });
        children.chain(calls).filter(|time| *time > self.outside.real).min()
    }

    /// Lets what is outside happen, up to the present real time.
    pub(super) fn pass_real_time(&mut self) {
        let real = self.outside.real;
        // Nobody has waited for a child yet, so its fence stays open.
        for (end, descriptor) in &mut self.outside.children {
            if *end <= real && *descriptor < OBJECTS {
                self.outside.messages[*descriptor] += 1;
                *descriptor = OBJECTS;
            }
        }
        for task in 0..self.tasks.len() {
            if self.tasks[task].has_ended {
                continue;
            }
            let On::Outside(until) = self.wait_of(task).on else { continue };
            if until <= real && self.machine.threads().state(self.tasks[task].id) != State::Ready {
                self.come_back(task);
            }
        }
    }

    /// Lets a thread come back after a call outside.
    fn come_back(&mut self, task: usize) {
        let id = self.tasks[task].id;
        self.machine.remove_outside(&mut self.outside);
        self.outside.calls -= 1;
        self.close_fence();
        if self.machine.running().is_none() && self.machine.is_none_ready() {
            self.machine.end_idling();
            self.machine.run(id);
            *self.wait_of(task) = Wait::NONE;
            self.current = Some(task);
        } else {
            self.machine.make_ready(id, Woken::Done);
        }
    }

    /// Takes the running thread outside until a real time.
    pub(super) fn leave(&mut self, task: usize, operation: Operation, until: u64) {
        self.machine.leave_for(self.tasks[task].id, operation);
        self.machine.counts.outside += 1;
        self.add_outside(self.outside.real);
        self.outside.calls += 1;
        *self.wait_of(task) = Wait { on: On::Outside(until), ..Wait::NONE };
        self.machine.release();
        self.current = None;
    }

    /// Counts one more that lives in real time, from a real time on.
    fn add_outside(&mut self, real: u64) {
        self.outside.open_fence();
        self.machine.add_outside(real, &mut self.outside);
        self.fence.get_or_insert((self.lease.now(), self.outside.real));
    }

    /// Sleeps in a call that the machine does not see. The watcher lets others run if they can.
    pub(super) fn sleep_unseen(&mut self, task: usize, time: u64) {
        let until = self.outside.real + time;
        if time > UNSEEN && self.machine.has_candidates() {
            self.outside.real += UNSEEN;
            self.machine.counts.leaks += 1;
            self.add_outside(self.outside.real);
            self.machine.give_up(self.tasks[task].id);
            self.outside.calls += 1;
            *self.wait_of(task) = Wait { on: On::Outside(until), ..Wait::NONE };
            self.current = None;
        } else {
            self.outside.real = until;
        }
    }

    /// Starts a child. Virtual time is brought up to real time before.
    pub(super) fn start_child(&mut self, time: u64, descriptor: usize) {
        let real = self.outside.real;
        self.machine.sync_time(&mut self.outside);
        self.outside.catches_up = true;
        self.machine.catch_up_with(real, &mut self.outside);
        self.outside.catches_up = false;
        // The call itself takes time, in which the child may run already.
        self.outside.real += 20_000;
        self.machine.counts.outside += 1;
        self.add_outside(real);
        self.outside.children.push((real + time, descriptor));
    }

    /// Notes that all children were waited for.
    pub(super) fn end_children(&mut self) {
        self.machine.sync_time(&mut self.outside);
        let real = self.outside.real;
        let before = self.outside.children.len();
        self.outside.children.retain(|(end, _)| *end > real);
        for _ in self.outside.children.len()..before {
            self.machine.remove_outside(&mut self.outside);
        }
        self.close_fence();
    }

    /// Checks how far virtual time has come when nothing is outside any more.
    fn close_fence(&mut self) {
        if self.outside.is_any() {
            return;
        }
        if let Some((now, real)) = self.fence.take() {
            let passed = self.lease.now() - now;
            assert!(passed >= self.outside.real - real, "virtual time was slower");
        }
        self.read_at = None;
    }

    /// Checks a reading of the clock: while something lives in real time, virtual time is at least
    /// the real time, and passes no more slowly.
    pub(super) fn read_clock(&mut self) {
        if !self.outside.is_any() {
            self.lease.pass(1_000);
            return;
        }
        self.machine.sync_time(&mut self.outside);
        let (now, real) = (self.lease.now(), self.outside.real);
        if !self.outside.children.is_empty() {
            assert!(now >= real, "virtual time is less than real time: {now} < {real}");
        }
        if let Some((now_before, real_before)) = self.read_at {
            assert!(now - now_before >= real - real_before, "virtual time is slower");
        }
        self.read_at = Some((now, real));
    }
}

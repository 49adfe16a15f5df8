//! Wake-ups at addresses: the machine must reach those threads that the model does.

use nondex_core::scheduler::State;

use super::kernel::Kernel;
use super::outside::On;

impl Kernel<'_> {
    /// Returns the threads that wait at an address, in the order in which they came. Those whose
    /// time has passed do not wait any more.
    fn waiting(&self, address: usize) -> Vec<usize> {
        let waits = |(place, task): &&(usize, usize)| {
            *place == address
                && self.machine.threads().state(self.tasks[*task].id) == State::Blocked
        };
        self.queue.iter().filter(waits).map(|(_, task)| *task).collect()
    }

    /// Marks threads as woken, which the machine must have made ready.
    fn grant(&mut self, tasks: &[usize]) {
        for task in tasks {
            let state = self.machine.threads().state(self.tasks[*task].id);
            assert_eq!(state, State::Ready, "a wake-up is lost");
            self.queue.retain(|(_, other)| other != task);
            self.wait_of(*task).is_granted = true;
        }
    }

    /// Wakes threads at an address, and checks that the machine reaches those that it must. Returns
    /// whether the waker still runs.
    pub(super) fn wake(&mut self, task: usize, address: usize, count: usize) -> bool {
        let waiting = self.waiting(address);
        assert_eq!(self.machine.count_waiting(address, u32::MAX), waiting.len());
        let operations = self.tasks[task].operations;
        let skipped =
            if count == 1 { self.choices.skipped(task, operations, waiting.len()) } else { 0 };
        let wake = self.machine.wake(address, u32::MAX, count, skipped);
        assert_eq!(wake.woken, count.min(waiting.len() - skipped));
        let woken = &waiting[skipped..][..wake.woken];
        self.grant(woken);
        let impatient = woken.iter().rfind(|task| self.tasks[**task].waits_again);
        assert_eq!(wake.impatient, impatient.map(|task| self.tasks[*task].id));
        if let Some(next) = wake.impatient {
            self.course.impatient += 1;
            self.machine.give_way(self.tasks[task].id, next);
            self.switch_to(next);
            return false;
        }
        self.machine.set_attention();
        true
    }

    /// Wakes one thread at an address, and moves the others to a second one.
    pub(super) fn requeue(&mut self, address: usize, second: usize) {
        let waiting = self.waiting(address);
        let done = self.machine.requeue(address, second, 1, usize::MAX >> 1);
        assert_eq!(done, waiting.len());
        let (woken, moved) = waiting.split_at(waiting.len().min(1));
        self.grant(woken);
        for task in moved {
            self.queue.retain(|(_, other)| other != task);
            self.queue.push((second, *task));
            self.wait_of(*task).on = On::Address(second);
        }
        self.machine.set_attention();
    }
}

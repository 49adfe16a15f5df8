//! Waits at an address, as in a futex, and wake-ups there.

use super::machine::{Machine, bucket};
use super::operation::Operation;
use super::thread::{Place, State, ThreadId, Woken};

/// Result of a wake-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake {
    /// Number of threads that it has reached.
    pub woken: usize,
    /// Thread that was woken before and had to wait again, because another one was faster. It must
    /// run next, or the waker could be faster again and again.
    pub impatient: Option<ThreadId>,
}

impl Machine<'_> {
    /// Adds a thread to those that wait at an address, before it [blocks](Machine::block).
    pub fn wait_at(&mut self, id: ThreadId, operation: Operation, address: usize, bits: u32) {
        let thread = &mut self.threads[id];
        thread.operation = operation;
        thread.address = address;
        thread.bits = bits;
        self.addresses[bucket(address)].push(&mut self.threads, id, Place::Address);
    }

    /// Records whether a thread that is about to wait was woken here before, and another one was
    /// faster.
    pub fn set_waits_again(&mut self, id: ThreadId, waits_again: bool) {
        self.threads[id].waits_again = waits_again;
    }

    /// Adds a thread to those that wait for a condition that is polled. If it concerns a place in
    /// memory, the record shows it.
    pub fn wait_by_polling(&mut self, id: ThreadId, operation: Operation, address: Option<usize>) {
        let thread = &mut self.threads[id];
        thread.operation = operation;
        if let Some(address) = address {
            thread.address = address;
        }
        self.polls.push(&mut self.threads, id, Place::Polls);
    }

    /// Iterates over the threads that wait at an address, in the order in which they came.
    pub fn waiting_at(&self, address: usize) -> impl Iterator<Item = ThreadId> {
        let all = self.addresses[bucket(address)].iter(&self.threads);
        all.filter(move |id| self.threads[*id].address == address)
    }

    fn waiting_for(&self, address: usize, bits: u32) -> impl Iterator<Item = ThreadId> {
        self.waiting_at(address).filter(move |id| self.threads[*id].bits & bits != 0)
    }

    /// Returns the number of threads that a wake-up of any number would reach.
    pub fn count_waiting(&self, address: usize, bits: u32) -> usize {
        self.waiting_for(address, bits).count()
    }

    /// Wakes up to `count` threads that wait at an address, after the first `skipped` ones.
    pub fn wake(&mut self, address: usize, bits: u32, count: usize, skipped: usize) -> Wake {
        let mut wake = Wake { woken: 0, impatient: None };
        while wake.woken < count {
            let Some(id) = self.waiting_for(address, bits).nth(skipped) else { break };
            self.make_ready(id, Woken::Done);
            if std::mem::take(&mut self.threads[id].waits_again) {
                wake.impatient = Some(id);
            }
            wake.woken += 1;
        }
        wake
    }

    /// Wakes threads as [`wake`](Self::wake) does, for a thread that is not scheduled. None of
    /// them counts as impatient, because no scheduled thread could give way.
    pub fn wake_from_outside(&mut self, address: usize, bits: u32, count: usize) -> usize {
        let mut woken = 0;
        while woken < count {
            let Some(id) = self.waiting_for(address, bits).next() else { break };
            self.make_ready(id, Woken::Done);
            woken += 1;
        }
        woken
    }

    /// Wakes up to `count` threads, and moves up to `moved` others to another address. Returns the
    /// number of both.
    pub fn requeue(&mut self, address: usize, second: usize, count: usize, moved: usize) -> usize {
        let woken = self.wake_from_outside(address, u32::MAX, count);
        let mut done = 0;
        while done < moved {
            let Some(id) = self.waiting_at(address).next() else { break };
            self.addresses[bucket(address)].remove(&mut self.threads, id);
            self.threads[id].address = second;
            self.addresses[bucket(second)].push(&mut self.threads, id, Place::Address);
            done += 1;
        }
        woken + done
    }

    /// Wakes a thread that handles a signal, if its wait is for a descriptor, a file's lock or a
    /// time. Waits that end only with an event go on if the system `restarts` calls after the
    /// signal. Returns whether the thread was woken.
    pub fn interrupt(&mut self, id: ThreadId, restarts: bool) -> bool {
        let thread = &self.threads[id];
        let ends = match thread.operation {
            Operation::Poll | Operation::Sleep => true,
            Operation::Read | Operation::Accept | Operation::Write | Operation::File => {
                !restarts || thread.timer != 0
            }
            _ => false,
        };
        let is_woken = thread.state == State::Blocked && ends;
        if is_woken {
            self.make_ready(id, Woken::Signal);
        }
        is_woken
    }

    /// Makes the running thread give way to a ready one, which the caller then resumes.
    pub fn give_way(&mut self, id: ThreadId, next: ThreadId) {
        self.take_out(next);
        self.make_ready(id, Woken::Done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::Lease;

    #[test]
    fn a_signal_ends_the_waits_that_calls_of_the_system_would_end() {
        // The operation, whether it has a deadline, and whether calls are restarted.
        for (operation, is_timed, restarts, ends) in [
            (Operation::Read, false, false, true),
            (Operation::Read, false, true, false),
            (Operation::Read, true, true, true),
            (Operation::Poll, false, true, true),
            (Operation::Sleep, true, true, true),
            (Operation::FutexWait, true, false, false),
            (Operation::Hold, true, false, false),
        ] {
            let lease = Lease::new();
            let mut machine = Machine::new(&lease);
            let id = machine.add();
            machine.run(id);
            machine.wait_by_polling(id, operation, None);
            if is_timed {
                machine.wait_until(id, 1_000, 0);
            }
            assert!(!machine.interrupt(id, restarts), "a running thread handles it by itself");
            machine.block(id);
            assert_eq!(machine.interrupt(id, restarts), ends, "{operation:?}");
            assert_eq!(machine.is_none_ready(), !ends);
        }
    }
}

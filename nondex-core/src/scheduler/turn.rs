//! The turn of the running thread: whether it continues at an operation at which it must consult
//! the machine.

use super::SLICE;
use super::machine::Machine;
use super::thread::{ThreadId, Woken};
use super::world::World;

/// What the running thread is about to do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request {
    /// Time for which a choice delays it, in nanoseconds.
    pub hold: u64,
    /// Whether it yields, or has spun for some time.
    pub yields: bool,
    /// Whether it waits for another thread by spinning.
    pub spins: bool,
    /// Whether it is about to read a clock, which shows a delay.
    pub reads_clock: bool,
    /// Whether it runs the tool's own code, which must not be preempted.
    pub is_own_code: bool,
}

/// What the running thread does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It continues.
    Continue,
    /// It waits for the run token, which this thread gets.
    Switch(ThreadId),
    /// It is delayed: the caller [blocks](Machine::block) it.
    Delay,
}

impl Machine<'_> {
    /// Decides whether others run, at an operation at which the running thread must consult the
    /// machine.
    pub fn reschedule(&mut self, id: ThreadId, request: Request, world: &mut dyn World) -> Turn {
        let Request { hold, yields, spins, reads_clock, is_own_code } = request;
        self.threads[id].reads_clock = reads_clock;
        self.sync_time(world);
        self.wake_due();
        self.end_long_holds();
        if !yields && is_own_code {
            self.set_attention_soon();
            return Turn::Continue;
        }
        if hold > 0 {
            self.delay(id, hold);
            return Turn::Delay;
        }
        // A delay has just ended, and its thread runs before this one.
        if std::mem::take(&mut self.preempts) {
            let Some(next) = self.pop() else { return Turn::Continue };
            self.lease.disturb();
            self.make_next(id);
            return Turn::Switch(next);
        }
        if yields || self.lease.now() >= self.slice_end {
            self.poll(world);
            let is_patient = world.looks(id).may_give_up() && self.is_patient();
            let is_any_outside = self.lease.is_any_outside();
            if self.ready.is_empty() && spins && !is_patient && !is_any_outside {
                // The thread spins, and may wait for one that waits for a time.
                self.pass_time(world);
            }
            if self.is_systematic && yields {
                self.resume_delayed(world);
                self.note_delayed(id);
            }
            if let Some(next) = self.pop() {
                if !yields {
                    self.lease.disturb();
                }
                self.make_ready(id, Woken::Done);
                return Turn::Switch(next);
            }
            // Something outside may need the processor to make progress.
            if spins && is_any_outside {
                world.yield_processor();
            }
            self.slice_end = self.lease.now() + SLICE;
        }
        self.set_attention();
        Turn::Continue
    }
}

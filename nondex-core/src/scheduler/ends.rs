//! Ends at which threads still run: the limit on operations, and livelocks.

use crate::protocol::scheduling::ScheduleEndKind;

use super::machine::Machine;
use super::thread::ThreadId;
use super::world::{Harness, World};

/// Number of looks after which it is a livelock if all ready threads spin. A yield counts as 64
/// looks. At the limit on operations a smaller number suffices.
const LOOKS: u32 = 1 << 22;
const LOOKS_AT_LIMIT: u32 = 1 << 18;

impl Machine<'_> {
    /// Returns why the process must end, if it must, although the running thread could go on.
    pub fn end_of_running(
        &mut self,
        id: ThreadId,
        spins: bool,
        world: &mut dyn World,
    ) -> Option<ScheduleEndKind> {
        let is_over = self.lease.steps() > self.max_steps;
        if !is_over && !spins {
            return None;
        }
        let looks = if is_over { LOOKS_AT_LIMIT } else { LOOKS };
        if self.is_livelock(id, looks, world) {
            return Some(ScheduleEndKind::Livelock);
        }
        is_over.then_some(ScheduleEndKind::Steps)
    }

    /// Returns whether the running thread and all ready ones have spun for this number of looks,
    /// and nothing else could change what they look at.
    fn is_livelock(&mut self, id: ThreadId, looks: u32, world: &mut dyn World) -> bool {
        if !self.all_spin(id, looks, world)
            || self.lease.is_any_outside()
            || self.timers.first().is_some()
            || !self.polls.is_empty()
        {
            return false;
        }
        self.has_other_wakers = self.has_other_wakers
            || world.is_filtered()
            || world.may_be_woken(&self.threads)
            || self.running_and_ready(id).any(|id| world.sees_shared_memory(id));
        !self.has_other_wakers && world.harness() == Harness::Waits
    }

    /// Returns whether the running thread and all ready ones have looked this often since a thread
    /// that does something else ran. Their states must have recurred meanwhile.
    fn all_spin(&self, id: ThreadId, looks: u32, world: &dyn World) -> bool {
        self.running_and_ready(id).all(|id| world.looks(id).spin_forever(self.blocked, looks))
    }

    fn running_and_ready(&self, id: ThreadId) -> impl Iterator<Item = ThreadId> {
        std::iter::once(id).chain(self.ready.iter(&self.threads))
    }
}

//! The process as the machine sees it: what a decision depends on outside of the test's threads.

use ::std::ptr;
use ::std::sync::atomic::{AtomicU32, Ordering};

use nondex_core::ScheduleEndKind;
use nondex_core::scheduler::{
    Harness, Looks, Machine, Next, Request, ThreadId, Threads, Turn, World,
};

use super::shared::{LEASE, Shared};
use super::stamps::{self, Stamps};
use super::thread::Ref;
use super::{child, closed_system, filter, kernel, leaving, real_time, wakers};

/// The process, with the threads of the system that the machine schedules.
struct Process<'a> {
    threads: &'a [Ref],
    stamps: &'a mut Stamps,
}

impl Process<'_> {
    fn thread(&self, id: ThreadId) -> Ref {
        self.threads[id.index()]
    }
}

impl World for Process<'_> {
    fn real_time(&self) -> u64 {
        real_time::real_time()
    }

    fn is_true(&mut self, thread: ThreadId) -> bool {
        let condition = self.thread(thread).condition.get();
        // SAFETY: the thread waits in the function that owns the condition, and the lock excludes a
        // second call.
        condition.is_some_and(|condition| unsafe { (*condition)() })
    }

    fn has_changed(&self, thread: ThreadId, address: usize) -> bool {
        // SAFETY: the thread waits there, and passed a futex.
        let futex = unsafe { &*ptr::with_exposed_provenance::<AtomicU32>(address) };
        futex.load(Ordering::SeqCst) != self.thread(thread).expected.get()
    }

    fn looks(&self, thread: ThreadId) -> &Looks {
        &self.thread(thread).looks
    }

    fn will_jump(&mut self, now: u64, passed: u64) {
        if LEASE.is_any_outside() {
            // A child's writes are not observed, so they are assumed.
            stamps::written();
        }
        self.stamps.will_pass(now, passed);
    }

    fn yield_processor(&self) {
        kernel::yield_processor();
    }

    fn have_orphans_ended(&mut self) -> bool {
        let have_ended = child::have_orphans_ended();
        if have_ended {
            stamps::written();
        }
        have_ended
    }

    fn is_any_leaving(&self) -> bool {
        leaving::is_any()
    }

    fn is_filtered(&self) -> bool {
        filter::is_there()
    }

    fn is_closed(&self) -> bool {
        closed_system::is_closed()
    }

    fn may_be_woken(&self, threads: &Threads) -> bool {
        wakers::may_wake(threads, |number| {
            self.threads.iter().any(|thread| thread.number.get() == number)
        })
    }

    fn sees_shared_memory(&self, thread: ThreadId) -> bool {
        wakers::is_any_shared(self.looks(thread).places())
    }

    fn harness(&self) -> Harness {
        wakers::harness(self.threads)
    }
}

impl Shared {
    /// Returns the machine, and the process that it asks.
    fn parts(&mut self) -> (&mut Machine<'static>, Process<'_>) {
        let process = Process { threads: &self.threads, stamps: &mut self.stamps };
        (&mut self.machine, process)
    }

    /// Chooses the next thread. An end is reported once.
    pub(super) fn pick(&mut self) -> Next {
        let (machine, mut process) = self.parts();
        machine.pick(&mut process)
    }

    /// Decides whether others run, at an operation of the running thread.
    pub(super) fn reschedule(&mut self, me: Ref, request: Request) -> Turn {
        let (machine, mut process) = self.parts();
        machine.reschedule(me.id, request, &mut process)
    }

    /// Returns why the process must end, if it must, although the running thread could go on.
    pub(super) fn end_of_running(&mut self, me: Ref, spins: bool) -> Option<ScheduleEndKind> {
        let (machine, mut process) = self.parts();
        machine.end_of_running(me.id, spins, &mut process)
    }

    /// Advances virtual time by this duration at once.
    pub(super) fn jump(&mut self, passed: u64) {
        let (machine, mut process) = self.parts();
        machine.jump(passed, &mut process);
    }

    /// Counts one more thread or child that is outside from now on.
    pub(super) fn add_outside(&mut self) {
        self.add_outside_since(real_time::real_time());
    }

    /// Counts one more that is outside from this real time on, as
    /// [`add_outside`](Self::add_outside) does.
    pub(super) fn add_outside_since(&mut self, real: u64) {
        let (machine, mut process) = self.parts();
        machine.add_outside(real, &mut process);
    }

    /// Advances virtual time to this real time, unless it is later already.
    pub(super) fn catch_up_with(&mut self, real: u64) {
        let (machine, mut process) = self.parts();
        machine.catch_up_with(real_time::since_start(real), &mut process);
    }

    /// Counts one less that is outside. The last one closes the fence.
    pub(super) fn remove_outside(&mut self) {
        let (machine, mut process) = self.parts();
        machine.remove_outside(&mut process);
        stamps::written();
    }

    /// Brings virtual time up to date, where it runs with real time.
    pub(super) fn sync_time(&mut self) {
        let (machine, mut process) = self.parts();
        machine.sync_time(&mut process);
    }
}

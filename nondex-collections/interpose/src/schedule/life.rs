//! Lifetimes of threads: that of a test's own from the test's start to its end, those of others
//! from `pthread_create` to the end of their thread-local variables.

use ::std::ffi::{c_int, c_void};
use ::std::ptr;
use ::std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use nondex_core::protocol::scheduling::MAX_STEPS;
use nondex_core::scheduler::STEP;
use nondex_core::{RunSpec, context, hash};

use super::ending::{self, Done};
use super::shared::{IS_ON, LEASE, SHARED};
use super::thread::{Ref, Woken};
use super::token;
use super::trace::Object;
use super::{
    Busy, MONOTONIC_START, Operation, REALTIME_START, SELF, choices, closed_system, counter, epoch,
    kernel, lateness, leaving, me, processor, pthread, reading, slept, systematic, trace,
};
use crate::table::threads;
use crate::{DESTRUCTOR_ROUNDS, libc};

/// Number of threads that were started and are not scheduled.
static FREE_THREADS: AtomicU32 = AtomicU32::new(0);

/// Key of pthread whose destructor ends a thread, plus one.
static KEY: AtomicU32 = AtomicU32::new(0);

/// Counts a thread that is not scheduled.
pub(crate) fn note_free_thread() {
    FREE_THREADS.fetch_add(1, Ordering::Relaxed);
}

/// Returns whether threads were started before the test, for instance by an allocator. The tool's
/// harness starts one for the test, which does not count.
fn has_others() -> bool {
    FREE_THREADS.load(Ordering::Relaxed) > u32::from(context::has_harness())
}

/// Schedules this thread, a test's own, and all threads that it starts, if the spec requests it.
/// Has an effect once in a process.
pub(crate) fn begin(spec: &RunSpec, test: &str) {
    static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
    let Some(context) = context::global() else { return };
    let Some(scheduled) = spec.scheduled() else { return };
    let is_its_own = context.is_own_process() && test == spec.test;
    if !is_its_own || HAS_BEGUN.swap(true, Ordering::Relaxed) {
        return;
    }
    let mut key = 0;
    // SAFETY: the key is written to a local variable, and the destructor stays.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(thread_ends)) } != 0 {
        return;
    }
    KEY.store(key + 1, Ordering::Relaxed);
    let real = kernel::clock(libc::CLOCK_MONOTONIC);
    MONOTONIC_START.store(real, Ordering::Relaxed);
    epoch::begin(real, spec.before().is_empty());
    REALTIME_START.store(kernel::clock(libc::CLOCK_REALTIME), Ordering::Relaxed);
    let max_steps = match scheduled.max_steps {
        0 => MAX_STEPS,
        steps => steps,
    };
    closed_system::begin();
    choices::begin(spec);
    lateness::begin(spec);
    reading::begin(spec);
    slept::begin();
    processor::begin(spec);
    trace::begin(scheduled);
    ending::begin(context, test);
    let mut shared = SHARED.lock();
    shared.machine.begin(max_steps, systematic::is_on());
    shared.stamps.begin();
    let thread = shared.add(hash::mix(1), "0");
    shared.run(thread);
    if has_others() {
        // Those threads live in real time.
        shared.add_outside();
    }
    drop(shared);
    thread.number.set(kernel::thread_number());
    thread.stack.set(kernel::stack());
    SELF.set(Some(thread));
    IS_ON.store(true, Ordering::Relaxed);
    counter::begin();
}

/// Frees all threads from the scheduler, and writes the record, if anything was scheduled.
pub(crate) fn end() {
    let Some(me) = SELF.get() else { return };
    me.is_busy.store(true, Ordering::Relaxed);
    if !token::is_running(me) {
        return;
    }
    ending::flush_all(me);
    let mut shared = SHARED.lock();
    let done = Done::of(&shared);
    shared.free_all(me);
    drop(shared);
    SELF.set(None);
    done.record(|_| {});
    ending::forget();
}

/// Turns the scheduler off in a forked child, whose only thread runs freely.
pub(crate) fn after_fork_in_child() {
    SELF.set(None);
    IS_ON.store(false, Ordering::Relaxed);
    ending::forget();
    counter::after_fork_in_child();
}

/// Thread that is about to be started.
pub(crate) struct Started(Ref);

/// Prepares the start of a thread by this one. Returns `None` where nothing is scheduled.
pub(crate) fn start(path: &str) -> Option<Started> {
    let me = me()?;
    let _busy = Busy::begin(me);
    if !token::is_running(me) {
        return None;
    }
    processor::share(me);
    let thread = SHARED.lock().add(me.next_child(), path);
    thread.shares_processor.set(me.shares_processor.get());
    choices::will_start(thread);
    Some(Started(thread))
}

impl Started {
    /// Returns a handle for the new thread.
    pub(crate) fn thread(&self) -> Attached {
        Attached(self.0)
    }

    /// Makes the started thread ready, in the thread that started it.
    pub(crate) fn has_begun(self, handle: libc::pthread_t) {
        let mut shared = SHARED.lock();
        if IS_ON.load(Ordering::Relaxed) {
            self.0.handle.set(handle);
            shared.make_ready(self.0, Woken::Done);
        }
        drop(shared);
        super::point_after(Operation::Spawn, Object::Thread(self.0));
    }

    /// Removes the thread again, because it could not be started.
    pub(crate) fn failed(self) {
        let mut shared = SHARED.lock();
        shared.remove(self.0);
        shared.give_back(self.0);
    }
}

/// Handle that a new thread receives.
pub(crate) struct Attached(Ref);

impl Attached {
    /// Waits until the new thread may run. Must be the first thing that it does.
    pub(crate) fn enter(self) {
        let me = self.0;
        me.number.set(kernel::thread_number());
        me.stack.set(kernel::stack());
        // Nothing in this wait counts as an operation.
        me.is_busy.store(true, Ordering::Relaxed);
        token::await_token(me);
        me.is_busy.store(false, Ordering::Relaxed);
        if !IS_ON.load(Ordering::Relaxed) {
            return;
        }
        SELF.set(Some(me));
        keep(me);
        super::point(Operation::Start);
    }
}

/// Makes the key's destructor run when the thread ends.
fn keep(me: Ref) {
    let key = KEY.load(Ordering::Relaxed).wrapping_sub(1);
    // SAFETY: the key was created, and threads are never freed.
    unsafe { libc::pthread_setspecific(key, ptr::from_ref(me).cast()) };
}

/// Ends the thread's scheduled life in the last round of destructors.
unsafe extern "C" fn thread_ends(_key: *mut c_void) {
    let Some(me) = SELF.get() else { return };
    let rounds = me.rounds.get() + 1;
    me.rounds.set(rounds);
    if usize::from(rounds) < DESTRUCTOR_ROUNDS {
        // Later destructors may still use what other threads share, so they must be scheduled.
        keep(me);
        return;
    }
    me.is_busy.store(true, Ordering::Relaxed);
    if !token::is_running(me) {
        return;
    }
    LEASE.pass(STEP);
    LEASE.count_step();
    leaving::note(me.number.get());
    let mut shared = SHARED.lock();
    shared.remove(me);
    pthread::wake_robust_waiters(&mut shared, me);
    // From here on, the thread's calls are no operations any more.
    SELF.set(None);
    if me.is_detached.get() {
        shared.give_back(me);
    }
    token::leave(me, shared);
}

/// Returns whether the function at this address is `sched_yield`, which only lets others run.
pub(super) fn is_yield(function: usize) -> bool {
    function == threads::sched_yield as *const () as usize
}

/// Lets other threads run, in the scheduler if this thread is scheduled.
#[inline]
pub(crate) fn yields(_next: impl FnOnce() -> c_int) -> c_int {
    if super::is_on() {
        super::point(Operation::Yield);
    } else {
        kernel::yield_processor();
    }
    0
}

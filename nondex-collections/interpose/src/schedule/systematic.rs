//! Runs in which a list determines where threads are delayed, so that all short lists can be tried.
//!
//! Wherever another thread could go on there is a *decision*: the one that has the run token goes
//! on, or is delayed. It then comes again only when the others wait for it or end, or are delayed
//! in turn. Before an operation that is a preemption. Where a thread is given the run token because
//! the one before it waits, ends or yields, it lets others go first, which is none. So each
//! schedule of the test is a list of these decisions, which the record lists in order.

use ::std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use nondex_core::choice::hold::longest_hold;
use nondex_core::choice::stops::{self, Stop};
use nondex_core::json::Object;
use nondex_core::protocol::scheduling::{Decision, MAX_DECISIONS};
use nondex_core::{RunSpec, Schedule, context, hidden, model};

use super::lock::Lock;
use super::shared::{SHARED, STEPS};
use super::thread::Ref;
use crate::{origin, own};

static IS_ON: AtomicBool = AtomicBool::new(false);

static SEED: AtomicU64 = AtomicU64::new(0);

/// Whether something else than a decision let another thread go on.
static IS_DISTURBED: AtomicBool = AtomicBool::new(false);

static DECISIONS: Lock<hidden::Vec<u64>> = Lock::new(hidden::vec());

/// Takes the list of a run, if there is one.
pub(super) fn begin(spec: &RunSpec) {
    let is_on = spec.schedule() == Schedule::Systematic;
    SEED.store(spec.seed(), Ordering::Relaxed);
    IS_ON.store(is_on, Ordering::Relaxed);
}

#[inline]
pub(super) fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// Notes that another thread goes on, or may, though no decision is made about it.
pub(super) fn note_disturbance() {
    IS_DISTURBED.store(true, Ordering::Relaxed);
}

/// Notes that this thread gives way: whoever is next does not give way to it in turn, or none of
/// them would ever go on.
pub(super) fn note_yield(me: Ref) {
    me.delayed_at.set(Some(STEPS.load(Ordering::Relaxed)));
}

/// How long this thread is delayed, in nanoseconds, before an operation or, where that is no
/// preemption, before it goes on after others did.
pub(super) fn hold(me: Ref, is_preemption: bool) -> u64 {
    let now = STEPS.load(Ordering::Relaxed);
    if context::level().is_none() || !SHARED.lock().has_other(now) {
        return 0;
    }
    let number = me.decisions.get();
    me.decisions.set(number + 1);
    let decision = Decision { thread: me.index.get(), is_preemption };
    note(decision.into());
    if !is_listed(me, number) {
        return 0;
    }
    let Some(_work) = own::work() else { return 0 };
    let caller = me.caller.take().unwrap_or_else(origin::caller);
    let hold = longest_hold(&model::THREAD_SPAWN, caller).unwrap_or(0);
    if hold > 0 {
        me.delayed_at.set(Some(now));
    }
    hold
}

fn note(decision: u64) {
    let mut decisions = DECISIONS.lock();
    if decisions.len() < MAX_DECISIONS {
        decisions.push(decision);
    } else {
        note_disturbance();
    }
}

/// Whether the first decision of a thread is in the list.
pub(super) fn holds_first(thread: Ref) -> bool {
    is_listed(thread, 0)
}

/// Whether the list holds this thread back at its decision of this number.
fn is_listed(thread: Ref, number: u32) -> bool {
    let stop = Stop { thread: thread.index.get(), number };
    stops::of_seed(SEED.load(Ordering::Relaxed)).any(|listed| listed == stop)
}

/// Writes what was decided as a field of the record, if there is a list: a
/// [`Course`](nondex_core::Course).
pub(super) fn write(record: &mut Object<'_>) {
    if !is_on() {
        return;
    }
    record.object("course", |course| {
        let decisions = DECISIONS.lock();
        if !decisions.is_empty() {
            course.numbers("decisions", decisions.iter().copied());
        }
        course.flag("whole", !IS_DISTURBED.load(Ordering::Relaxed));
    });
}

//! Systematic runs, in which a list determines where threads are delayed, so that all short lists
//! can be tried.
//!
//! Wherever another thread could run there is a *decision*: the thread that holds the run token
//! continues, or is delayed. A delayed thread runs again only when the others wait for it, end, or
//! are delayed in turn.
//!
//! A delay before an operation is a preemption. A delay is none if the thread has just got the run
//! token, because the previous thread waits, ends or yields. It then only lets others go first. So
//! each schedule of the test is a list of decisions, which the record contains in order.

use ::std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use nondex_core::choice::hold::longest_hold;
use nondex_core::choice::stops::{self, Stop};
use nondex_core::json::Object;
use nondex_core::protocol::scheduling::{Decision, MAX_DECISIONS};
use nondex_core::{RunSpec, Schedule, context, hidden, model};

use super::lock::Lock;
use super::shared::{LEASE, SHARED};
use super::thread::Ref;
use crate::{origin, own};

static IS_ON: AtomicBool = AtomicBool::new(false);

static SEED: AtomicU64 = AtomicU64::new(0);

static DECISIONS: Lock<hidden::Vec<u64>> = Lock::new(hidden::vec());

/// Reads the list of a run, if there is one.
pub(super) fn begin(spec: &RunSpec) {
    let is_on = spec.schedule() == Schedule::Systematic;
    SEED.store(spec.seed(), Ordering::Relaxed);
    IS_ON.store(is_on, Ordering::Relaxed);
}

#[inline]
pub(super) fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// Returns how long this thread is delayed, in nanoseconds. The delay comes before an operation or,
/// if it is no preemption, before the thread resumes with the run token.
pub(super) fn hold(me: Ref, is_preemption: bool) -> u64 {
    if context::level().is_none() {
        return 0;
    }
    let number = SHARED.lock().machine.count_decision(me.id);
    let Some(number) = number else { return 0 };
    let decision = Decision { thread: me.index.get(), is_preemption };
    note(decision.into());
    if !is_listed(me, number) {
        return 0;
    }
    let Some(_work) = own::work() else { return 0 };
    let caller = me.caller.take().unwrap_or_else(origin::caller);
    let hold = longest_hold(&model::THREAD_SPAWN, caller).unwrap_or(0);
    if hold > 0 {
        SHARED.lock().machine.note_delayed(me.id);
    }
    hold
}

fn note(decision: u64) {
    let mut decisions = DECISIONS.lock();
    if decisions.len() < MAX_DECISIONS {
        decisions.push(decision);
    } else {
        LEASE.disturb();
    }
}

/// Returns whether the first decision of a thread is in the list.
pub(super) fn holds_first(thread: Ref) -> bool {
    is_listed(thread, 0)
}

/// Returns whether the list delays this thread at its decision of this number.
fn is_listed(thread: Ref, number: u32) -> bool {
    let stop = Stop { thread: thread.index.get(), number };
    stops::of_seed(SEED.load(Ordering::Relaxed)).any(|listed| listed == stop)
}

/// Writes the decisions as a field of the record, if there is a list: a
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
        course.flag("whole", !LEASE.is_disturbed());
    });
}

//! Callbacks that LLVM's pass `sancov-module` inserts before each plain load and store of an
//! instrumented crate. They do nothing but let other threads run, which exposes two threads that
//! use one place without a lock.

use ::std::ptr;
use ::std::sync::atomic::Ordering;

use nondex_core::scheduler::Class;

use super::choices;
use super::shared::LEASE;
use super::{Operation, me, reschedule, trace};

/// Duration of an access, in nanoseconds of virtual time. It is short because there are many
/// between two operations that take longer.
const ACCESS: u64 = 1;

/// Marks an access of this thread to a place, before which other threads may run.
#[inline]
fn before(place: usize, writes: bool) {
    let Some(me) = me() else { return };
    if me.is_stuck.load(Ordering::Relaxed) {
        reschedule(me, None, false);
        return;
    }
    let now = LEASE.now() + ACCESS;
    LEASE.set_now(now);
    // Memory on a thread's own stack is rarely shared, so such accesses are no preemption points.
    let here = 0_u8;
    if LEASE.alive() < 2 || (ptr::from_ref(&here).addr()..me.stack.get()).contains(&place) {
        return;
    }
    me.operations.set(me.operations.get() + 1);
    let fires = choices::fires(me, Class::Atomic);
    if fires || now >= LEASE.attention() {
        reschedule(me, fires.then_some(Operation::Atomic), false);
    }
    if trace::is_due() {
        trace::note_access(me, if writes { "write" } else { "read" }, place, writes);
    }
}

macro_rules! accesses {
    ($($load:ident $store:ident)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $load(place: usize) {
            before(place, false);
        }

        #[unsafe(no_mangle)]
        extern "C" fn $store(place: usize) {
            before(place, true);
        }
    )*};
}

accesses! {
    __sanitizer_cov_load1 __sanitizer_cov_store1
    __sanitizer_cov_load2 __sanitizer_cov_store2
    __sanitizer_cov_load4 __sanitizer_cov_store4
    __sanitizer_cov_load8 __sanitizer_cov_store8
    __sanitizer_cov_load16 __sanitizer_cov_store16
}

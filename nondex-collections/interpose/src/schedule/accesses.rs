//! What a compiler puts before each plain load and store, where a crate is compiled with LLVM's
//! pass `sancov-module` to say so: calls of these functions, which do nothing but let the others
//! run. So two threads are seen that use one place without any lock.

use ::std::ptr;
use ::std::sync::atomic::Ordering;

use super::choices;
use super::operation::Class;
use super::shared::{ALIVE, ATTENTION, NOW};
use super::{Operation, look_up, me, trace};

/// How long an access takes, in nanoseconds of virtual time: there are many between two operations
/// that take longer.
const ACCESS: u64 = 1;

/// An access of this thread to a place is next.
#[inline]
fn before(place: usize, writes: bool) {
    let Some(me) = me() else { return };
    if me.is_stuck.load(Ordering::Relaxed) {
        look_up(me, None, false);
        return;
    }
    let now = NOW.load(Ordering::Relaxed) + ACCESS;
    NOW.store(now, Ordering::Relaxed);
    // What a thread has on its own stack is most often its own.
    let here = 0_u8;
    if ALIVE.load(Ordering::Relaxed) < 2
        || (ptr::from_ref(&here).addr()..me.stack.get()).contains(&place)
    {
        return;
    }
    me.operations.set(me.operations.get() + 1);
    let fires = choices::fires(me, Class::Atomic);
    if fires || now >= ATTENTION.load(Ordering::Relaxed) {
        look_up(me, fires.then_some(Operation::Atomic), false);
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

//! Callbacks that LLVM's pass `tsan` inserts for each atomic operation of an instrumented crate.
//! They do the operation, too. Plain reads and writes are not observed here.

use ::std::ffi::{c_int, c_void};
use ::std::sync::atomic::{
    AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, compiler_fence, fence,
};

use super::thread::Ref;
use super::{Operation, begin_operation, choices, look_at, me, read_atomic, trace};

/// Marks the next operation of this thread, and returns the thread if it is scheduled.
#[inline]
fn before(kind: Operation) -> Option<Ref> {
    let me = me();
    if let Some(me) = me {
        begin_operation(me, kind);
    }
    me
}

/// Marks an operation that writes unconditionally to `place`, as [`before`] does.
#[inline]
fn before_write<T>(kind: Operation, place: *mut T) -> Option<Ref> {
    let me = me();
    if let Some(me) = me {
        begin_operation(me, choices::write(me, kind, place.addr()));
    }
    me
}

/// Records a finished operation in a traced run, with the value that it found and the one that it
/// left.
#[inline]
fn done<T, V: Into<u64>>(
    me: Option<Ref>,
    name: &'static str,
    place: *mut T,
    found: Option<V>,
    left: Option<V>,
) {
    if let Some(me) = me {
        if trace::is_look_due(me) {
            trace::note_atomic(me, name, place.addr(), found.map(Into::into), left.map(Into::into));
        }
    }
}

/// Returns the kind of an atomic addition or similar operation.
#[inline]
const fn change(order: c_int) -> Operation {
    if order == RELAXED || order == RELEASE { Operation::Count } else { Operation::Atomic }
}

/// Counts an operation of this thread that left `place` unchanged, as a spin.
#[inline]
fn has_looked<T>(me: Option<Ref>, place: *mut T) {
    if let Some(me) = me {
        look_at(me, place.addr());
    }
}

/// Notes that this thread has changed something, so it does not spin.
#[inline]
fn has_changed(me: Option<Ref>) {
    if let Some(me) = me {
        me.looks.end();
    }
}

/// Notes a successful compare-and-exchange: no other thread has written between read and write.
#[inline]
fn has_compared<T>(me: Option<Ref>, place: *mut T) {
    if let Some(me) = me {
        choices::write(me, Operation::Atomic, place.addr());
    }
}

/// Memory orders of C++: that of acquiring one more owner, of releasing one, and of the strongest
/// stores.
const RELAXED: c_int = 0;
const RELEASE: c_int = 3;
const SEQ_CST: c_int = 5;

const COMPARE_EXCHANGE: &str = "compare_exchange";

/// Defines the operations of one size. All use the strongest order, which costs extra only for a
/// store.
macro_rules! operations {
    ($atomic:ty, $integer:ty, $is_look:ident: $load:ident $store:ident $exchange:ident
        $compare_exchange:ident
        $($fetch:ident $method:ident)*) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $load(place: *mut $integer, _order: c_int) -> $integer {
            let me = me();
            let read = || {
                // SAFETY: the compiled program does the operation at this place.
                let value = unsafe { <$atomic>::from_ptr(place) }.load(Ordering::SeqCst);
                done(me, "load", place, Some(value), None);
                value
            };
            let value = me.map_or_else(read, |me| read_atomic(me, read));
            has_looked(me, place);
            if let Some(me) = me {
                choices::note_read(me, place.addr());
            }
            value
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $store(place: *mut $integer, value: $integer, order: c_int) {
            let me = before_write(Operation::Atomic, place);
            // SAFETY: as above.
            let atomic = unsafe { <$atomic>::from_ptr(place) };
            if order == SEQ_CST {
                atomic.store(value, Ordering::SeqCst);
            } else {
                atomic.store(value, Ordering::Release);
            }
            has_changed(me);
            done(me, "store", place, None, Some(value));
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $exchange(
            place: *mut $integer,
            value: $integer,
            _order: c_int,
        ) -> $integer {
            let me = before_write(Operation::Atomic, place);
            // SAFETY: as above.
            let found = unsafe { <$atomic>::from_ptr(place) }.swap(value, Ordering::SeqCst);
            if found == value {
                has_looked(me, place);
            } else {
                has_changed(me);
            }
            done(me, "swap", place, Some(found), Some(value));
            found
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $compare_exchange(
            place: *mut $integer,
            expected: $integer,
            value: $integer,
            _success: c_int,
            _failure: c_int,
        ) -> $integer {
            // Whether this writes is known only afterwards, so a success is noted then.
            let me = before(Operation::Atomic);
            // SAFETY: as above.
            let atomic = unsafe { <$atomic>::from_ptr(place) };
            let (success, failure) = (Ordering::SeqCst, Ordering::SeqCst);
            match atomic.compare_exchange(expected, value, success, failure) {
                Ok(found) => {
                    has_changed(me);
                    has_compared(me, place);
                    done(me, COMPARE_EXCHANGE, place, Some(found), Some(value));
                    found
                }
                Err(found) => {
                    has_looked(me, place);
                    done(me, COMPARE_EXCHANGE, place, Some(found), None);
                    found
                }
            }
        }

        fn $is_look(function: usize) -> bool {
            [$load as *const () as usize, $exchange as *const () as usize,
                $compare_exchange as *const () as usize]
                .contains(&function)
        }

        $(#[unsafe(no_mangle)]
        unsafe extern "C" fn $fetch(
            place: *mut $integer,
            value: $integer,
            order: c_int,
        ) -> $integer {
            let me = before_write(change(order), place);
            // SAFETY: as above.
            let found = unsafe { <$atomic>::from_ptr(place) }.$method(value, Ordering::SeqCst);
            has_changed(me);
            // Only few runs need the rest. No other thread ran since the operation, so `left` is
            // exact.
            if let Some(me) = me.filter(|me| trace::is_look_due(*me)) {
                // SAFETY: as above.
                let left = unsafe { <$atomic>::from_ptr(place) }.load(Ordering::Relaxed);
                let (found, left) = (Some(found.into()), Some(left.into()));
                trace::note_atomic(me, stringify!($method), place.addr(), found, left);
            }
            found
        })*
    };
}

operations!(AtomicU8, u8, is_look_8:
    __tsan_atomic8_load __tsan_atomic8_store __tsan_atomic8_exchange
    __tsan_atomic8_compare_exchange_val
    __tsan_atomic8_fetch_add fetch_add __tsan_atomic8_fetch_sub fetch_sub __tsan_atomic8_fetch_and
    fetch_and
    __tsan_atomic8_fetch_or fetch_or __tsan_atomic8_fetch_xor fetch_xor __tsan_atomic8_fetch_nand
    fetch_nand);
operations!(AtomicU16, u16, is_look_16:
    __tsan_atomic16_load __tsan_atomic16_store __tsan_atomic16_exchange
    __tsan_atomic16_compare_exchange_val
    __tsan_atomic16_fetch_add fetch_add __tsan_atomic16_fetch_sub fetch_sub
    __tsan_atomic16_fetch_and fetch_and
    __tsan_atomic16_fetch_or fetch_or __tsan_atomic16_fetch_xor fetch_xor
    __tsan_atomic16_fetch_nand fetch_nand);
operations!(AtomicU32, u32, is_look_32:
    __tsan_atomic32_load __tsan_atomic32_store __tsan_atomic32_exchange
    __tsan_atomic32_compare_exchange_val
    __tsan_atomic32_fetch_add fetch_add __tsan_atomic32_fetch_sub fetch_sub
    __tsan_atomic32_fetch_and fetch_and
    __tsan_atomic32_fetch_or fetch_or __tsan_atomic32_fetch_xor fetch_xor
    __tsan_atomic32_fetch_nand fetch_nand);
operations!(AtomicU64, u64, is_look_64:
    __tsan_atomic64_load __tsan_atomic64_store __tsan_atomic64_exchange
    __tsan_atomic64_compare_exchange_val
    __tsan_atomic64_fetch_add fetch_add __tsan_atomic64_fetch_sub fetch_sub
    __tsan_atomic64_fetch_and fetch_and
    __tsan_atomic64_fetch_or fetch_or __tsan_atomic64_fetch_xor fetch_xor
    __tsan_atomic64_fetch_nand fetch_nand);

/// Returns whether the function that begins at this address may leave its place unchanged.
pub(super) fn is_look(function: usize) -> bool {
    is_look_8(function) || is_look_16(function) || is_look_32(function) || is_look_64(function)
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_thread_fence(_order: c_int) {
    before(Operation::Atomic);
    fence(Ordering::SeqCst);
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_signal_fence(_order: c_int) {
    compiler_fence(Ordering::SeqCst);
}

/// Satisfies each instrumented module, which calls it before `main`.
#[unsafe(no_mangle)]
extern "C" fn __tsan_init() {}

#[unsafe(no_mangle)]
extern "C" fn __tsan_func_entry(_caller: *mut c_void) {}

#[unsafe(no_mangle)]
extern "C" fn __tsan_func_exit() {}

#[unsafe(no_mangle)]
extern "C" fn __tsan_ignore_thread_begin() {}

#[unsafe(no_mangle)]
extern "C" fn __tsan_ignore_thread_end() {}

//! The functions that instrumented atomics call, for a program without std: it has no scheduler.
//! The linker takes them from here when nothing before it has them.

#![no_std]

use core::ffi::c_int;
use core::sync::atomic::Ordering::SeqCst;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, compiler_fence, fence};

macro_rules! calls {
    ($($atomic:ident of $value:ident {
        $load:ident, $store:ident, $compare:ident, $($name:ident = $method:ident),* $(,)?
    })*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $load(place: *mut $value, _: c_int) -> $value {
                unsafe { $atomic::from_ptr(place) }.load(SeqCst)
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn $store(place: *mut $value, value: $value, _: c_int) {
                unsafe { $atomic::from_ptr(place) }.store(value, SeqCst);
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn $compare(place: *mut $value, old: $value, new: $value, _: c_int,
                _: c_int) -> $value {
                let result = unsafe { $atomic::from_ptr(place) }.compare_exchange(old, new, SeqCst,
                    SeqCst);
                let (Ok(found) | Err(found)) = result;
                found
            }

            $(
                #[unsafe(no_mangle)]
                unsafe extern "C" fn $name(place: *mut $value, value: $value, _: c_int) -> $value {
                    unsafe { $atomic::from_ptr(place) }.$method(value, SeqCst)
                }
            )*
        )*
    };
}

calls! {
    AtomicU8 of u8 {
        __tsan_atomic8_load, __tsan_atomic8_store, __tsan_atomic8_compare_exchange_val,
        __tsan_atomic8_exchange = swap, __tsan_atomic8_fetch_add = fetch_add,
        __tsan_atomic8_fetch_sub = fetch_sub, __tsan_atomic8_fetch_and = fetch_and,
        __tsan_atomic8_fetch_or = fetch_or, __tsan_atomic8_fetch_xor = fetch_xor,
        __tsan_atomic8_fetch_nand = fetch_nand,
    }
    AtomicU16 of u16 {
        __tsan_atomic16_load, __tsan_atomic16_store, __tsan_atomic16_compare_exchange_val,
        __tsan_atomic16_exchange = swap, __tsan_atomic16_fetch_add = fetch_add,
        __tsan_atomic16_fetch_sub = fetch_sub, __tsan_atomic16_fetch_and = fetch_and,
        __tsan_atomic16_fetch_or = fetch_or, __tsan_atomic16_fetch_xor = fetch_xor,
        __tsan_atomic16_fetch_nand = fetch_nand,
    }
    AtomicU32 of u32 {
        __tsan_atomic32_load, __tsan_atomic32_store, __tsan_atomic32_compare_exchange_val,
        __tsan_atomic32_exchange = swap, __tsan_atomic32_fetch_add = fetch_add,
        __tsan_atomic32_fetch_sub = fetch_sub, __tsan_atomic32_fetch_and = fetch_and,
        __tsan_atomic32_fetch_or = fetch_or, __tsan_atomic32_fetch_xor = fetch_xor,
        __tsan_atomic32_fetch_nand = fetch_nand,
    }
    AtomicU64 of u64 {
        __tsan_atomic64_load, __tsan_atomic64_store, __tsan_atomic64_compare_exchange_val,
        __tsan_atomic64_exchange = swap, __tsan_atomic64_fetch_add = fetch_add,
        __tsan_atomic64_fetch_sub = fetch_sub, __tsan_atomic64_fetch_and = fetch_and,
        __tsan_atomic64_fetch_or = fetch_or, __tsan_atomic64_fetch_xor = fetch_xor,
        __tsan_atomic64_fetch_nand = fetch_nand,
    }
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_thread_fence(_: c_int) {
    fence(SeqCst);
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_signal_fence(_: c_int) {
    compiler_fence(SeqCst);
}

#[unsafe(no_mangle)]
extern "C" fn __sanitizer_cov_bool_flag_init(_: *const u8, _: *const u8) {}

#[unsafe(no_mangle)]
extern "C" fn __sanitizer_cov_pcs_init(_: *const usize, _: *const usize) {}

macro_rules! accesses {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(_: usize) {}
    )*};
}

accesses! {
    __sanitizer_cov_load1 __sanitizer_cov_load2 __sanitizer_cov_load4 __sanitizer_cov_load8
    __sanitizer_cov_load16
    __sanitizer_cov_store1 __sanitizer_cov_store2 __sanitizer_cov_store4 __sanitizer_cov_store8
    __sanitizer_cov_store16
}

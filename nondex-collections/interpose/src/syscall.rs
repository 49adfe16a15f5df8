//! System calls that are made by number, through libc's `syscall`.

use ::std::ffi::c_long;

#[cfg(feature = "network")]
use super::network;
use super::process::number as process_number;
use super::{directory, entropy, interrupt, libc, schedule, system};

/// Handles the few calls that are interposed, and passes all others through. libc's `syscall` takes
/// its variable arguments in the registers of a function with seven `long`s, on every 64-bit Linux.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    // SAFETY: the caller's arguments, unchanged.
    unsafe {
        let arguments = [a, b, c, d, e, f];
        if let Some(result) = schedule::futex::syscall(number, arguments) {
            return result;
        }
        if let Some(result) = entropy::syscall(number, arguments) {
            return result;
        }
        if let Some(result) = directory::syscall(number, arguments) {
            return result;
        }
        #[cfg(feature = "network")]
        if let Some(result) = network::syscall(number, arguments) {
            return result;
        }
        if let Some(result) = schedule::processor::syscall(number, arguments) {
            return result;
        }
        schedule::counter::will_call(number, a);
        process_number::note_call(number);
        let mut deadline = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let arguments = schedule::futex::for_system(number, arguments, &mut deadline);
        let result = system::call(number, arguments);
        if number == libc::SYS_futex as c_long {
            interrupt::passed();
        }
        result
    }
}

//! System calls that are made by number, through libc's `syscall`.

use ::std::ffi::c_long;

#[cfg(feature = "network")]
use super::network;
use super::process::number as process_number;
use super::{directory, entropy, interrupt, libc, schedule};

/// Handles the few calls that are interposed, and passes all others through.
///
/// # Safety
/// The arguments must be those of the system call.
#[inline]
pub(crate) unsafe fn by_number(
    number: c_long,
    arguments: [c_long; 6],
    next: impl FnOnce(c_long, c_long, c_long, c_long, c_long, c_long) -> c_long,
) -> c_long {
    // SAFETY: as the caller promises.
    unsafe {
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
        schedule::counter::will_call(number, arguments[0]);
        process_number::note_call(number);
        let mut deadline = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let [a, b, c, d, e, f] = schedule::futex::for_system(number, arguments, &mut deadline);
        let result = next(a, b, c, d, e, f);
        if number == libc::SYS_futex as c_long {
            interrupt::passed();
        }
        result
    }
}

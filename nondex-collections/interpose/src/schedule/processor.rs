//! The single processor that all threads of a scheduled test share.
//!
//! Only one of them runs at a time, so several processors gain nothing. Each hand-over between two
//! processors has to wake an idle one. On an idle machine a hand-over takes about half the time if
//! both threads are on one processor. The driver assigns different processors to the processes that
//! it runs concurrently.
//!
//! The test does not see this: it is shown the processors that it had before. Once it starts a
//! program, or chooses processors for its threads, all threads get those back for good. Two views
//! are not concealed: `/proc/self/status`, and system calls made without libc.

use ::std::ffi::{c_int, c_long, c_void};
use ::std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

use nondex_core::RunSpec;

use super::thread::Ref;
use super::{SELF, filter, kernel};
use crate::{Errno, libc};

/// Number of words in a set of processors. On a machine with more processors, none is shared.
const WORDS: usize = 16;

/// Size of a set in bytes.
const SIZE: usize = WORDS * size_of::<u64>();

/// No thread has started another one yet.
const UNUSED: u8 = 0;
/// All threads share one processor.
const SHARED_BY_ALL: u8 = 1;
/// The threads have their original processors, until the process ends.
const RELEASED: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(UNUSED);

/// Processor that the driver requests to share; [`u32::MAX`] if it requests none.
static WANTED: AtomicU32 = AtomicU32::new(u32::MAX);

/// Set of the shared processor, and the original set.
static ONE: Set = Set::new();
static ALL: Set = Set::new();

/// Set of processors that one thread writes before others read it.
struct Set([AtomicU64; WORDS]);

impl Set {
    const fn new() -> Self {
        Set([const { AtomicU64::new(0) }; WORDS])
    }

    fn store(&self, words: &[u64; WORDS]) {
        for (place, word) in self.0.iter().zip(words) {
            place.store(*word, Ordering::Relaxed);
        }
    }

    fn load(&self) -> [u64; WORDS] {
        self.0.each_ref().map(|word| word.load(Ordering::Relaxed))
    }
}

/// Sets which processor is to be shared.
pub(super) fn begin(spec: &RunSpec) {
    WANTED.store(spec.processor.unwrap_or(u32::MAX), Ordering::Relaxed);
}

/// Moves this thread to the shared processor before it starts the first other thread. The threads
/// that it starts inherit the processor.
pub(super) fn share(me: Ref) {
    if STATE.load(Ordering::Relaxed) != UNUSED || filter::is_there() {
        return;
    }
    let _errno = Errno::save();
    let is_shared = share_one().is_some();
    me.shares_processor.set(is_shared);
    let state = if is_shared { SHARED_BY_ALL } else { RELEASED };
    STATE.store(state, Ordering::Release);
}

fn share_one() -> Option<()> {
    let all = own()?;
    // Sharing gains nothing if there is only one processor.
    if all.iter().map(|word| word.count_ones()).sum::<u32>() < 2 {
        return None;
    }
    let wanted = only(WANTED.load(Ordering::Relaxed), &all);
    let one = wanted.or_else(|| only(current()?, &all))?;
    ALL.store(&all);
    ONE.store(&one);
    set(&one).then_some(())
}

/// Returns the processors that this thread may use.
fn own() -> Option<[u64; WORDS]> {
    let mut words = [0_u64; WORDS];
    let place = words.as_mut_ptr().addr() as c_long;
    let arguments = [0, SIZE as c_long, place, 0, 0, 0];
    // SAFETY: at most the length of the buffer is written.
    let len = unsafe { kernel::syscall(libc::SYS_sched_getaffinity, arguments) };
    (len > 0).then_some(words)
}

/// Returns the set of this processor alone, if it is one of `all`.
fn only(number: u32, all: &[u64; WORDS]) -> Option<[u64; WORDS]> {
    let mut one = [0; WORDS];
    let word = number as usize / 64;
    let bit = all.get(word)? & (1 << (number % 64));
    one[word] = bit;
    (bit != 0).then_some(one)
}

/// Returns the processor that this thread runs on.
fn current() -> Option<u32> {
    let mut number = 0_u32;
    let place = (&raw mut number).addr() as c_long;
    // SAFETY: the number is written to a local variable.
    let done = unsafe { kernel::syscall(libc::SYS_getcpu, [place, 0, 0, 0, 0, 0]) };
    (done == 0).then_some(number)
}

/// Sets the processors of this thread, and returns whether that succeeded.
fn set(words: &[u64; WORDS]) -> bool {
    let place = words.as_ptr().addr() as c_long;
    let arguments = [0, SIZE as c_long, place, 0, 0, 0];
    // SAFETY: the set is read, and lives until the call returns.
    unsafe { kernel::syscall(libc::SYS_sched_setaffinity, arguments) == 0 }
}

/// Gives all threads their original processors for good, because a child would inherit the shared
/// one, or the test chooses its own. This thread gets them at once, each other thread when it runs
/// again.
pub(crate) fn release() {
    if STATE.load(Ordering::Relaxed) == SHARED_BY_ALL {
        STATE.store(RELEASED, Ordering::Release);
    }
    give_back_to_this();
}

/// Gives the calling thread its original processors, as [`give_back`] does.
fn give_back_to_this() {
    if let Some(me) = SELF.get() {
        give_back(me);
    }
}

/// Gives this thread its original processors, if none is shared any more and the test has chosen no
/// others for it.
pub(super) fn give_back(me: Ref) {
    if STATE.load(Ordering::Acquire) != RELEASED
        || !me.shares_processor.replace(false)
        || filter::is_there()
    {
        return;
    }
    let _errno = Errno::save();
    if own() == Some(ONE.load()) {
        set(&ALL.load());
    }
}

/// Replaces the shared processor by the original ones in a set that the test reads.
///
/// # Safety
/// The set must have been filled in, with this number of bytes.
unsafe fn conceal(set: *mut c_void, size: usize) {
    if STATE.load(Ordering::Acquire) != SHARED_BY_ALL {
        return;
    }
    let (one, all) = (bytes(&ONE.load()), bytes(&ALL.load()));
    // SAFETY: as the caller promises.
    let shown = unsafe { ::std::slice::from_raw_parts_mut(set.cast::<u8>(), size.min(SIZE)) };
    // A thread with another set does not share the processor.
    if *shown == one[..shown.len()] {
        shown.copy_from_slice(&all[..shown.len()]);
    }
}

fn bytes(words: &[u64; WORDS]) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    for (place, word) in bytes.chunks_exact_mut(size_of::<u64>()).zip(words) {
        place.copy_from_slice(&word.to_ne_bytes());
    }
    bytes
}

/// Handles system calls about processors. Returns the result if the call was made here.
pub(crate) fn syscall(number: c_long, arguments: [c_long; 6]) -> Option<c_long> {
    if number == libc::SYS_sched_setaffinity {
        release();
    }
    if number != libc::SYS_sched_getaffinity {
        return None;
    }
    give_back_to_this();
    // SAFETY: the caller's arguments.
    let len = unsafe { kernel::syscall(number, arguments) };
    if let Ok(size @ 1..) = usize::try_from(len) {
        let place = arguments[2] as usize;
        // SAFETY: the system has filled in these bytes.
        unsafe { conceal(::std::ptr::with_exposed_provenance_mut(place), size) };
    }
    Some(len)
}

/// Conceals the shared processor in the set that the call fills in.
///
/// # Safety
/// The set must have this number of bytes.
pub(crate) unsafe fn concealed(
    set: *mut c_void,
    size: usize,
    next: impl FnOnce() -> c_int,
) -> c_int {
    // A thread that waited outside of the scheduler may not have got them back yet.
    give_back_to_this();
    let result = next();
    if result == 0 {
        // SAFETY: as the caller promises, and libc fills in the whole set.
        unsafe { conceal(set, size) };
    }
    result
}

/// Gives the threads their original processors before the program chooses some.
pub(crate) fn chosen(next: impl FnOnce() -> c_int) -> c_int {
    release();
    next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_one_has_a_processor_that_is_allowed() {
        let mut all = [0; WORDS];
        all[1] = 0b110;
        let mut third = [0; WORDS];
        third[1] = 0b100;
        assert_eq!(only(66, &all), Some(third));
        assert_eq!(only(64, &all), None);
        assert_eq!(only(u32::MAX, &all), None);
    }
}

//! System calls of the scheduler itself, which never go through an interposed function.

use ::std::ffi::{CStr, c_int, c_long};
use ::std::fmt::Arguments;
use ::std::ptr;
use ::std::sync::atomic::AtomicU32;
use ::std::time::Duration;

use super::filter;
use crate::{Errno, errno, libc, originals};

pub(super) use crate::own::number as own;
pub(super) use crate::system::call as syscall;

/// Returns an address slightly above this stack frame, as the stack's beginning for later calls.
#[inline(never)]
pub(super) fn stack() -> usize {
    const CALLERS: usize = 4096;
    let here = 0_u8;
    ptr::from_ref(&here).addr() + CALLERS
}

/// Length in bytes of a thread's name in the system, with the NUL.
pub(super) const NAME: usize = 16;

/// Returns the name of this thread in the system.
pub(super) fn thread_name() -> Option<[u8; NAME]> {
    /// Operation of `prctl` that returns the name (`PR_GET_NAME`).
    const GET_NAME: c_int = 16;
    let mut name = [0; NAME];
    // SAFETY: the name is written to a local variable of the maximum length.
    let error = unsafe { libc::prctl(GET_NAME, name.as_mut_ptr()) };
    (error == 0).then_some(name)
}

/// Returns the bytes up to the first NUL.
pub(super) fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or(&[])
}

/// Lets other threads of the machine run.
pub(super) fn yield_processor() {
    if filter::is_there() {
        rest();
        return;
    }
    // SAFETY: the call has no arguments.
    unsafe { syscall(libc::SYS_sched_yield, [0; 6]) };
}

/// Returns whether this process has children, including ended ones that were not waited for.
pub(super) fn has_children() -> bool {
    let _errno = Errno::save();
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
    let arguments = [c_long::from(libc::P_ALL), 0, 0, options.into(), 0, 0];
    // SAFETY: a null pointer requests no information.
    let result = unsafe { syscall(libc::SYS_waitid, arguments) };
    result == 0 || errno() != libc::ECHILD
}

/// Returns the system's number of this thread.
pub(super) fn thread_number() -> i32 {
    // SAFETY: the call has no arguments.
    unsafe { syscall(libc::SYS_gettid, [0; 6]) as i32 }
}

const WAIT_PRIVATE: c_long = 128;
const WAKE_PRIVATE: c_long = 129;

/// Waits while the futex is 0, for at most `limit`.
pub(super) fn wait(futex: &AtomicU32, limit: Option<Duration>) {
    let time = limit.map(timespec);
    let timeout = time.as_ref().map_or(ptr::null(), ptr::from_ref).addr() as c_long;
    let arguments = [ptr::from_ref(futex).addr() as c_long, WAIT_PRIVATE, 0, timeout, 0, 0];
    // SAFETY: the futex and the time live until the call returns.
    unsafe { syscall(libc::SYS_futex, arguments) };
}

/// Lets other threads of the machine run for a moment. Any filter of system calls that lets threads
/// wait for each other allows the call that this makes.
pub(super) fn rest() {
    pause(Duration::from_micros(1));
}

/// Futex of threads that only let time pass. It is never woken.
static PAUSE: AtomicU32 = AtomicU32::new(0);

fn pause(time: Duration) {
    wait(&PAUSE, Some(time));
}

/// Wakes a thread that waits for the futex.
pub(super) fn wake(futex: &AtomicU32) {
    let arguments = [ptr::from_ref(futex).addr() as c_long, WAKE_PRIVATE, 1, 0, 0, 0];
    // SAFETY: the call does not read the futex.
    unsafe { syscall(libc::SYS_futex, arguments) };
}

/// Returns the mode of an open file; `None` if there is none.
pub(super) fn mode(file: c_int) -> Option<libc::mode_t> {
    stat(file).map(|stat| stat.st_mode)
}

/// Returns the system's information on an open file; `None` if there is none.
pub(super) fn stat(file: c_int) -> Option<libc::stat64> {
    // SAFETY: zeros are a valid `stat64`. The system call fills in the structure, which lives until
    // it returns.
    unsafe {
        let mut stat = ::std::mem::zeroed::<libc::stat64>();
        let place = (&raw mut stat).addr() as c_long;
        let done = syscall(libc::SYS_fstat, [file.into(), place, 0, 0, 0, 0]);
        (done == 0).then_some(stat)
    }
}

/// Sleeps in real time.
pub(super) fn sleep(time: Duration) {
    if filter::is_there() {
        pause(time);
        return;
    }
    let time = timespec(time);
    let arguments = [ptr::from_ref(&time).addr() as c_long, 0, 0, 0, 0, 0];
    // SAFETY: the time lives until the call returns.
    unsafe { syscall(libc::SYS_nanosleep, arguments) };
}

fn timespec(time: Duration) -> libc::timespec {
    libc::timespec { tv_sec: time.as_secs() as _, tv_nsec: time.subsec_nanos().into() }
}

/// Returns the real time of a clock in nanoseconds.
pub(super) fn clock(clock: libc::clockid_t) -> u64 {
    let original = originals::clock_gettime.get().filter(|_| filter::is_there());
    let Some(original) = original else { return clock_of_system(clock) };
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is written to a local variable.
    unsafe { original(clock, &raw mut now) };
    nanoseconds(&now)
}

/// Returns the same as [`clock`], always by a system call. The C library's version reads the
/// counter, which may fault.
pub(super) fn clock_of_system(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let place = (&raw mut now).addr() as c_long;
    // SAFETY: the time is written to a local variable.
    unsafe { syscall(libc::SYS_clock_gettime, [c_long::from(clock), place, 0, 0, 0, 0]) };
    nanoseconds(&now)
}

/// Converts a time into nanoseconds.
pub(super) fn nanoseconds(time: &libc::timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let rest = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

/// Ends the process at once.
pub(super) fn end_process(code: c_long) -> ! {
    loop {
        // SAFETY: the call does not return.
        unsafe { syscall(libc::SYS_exit_group, [code, 0, 0, 0, 0, 0]) };
    }
}

/// Open file for reading.
pub(super) struct File(c_long);

impl File {
    /// Opens the file at a path that ends in NUL.
    pub(super) fn open(path: &[u8]) -> Option<Self> {
        assert!(path.contains(&0));
        if filter::is_there() {
            return None;
        }
        let at_cwd = c_long::from(libc::AT_FDCWD);
        let arguments = [at_cwd, path.as_ptr().addr() as c_long, 0, 0, 0, 0];
        // SAFETY: the path ends in NUL.
        let file = unsafe { syscall(libc::SYS_openat, arguments) };
        // `then_some` would construct a `File` for an error, too, and close it.
        (file >= 0).then(|| File(file))
    }

    /// Reads the next bytes of the file; none at its end.
    pub(super) fn read<'r>(&self, room: &'r mut [u8]) -> &'r [u8] {
        self.fill(libc::SYS_read, room)
    }

    /// Reads the next entries of a directory in the system's format; none at its end.
    pub(super) fn entries<'r>(&self, room: &'r mut [u8]) -> &'r [u8] {
        self.fill(libc::SYS_getdents64, room)
    }

    fn fill<'r>(&self, call: c_long, room: &'r mut [u8]) -> &'r [u8] {
        let len = room.len() as c_long;
        let arguments = [self.0, room.as_mut_ptr().addr() as c_long, len, 0, 0, 0];
        // SAFETY: at most the length of the buffer is written.
        let len = unsafe { syscall(call, arguments) };
        &room[..usize::try_from(len).unwrap_or(0)]
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: this code owns the descriptor.
        unsafe { syscall(libc::SYS_close, [self.0, 0, 0, 0, 0, 0]) };
    }
}

/// Returns whether `holds` is true for each numeric name in a directory; false if it cannot be
/// read.
pub(crate) fn each_number(path: &CStr, mut holds: impl FnMut(i32) -> bool) -> bool {
    let Some(folder) = File::open(path.to_bytes_with_nul()) else { return false };
    let mut room = [0; 4096];
    loop {
        let mut entries = folder.entries(&mut room);
        if entries.is_empty() {
            return true;
        }
        while let Some((name, rest)) = entry(entries) {
            entries = rest;
            if number(name).is_some_and(|number| !holds(number)) {
                return false;
            }
        }
    }
}

/// Splits off the name of the first entry, and returns the remaining entries, too.
fn entry(entries: &[u8]) -> Option<(&[u8], &[u8])> {
    /// Offsets of an entry's length and its name.
    const LEN: usize = 16;
    const NAME: usize = 19;
    let len = usize::from(u16::from_ne_bytes([*entries.get(LEN)?, *entries.get(LEN + 1)?]));
    Some((entries.get(NAME..len)?, &entries[len..]))
}

/// Parses a number, which may end in NUL.
pub(super) fn number(name: &[u8]) -> Option<i32> {
    let digits = name.split(|&byte| byte == 0).next()?;
    ::std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Returns whether a thread of this process sleeps in the kernel until it is woken; `None` if that
/// is unknown. A wait for a disk does not count, because it always ends.
pub(super) fn sleeps(thread: i32) -> Option<bool> {
    let mut text = [0; 512];
    Some(state(of_thread(thread, "stat", &mut text)?)? == b'S')
}

/// Returns the state of a thread or process from its `stat` file. It comes after the name, which
/// stands in parentheses and may contain anything.
pub(super) fn state(stat: &[u8]) -> Option<u8> {
    let end = stat.iter().rposition(|&byte| byte == b')')?;
    stat.get(end + 2).copied()
}

/// Returns whether a thread of this process waits in a futex, as for another thread; `None` if that
/// is unknown. A thread that tries to take a lock of the tool [rests](rest) in a futex, and does
/// not count.
pub(super) fn waits_in_futex(thread: i32) -> Option<bool> {
    let mut text = [0; 512];
    let text = of_thread(thread, "syscall", &mut text)?;
    // `202 0x7ffc1c8 0x80 …`, or `running`.
    let mut words = ::std::str::from_utf8(text).ok()?.split(' ');
    let is_futex = words.next()?.parse() == Ok(libc::SYS_futex);
    let digits = words.next().and_then(|word| word.strip_prefix("0x"));
    let address = digits.and_then(|digits| usize::from_str_radix(digits, 16).ok());
    Some(is_futex && address != Some((&raw const PAUSE).addr()))
}

/// Reads a thread's file of this name in procfs.
fn of_thread<'r>(thread: i32, name: &str, room: &'r mut [u8]) -> Option<&'r [u8]> {
    shown(format_args!("/proc/self/task/{thread}/{name}"), room)
}

/// Reads a short file of the system; `None` if it is empty or cannot be read.
pub(super) fn shown<'r>(path: Arguments<'_>, room: &'r mut [u8]) -> Option<&'r [u8]> {
    let path = Path::of(path)?;
    Some(File::open(&path.0)?.read(room)).filter(|text| !text.is_empty())
}

/// Short path that ends in NUL, on the stack.
pub(super) struct Path(pub(super) [u8; 64]);

impl Path {
    /// Returns the path with this text; `None` if it is too long.
    pub(super) fn of(text: Arguments<'_>) -> Option<Self> {
        use ::std::io::Write;

        let mut path = [0; 64];
        (&mut path[..63]).write_fmt(text).ok()?;
        Some(Path(path))
    }

    /// Returns the path up to its NUL.
    pub(super) fn text(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.0).unwrap_or_default()
    }
}

/// Returns whether a function of the program handles this signal.
pub(super) fn is_handled(signal: c_int) -> bool {
    restarts(signal).is_some()
}

/// Returns whether the system restarts calls after a signal; `None` if no function of the program
/// handles it.
pub(super) fn restarts(signal: c_int) -> Option<bool> {
    /// Largest first word of the system's answer that is no handler: 0 is the default action, 1
    /// ignores the signal.
    const IGNORED: u64 = 1;
    let mut action = [0_u64; 4];
    let place = action.as_mut_ptr().addr() as c_long;
    // SAFETY: the array is as long as the system's structure, with a set of 64 signals.
    let done = unsafe { syscall(libc::SYS_rt_sigaction, [signal.into(), 0, place, 8, 0, 0]) };
    let is_handled = done == 0 && action[0] > IGNORED;
    is_handled.then_some(action[1] & libc::SA_RESTART as u64 != 0)
}

/// Returns whether a thread of this process blocks a signal; `None` if that is unknown.
pub(super) fn blocks(thread: i32, signal: c_int) -> Option<bool> {
    const FIELD: &str = "SigBlk:\t";
    let mut text = [0; 4096];
    let text = ::std::str::from_utf8(of_thread(thread, "status", &mut text)?).ok()?;
    let digits = text.lines().find_map(|line| line.strip_prefix(FIELD))?;
    let mask = u64::from_str_radix(digits, 16).ok()?;
    Some(mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use ::std::sync::atomic::Ordering;
    use ::std::{hint, thread};

    use super::*;

    #[test]
    fn a_thread_that_rests_does_not_wait_for_another_one() {
        static OTHERS: AtomicU32 = AtomicU32::new(0);
        const LONG: Duration = Duration::from_secs(60);
        for (futex, waits) in [(&OTHERS, true), (&PAUSE, false)] {
            static NUMBER: AtomicU32 = AtomicU32::new(0);
            let thread = thread::spawn(move || {
                NUMBER.store(thread_number() as u32, Ordering::SeqCst);
                wait(futex, Some(LONG));
            });
            while NUMBER.load(Ordering::SeqCst) == 0 {
                hint::spin_loop();
            }
            let number = NUMBER.swap(0, Ordering::SeqCst) as i32;
            while sleeps(number) == Some(false) {
                hint::spin_loop();
            }
            assert_eq!(waits_in_futex(number), Some(waits));
            // Another thread may rest there, too.
            while !thread.is_finished() {
                wake(futex);
            }
            thread.join().unwrap();
        }
    }
}

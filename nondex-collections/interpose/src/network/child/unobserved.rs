//! Programs that cannot be observed, and have another machine in their arguments. Only their
//! success or failure is known.
//!
//! A program that `posix_spawn` starts is identified by its process id from then on. One that
//! replaces a forked child is known to that child alone. So the child announces it in memory that
//! it shares with its parent.

use ::std::cell::UnsafeCell;
use ::std::ffi::{CStr, c_char, c_int};
use ::std::sync::OnceLock;
use ::std::sync::atomic::{AtomicI32, Ordering};

use nondex_core::NetworkMode;
use nondex_core::context::network::{self, End, NetworkOperation};
use nondex_core::fork_lock::ForkLock;
use nondex_core::hidden::Text;
use nondex_core::protocol::network::CHILD;
use nondex_core::sorted::SortedMap;

use super::super::caller;
use super::{LIBRARY, Strings, argument};
use crate::{Errno, libc, schedule};

/// Maximum number of arguments that are examined.
const MAX_ARGUMENTS: usize = 256;

/// Name of a program, and the host in its arguments.
type Remote<'a> = (&'a str, &'a str);

/// Returns the name of `program` and the other machine in its arguments, if there is one.
///
/// # Safety
/// `program` must be null or end with NUL; `arguments` must be null or end with a null pointer, as
/// must each with NUL.
unsafe fn remote<'a>(program: *const c_char, arguments: Strings) -> Option<Remote<'a>> {
    if program.is_null() || arguments.is_null() || network::mode() == NetworkMode::Off {
        return None;
    }
    // SAFETY: as the caller promises.
    let text = |text: *const c_char| unsafe { CStr::from_ptr(text) }.to_str().ok();
    let path = text(program)?;
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    let arguments = (0..MAX_ARGUMENTS)
        // SAFETY: every argument up to the null pointer was read before.
        .map(|i| unsafe { *arguments.add(i) })
        .take_while(|argument| !argument.is_null());
    let host = arguments.skip(1).find_map(|argument| argument::host(text(argument)?))?;
    Some((name, host))
}

fn begin((name, host): Remote<'_>) -> Option<NetworkOperation> {
    network::begin(CHILD, Text::from(name), Some(Text::from(host)), caller())
}

/// Operations that have begun, by the process id of the child.
static STARTED: ForkLock<SortedMap<libc::pid_t, NetworkOperation>> = ForkLock::new(SortedMap::new);

pub(in crate::network) fn before_fork() {
    STARTED.before_fork();
}

pub(in crate::network) fn after_fork() {
    STARTED.after_fork();
}

/// Records that a program was started as the child `pid`.
///
/// # Safety
/// As for [`remote`].
pub(super) unsafe fn started(pid: libc::pid_t, program: *const c_char, arguments: Strings) {
    let _errno = Errno::save();
    // SAFETY: as the caller promises.
    if let Some(operation) = unsafe { remote(program, arguments) }.and_then(begin) {
        if let Some(mut started) = STARTED.lock() {
            started.insert(pid, operation);
        }
    }
}

/// Place for the announcement of one process.
struct Slot {
    /// Owner: [`FREE`], [`TAKEN`], or the process id of one whose text is complete.
    owner: AtomicI32,
    text: UnsafeCell<[u8; 500]>,
}

// SAFETY: only the process that has taken the place writes the text. Only a process that has reaped
// the owner reads it.
unsafe impl Sync for Slot {}

const FREE: libc::pid_t = 0;
const TAKEN: libc::pid_t = -1;

/// Number of places.
const PLACES: usize = 32;

/// Returns the places that this process and its forked children share.
fn places() -> &'static [Slot] {
    static SHARED: OnceLock<Option<&'static [Slot; PLACES]>> = OnceLock::new();
    let map = || {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        let len = size_of::<[Slot; PLACES]>();
        // SAFETY: new memory is mapped. It is all zeros, which are free places, and stays.
        unsafe {
            let memory = libc::mmap(::std::ptr::null_mut(), len, protection, flags, -1, 0);
            (memory != libc::MAP_FAILED).then(|| &*memory.cast())
        }
    };
    SHARED.get_or_init(map).map_or(&[], |places| places)
}

/// Maps the memory that forked children share with this process.
pub(super) fn prepare() {
    places();
}

/// Announcement of a program that is about to replace this process; withdrawn if it does not.
pub(super) struct Announcement(&'static Slot);

impl Drop for Announcement {
    fn drop(&mut self) {
        self.0.owner.store(FREE, Ordering::Release);
    }
}

/// Announces a program that is about to replace this process.
///
/// # Safety
/// As for [`remote`].
pub(super) unsafe fn announce(program: *const c_char, arguments: Strings) -> Option<Announcement> {
    let _errno = Errno::save();
    // SAFETY: as the caller promises.
    let (name, host) = unsafe { remote(program, arguments) }?;
    let place = places().iter().find(|place| {
        let owner = &place.owner;
        owner.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok()
    })?;
    let announcement = Announcement(place);
    // SAFETY: this process has taken the place, and no other reads it yet.
    let text = unsafe { &mut *place.text.get() };
    super::join(text, &[host.as_bytes(), b" ", name.as_bytes()])?;
    // SAFETY: the function only returns a number.
    place.owner.store(unsafe { libc::getpid() }, Ordering::Release);
    Some(announcement)
}

/// Removes and returns the operation that belongs to the ended child `pid`, or to the program that
/// replaced it.
fn take(pid: libc::pid_t) -> Option<NetworkOperation> {
    if let Some(operation) = STARTED.lock()?.remove(&pid) {
        return Some(operation);
    }
    let is_of_pid = |place: &&Slot| place.owner.load(Ordering::Acquire) == pid;
    let announcement = Announcement(places().iter().find(is_of_pid)?);
    // SAFETY: the owner has written the text completely, and has ended.
    let text = CStr::from_bytes_until_nul(unsafe { &*announcement.0.text.get() }).ok()?;
    let (host, name) = text.to_str().ok()?.split_once(' ')?;
    begin((name, host))
}

/// Records how the child `pid` ended.
fn ended(pid: libc::pid_t, error: Option<Text>) {
    if LIBRARY.get().is_some() {
        if let Some(mut operation) = take(pid) {
            operation.end(error.map_or(End::Answered, End::Failed));
        }
    }
}

fn of_exit(status: c_int) -> Option<Text> {
    (status != 0).then(|| Text::of(format_args!("exit status {status}")))
}

fn of_signal(signal: c_int) -> Option<Text> {
    Some(Text::of(format_args!("signal {signal}")))
}

/// Calls `next` with a place for the status, and records its result.
///
/// # Safety
/// `status` must be null or valid for writes.
pub(crate) unsafe fn waited(
    status: *mut c_int,
    options: c_int,
    next: impl FnOnce(*mut c_int) -> libc::pid_t,
) -> libc::pid_t {
    let mut own = 0;
    let pid = schedule::child::wait(options, || {
        let child = next(&raw mut own);
        let has_ended = child > 0 && (libc::WIFEXITED(own) || libc::WIFSIGNALED(own));
        (child, has_ended)
    });
    let _errno = Errno::save();
    if pid > 0 {
        if libc::WIFEXITED(own) {
            ended(pid, of_exit(libc::WEXITSTATUS(own)));
        } else if libc::WIFSIGNALED(own) {
            ended(pid, of_signal(libc::WTERMSIG(own)));
        }
        if !status.is_null() {
            // SAFETY: as the caller promises.
            unsafe { status.write(own) }
        }
    }
    pid
}

/// Calls `next` with a place for information about the child, and records how the child ended.
///
/// # Safety
/// `info` must be null or valid.
pub(crate) unsafe fn waited_for(
    info: *mut libc::siginfo_t,
    options: c_int,
    next: impl FnOnce(*mut libc::siginfo_t) -> c_int,
) -> c_int {
    // SAFETY: the information is plain data, for which zeros are valid.
    let mut own = unsafe { ::std::mem::zeroed::<libc::siginfo_t>() };
    let info = if info.is_null() { &raw mut own } else { info };
    // SAFETY: as the caller promises.
    let result = schedule::child::wait(options, || unsafe {
        let result = next(info);
        let is_end =
            matches!((*info).si_code, libc::CLD_EXITED | libc::CLD_KILLED | libc::CLD_DUMPED);
        let is_taken = options & libc::WNOWAIT == 0;
        (result, result == 0 && is_taken && is_end && (*info).si_pid() != 0)
    });
    if result == 0 {
        let _errno = Errno::save();
        // SAFETY: libc has written the structure, or kept the caller's content.
        let (code, pid, status) =
            unsafe { ((*info).si_code, (*info).si_pid(), (*info).si_status()) };
        match code {
            _ if pid == 0 => {}
            libc::CLD_EXITED => ended(pid, of_exit(status)),
            libc::CLD_KILLED | libc::CLD_DUMPED => ended(pid, of_signal(status)),
            _ => {}
        }
    }
    result
}

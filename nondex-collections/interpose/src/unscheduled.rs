//! What the scheduler is where threads are not scheduled: calls pass through.

use ::std::ffi::{CStr, c_char, c_int, c_void};

use nondex_core::{Model, RunSpec, StateKind};

use crate::libc;

pub(crate) use limit::Limit;

#[path = "schedule/counter.rs"]
pub(crate) mod counter;
#[path = "schedule/limit.rs"]
mod limit;

/// See the scheduler's own.
#[derive(Clone, Copy)]
pub(crate) enum Operation {
    Child,
}

pub(crate) const WAITS_FOR_ALL: c_int = 0;

pub(crate) const fn begin(_spec: &RunSpec, _test: &str) {}

pub(crate) const fn end() {}

/// See the scheduler's own.
pub(crate) fn each_number(path: &CStr, mut holds: impl FnMut(i32) -> bool) -> bool {
    let folder = path.to_str().map(::std::fs::read_dir);
    let Ok(Ok(entries)) = folder else {
        return false;
    };
    let numbers = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.into_iter().all(|number| holds(number))
}

pub(crate) const fn is_scheduled() -> bool {
    false
}

pub(crate) const fn now() -> u64 {
    0
}

pub(crate) const fn read_clock(_clock: libc::clockid_t, _by: &'static Model) -> u64 {
    0
}

pub(crate) const fn since_start(_clock: libc::clockid_t, time: u64) -> u64 {
    time
}

pub(crate) const fn sleep(_until: u64) {}

pub(crate) const fn file(_kind: StateKind, _writes: bool, _name: *const c_char) {}

/// See the scheduler's own.
#[expect(dead_code, reason = "no time is shown otherwise")]
pub(crate) enum FileTime {
    Modified(u64),
    Other(u64),
}

pub(crate) fn show_times(_written: u64, _show: impl FnOnce(&mut dyn FnMut(FileTime) -> u64)) {}

pub(crate) const fn set_time(_time: u64) {}

pub(crate) fn read(_fd: c_int, _flags: c_int, call: impl FnOnce() -> isize) -> isize {
    call()
}

pub(crate) unsafe fn write(
    _fd: c_int,
    _buffer: *const c_void,
    _len: usize,
    _flags: c_int,
    call: impl FnOnce() -> isize,
) -> isize {
    call()
}

pub(crate) unsafe fn write_vectored(
    _fd: c_int,
    _buffers: *const libc::iovec,
    _count: usize,
    _flags: c_int,
    call: impl FnOnce() -> isize,
) -> isize {
    call()
}

pub(crate) fn send_message(_fd: c_int, _flags: c_int, call: impl FnOnce() -> isize) -> isize {
    call()
}

pub(crate) fn connect(_fd: c_int, _is_local: bool, call: impl FnOnce() -> c_int) -> c_int {
    call()
}

pub(crate) fn outside<R>(_operation: Operation, call: impl FnOnce() -> R) -> R {
    call()
}

pub(crate) fn poll(
    _limit: Limit,
    _is_masked: bool,
    _is_ready: &mut dyn FnMut() -> bool,
    mut call: impl FnMut(Option<Limit>) -> c_int,
) -> c_int {
    call(None)
}

pub(crate) const fn has_events(_epoll: c_int) -> bool {
    true
}

pub(crate) mod child {
    use ::std::ffi::c_int;

    pub(crate) const fn before_fork() {}

    pub(crate) const fn after_fork() {}

    pub(crate) fn start<R>(call: impl FnOnce() -> R, _: impl FnOnce(R) -> bool) -> R {
        call()
    }

    pub(crate) fn run<R>(call: impl FnOnce() -> R) -> R {
        call()
    }

    pub(crate) fn wait(_options: c_int, call: impl FnOnce() -> (c_int, bool)) -> c_int {
        call().0
    }
}

pub(crate) mod alarms {
    pub(crate) const OF_PROCESS: usize = 0;

    pub(crate) fn set<R: Copy>(
        _timer: usize,
        _is_set: bool,
        call: impl FnOnce() -> R,
        _has_succeeded: impl FnOnce(R) -> bool,
    ) -> R {
        call()
    }
}

/// All clocks are the system's.
pub(crate) mod epoch {
    use nondex_core::Context;

    use crate::libc;

    pub(crate) const fn prepare(_context: &Context) {}

    pub(crate) const fn shown(real: u64) -> u64 {
        real
    }

    /// # Safety
    /// The time must be valid.
    pub(crate) const unsafe fn for_system(time: *const libc::timespec) -> libc::timespec {
        // SAFETY: as the caller promises.
        unsafe { time.read() }
    }

    /// # Safety
    /// As above.
    pub(crate) const unsafe fn clock_of(_time: *const libc::timespec) -> libc::clockid_t {
        libc::CLOCK_REALTIME
    }
}

pub(crate) mod life {
    use crate::libc;

    /// There is none.
    pub(crate) enum Started {}

    impl Started {
        pub(crate) const fn thread(&self) -> Attached {
            match *self {}
        }

        pub(crate) const fn has_begun(self, _handle: libc::pthread_t) {
            match self {}
        }

        pub(crate) const fn failed(self) {
            match self {}
        }
    }

    /// There is none.
    pub(crate) enum Attached {}

    impl Attached {
        pub(crate) const fn enter(self) {
            match self {}
        }
    }

    pub(crate) const fn start(_path: &str) -> Option<Started> {
        None
    }

    pub(crate) const fn note_free_thread() {}

    pub(crate) const fn after_fork_in_child() {}
}

/// Waits a little: other threads may run, or the time passes.
pub(crate) fn wait_outside(time: Option<::std::time::Duration>) {
    match time {
        Some(time) => ::std::thread::sleep(time),
        None => ::std::thread::yield_now(),
    }
}

//! `poll`, `select` and `epoll`: a scheduled thread waits in virtual time, and waits for answers to
//! datagrams are observed.

use ::std::ffi::c_int;

#[cfg(feature = "network")]
use super::network::wait;
use super::schedule::{self, Limit};
use crate::{libc, originals};
use nondex_core::hidden;

/// Stubs: without the network, waits are not observed.
#[cfg(not(feature = "network"))]
mod wait {
    use super::{c_int, hidden};

    pub(super) fn wait(
        _descriptors: impl FnOnce() -> hidden::Vec<c_int>,
        _takes_time: bool,
        call: impl FnOnce() -> c_int,
    ) -> c_int {
        call()
    }

    pub(super) fn wait_polled(_takes_time: bool, call: impl FnOnce() -> c_int) -> c_int {
        call()
    }
}

/// Argument that limits the time of a call.
pub(crate) trait Timeout: Copy {
    /// Returns the limit.
    ///
    /// # Safety
    /// A pointer must be null, which means no limit, or valid.
    unsafe fn limit(self) -> Limit;

    /// Calls `next` with this limit in the same form.
    fn with_limit(limit: Limit, next: impl FnOnce(Self) -> c_int) -> c_int;
}

/// A number of milliseconds.
impl Timeout for c_int {
    unsafe fn limit(self) -> Limit {
        Limit::of_milliseconds(self)
    }

    fn with_limit(limit: Limit, next: impl FnOnce(Self) -> c_int) -> c_int {
        next(limit.milliseconds())
    }
}

impl Timeout for *const libc::timespec {
    unsafe fn limit(self) -> Limit {
        // SAFETY: as the caller promises.
        Limit::of(unsafe { self.as_ref() }.map(|time| (time.tv_sec, time.tv_nsec)))
    }

    fn with_limit(limit: Limit, next: impl FnOnce(Self) -> c_int) -> c_int {
        let time = limit
            .time()
            .map(|[seconds, rest]| libc::timespec { tv_sec: seconds as _, tv_nsec: rest as _ });
        next(time.as_ref().map_or(::std::ptr::null(), ::std::ptr::from_ref))
    }
}

impl Timeout for *mut libc::timeval {
    unsafe fn limit(self) -> Limit {
        // SAFETY: as the caller promises.
        Limit::of(unsafe { self.as_ref() }.map(|time| (time.tv_sec, time.tv_usec * 1_000)))
    }

    fn with_limit(limit: Limit, next: impl FnOnce(Self) -> c_int) -> c_int {
        let mut time = limit.time().map(|[seconds, rest]| libc::timeval {
            tv_sec: seconds as _,
            tv_usec: (rest / 1_000) as _,
        });
        next(time.as_mut().map_or(::std::ptr::null_mut(), ::std::ptr::from_mut))
    }
}

/// Waits within the caller's limit, or in the scheduler for what [`schedule::poll`] describes.
/// `observe` is called with whether the call may block, and with the call.
///
/// # Safety
/// A time must be null or valid.
unsafe fn wait_for<T: Timeout>(
    timeout: T,
    is_masked: bool,
    mut is_ready: impl FnMut() -> bool,
    mut next: impl FnMut(T) -> c_int,
    observe: impl FnOnce(bool, &mut dyn FnMut() -> c_int) -> c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    let limit = unsafe { timeout.limit() };
    observe(limit != Limit::Zero, &mut || {
        schedule::poll(limit, is_masked, &mut is_ready, |limit| match limit {
            Some(limit) => T::with_limit(limit, &mut next),
            None => next(timeout),
        })
    })
}

/// Returns the descriptors that are polled for reading.
///
/// # Safety
/// `list` must be null or valid for reads of `count` entries.
unsafe fn listed(list: *const libc::pollfd, count: libc::nfds_t) -> hidden::Vec<c_int> {
    let asks = |entry: &libc::pollfd| entry.events & (libc::POLLIN | libc::POLLRDNORM) != 0;
    let entries = (0..if list.is_null() { 0 } else { count as usize })
        // SAFETY: as the caller promises.
        .map(|i| unsafe { list.add(i).read() });
    hidden::collect(entries.filter(asks).map(|entry| entry.fd))
}

/// Returns whether one of the descriptors is ready.
///
/// # Safety
/// `list` must be null or valid for `count` entries.
unsafe fn has_ready(list: *mut libc::pollfd, count: libc::nfds_t) -> bool {
    // SAFETY: as the caller promises.
    originals::poll.get().is_none_or(|poll| unsafe { poll(list, count, 0) } != 0)
}

/// Waits for descriptors in a list, maybe with a mask of signals.
///
/// # Safety
/// `list` must be null or valid for `count` entries, and a time must be null or valid.
pub(crate) unsafe fn poll<T: Timeout>(
    list: *mut libc::pollfd,
    count: libc::nfds_t,
    timeout: T,
    is_masked: bool,
    next: impl FnMut(T) -> c_int,
) -> c_int {
    // SAFETY: as the caller promises; the list is the caller's until this returns.
    unsafe {
        let is_ready = || has_ready(list, count);
        wait_for(timeout, is_masked, is_ready, next, |takes_time, call| {
            wait::wait(|| listed(list, count), takes_time, call)
        })
    }
}

/// Returns the descriptors in a set.
///
/// # Safety
/// `set` must be null or hold the bits of the descriptors below `count`.
unsafe fn members(set: *const libc::fd_set, count: c_int) -> hidden::Vec<c_int> {
    const BITS: c_int = usize::BITS as c_int;
    let words = set.cast::<usize>();
    let members = (0..if set.is_null() { 0 } else { count })
        // SAFETY: as the caller promises.
        .filter(|fd| unsafe { words.add((fd / BITS) as usize).read() } >> (fd % BITS) & 1 == 1);
    hidden::collect(members)
}

/// Returns whether one of the descriptors in the sets is ready. The sets stay unchanged.
///
/// # Safety
/// Each set must be null or valid.
unsafe fn has_selected(count: c_int, sets: [*mut libc::fd_set; 3]) -> bool {
    let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: as the caller promises; the copies are written to.
    unsafe {
        let mut copies = sets.map(|set| set.as_ref().map(|set| ::std::ptr::read(set)));
        let [read, write, except] = copies
            .each_mut()
            .map(|copy| copy.as_mut().map_or(::std::ptr::null_mut(), ::std::ptr::from_mut));
        let signals = ::std::ptr::null();
        originals::pselect
            .get()
            .is_none_or(|pselect| pselect(count, read, write, except, &raw const now, signals) != 0)
    }
}

/// Waits for descriptors in three sets (to read, to write, with an exception), maybe with a mask of
/// signals.
///
/// # Safety
/// The sets and the time must be null or valid.
pub(crate) unsafe fn select<T: Timeout>(
    count: c_int,
    sets: [*mut libc::fd_set; 3],
    timeout: T,
    is_masked: bool,
    next: impl FnMut(T) -> c_int,
) -> c_int {
    // SAFETY: as the caller promises; the sets are the caller's until this returns.
    unsafe {
        let is_ready = || has_selected(count, sets);
        wait_for(timeout, is_masked, is_ready, next, |takes_time, call| {
            wait::wait(|| members(sets[0], count), takes_time, call)
        })
    }
}

/// Waits by an `epoll`, maybe with a mask of signals.
///
/// # Safety
/// A time must be null or valid.
pub(crate) unsafe fn epoll<T: Timeout>(
    epoll: c_int,
    timeout: T,
    is_masked: bool,
    next: impl FnMut(T) -> c_int,
) -> c_int {
    let has_events = || schedule::has_events(epoll);
    // SAFETY: as the caller promises.
    unsafe {
        wait_for(timeout, is_masked, has_events, next, |takes_time, call| {
            wait::wait_polled(takes_time, call)
        })
    }
}

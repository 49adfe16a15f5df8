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

/// Waits within the caller's limit, or in the scheduler for what [`schedule::poll`] describes.
fn wait_for(
    descriptors: impl FnOnce() -> hidden::Vec<c_int>,
    limit: Limit,
    is_masked: bool,
    mut is_ready: impl FnMut() -> bool,
    call: impl FnMut(Option<Limit>) -> c_int,
) -> c_int {
    wait::wait(descriptors, limit != Limit::Zero, || {
        schedule::poll(limit, is_masked, &mut is_ready, call)
    })
}

/// Waits by an `epoll`, as [`wait_for`] does.
fn wait_for_events(
    epoll: c_int,
    limit: Limit,
    is_masked: bool,
    call: impl FnMut(Option<Limit>) -> c_int,
) -> c_int {
    let mut has_events = || schedule::has_events(epoll);
    wait::wait_polled(limit != Limit::Zero, || {
        schedule::poll(limit, is_masked, &mut has_events, call)
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

/// Waits for descriptors in a list, for a number of milliseconds.
///
/// # Safety
/// `list` must be null or valid for `count` entries.
pub(crate) unsafe fn poll(
    list: *mut libc::pollfd,
    count: libc::nfds_t,
    timeout: c_int,
    mut next: impl FnMut(c_int) -> c_int,
) -> c_int {
    let limit = Limit::of_milliseconds(timeout);
    let call = |limit: Option<Limit>| next(limit.map_or(timeout, Limit::milliseconds));
    // SAFETY: as the caller promises; the list is the caller's until this returns.
    let is_ready = || unsafe { has_ready(list, count) };
    // SAFETY: as above.
    wait_for(|| unsafe { listed(list, count) }, limit, false, is_ready, call)
}

/// Returns the time limit of a call; null means no limit.
///
/// # Safety
/// `timeout` must be null or valid.
unsafe fn limit_of(timeout: *const libc::timespec) -> Limit {
    // SAFETY: as the caller promises.
    let timeout = unsafe { timeout.as_ref() };
    Limit::of(timeout.map(|timeout| (timeout.tv_sec, timeout.tv_nsec)))
}

/// Calls `call` with `limit`, or with the caller's own limit if that is `None`.
fn with_limit<R>(
    limit: Option<Limit>,
    own: *const libc::timespec,
    call: impl FnOnce(*const libc::timespec) -> R,
) -> R {
    let (seconds, rest) = match limit {
        None => return call(own),
        Some(Limit::None) => return call(::std::ptr::null()),
        Some(Limit::Zero) => (0, 0),
        Some(Limit::Time(time)) => (time / 1_000_000_000, time % 1_000_000_000),
    };
    call(&libc::timespec { tv_sec: seconds as _, tv_nsec: rest as _ })
}

/// Waits for descriptors in a list, as [`poll`] does, maybe with a mask of signals.
///
/// # Safety
/// As there, and `timeout` must be null or valid.
pub(crate) unsafe fn poll_masked(
    list: *mut libc::pollfd,
    count: libc::nfds_t,
    timeout: *const libc::timespec,
    is_masked: bool,
    mut next: impl FnMut(*const libc::timespec) -> c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    let own = unsafe { limit_of(timeout) };
    let call = |limit| with_limit(limit, timeout, &mut next);
    // SAFETY: as the caller promises; the list is the caller's until this returns.
    let is_ready = || unsafe { has_ready(list, count) };
    // SAFETY: as above.
    wait_for(|| unsafe { listed(list, count) }, own, is_masked, is_ready, call)
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

/// Waits for descriptors in three sets: to read, to write, and with an exception.
///
/// # Safety
/// The sets and the time must be null or valid.
pub(crate) unsafe fn select(
    count: c_int,
    sets: [*mut libc::fd_set; 3],
    timeout: *mut libc::timeval,
    mut next: impl FnMut(*mut libc::timeval) -> c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    let own = unsafe { timeout.as_ref() }.map(|own| (own.tv_sec, own.tv_usec * 1_000));
    let call = |limit: Option<Limit>| {
        let Some(limit) = limit else { return next(timeout) };
        with_limit(Some(limit), ::std::ptr::null(), |limit| {
            // SAFETY: the limit is null or valid.
            let mut time = unsafe { limit.as_ref() }.map(|limit| libc::timeval {
                tv_sec: limit.tv_sec,
                tv_usec: limit.tv_nsec / 1_000,
            });
            next(time.as_mut().map_or(::std::ptr::null_mut(), ::std::ptr::from_mut))
        })
    };
    // SAFETY: as the caller promises; the sets are the caller's until this returns.
    let is_ready = || unsafe { has_selected(count, sets) };
    // SAFETY: as above.
    wait_for(|| unsafe { members(sets[0], count) }, Limit::of(own), false, is_ready, call)
}

/// Waits for descriptors in three sets, as [`select`] does, maybe with a mask of signals.
///
/// # Safety
/// As there.
pub(crate) unsafe fn select_masked(
    count: c_int,
    sets: [*mut libc::fd_set; 3],
    timeout: *const libc::timespec,
    is_masked: bool,
    mut next: impl FnMut(*const libc::timespec) -> c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    let own = unsafe { limit_of(timeout) };
    let call = |limit| with_limit(limit, timeout, &mut next);
    // SAFETY: as the caller promises; the sets are the caller's until this returns.
    let is_ready = || unsafe { has_selected(count, sets) };
    // SAFETY: as above.
    wait_for(|| unsafe { members(sets[0], count) }, own, is_masked, is_ready, call)
}

/// Waits by an `epoll` for a number of milliseconds, maybe with a mask of signals.
pub(crate) fn epoll(
    epoll: c_int,
    timeout: c_int,
    is_masked: bool,
    mut next: impl FnMut(c_int) -> c_int,
) -> c_int {
    let call = |limit: Option<Limit>| next(limit.map_or(timeout, Limit::milliseconds));
    wait_for_events(epoll, Limit::of_milliseconds(timeout), is_masked, call)
}

/// Waits by an `epoll` for a time, as [`epoll()`] does.
///
/// # Safety
/// `timeout` must be null or valid.
pub(crate) unsafe fn epoll_for(
    epoll: c_int,
    timeout: *const libc::timespec,
    is_masked: bool,
    mut next: impl FnMut(*const libc::timespec) -> c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    let own = unsafe { limit_of(timeout) };
    let call = |limit| with_limit(limit, timeout, &mut next);
    wait_for_events(epoll, own, is_masked, call)
}

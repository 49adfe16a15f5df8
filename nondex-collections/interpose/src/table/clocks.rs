//! Clocks, sleep and timers.

use ::std::ffi::{c_int, c_long, c_uint, c_void};

use nondex_core::Source;

use crate::clock;
use crate::schedule::{alarms, refuse_timer};
use crate::timers::{self, Interval, Setting};
use crate::{libc, libc::clockid_t};

c_functions! {
    fn clock_gettime(clock: clockid_t, time: *mut libc::timespec) -> c_int, missing -1,
        layers [clock::read(clock, time)];
    fn gettimeofday(time: *mut libc::timeval, zone: *mut c_void) -> c_int, missing -1,
        layers [clock::date(time)];
    fn time(place: *mut i64) -> i64, missing -1, layers [clock::seconds(place)];

    fn nanosleep(time: *const libc::timespec, rest: *mut libc::timespec) -> c_int, missing -1,
        layers [clock::sleep_for(time, rest)];
    fn clock_nanosleep(clock: clockid_t, flags: c_int, time: *const libc::timespec,
        rest: *mut libc::timespec) -> c_int, missing libc::ENOSYS,
        layers [clock::sleep_on(clock, flags, time, rest) => (time)];
    fn usleep(micros: c_uint) -> c_int, missing -1,
        layers [clock::sleep_micros(micros)];
    fn sleep(seconds: c_uint) -> c_uint, missing seconds,
        layers [clock::sleep_seconds(seconds)];

    fn timerfd_create(clock: clockid_t, flags: c_int) -> c_int, missing -1,
        layers [refuse_timer()];
    fn timerfd_settime(timer: c_int, flags: c_int, setting: *const Setting, previous: *mut Setting)
        -> c_int, missing -1, layers [timers::translated(flags, setting) => (setting)];
    fn timer_settime @ c"GLIBC_2.3.3" (timer: *mut c_void, flags: c_int, setting: *const Setting,
        previous: *mut Setting) -> c_int, missing -1,
        layers [timers::set(timer, setting), timers::translated(flags, setting) => (setting)];
    fn timer_delete @ c"GLIBC_2.3.3" (timer: *mut c_void) -> c_int, missing -1,
        layers [alarms::set(timer.addr(), false, |result| result == 0)];
    fn setitimer(kind: c_int, setting: *const Interval, previous: *mut Interval) -> c_int,
        missing -1, layers [timers::set_of_process(kind, setting)];
    fn alarm(seconds: c_uint) -> c_uint, missing 0,
        layers [alarms::set(alarms::OF_PROCESS, seconds != 0, |_| true)];
    fn ualarm(micros: c_uint, interval: c_uint) -> c_uint, missing 0,
        layers [alarms::set(alarms::OF_PROCESS, micros != 0, |_| true)];

    // Processor time and memory of this process, and load of the machine.
    fn clock() -> c_long, missing -1, layers [clock::noted(Source::Clock)];
    fn times(place: *mut c_void) -> c_long, missing -1, layers [clock::noted(Source::Clock)];
    fn getrusage(who: c_int, usage: *mut c_void) -> c_int, missing -1,
        layers [clock::noted(Source::Clock)];
    fn getloadavg(place: *mut f64, count: c_int) -> c_int, missing -1,
        layers [clock::noted(Source::Clock)];
    fn sysinfo(place: *mut c_void) -> c_int, missing -1, layers [clock::noted(Source::Clock)];
}

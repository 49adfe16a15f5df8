//! Locks, condition variables and semaphores of C.

use ::std::ffi::{c_int, c_void};

use super::others::originals::{
    pthread_mutex_trylock, pthread_rwlock_tryrdlock, pthread_rwlock_trywrlock, sem_trywait,
};
use crate::libc::{self, CLOCK_REALTIME, EINVAL, clockid_t};
use crate::schedule::epoch::clock_of;
use crate::schedule::pthread::Reports::{ByErrno, ByResult};
use crate::schedule::pthread::{self, await_signal, release, translated, until};

type Lock = *mut c_void;
type Time = *const libc::timespec;

c_functions! {
    fn pthread_mutex_lock(lock: Lock) -> c_int, missing EINVAL,
        layers [pthread::lock(lock, || None, ByResult, &pthread_mutex_trylock)];
    fn pthread_mutex_timedlock(lock: Lock, time: Time) -> c_int, missing EINVAL,
        layers [pthread::lock(lock, until(CLOCK_REALTIME, time), ByResult, &pthread_mutex_trylock)];
    fn pthread_mutex_clocklock(lock: Lock, clock: clockid_t, time: Time) -> c_int, missing EINVAL,
        layers [pthread::lock(lock, until(clock, time), ByResult, &pthread_mutex_trylock),
            translated(clock, time) => (time)];
    fn pthread_mutex_unlock(lock: Lock) -> c_int, missing EINVAL, layers [release(lock, 1)];

    fn pthread_rwlock_rdlock(lock: Lock) -> c_int, missing EINVAL,
        layers [pthread::lock(lock, || None, ByResult, &pthread_rwlock_tryrdlock)];
    fn pthread_rwlock_timedrdlock(lock: Lock, time: Time) -> c_int, missing EINVAL,
        layers [pthread::lock(
            lock, until(CLOCK_REALTIME, time), ByResult, &pthread_rwlock_tryrdlock)];
    fn pthread_rwlock_clockrdlock(lock: Lock, clock: clockid_t, time: Time) -> c_int,
        missing EINVAL,
        layers [pthread::lock(lock, until(clock, time), ByResult, &pthread_rwlock_tryrdlock),
            translated(clock, time) => (time)];
    fn pthread_rwlock_wrlock(lock: Lock) -> c_int, missing EINVAL,
        layers [pthread::lock(lock, || None, ByResult, &pthread_rwlock_trywrlock)];
    fn pthread_rwlock_timedwrlock(lock: Lock, time: Time) -> c_int, missing EINVAL,
        layers [pthread::lock(
            lock, until(CLOCK_REALTIME, time), ByResult, &pthread_rwlock_trywrlock)];
    fn pthread_rwlock_clockwrlock(lock: Lock, clock: clockid_t, time: Time) -> c_int,
        missing EINVAL,
        layers [pthread::lock(lock, until(clock, time), ByResult, &pthread_rwlock_trywrlock),
            translated(clock, time) => (time)];
    fn pthread_rwlock_unlock(lock: Lock) -> c_int, missing EINVAL,
        layers [release(lock, c_int::MAX)];

    fn sem_wait(lock: Lock) -> c_int, missing EINVAL,
        layers [pthread::lock(lock, || None, ByErrno, &sem_trywait)];
    fn sem_timedwait(lock: Lock, time: Time) -> c_int, missing EINVAL,
        layers [pthread::lock(lock, until(CLOCK_REALTIME, time), ByErrno, &sem_trywait)];
    fn sem_clockwait(lock: Lock, clock: clockid_t, time: Time) -> c_int, missing EINVAL,
        layers [pthread::lock(lock, until(clock, time), ByErrno, &sem_trywait),
            translated(clock, time) => (time)];
    fn sem_post(lock: Lock) -> c_int, missing EINVAL, layers [release(lock, 1)];

    fn pthread_cond_wait @ c"GLIBC_2.3.2" (condition: Lock, mutex: Lock) -> c_int, missing EINVAL,
        layers [await_signal(condition, mutex, || None)];
    fn pthread_cond_timedwait @ c"GLIBC_2.3.2" (condition: Lock, mutex: Lock, time: Time) -> c_int,
        missing EINVAL,
        layers [await_signal(condition, mutex, until(clock_of(time), time)),
            translated(clock_of(time), time) => (time)];
    fn pthread_cond_clockwait(condition: Lock, mutex: Lock, clock: clockid_t, time: Time) -> c_int,
        missing EINVAL,
        layers [await_signal(condition, mutex, until(clock, time)),
            translated(clock, time) => (time)];
    fn pthread_cond_signal @ c"GLIBC_2.3.2" (condition: Lock) -> c_int, missing EINVAL,
        layers [release(condition, 1)];
    fn pthread_cond_broadcast @ c"GLIBC_2.3.2" (condition: Lock) -> c_int, missing EINVAL,
        layers [release(condition, c_int::MAX)];
}

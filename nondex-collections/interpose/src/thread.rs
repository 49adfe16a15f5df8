//! Threads: each one has a parent and an ordinal, whoever starts it, std or a C library.

use ::std::ffi::{c_int, c_void};

use nondex_core::context::{Inherited, inherit};

use super::process::watch;
use super::{original, own, schedule};
use crate::libc;

type Start = extern "C-unwind" fn(*mut c_void) -> *mut c_void;
type Create = unsafe extern "C" fn(
    *mut libc::pthread_t,
    *const libc::pthread_attr_t,
    Start,
    *mut c_void,
) -> c_int;

/// What a new thread is given.
struct Given {
    inherited: Inherited,
    start: Start,
    argument: *mut c_void,
    attached: Option<schedule::life::Attached>,
    watch: Option<watch::Inherited>,
}

/// The first function of a thread that works for a test. It may be left by unwinding, as `pthread_exit` does it.
extern "C-unwind" fn begin(given: *mut c_void) -> *mut c_void {
    let (start, argument) = {
        // SAFETY: the pointer is from `pthread_create` below, which gave it to this thread alone.
        let given = unsafe { Box::from_raw(given.cast::<Given>()) };
        let Given {
            inherited,
            start,
            argument,
            attached,
            watch,
        } = *given;
        inherited.enter();
        if let Some(watch) = watch {
            watch.enter();
        }
        if let Some(attached) = attached {
            attached.enter();
        }
        (start, argument)
    };
    start(argument)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    let Some(original) = original!(c"pthread_create": Create) else {
        return libc::EAGAIN;
    };
    let inherited = own::work().map(|_work| inherit());
    let Some(inherited) = inherited.filter(Inherited::is_something) else {
        schedule::life::note_free_thread();
        // SAFETY: the caller's arguments, unchanged.
        return unsafe { original(thread, attributes, start, argument) };
    };
    let started = schedule::life::start(inherited.path());
    let given = Box::into_raw(Box::new(Given {
        inherited,
        start,
        argument,
        attached: started.as_ref().map(schedule::life::Started::thread),
        watch: watch::inherit(),
    }));
    // SAFETY: the caller's arguments, but for a function that calls theirs.
    let error = unsafe { original(thread, attributes, begin, given.cast()) };
    if error != 0 {
        // SAFETY: there is no thread that took it.
        drop(unsafe { Box::from_raw(given) });
    }
    if let Some(started) = started {
        if error == 0 {
            // SAFETY: the thread was started, so its handle has been written.
            started.has_begun(unsafe { *thread });
        } else {
            started.failed();
        }
    }
    error
}

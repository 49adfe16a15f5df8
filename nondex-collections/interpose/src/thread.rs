//! Threads: each has a parent and an ordinal, whether std or a C library starts it.

use ::std::ffi::{c_int, c_void};
use ::std::ptr;
use ::std::sync::Arc;
use ::std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use nondex_core::arena::Arena;
use nondex_core::context::{self, Inherited, inherit};
use nondex_core::{Context, TestStart, hidden};

use super::process::{number, watch};
use super::{own, schedule};
use crate::{DESTRUCTOR_ROUNDS, libc};

pub(crate) type Start = extern "C-unwind" fn(*mut c_void) -> *mut c_void;

/// Key of pthread whose destructor ends a thread for the engine, plus one.
static KEY: AtomicU32 = AtomicU32::new(0);

/// Makes the engine notice the end of each thread. It comes after the destructors of the thread's
/// variables, and in the last round of those of its keys. For a thread that ends the process, it
/// comes at that point.
///
/// Must be called before `main`, because the first keys of a process need no memory.
pub(crate) fn see_ends() {
    if KEY.load(Ordering::Relaxed) != 0 {
        return;
    }
    let mut key = 0;
    // SAFETY: the key is written to a local variable, and the destructor stays.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(ends)) } != 0 {
        return;
    }
    KEY.store(key + 1, Ordering::Relaxed);
    context::end::see(|| keep(1));
    // SAFETY: the function stays, also when this is a library, which is never unloaded.
    unsafe { libc::atexit(process_ends) };
}

/// Makes the key's destructor run once more, in this round.
fn keep(round: usize) {
    let key = KEY.load(Ordering::Relaxed).wrapping_sub(1);
    // SAFETY: the key was created, and the value is no pointer to anything.
    unsafe { libc::pthread_setspecific(key, ptr::without_provenance(round)) };
}

unsafe extern "C" fn ends(round: *mut c_void) {
    if round.addr() < DESTRUCTOR_ROUNDS {
        keep(round.addr() + 1);
    } else {
        context::end_thread();
    }
}

extern "C" fn process_ends() {
    context::end_process();
}

/// Data that a new thread receives.
struct Given {
    inherited: Inherited,
    start: Start,
    argument: *mut c_void,
    attached: Option<schedule::life::Attached>,
    watch: Option<watch::Inherited>,
    /// Run whose test this thread is, if nothing else shows when a test begins.
    test: Option<&'static Arc<Context>>,
}

/// Runs first in a thread that works for a test. It may be left by unwinding, as by `pthread_exit`.
extern "C-unwind" fn begin(given: *mut c_void) -> *mut c_void {
    let test;
    let (start, argument) = {
        // SAFETY: the pointer is from `create` below, which gave it to this thread alone.
        let given = unsafe { hidden::Box::from_raw_in(given.cast::<Given>(), Arena) };
        let Given { inherited, start, argument, attached, watch, test: its_test } =
            hidden::Box::into_inner(given);
        test = its_test;
        inherited.enter();
        if let Some(watch) = watch {
            watch.enter();
        }
        if let Some(attached) = attached {
            attached.enter();
        }
        number::thread_begins();
        if let Some(context) = test {
            schedule::begin(context.spec(), &context.spec().test);
        }
        (start, argument)
    };
    let result = call(start, argument);
    if test.is_some() {
        schedule::end();
    }
    result
}

/// Calls a function that may unwind. If a crate calls such a function of another language, rustc
/// refuses to link it into a program with `panic = "abort"`. Its own frames there must not be
/// unwound. This call is sound because no Rust frame is above that of [`begin`], which the C
/// library calls.
fn call(start: Start, argument: *mut c_void) -> *mut c_void {
    // SAFETY: Rust does not specify how it calls a function. On the systems for which this is
    // compiled, x86-64 and AArch64, it passes and returns one pointer as C does. The e2e test of
    // threads that `pthread_exit` ends runs through this call.
    let start: fn(*mut c_void) -> *mut c_void = unsafe { ::std::mem::transmute(start) };
    start(argument)
}

/// Whether libtest runs a single test in this process, on a separate thread, according to the
/// arguments.
static IS_OF_LIBTEST: AtomicBool = AtomicBool::new(false);

/// Reads the arguments of the process before `main`.
#[expect(clippy::disallowed_methods, reason = "called before `main`")]
pub(crate) fn read_arguments(context: &Context) {
    if !context.spec().is_scheduled() || context.spec().start != TestStart::Thread {
        return;
    }
    let is_one = |name: &str| ::std::env::var_os(name).is_some_and(|number| number == "1");
    let has_threads = ::std::thread::available_parallelism().is_ok_and(|number| number.get() > 1);
    let mut arguments = ::std::env::args_os().skip(1);
    let is_named = arguments.next().is_some_and(|one| one == "--exact")
        && arguments.next().is_some_and(|name| *name == *context.spec().test);
    let is_serial = arguments.any(|argument| argument == "--test-threads=1");
    let is_of_libtest = is_named && has_threads && !is_serial && !is_one("RUST_TEST_THREADS");
    IS_OF_LIBTEST.store(is_of_libtest, Ordering::Relaxed);
}

/// Returns the run whose test is the process's first new thread, if the harness is libtest. libtest
/// gives each test a thread, and does not notify this tool when a test begins.
fn test_of_libtest() -> Option<&'static Arc<Context>> {
    static HAS_STARTED: AtomicBool = AtomicBool::new(false);
    let context = context::global()?;
    if !context.spec().is_scheduled() || HAS_STARTED.swap(true, Ordering::Relaxed) {
        return None;
    }
    IS_OF_LIBTEST.load(Ordering::Relaxed).then_some(context)
}

/// Starts a thread by `next`, with a function that makes it one of the test's if this thread is.
///
/// # Safety
/// The call must write the handle to `thread` if it returns 0.
pub(crate) unsafe fn create(
    thread: *mut libc::pthread_t,
    start: Start,
    argument: *mut c_void,
    next: impl FnOnce(Start, *mut c_void) -> c_int,
) -> c_int {
    let inherited = own::work().map(|_work| inherit());
    let Some(inherited) = inherited.filter(Inherited::is_something) else {
        schedule::life::note_free_thread();
        return next(start, argument);
    };
    let test = own::work().and_then(|_work| test_of_libtest());
    let started = schedule::life::start(inherited.path());
    let given = hidden::boxed(Given {
        inherited,
        start,
        argument,
        attached: started.as_ref().map(schedule::life::Started::thread),
        watch: watch::inherit(),
        test,
    });
    let (given, memory) = hidden::Box::into_raw_with_allocator(given);
    let error = next(begin, given.cast());
    if error != 0 {
        // SAFETY: there is no thread that took it.
        drop(unsafe { hidden::Box::from_raw_in(given, memory) });
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

//! Runs one test on a separate thread in the middle of another one, which waits: see
//! [`Interleaving`](nondex_core::Interleaving).
//!
//! The *inner* test interrupts the *outer* one.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nondex_core::context::{self, system};

/// States of the inner test: it has not started, runs, is stopped while the outer test runs, or has
/// ended.
const WAITS: u32 = 0;
const RUNS: u32 = 1;
const STOPS: u32 = 2;
const ENDED: u32 = 3;

static STATE: AtomicU32 = AtomicU32::new(WAITS);

/// Whether the outer test has ended.
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// Whether the inner test was ever stopped.
static HAS_STOPPED: AtomicBool = AtomicBool::new(false);

/// Path of the file that shows the system call of the inner test's thread.
static THREAD: Mutex<Option<String>> = Mutex::new(None);

/// Path of the file that shows the system call of the outer test's thread.
static OTHER: Mutex<Option<String>> = Mutex::new(None);

/// Interval of polling.
const PAUSE: Duration = Duration::from_micros(100);

/// Duration of an unchanged wait for a lock after which a thread counts as blocked by the stopped
/// test.
const BLOCKED: Duration = Duration::from_millis(15);

/// Time limit of one side while the other is stopped.
const LIMIT: Duration = Duration::from_secs(5);

/// Inner test, on its thread.
#[derive(Debug)]
pub(crate) struct InterruptingTest(JoinHandle<()>);

impl InterruptingTest {
    /// Starts the thread of a test with this name. The thread waits until the test is due and then
    /// runs it.
    pub(crate) fn prepare(name: String, run: impl FnOnce() + Send + 'static) -> Option<Self> {
        let work = move || {
            note_thread(&THREAD);
            while STATE.load(Ordering::Acquire) == WAITS {
                thread::sleep(PAUSE);
            }
            run();
            STATE.store(ENDED, Ordering::Release);
        };
        let thread = thread::Builder::new().name(name).spawn(work).ok()?;
        while THREAD.lock().is_ok_and(|known| known.is_none()) && !thread.is_finished() {
            thread::sleep(PAUSE);
        }
        Some(InterruptingTest(thread))
    }

    /// Waits for the end of the inner test. Starts it first if it was never due.
    pub(crate) fn end(self) {
        let _ = STATE.compare_exchange(WAITS, RUNS, Ordering::AcqRel, Ordering::Acquire);
        let _ = self.0.join();
    }
}

/// Records the path of the file that shows the system call of this thread.
fn note_thread(of: &Mutex<Option<String>>) {
    let thread = std::fs::read_link("/proc/thread-self");
    let path = thread.map(|thread| format!("/proc/{}/syscall", thread.display()));
    if let Ok(mut known) = of.lock() {
        *known = path.ok();
    }
}

/// Lets the inner test run until it has ended, stops, or is blocked by the outer test. Returns
/// whether it is blocked: the outer test must continue and call this again. Called in the middle of
/// the outer test.
pub(crate) fn interrupt() -> bool {
    let _pause = context::pause();
    if let Some(time) = wait_only() {
        thread::sleep(time);
        return false;
    }
    note_thread(&OTHER);
    if STATE.load(Ordering::Acquire) == WAITS {
        proof(Moment::Begins);
    }
    let _ = STATE.compare_exchange(WAITS, RUNS, Ordering::AcqRel, Ordering::Acquire);
    let is_blocked = is_blocked(&THREAD, || STATE.load(Ordering::Acquire) != RUNS);
    proof(if is_blocked { Moment::Blocks } else { Moment::Ends });
    is_blocked
}

/// Returns how long the outer test only waits, without the inner test running, if the spec requests
/// that.
fn wait_only() -> Option<Duration> {
    let tests = context::global()?.spec().interleaving()?;
    (tests.waits_ms > 0).then(|| Duration::from_millis(tests.waits_ms))
}

/// Moment at which shared state may be put back, to prove that it makes a test fail.
#[derive(Clone, Copy)]
enum Moment {
    /// The inner test starts.
    Begins,
    /// The inner test has ended, or stops.
    Ends,
    /// The inner test stops, and the outer test continues.
    Stops,
    /// The inner test continues after the outer test.
    Resumes,
    /// One test is blocked by the other, which continues.
    Blocks,
}

/// Whether one test was blocked by the other.
static HAS_BLOCKED: AtomicBool = AtomicBool::new(false);

/// Puts back the state that the spec names. The test of the spec then finds it as if the other test
/// had not changed it.
fn proof(moment: Moment) {
    let (Some(run), Some(system)) = (context::global(), system::system()) else { return };
    let Some(tests) = run.spec().interleaving().filter(|tests| tests.put_back) else { return };
    let state = std::slice::from_ref(&tests.state);
    // A static may contain the lock that a test waited for: putting it back would corrupt the lock.
    let has_bytes = tests.state.bytes().is_some();
    let is_possible = !has_bytes || !HAS_BLOCKED.load(Ordering::Acquire);
    match (moment, tests.is_inner) {
        (Moment::Begins, false) | (Moment::Stops, true) => system.keep(state),
        (Moment::Ends, false) | (Moment::Resumes, true) if is_possible => system.put_back(),
        // Restore the state from before both tests.
        (Moment::Begins, true) => system.hide(state),
        (Moment::Blocks, _) => HAS_BLOCKED.store(true, Ordering::Release),
        _ => {}
    }
}

/// Waits until the outer test has ended or is blocked by the inner test. Returns whether it is
/// blocked: the inner test must continue and call this again. Called in the middle of the inner
/// test.
pub(crate) fn wait() -> bool {
    let _pause = context::pause();
    if !HAS_STOPPED.swap(true, Ordering::AcqRel) {
        proof(Moment::Stops);
    }
    STATE.store(STOPS, Ordering::Release);
    let is_blocked = is_blocked(&OTHER, || IS_OVER.load(Ordering::Acquire));
    STATE.store(RUNS, Ordering::Release);
    proof(if is_blocked { Moment::Blocks } else { Moment::Resumes });
    is_blocked
}

/// Records that the outer test has ended.
pub(crate) fn is_over() {
    IS_OVER.store(true, Ordering::Release);
}

/// Waits until `is_done`. Returns true if it never is, because the thread is blocked or exceeds the
/// time limit.
fn is_blocked(thread: &Mutex<Option<String>>, is_done: impl Fn() -> bool) -> bool {
    let started = Instant::now();
    let mut blocked: Option<(String, Instant)> = None;
    while !is_done() {
        if started.elapsed() > LIMIT {
            return true;
        }
        match (waiting(thread), &blocked) {
            (Some(now), Some((before, since))) if now == *before => {
                if since.elapsed() > BLOCKED {
                    return true;
                }
            }
            (Some(now), _) => blocked = Some((now, Instant::now())),
            (None, _) => blocked = None,
        }
        thread::sleep(PAUSE);
    }
    false
}

/// Returns the system call in which a thread waits for another thread, if it does. The text has the
/// arguments of the call, so an unchanged text means the same wait.
fn waiting(thread: &Mutex<Option<String>>) -> Option<String> {
    const FUTEX: &str = if cfg!(target_arch = "aarch64") { "98 " } else { "202 " };
    let path = thread.lock().ok()?.clone()?;
    let text = std::fs::read_to_string(path).ok()?;
    text.starts_with(FUTEX).then_some(text)
}

//! A test that runs on a separate thread in the middle of another one, which waits for it: see
//! [`Interleaving`](nondex_core::Interleaving).

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nondex_core::context::{self, system};

/// The test waits for its moment, runs, waits for the end of the other one, or has ended.
const WAITS: u32 = 0;
const RUNS: u32 = 1;
const STOPS: u32 = 2;
const ENDED: u32 = 3;

static STATE: AtomicU32 = AtomicU32::new(WAITS);

/// Whether the test in whose middle it runs has ended.
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// Whether the one in the middle has stopped.
static HAS_STOPPED: AtomicBool = AtomicBool::new(false);

/// Where the system shows what its thread does.
static THREAD: Mutex<Option<String>> = Mutex::new(None);

/// Where it shows what the thread of the other one does.
static OTHER: Mutex<Option<String>> = Mutex::new(None);

/// How often it is looked whether it has ended.
const PAUSE: Duration = Duration::from_micros(100);

/// A thread that has waited for another one this long waits for what the stopped test has.
const BLOCKED: Duration = Duration::from_millis(15);

/// Time limit of a test that goes on by itself.
const LIMIT: Duration = Duration::from_secs(5);

/// The other test, on its thread.
#[derive(Debug)]
pub(crate) struct InterruptingTest(JoinHandle<()>);

impl InterruptingTest {
    /// Starts the thread of a test of this name, which waits for its moment and then runs it.
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

    /// Waits for its end; where its moment has not come, this is it.
    pub(crate) fn end(self) {
        let _ = STATE.compare_exchange(WAITS, RUNS, Ordering::AcqRel, Ordering::Acquire);
        let _ = self.0.join();
    }
}

/// Notes where the system shows what this thread does.
fn note_thread(of: &Mutex<Option<String>>) {
    let thread = std::fs::read_link("/proc/thread-self");
    let path = thread.map(|thread| format!("/proc/{}/syscall", thread.display()));
    if let Ok(mut known) = of.lock() {
        *known = path.ok();
    }
}

/// Lets the other test run, and waits until it has ended or stops, or waits itself. Whether it goes
/// on. Called in the middle of a test.
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
    proof(if is_blocked { Moment::InVain } else { Moment::Ends });
    is_blocked
}

/// How long the stopped test waits in place of the other one, if the spec asks for that.
fn wait_only() -> Option<Duration> {
    let tests = context::global()?.spec().interleaving()?;
    (tests.waits_ms > 0).then(|| Duration::from_millis(tests.waits_ms))
}

/// A moment at which something is put back, to prove that it is what makes a test fail.
#[derive(Clone, Copy)]
enum Moment {
    /// The one in the middle begins.
    Begins,
    /// It has ended, or stops.
    Ends,
    /// It stops, and the other one goes on.
    Stops,
    /// It goes on after the other one.
    GoesOn,
    /// One waits for what the other one has, which goes on.
    InVain,
}

/// Whether one waited for what the other one has.
static WAS_IN_VAIN: AtomicBool = AtomicBool::new(false);

/// Puts back what the spec names: the test of the spec finds it as if the other one had not changed
/// it.
fn proof(moment: Moment) {
    let (Some(run), Some(system)) = (context::global(), system::system()) else { return };
    let Some(tests) = run.spec().interleaving().filter(|tests| tests.put_back) else { return };
    let state = std::slice::from_ref(&tests.state);
    // A static may have what it waited for in it.
    let has_bytes = tests.state.bytes().is_some();
    let is_possible = !has_bytes || !WAS_IN_VAIN.load(Ordering::Acquire);
    match (moment, tests.is_inner) {
        (Moment::Begins, false) | (Moment::Stops, true) => system.keep(state),
        (Moment::Ends, false) | (Moment::GoesOn, true) if is_possible => system.put_back(),
        // What it was before the first of both began.
        (Moment::Begins, true) => system.hide(state),
        (Moment::InVain, _) => WAS_IN_VAIN.store(true, Ordering::Release),
        _ => {}
    }
}

/// Waits until the test in whose middle this one runs has ended, or waits itself. Whether that goes
/// on. Called in the middle of a test.
pub(crate) fn wait() -> bool {
    let _pause = context::pause();
    if !HAS_STOPPED.swap(true, Ordering::AcqRel) {
        proof(Moment::Stops);
    }
    STATE.store(STOPS, Ordering::Release);
    let is_blocked = is_blocked(&OTHER, || IS_OVER.load(Ordering::Acquire));
    STATE.store(RUNS, Ordering::Release);
    proof(if is_blocked { Moment::InVain } else { Moment::GoesOn });
    is_blocked
}

/// Called when the test in whose middle another one runs has ended.
pub(crate) fn is_over() {
    IS_OVER.store(true, Ordering::Release);
}

/// Waits until `is_done`. Whether it never is, because this thread waits for another one or goes on
/// and on.
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

/// What a thread waits for, if it waits for another thread.
fn waiting(thread: &Mutex<Option<String>>) -> Option<String> {
    const FUTEX: &str = if cfg!(target_arch = "aarch64") { "98 " } else { "202 " };
    let path = thread.lock().ok()?.clone()?;
    let text = std::fs::read_to_string(path).ok()?;
    text.starts_with(FUTEX).then_some(text)
}

//! A test that runs on a thread of its own in the middle of another one, which waits for it: see
//! [`RunSpec::meet`](nondex_core::RunSpec::meet).

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nondex_core::context;

/// The test waits for its moment, runs, or has ended.
const WAITS: u32 = 0;
const RUNS: u32 = 1;
const ENDED: u32 = 2;

static STATE: AtomicU32 = AtomicU32::new(WAITS);

/// Where the system shows what its thread does.
static THREAD: Mutex<Option<String>> = Mutex::new(None);

/// How often it is looked whether it has ended.
const PAUSE: Duration = Duration::from_micros(100);

/// A thread that has waited for another one so long waits for what the stopped test has.
const BLOCKED: Duration = Duration::from_millis(15);

/// What goes on by itself is waited for so long.
const LIMIT: Duration = Duration::from_secs(5);

/// The other test, on its thread.
#[derive(Debug)]
pub(crate) struct Meeting(JoinHandle<()>);

impl Meeting {
    /// Starts the thread of a test of this name, which waits for its moment and then runs it.
    pub(crate) fn prepare(name: String, run: impl FnOnce() + Send + 'static) -> Option<Self> {
        let work = move || {
            let thread = std::fs::read_link("/proc/thread-self");
            let path = thread.map(|thread| format!("/proc/{}/syscall", thread.display()));
            if let Ok(mut known) = THREAD.lock() {
                *known = path.ok();
            }
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
        Some(Meeting(thread))
    }

    /// Waits for its end; where its moment has not come, this is it.
    pub(crate) fn end(self) {
        let _ = STATE.compare_exchange(WAITS, RUNS, Ordering::AcqRel, Ordering::Acquire);
        let _ = self.0.join();
    }
}

/// Lets the other test run, and waits for its end, or until it waits itself. Whether it goes on. Called in the middle of a test.
pub(crate) fn meet() -> bool {
    let _pause = context::pause();
    let _ = STATE.compare_exchange(WAITS, RUNS, Ordering::AcqRel, Ordering::Acquire);
    let started = Instant::now();
    let mut blocked: Option<(String, Instant)> = None;
    while STATE.load(Ordering::Acquire) != ENDED {
        if started.elapsed() > LIMIT {
            return true;
        }
        match (waiting(), &blocked) {
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

/// What the other thread waits for, if it waits for another thread.
fn waiting() -> Option<String> {
    const FUTEX: &str = if cfg!(target_arch = "aarch64") {
        "98 "
    } else {
        "202 "
    };
    let path = THREAD.lock().ok()?.clone()?;
    let text = std::fs::read_to_string(path).ok()?;
    text.starts_with(FUTEX).then_some(text)
}

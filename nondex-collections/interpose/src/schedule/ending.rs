//! The end of what is scheduled: its record, and what is said when no thread can go on.

use ::std::fmt::Write;
use ::std::sync::Arc;
use ::std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use ::std::time::Duration;

use nondex_core::context::{self, stack};
use nondex_core::{Context, Frame, ScheduleEnd, ScheduleEndKind, ScheduleRecord, WaitRecord};

use super::kernel;
use super::lock::Lock;
use super::shared::{self, FLUSH, IS_ON, NOW, REPORT, SHARED, STEPS, Shared};
use super::thread::{Ref, State};
use super::{Operation, SELF, real_time, slept, systematic, trace};
use crate::libc;

/// The run and the test.
static SESSION: Lock<Option<(Arc<Context>, String)>> = Lock::new(None);

/// What the threads say that wait when the process ends.
static REPORTS: Lock<Vec<(u64, WaitRecord)>> = Lock::new(Vec::new());

/// Set when a thread has done what it was asked for while it waits.
static HAS_DONE: AtomicU32 = AtomicU32::new(0);

/// How long a thread may take to say what it waits for, for which it reads debug information, and
/// to write what it chose.
const REPORT_LIMIT: Duration = Duration::from_secs(3);
const FLUSH_LIMIT: Duration = Duration::from_secs(1);

/// So many threads are asked.
const MAX_REPORTS: usize = 64;

/// The exit code of a process that cannot go on: that of a panic.
const CODE: i64 = 101;

/// Keeps what the record is for.
pub(super) fn begin(context: &Arc<Context>, test: &str) {
    *SESSION.lock() = Some((Arc::clone(context), test.to_owned()));
    // SAFETY: the function has the expected signature and stays.
    unsafe { libc::atexit(at_exit) };
}

/// What is scheduled has ended, or is not this process's.
pub(super) fn forget() {
    if let Some(mut session) = SESSION.lock_from_anywhere() {
        ::std::mem::forget(session.take());
    }
}

/// The process ends by itself.
extern "C" fn at_exit() {
    let Some(me) = SELF.get() else {
        return;
    };
    if me.is_busy.load(Ordering::Relaxed) || !IS_ON.load(Ordering::Relaxed) {
        return;
    }
    let _busy = super::Busy::begin(me);
    flush_all(me);
    let record = record(&SHARED.lock());
    say(record);
}

/// What was done so far.
pub(super) fn record(shared: &Shared) -> ScheduleRecord {
    let counts = &shared.counts;
    ScheduleRecord {
        threads: counts.threads,
        steps: STEPS.load(Ordering::Relaxed),
        switches: counts.switches,
        holds: counts.holds,
        longest_delay: counts.longest_delay,
        time_us: NOW.load(Ordering::Relaxed) / 1000,
        delayed_us: shared.delayed / 1000,
        longest_sleep: slept::longest(),
        visible_lead_us: real_time::visible_lead() / 1000,
        leaks: counts.leaks,
        outside: counts.outside,
        asynchronous: counts.asynchronous,
        end: None,
        course: systematic::course(),
        trace: trace::take(),
    }
}

fn say(record: ScheduleRecord) {
    let session = SESSION.lock().take();
    if let Some((context, test)) = session {
        let _pause = context::pause();
        context.note_schedule(&test, record);
    }
}

/// Ends the process, because no thread can go on or the limits are reached. Called without the
/// lock, by the only thread that runs.
pub(super) fn end(me: Option<Ref>, kind: ScheduleEndKind) -> ! {
    static HAS_ENDED: AtomicBool = AtomicBool::new(false);
    if HAS_ENDED.swap(true, Ordering::SeqCst) {
        loop {
            kernel::sleep(Duration::from_secs(1));
        }
    }
    let (record, threads) = {
        let mut shared = SHARED.lock();
        shared.is_ending = true;
        (record(&shared), shared.alive.clone())
    };
    for (number, thread) in threads.iter().enumerate().take(MAX_REPORTS) {
        thread.order.set(number as u64);
        if me.is_some_and(|me| me.is(thread)) {
            report(thread);
        } else if matches!(thread.state.get(), State::Ready | State::Blocked) {
            ask(thread, REPORT, REPORT_LIMIT);
        }
    }
    let mut reports = ::std::mem::take(&mut *REPORTS.lock());
    for (number, thread) in threads.iter().enumerate() {
        if !reports.iter().any(|(known, _)| *known == number as u64) {
            let wait = WaitRecord {
                thread: thread.path(),
                operation: doing(thread),
                ..WaitRecord::default()
            };
            reports.push((number as u64, wait));
        }
    }
    reports.sort_by_key(|(number, _)| *number);
    let addresses: Vec<usize> = threads.iter().map(|thread| thread.address.get()).collect();
    let mut known: Vec<usize> = Vec::new();
    let mut waits = Vec::new();
    for (number, mut wait) in reports {
        let thread = threads[number as usize];
        if has_address(thread) {
            let address = addresses[number as usize];
            let at = known.iter().position(|known| *known == address);
            let at = at.unwrap_or_else(|| {
                known.push(address);
                known.len() - 1
            });
            wait.on = Some(at as u64 + 1);
        }
        waits.push(wait);
    }
    let end = ScheduleEnd { kind, waits };
    tell(&end);
    say(ScheduleRecord {
        end: Some(end),
        ..record
    });
    kernel::end_process(CODE)
}

fn has_address(thread: Ref) -> bool {
    let operation = thread.operation.get();
    thread.state.get() == State::Blocked
        && matches!(operation, Operation::FutexWait | Operation::Pthread)
}

/// What a thread does, in a word or two.
fn doing(thread: Ref) -> String {
    let doing = match thread.state.get() {
        State::Running => "running",
        State::Ready => "could run",
        State::Stuck => "running unseen",
        State::Blocked | State::Outside | State::Ended => thread.operation.get().name(),
    };
    doing.to_owned()
}

/// Says what this thread waits for, and writes what it chose.
pub(super) fn report(me: Ref) {
    context::flush();
    let _pause = context::pause();
    let current = ::std::thread::current();
    let wait = WaitRecord {
        thread: me.path(),
        name: current.name().map(str::to_owned),
        operation: doing(me),
        on: None,
        stack: stack::capture(),
    };
    REPORTS.lock().push((me.order.get(), wait));
    has_done();
}

/// Lets a thread that waits for the baton do something.
fn ask(thread: Ref, what: u32, limit: Duration) {
    HAS_DONE.store(0, Ordering::Relaxed);
    shared::tell(thread, what);
    let since = kernel::clock(libc::CLOCK_MONOTONIC);
    while HAS_DONE.load(Ordering::Acquire) == 0 {
        let passed = kernel::clock(libc::CLOCK_MONOTONIC) - since;
        match limit.checked_sub(Duration::from_nanos(passed)) {
            Some(left) => kernel::wait(&HAS_DONE, Some(left)),
            None => return,
        }
    }
}

fn has_done() {
    HAS_DONE.store(1, Ordering::Release);
    kernel::wake(&HAS_DONE);
}

/// Lets all other threads write what they chose so far: whether they come to it by themselves is
/// not in our hands.
pub(super) fn flush_all(me: Ref) {
    let threads = SHARED.lock().alive.clone();
    for thread in threads {
        let waits = matches!(thread.state.get(), State::Ready | State::Blocked);
        if waits && !thread.is(me) {
            ask(thread, FLUSH, FLUSH_LIMIT);
        }
    }
}

/// Writes what this thread chose so far.
pub(super) fn flush() {
    context::flush();
    has_done();
}

/// Says it where a panic would be said.
fn tell(end: &ScheduleEnd) {
    let mut text = String::from(match end.kind {
        ScheduleEndKind::Deadlock => "\ndeadlock: every thread of the test waits for another one\n",
        ScheduleEndKind::Outside => {
            "\nno end in sight: every thread of the test waits, and nobody else has let one go on\n"
        }
        ScheduleEndKind::Livelock => {
            "\nlivelock: the threads of the test that do not wait look again and again at what none changes\n"
        }
        ScheduleEndKind::Steps => {
            "\nno end in sight: the threads of the test did more operations than they may\n"
        }
        ScheduleEndKind::Time => {
            "\nno end in sight: the threads of the test have slept for longer than they may\n"
        }
    });
    for wait in &end.waits {
        let _ = write!(text, "  thread {}", wait.thread);
        if let Some(name) = &wait.name {
            let _ = write!(text, " `{name}`");
        }
        let _ = write!(text, ": {}", wait.operation);
        if let Some(on) = wait.on {
            let _ = write!(text, " on {on}");
        }
        let is_of_std = |file: &str| file.starts_with("/rustc/") || file.starts_with("library/");
        let own = |frame: &&Frame| !is_of_std(&frame.file);
        if let Some(frame) = wait.stack.iter().find(own) {
            let _ = write!(text, " at {}:{}", frame.file, frame.line);
        }
        text.push('\n');
    }
    let arguments = [2, text.as_ptr().addr() as i64, text.len() as i64, 0, 0, 0];
    // SAFETY: the text lives until the call returns.
    unsafe { kernel::syscall(libc::SYS_write, arguments) };
}

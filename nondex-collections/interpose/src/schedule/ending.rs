//! The end of a scheduled run: its record, and the message when no thread can continue.

use ::std::sync::Arc;
use ::std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use ::std::time::Duration;

use nondex_core::context::{self, stack::Stack};
use nondex_core::hidden::{self, Text};
use nondex_core::json::Object;
use nondex_core::scheduler::{Counts, State};
use nondex_core::{Context, ScheduleEndKind, process_number};

use super::kernel::{self, NAME};
use super::lock::Lock;
use super::shared::{self, FLUSH, IS_ON, LEASE, REPORT, SHARED, Shared};
use super::thread::Ref;
use super::{Operation, SELF, real_time, slept, systematic, trace};
use crate::libc;

/// Context of the run, and name of the test.
static SESSION: Lock<Option<(Arc<Context>, Text)>> = Lock::new(None);

/// Reports of the threads that wait when the process ends.
static REPORTS: Lock<hidden::Vec<(u64, Wait)>> = Lock::new(hidden::vec());

/// What a thread waits for: the data of a [`WaitRecord`](nondex_core::WaitRecord).
struct Wait {
    thread: Text,
    /// Name of the thread in the system.
    name: Option<[u8; NAME]>,
    is_main: bool,
    operation: &'static str,
    on: Option<u64>,
    stack: Stack,
}

/// Set when a waiting thread has done what was requested.
static HAS_DONE: AtomicU32 = AtomicU32::new(0);

/// Time limit for all threads together to report what they wait for. They read debug information,
/// which takes seconds on a busy machine. Without its report, a wait has no stack.
const ALL_REPORTS_LIMIT: Duration = Duration::from_secs(20);
/// Time limit for the report of a thread once that time is over.
const REPORT_LIMIT: Duration = Duration::from_secs(1);
/// Time limit for a thread to write its choices.
const FLUSH_LIMIT: Duration = Duration::from_secs(1);

/// Maximum number of threads that are requested to report what they wait for.
const MAX_REPORTS: usize = 64;

/// Exit code of a process that cannot continue: that of a panic.
const CODE: i64 = 101;

/// Stores what the record needs, and installs the handler that writes it at exit.
pub(super) fn begin(context: &Arc<Context>, test: &str) {
    *SESSION.lock() = Some((Arc::clone(context), Text::from(test)));
    // SAFETY: the function has the expected signature and stays.
    unsafe { libc::atexit(at_exit) };
}

/// Drops the session when the scheduled run has ended, or belongs to another process.
pub(super) fn forget() {
    if let Some(mut session) = SESSION.lock_from_anywhere() {
        ::std::mem::forget(session.take());
    }
}

/// Writes the record when the process exits while its test is still scheduled.
extern "C" fn at_exit() {
    let Some(me) = SELF.get() else { return };
    if me.is_busy.load(Ordering::Relaxed) || !IS_ON.load(Ordering::Relaxed) {
        return;
    }
    let _busy = super::Busy::begin(me);
    flush_all(me);
    let done = Done::of(&SHARED.lock());
    done.record(|_| {});
}

/// Statistics and trace of the run up to now.
pub(super) struct Done {
    threads: u64,
    counts: Counts,
    steps: u64,
    operations: u64,
    time: u64,
    delayed: u64,
    trace: Option<trace::Kept>,
}

impl Done {
    /// Takes the statistics and the trace up to now. Later operations are not recorded.
    pub(super) fn of(shared: &Shared) -> Self {
        Done {
            threads: shared.machine.threads().started().into(),
            counts: shared.machine.counts,
            steps: LEASE.steps(),
            operations: trace::count(),
            time: LEASE.now(),
            delayed: shared.machine.delayed(),
            trace: trace::take(),
        }
    }

    /// Writes the record, once, with the kind of the end. Takes no memory from the program's
    /// allocator.
    pub(super) fn record(&self, end: impl FnOnce(&mut Object<'_>)) {
        let session = SESSION.lock().take();
        if let Some((context, test)) = session {
            let _pause = context::pause();
            context.note_schedule(&test, |record| self.write(end, record));
        }
    }

    /// Writes the fields of a [`ScheduleRecord`](nondex_core::ScheduleRecord).
    fn write(&self, end: impl FnOnce(&mut Object<'_>), record: &mut Object<'_>) {
        let counts = &self.counts;
        record
            .number("threads", self.threads)
            .number("steps", self.steps)
            .count("operations", self.operations)
            .number("switches", counts.switches)
            .count("holds", counts.holds)
            .count("longest_delay", counts.longest_delay)
            .number("time_us", self.time / 1000)
            .count("delayed_us", self.delayed / 1000);
        slept::write(record);
        record
            .count("visible_lead_us", real_time::visible_lead() / 1000)
            .count("leaks", counts.leaks)
            .count("outside", counts.outside)
            .count("asynchronous", counts.asynchronous);
        end(record);
        systematic::write(record);
        if let Some(trace) = &self.trace {
            record.object("trace", |object| trace.write(object));
        }
    }
}

/// Ends the process, because no thread can continue or a limit is reached. Must be called without
/// the lock, by the only running thread.
pub(super) fn end(me: Option<Ref>, kind: ScheduleEndKind) -> ! {
    static HAS_ENDED: AtomicBool = AtomicBool::new(false);
    // Another thread is ending the process already.
    if HAS_ENDED.swap(true, Ordering::SeqCst) {
        loop {
            kernel::sleep(Duration::from_secs(1));
        }
    }
    let (done, threads) = {
        let mut shared = SHARED.lock();
        shared.machine.begin_end();
        (Done::of(&shared), hidden::collect(shared.alive()))
    };
    let since = kernel::clock(libc::CLOCK_MONOTONIC);
    for (number, thread) in threads.iter().enumerate().take(MAX_REPORTS) {
        thread.order.set(number as u64);
        if me.is_some_and(|me| me.is(thread)) {
            report(thread);
        } else if waits(thread) {
            let passed = Duration::from_nanos(kernel::clock(libc::CLOCK_MONOTONIC) - since);
            let left = ALL_REPORTS_LIMIT.saturating_sub(passed);
            request(thread, REPORT, left.max(REPORT_LIMIT));
        }
    }
    let mut reports = ::std::mem::replace(&mut *REPORTS.lock(), hidden::vec());
    for (number, thread) in threads.iter().enumerate() {
        if !reports.iter().any(|(known, _)| *known == number as u64) {
            let wait = Wait {
                thread: thread.path(),
                name: None,
                is_main: false,
                operation: activity(thread),
                on: None,
                stack: Stack::default(),
            };
            reports.push((number as u64, wait));
        }
    }
    reports.sort_unstable_by_key(|(number, _)| *number);
    let mut known = hidden::vec();
    for (number, wait) in &mut reports {
        let thread = threads[*number as usize];
        if let Some(address) = address(thread) {
            let at = known.iter().position(|known| *known == address).unwrap_or_else(|| {
                known.push(address);
                known.len() - 1
            });
            wait.on = Some(at as u64 + 1);
        }
    }
    let test = SESSION.lock().as_ref().map(|(_, test)| test.clone());
    let waits = Waits { all: reports, test: test.unwrap_or_default() };
    waits.print(kind);
    done.record(|record| {
        record.object("end", |end| {
            end.string("kind", kind.name());
            end.objects("waits", &waits.all, |(_, wait), object| {
                waits.write(wait, object);
            });
        });
    });
    // Not by `exit`, whose handlers may wait for the other threads.
    kernel::end_process(CODE)
}

/// Returns whether a thread waits for the run token, so it can be requested to report.
fn waits(thread: Ref) -> bool {
    matches!(SHARED.lock().state(thread), State::Ready | State::Blocked)
}

/// Returns the address at which a thread waits; `None` if it waits for anything else.
fn address(thread: Ref) -> Option<usize> {
    let shared = SHARED.lock();
    let threads = shared.machine.threads();
    let operation = threads.operation(thread.id);
    let is_there = shared.state(thread) == State::Blocked
        && matches!(operation, Operation::FutexWait | Operation::Pthread);
    is_there.then(|| threads.address(thread.id))
}

/// Describes in a word or two what a thread does.
fn activity(thread: Ref) -> &'static str {
    let shared = SHARED.lock();
    match shared.state(thread) {
        State::Running => "running",
        State::Ready => "could run",
        State::Stuck => "running unseen",
        State::Blocked | State::Outside | State::Ended => {
            shared.machine.threads().operation(thread.id).name()
        }
    }
}

/// Reports what this thread waits for, and writes its choices.
pub(super) fn report(me: Ref) {
    context::flush();
    let _pause = context::pause();
    let wait = Wait {
        thread: me.path(),
        name: kernel::thread_name(),
        is_main: kernel::thread_number() == process_number::of_system() as i32,
        operation: activity(me),
        on: None,
        stack: Stack::capture(),
    };
    REPORTS.lock().push((me.order.get(), wait));
    has_done();
}

/// Requests a task from a thread that waits for the run token, and waits until it is done.
fn request(thread: Ref, what: u32, limit: Duration) {
    HAS_DONE.store(0, Ordering::Relaxed);
    shared::request(thread, what);
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

/// Makes all other threads write their choices until now, because they may never run again.
pub(super) fn flush_all(me: Ref) {
    let threads = hidden::collect(SHARED.lock().alive());
    for thread in threads {
        if waits(thread) && !thread.is(me) {
            request(thread, FLUSH, FLUSH_LIMIT);
        }
    }
}

/// Writes the choices of this thread until now.
pub(super) fn flush() {
    context::flush();
    has_done();
}

/// What all threads wait for when the process ends, and the name of the test.
struct Waits {
    all: hidden::Vec<(u64, Wait)>,
    test: Text,
}

impl Waits {
    /// Writes the fields of a [`WaitRecord`](nondex_core::WaitRecord).
    fn write(&self, wait: &Wait, object: &mut Object<'_>) {
        object
            .string("thread", &wait.thread)
            .optional_string("name", self.name(wait).as_deref())
            .string("operation", wait.operation)
            .optional_number("on", wait.on);
        wait.stack.write("stack", object);
    }

    /// Returns a thread's name as std knows it. The system truncates names, and gives an unnamed
    /// thread the name of its parent.
    fn name(&self, wait: &Wait) -> Option<Text> {
        if wait.is_main {
            return Some(Text::from("main"));
        }
        let name = wait.name.as_ref().map(|name| kernel::until_nul(name))?;
        let is_of_test = self.test.as_bytes().starts_with(name);
        if *wait.thread == *"0" && is_of_test {
            return Some(self.test.clone());
        }
        let ancestors = self.all.iter().filter(|(_, other)| {
            let below = wait.thread.strip_prefix(&*other.thread);
            below.is_some_and(|below| below.starts_with('.'))
        });
        let mut names = ancestors.map(|(_, other)| other.name);
        let is_inherited = is_of_test || names.any(|other| other == wait.name);
        (!is_inherited).then(|| Text::lossy(name))
    }

    /// Prints the message where a panic would be printed.
    fn print(&self, kind: ScheduleEndKind) {
        let mut text = Text::from(match kind {
            ScheduleEndKind::Deadlock => {
                "\ndeadlock: every thread of the test waits for another one\n"
            }
            ScheduleEndKind::Outside => {
                "\ntimed out: every thread of the test waits, and nothing outside the test has \
                 woken one\n"
            }
            ScheduleEndKind::Livelock => {
                "\nlivelock: the running threads of the test read the same values again and again, \
                 and no thread changes them\n"
            }
            ScheduleEndKind::Steps => {
                "\ntimed out: the threads of the test reached the limit on operations\n"
            }
            ScheduleEndKind::Time => {
                "\ntimed out: the threads of the test reached the limit on virtual time\n"
            }
        });
        for (_, wait) in &self.all {
            text.push(format_args!("  thread {}", &*wait.thread));
            if let Some(name) = self.name(wait) {
                text.push(format_args!(" `{}`", &*name));
            }
            text.push(format_args!(": {}", wait.operation));
            if let Some(on) = wait.on {
                text.push(format_args!(" on {on}"));
            }
            text.push_str("\n");
        }
        let arguments = [2, text.as_ptr().addr() as i64, text.len() as i64, 0, 0, 0];
        // SAFETY: the text lives until the call returns.
        unsafe { kernel::syscall(libc::SYS_write, arguments) };
    }
}

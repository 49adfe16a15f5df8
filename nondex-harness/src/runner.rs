//! Runs the selected tests, several at once, each on a separate thread with the name of the test.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use nondex_core::context::{self, Context};

use super::arguments::Arguments;
use super::attendance::{self, Attendance};
use super::console::{Console, Printing, SLOW_TEST};
use super::descriptor::{TestDesc, TestDescAndFn};
use super::execution::{self, Ended};
use super::experiment::Experiment;
use super::forks;
use super::heap;
use super::interrupting::InterruptingTest;
use super::selection::select;
use super::sharing::Sharing;
use super::verdict::Verdict;

/// Test that ended.
#[derive(Debug)]
struct Completed {
    id: usize,
    verdict: Verdict,
    excuse: Option<String>,
}

/// Test that was started.
#[derive(Debug)]
struct Started {
    id: usize,
    desc: TestDesc,
    /// Thread of the test. `None` if the test was not run or ran on the main thread, and after the
    /// thread was joined.
    thread: Option<JoinHandle<()>>,
    /// Whether the main thread acts for the test while it waits.
    is_attended: bool,
    /// Whether the thread panicked outside of the test.
    panicked: bool,
    since: Instant,
    reported_slow: bool,
}

impl Started {
    /// Waits for the end of the thread. Waiting on a channel instead would allocate memory, which a
    /// test with a counting allocator would notice.
    fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.panicked = thread.join().is_err();
        }
    }
}

/// Runs the tests that `arguments` select. Returns whether all passed.
///
/// # Errors
/// Returns an error if the console cannot be written.
pub(crate) fn run(arguments: &Arguments, mut tests: Vec<TestDescAndFn>) -> io::Result<bool> {
    let context = execution::prepare();
    // This thread does work of the harness only.
    let _pause = context::pause();
    let total = tests.len();
    let mut console = Console::new(arguments, printing(context.map(Arc::as_ref)));
    let own = context.filter(|context| context.is_own_process());
    let experiment = own.and_then(|context| Experiment::of(context.spec(), &mut tests));
    let (selected, forks, between, at_a_time) = match experiment {
        // The tests of an experiment run one after the other, in its order.
        Some(Experiment { tests, forks, between }) => (tests, forks, between, 1),
        None => {
            let selected = select(arguments, tests);
            let is_one = console.is_silent() && selected.len() < 2;
            let at_a_time = if is_one { 1 } else { arguments.threads() };
            (selected, Vec::new(), None, at_a_time)
        }
    };
    console.run_start(selected.len(), total.saturating_sub(selected.len()))?;
    let sharing = own.filter(|_| at_a_time == 1).and_then(|_| Sharing::begin());
    let interrupting = between.and_then(|test| {
        let name = test.desc.name.as_slice().to_owned();
        InterruptingTest::prepare(name, move || {
            execution::run_test(&test.desc, test.testfn);
        })
    });
    Runner::new(arguments, &mut console, sharing).run(selected, at_a_time)?;
    if let Some(interrupting) = interrupting {
        interrupting.end();
    }
    if let Some(context) = own {
        if let Some(requested) = context.spec().forks() {
            forks::run(context, requested, forks, |test| {
                let mut console = Console::new(arguments, Printing::Silent);
                let run = Runner::new(arguments, &mut console, sharing).run(vec![test], 1);
                run.is_ok() && console.run_end().unwrap_or(false)
            });
        }
    }
    console.run_end()
}

/// Returns whether the console prints. A process that a test starts, for instance from its own
/// executable, prints as it would without this tool.
fn printing(context: Option<&Context>) -> Printing {
    match context {
        None => Printing::Strict,
        Some(context) if context.is_own_process() && context.spec().record.is_some() => {
            Printing::Silent
        }
        Some(_) => Printing::Lenient,
    }
}

#[derive(Debug)]
struct Runner<'a> {
    arguments: &'a Arguments,
    console: &'a mut Console,
    sender: Sender<Completed>,
    receiver: Receiver<Completed>,
    /// Tests that have not ended yet, in the order of their starts.
    started: Vec<Started>,
    next_id: usize,
    /// Present if the tests run one after the other and the spec requests it.
    sharing: Option<Sharing>,
}

impl<'a> Runner<'a> {
    fn new(arguments: &'a Arguments, console: &'a mut Console, sharing: Option<Sharing>) -> Self {
        let (sender, receiver) = mpsc::channel();
        Runner { arguments, console, sender, receiver, started: Vec::new(), next_id: 0, sharing }
    }

    /// Runs `tests`, up to `at_a_time` of them at once.
    fn run(&mut self, tests: Vec<TestDescAndFn>, at_a_time: usize) -> io::Result<()> {
        let mut waiting = VecDeque::from(tests);
        // Allocate now: a running test may hold its allocator's lock.
        self.started.reserve(at_a_time.min(waiting.len()));
        loop {
            while self.started.len() < at_a_time {
                let Some(test) = waiting.pop_front() else { break };
                if let Some(sharing) = self.sharing {
                    sharing.before_test(waiting.is_empty());
                }
                let is_alone = waiting.is_empty() && self.started.is_empty();
                self.start(test, is_alone)?;
            }
            if self.started.is_empty() {
                return Ok(());
            }
            if let [alone] = &mut self.started[..] {
                if self.console.is_silent() {
                    let _attendance = alone.is_attended.then(Attendance::begin);
                    alone.join();
                }
            }
            let completed = self.wait(at_a_time > 1)?;
            self.finish(completed)?;
        }
    }

    fn start(&mut self, test: TestDescAndFn, is_alone: bool) -> io::Result<()> {
        let id = self.next_id;
        self.next_id += 1;
        let TestDescAndFn { desc, testfn } = test;
        self.console.test_start(&desc)?;
        let sender = self.sender.clone();
        let is_attended =
            is_alone && self.console.is_silent() && attendance::is_due(desc.name.as_slice());
        let not_run = desc.ignore || self.arguments.only_benchmarks && !testfn.is_benchmark();
        let thread = if not_run {
            let ended = Ended { verdict: Verdict::Ignored, excuse: None };
            report(&sender, id, ended);
            None
        } else {
            let desc = desc.clone();
            let name = desc.name.as_slice().to_owned();
            let work = move || {
                let ended = execution::run_test(&desc, testfn);
                report(&sender, id, ended);
            };
            spawn(name, is_attended, work)
        };
        self.started.push(Started {
            id,
            desc,
            is_attended: is_attended && thread.is_some(),
            thread,
            panicked: false,
            since: Instant::now(),
            reported_slow: false,
        });
        Ok(())
    }

    /// Waits until any test ends. Reports slow tests in the meantime, if `report_slow`.
    fn wait(&mut self, report_slow: bool) -> io::Result<Completed> {
        loop {
            let slow_at = self
                .started
                .iter()
                .filter(|started| report_slow && !started.reported_slow)
                .map(|started| started.since + SLOW_TEST)
                .min();
            let result = match slow_at {
                Some(at) => {
                    self.receiver.recv_timeout(at.saturating_duration_since(Instant::now()))
                }
                None => self.receiver.recv().map_err(RecvTimeoutError::from),
            };
            match result {
                Ok(completed) => return Ok(completed),
                Err(RecvTimeoutError::Timeout) => {
                    let now = Instant::now();
                    for started in &mut self.started {
                        if !started.reported_slow && started.since + SLOW_TEST <= now {
                            started.reported_slow = true;
                            self.console.test_is_slow(&started.desc)?;
                        }
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    unreachable!("the runner keeps a sender")
                }
            }
        }
    }

    fn finish(&mut self, completed: Completed) -> io::Result<()> {
        let Completed { id, mut verdict, excuse } = completed;
        let place = self.started.iter().position(|started| started.id == id);
        let mut started = self.started.remove(place.expect("a test ends once, after it started"));
        started.join();
        if started.panicked && verdict == Verdict::Ok {
            verdict = Verdict::FailedBecause("panicked after reporting success".to_owned());
        }
        if let Some(sharing) = self.sharing {
            sharing.after_test(started.desc.name.as_slice());
        }
        if let Some(excuse) = excuse {
            // libtest's type requires a static string, as it comes from an attribute.
            started.desc.ignore_message = Some(excuse.leak());
        }
        self.console.test_end(&started.desc, &verdict)
    }
}

fn report(sender: &Sender<Completed>, id: usize, ended: Ended) {
    let Ended { verdict, excuse } = ended;
    // Sending fails if the runner has ended because the console cannot be written.
    let _ = sender.send(Completed { id, verdict, excuse });
}

/// Runs `work` on a new thread called `name`, or on this one if the system has no more threads. The
/// new thread first waits until the main thread acts for the test, if that `is_attended`.
fn spawn(
    name: String,
    is_attended: bool,
    work: impl FnOnce() + Send + 'static,
) -> Option<JoinHandle<()>> {
    // The closure stays reachable if no thread can be started. This thread may not wait for the
    // other: that would change the allocations of the test's thread. Addresses can decide the
    // behaviour of a test, for instance which thread `parking_lot` wakes.
    let work = Arc::new(Mutex::new(Some(work)));
    let take = |work: &Mutex<Option<_>>| work.lock().ok()?.take();
    let taken = Arc::clone(&work);
    let thread = thread::Builder::new().name(name).spawn(move || {
        heap::shift();
        if is_attended {
            attendance::wait();
        }
        if let Some(work) = take(&taken) {
            work();
        }
    });
    match thread {
        Ok(thread) => Some(thread),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            if let Some(work) = take(&work) {
                work();
            }
            None
        }
        Err(error) => panic!("failed to spawn thread to run test: {error}"),
    }
}

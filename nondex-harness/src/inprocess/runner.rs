//! Runs the selected tests, several at a time, each on a thread of its own that is named as the test.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nondex_core::context::{self, Context};

use super::arguments::Arguments;
use super::console::{Care, Console, SLOW_TEST};
use super::descriptor::{TestDesc, TestDescAndFn};
use super::execution::{self, Ended};
use super::selection::select;
use super::shuffle;
use super::verdict::Verdict;

/// A test that ended.
#[derive(Debug)]
struct Completed {
    id: usize,
    verdict: Verdict,
    time: Option<Duration>,
    excuse: Option<String>,
}

/// A test that was started.
#[derive(Debug)]
struct Started {
    desc: TestDesc,
    /// `None` when it was not run, or on this very thread.
    thread: Option<JoinHandle<()>>,
    since: Instant,
    reported_slow: bool,
}

/// Runs the tests that `arguments` select. Returns whether all passed.
///
/// # Errors
/// When the console or the log file cannot be written.
pub(crate) fn run(arguments: &Arguments, tests: Vec<TestDescAndFn>) -> io::Result<bool> {
    let context = execution::prepare();
    // This thread does our own work only.
    let _pause = context::pause();
    let total = tests.len();
    let mut console = Console::new(arguments, &tests, care(context.map(Arc::as_ref)))?;
    let mut selected = select(arguments, tests);
    if !arguments.measure {
        for test in &mut selected {
            replace_with_test(test);
        }
    }
    let filtered_out = total - selected.len();
    for test in &mut selected {
        test.desc.name = test.desc.name.with_padding(test.testfn.padding());
    }
    let count = selected.len();
    let (benchmarks, mut tests): (Vec<_>, Vec<_>) = selected
        .into_iter()
        .partition(|test| test.testfn.is_benchmark());
    let seed = shuffle::seed(arguments);
    if let Some(seed) = seed {
        shuffle::shuffle(seed, &mut tests);
    }
    console.run_start(count, filtered_out, seed)?;
    let mut runner = Runner::new(arguments, &mut console);
    if runner.run(tests, threads(arguments))? {
        // Benchmarks one after the other, so that they do not disturb each other.
        runner.run(benchmarks, 1)?;
    }
    console.run_end()
}

/// How many tests run at a time.
pub(crate) fn threads(arguments: &Arguments) -> usize {
    arguments
        .test_threads
        .unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from))
}

/// What becomes of our output. A process that a test starts, such as its own executable, prints what it would print otherwise.
fn care(context: Option<&Context>) -> Care {
    match context {
        None => Care::Strict,
        Some(context) if context.is_own_process() && context.spec().record.is_some() => {
            Care::Silent
        }
        Some(_) => Care::Lenient,
    }
}

fn replace_with_test(test: &mut TestDescAndFn) {
    use super::descriptor::TestFn;
    let function = std::mem::replace(&mut test.testfn, TestFn::StaticTestFn(|| Ok(())));
    test.testfn = function.into_test();
}

#[derive(Debug)]
struct Runner<'a> {
    arguments: &'a Arguments,
    console: &'a mut Console,
    sender: Sender<Completed>,
    receiver: Receiver<Completed>,
    started: BTreeMap<usize, Started>,
    next_id: usize,
}

impl<'a> Runner<'a> {
    fn new(arguments: &'a Arguments, console: &'a mut Console) -> Self {
        let (sender, receiver) = mpsc::channel();
        Runner {
            arguments,
            console,
            sender,
            receiver,
            started: BTreeMap::new(),
            next_id: 0,
        }
    }

    /// Runs `tests`, `at_a_time` of them at once. Returns false when it stopped at a failure.
    fn run(&mut self, tests: Vec<TestDescAndFn>, at_a_time: usize) -> io::Result<bool> {
        let mut waiting = VecDeque::from(tests);
        loop {
            while self.started.len() < at_a_time
                && let Some(test) = waiting.pop_front()
            {
                self.start(test)?;
            }
            if self.started.is_empty() {
                return Ok(true);
            }
            let completed = self.wait(at_a_time > 1)?;
            let failed = completed.verdict.is_failure();
            self.finish(completed)?;
            if failed && self.arguments.fail_fast {
                return Ok(false);
            }
        }
    }

    fn start(&mut self, test: TestDescAndFn) -> io::Result<()> {
        let id = self.next_id;
        self.next_id += 1;
        let TestDescAndFn { desc, testfn } = test;
        self.console.test_start(&desc)?;
        let sender = self.sender.clone();
        let not_run = desc.ignore || !self.arguments.run_tests && !testfn.is_benchmark();
        let thread = if not_run {
            let ended = Ended {
                verdict: Verdict::Ignored,
                time: None,
                excuse: None,
            };
            report(&sender, id, ended);
            None
        } else {
            let limits = self.arguments.time_limits;
            let desc = desc.clone();
            spawn(desc.name.as_slice().to_owned(), move || {
                let ended = execution::run_test(&desc, testfn, limits.as_ref());
                report(&sender, id, ended);
            })
        };
        let started = Started {
            desc,
            thread,
            since: Instant::now(),
            reported_slow: false,
        };
        self.started.insert(id, started);
        Ok(())
    }

    /// Waits for any test. Says which ones are slow meanwhile, if `report_slow`.
    fn wait(&mut self, report_slow: bool) -> io::Result<Completed> {
        loop {
            let slow_at = self
                .started
                .values()
                .filter(|started| report_slow && !started.reported_slow)
                .map(|started| started.since + SLOW_TEST)
                .min();
            let result = match slow_at {
                Some(at) => self
                    .receiver
                    .recv_timeout(at.saturating_duration_since(Instant::now())),
                None => self.receiver.recv().map_err(RecvTimeoutError::from),
            };
            match result {
                Ok(completed) => return Ok(completed),
                Err(RecvTimeoutError::Timeout) => {
                    let now = Instant::now();
                    for started in self.started.values_mut() {
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
        let Completed {
            id,
            mut verdict,
            time,
            excuse,
        } = completed;
        let mut started = self
            .started
            .remove(&id)
            .expect("a test ends once, after it started");
        if let Some(thread) = started.thread
            && thread.join().is_err()
            && verdict == Verdict::Ok
        {
            verdict = Verdict::FailedBecause("panicked after reporting success".to_owned());
        }
        if let Some(excuse) = excuse {
            // A description has the text of an attribute, which lives as long as the program.
            started.desc.ignore_message = Some(excuse.leak());
        }
        self.console.test_end(&started.desc, &verdict, time)
    }
}

fn report(sender: &Sender<Completed>, id: usize, ended: Ended) {
    let Ended {
        verdict,
        time,
        excuse,
    } = ended;
    // After `--fail-fast` nobody listens any more.
    let _ = sender.send(Completed {
        id,
        verdict,
        time,
        excuse,
    });
}

/// Runs `work` on a new thread called `name`, or on this one when the system has no more threads to give.
fn spawn(name: String, work: impl FnOnce() + Send + 'static) -> Option<JoinHandle<()>> {
    let (sender, receiver) = mpsc::channel();
    // The work reaches the thread through a channel, so that it is still here when there is no thread.
    let thread = thread::Builder::new().name(name).spawn(move || {
        let work: Result<Box<dyn FnOnce() + Send>, _> = receiver.recv();
        if let Ok(work) = work {
            work();
        }
    });
    match thread {
        Ok(thread) => {
            let _ = sender.send(Box::new(work));
            Some(thread)
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            work();
            None
        }
        Err(error) => panic!("failed to spawn thread to run test: {error}"),
    }
}

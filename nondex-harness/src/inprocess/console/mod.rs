//! What a test executable prints: libtest's formats, byte for byte.
//!
//! The one thing missing is a test's own output: only std can capture it, and only for libtest. It goes where the test
//! sends it, as with `--no-capture`; the driver captures each process as a whole, and nothing of ours is printed then.

mod json;
mod junit;
mod pretty;
mod terminal;
mod terse;

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use super::arguments::{Arguments, OutputFormat};
use super::descriptor::{TestDesc, TestDescAndFn};
use super::runner;
use super::selection::select;
use super::verdict::Verdict;
pub(crate) use terminal::Care;
use terminal::{Color, Terminal};

/// A test that runs longer is reported as slow.
pub(crate) const SLOW_TEST: Duration = Duration::from_secs(60);

/// What a listing has so far.
#[derive(Clone, Copy, Debug, Default)]
struct Listed {
    tests: usize,
    benchmarks: usize,
    ignored: usize,
}

/// A test and what is noted about it.
type Noted = (TestDesc, String);

/// What a run has so far.
#[derive(Clone, Debug, Default)]
struct Tally {
    total: usize,
    passed: usize,
    ignored: usize,
    measured: usize,
    filtered_out: usize,
    show_output: bool,
    successes: Vec<Noted>,
    ignores: Vec<Noted>,
    failures: Vec<Noted>,
    too_slow: Vec<Noted>,
    time: Duration,
}

impl Tally {
    fn failed(&self) -> usize {
        self.failures.len() + self.too_slow.len()
    }

    fn add(&mut self, desc: &TestDesc, verdict: &Verdict) {
        let noted = (desc.clone(), String::new());
        match verdict {
            Verdict::Ok => {
                self.passed += 1;
                self.successes.push(noted);
            }
            Verdict::Ignored => {
                self.ignored += 1;
                self.ignores.push(noted);
            }
            Verdict::Measured(_) => self.measured += 1,
            Verdict::Failed => self.failures.push(noted),
            Verdict::FailedBecause(reason) => {
                self.failures.push((noted.0, format!("note: {reason}")));
            }
            Verdict::TooSlow => self.too_slow.push(noted),
        }
    }
}

/// One of libtest's formats.
trait Format: std::fmt::Debug {
    fn list_start(&mut self, out: &mut Terminal) -> io::Result<()>;
    fn listed(&mut self, out: &mut Terminal, desc: &TestDesc, kind: &str) -> io::Result<()>;
    fn list_end(&mut self, out: &mut Terminal, listed: &Listed) -> io::Result<()>;
    fn run_start(
        &mut self,
        out: &mut Terminal,
        count: usize,
        shuffle_seed: Option<u64>,
    ) -> io::Result<()>;
    fn test_start(&mut self, out: &mut Terminal, desc: &TestDesc) -> io::Result<()>;
    fn test_is_slow(&mut self, out: &mut Terminal, desc: &TestDesc) -> io::Result<()>;
    fn test_end(
        &mut self,
        out: &mut Terminal,
        desc: &TestDesc,
        verdict: &Verdict,
        time: Option<Duration>,
    ) -> io::Result<()>;
    fn run_end(&mut self, out: &mut Terminal, tally: &Tally) -> io::Result<()>;
    fn doctest_times(&mut self, out: &mut Terminal, total: f64, build: f64) -> io::Result<()>;
}

fn format_of(arguments: &Arguments, name_width: usize) -> Box<dyn Format> {
    let one_by_one = runner::threads(arguments) == 1;
    match arguments.format {
        OutputFormat::Pretty => Box::new(pretty::Pretty::new(
            name_width,
            one_by_one,
            arguments.time_limits,
        )),
        OutputFormat::Terse => Box::new(terse::Terse::new(name_width, one_by_one)),
        OutputFormat::Json => Box::new(json::Json),
        OutputFormat::Junit => Box::new(junit::Junit::default()),
    }
}

/// The console of one run.
#[derive(Debug)]
pub(crate) struct Console {
    out: Terminal,
    format: Box<dyn Format>,
    log: Option<File>,
    tally: Tally,
    start: Instant,
}

impl Console {
    /// The console for `tests`, before any is left out.
    pub(crate) fn new(
        arguments: &Arguments,
        tests: &[TestDescAndFn],
        care: Care,
    ) -> io::Result<Self> {
        // Names are aligned to the longest one that is padded.
        let widest = tests
            .iter()
            .filter(|test| test.testfn.is_benchmark())
            .map(|test| test.desc.name.as_slice().len())
            .max();
        Ok(Console {
            out: Terminal::stdout(arguments, care),
            format: format_of(arguments, widest.unwrap_or(0)),
            log: open_log(arguments)?,
            tally: Tally {
                show_output: arguments.show_output,
                ..Tally::default()
            },
            start: Instant::now(),
        })
    }

    /// The run starts.
    pub(crate) fn run_start(
        &mut self,
        count: usize,
        filtered_out: usize,
        shuffle_seed: Option<u64>,
    ) -> io::Result<()> {
        self.tally.total = count;
        self.tally.filtered_out = filtered_out;
        self.format.run_start(&mut self.out, count, shuffle_seed)
    }

    /// A test starts.
    pub(crate) fn test_start(&mut self, desc: &TestDesc) -> io::Result<()> {
        self.format.test_start(&mut self.out, desc)
    }

    /// A test has been running for [`SLOW_TEST`].
    pub(crate) fn test_is_slow(&mut self, desc: &TestDesc) -> io::Result<()> {
        self.format.test_is_slow(&mut self.out, desc)
    }

    /// A test ended.
    pub(crate) fn test_end(
        &mut self,
        desc: &TestDesc,
        verdict: &Verdict,
        time: Option<Duration>,
    ) -> io::Result<()> {
        if let Some(log) = &mut self.log {
            log.write_all(log_line(desc, verdict, time).as_bytes())?;
        }
        self.format.test_end(&mut self.out, desc, verdict, time)?;
        self.tally.add(desc, verdict);
        Ok(())
    }

    /// The run ends. Returns whether nothing failed.
    pub(crate) fn run_end(&mut self) -> io::Result<bool> {
        self.tally.time = self.start.elapsed();
        self.format.run_end(&mut self.out, &self.tally)?;
        Ok(self.tally.failed() == 0)
    }
}

/// Prints the tests that `arguments` select.
pub(crate) fn list(arguments: &Arguments, tests: Vec<TestDescAndFn>) -> io::Result<()> {
    let mut out = Terminal::stdout(arguments, Care::Strict);
    let mut format: Box<dyn Format> = match arguments.format {
        OutputFormat::Pretty | OutputFormat::Junit => Box::new(pretty::Pretty::new(0, true, None)),
        OutputFormat::Terse => Box::new(terse::Terse::new(0, true)),
        OutputFormat::Json => Box::new(json::Json),
    };
    let mut log = open_log(arguments)?;
    let mut listed = Listed::default();
    format.list_start(&mut out)?;
    for TestDescAndFn { desc, testfn } in select(arguments, tests) {
        let kind = if testfn.is_benchmark() {
            listed.benchmarks += 1;
            "benchmark"
        } else {
            listed.tests += 1;
            "test"
        };
        listed.ignored += usize::from(desc.ignore);
        format.listed(&mut out, &desc, kind)?;
        if let Some(log) = &mut log {
            writeln!(log, "{kind} {}", desc.name)?;
        }
    }
    format.list_end(&mut out, &listed)
}

/// Prints how long rustdoc took for doctests that it compiled together, in seconds.
pub(crate) fn doctest_times(arguments: &Arguments, total: f64, build: f64) -> io::Result<()> {
    format_of(arguments, 0).doctest_times(
        &mut Terminal::stdout(arguments, Care::Strict),
        total,
        build,
    )
}

fn open_log(arguments: &Arguments) -> io::Result<Option<File>> {
    arguments.logfile.as_ref().map(File::create).transpose()
}

fn log_line(desc: &TestDesc, verdict: &Verdict, time: Option<Duration>) -> String {
    let verdict = match verdict {
        Verdict::Ok => "ok".to_owned(),
        Verdict::Failed => "failed".to_owned(),
        Verdict::FailedBecause(reason) => format!("failed: {reason}"),
        Verdict::Ignored => match desc.ignore_message {
            Some(reason) => format!("ignored: {reason}"),
            None => "ignored".to_owned(),
        },
        Verdict::Measured(samples) => samples.to_string(),
        Verdict::TooSlow => "failed (time limit exceeded)".to_owned(),
    };
    let mut line = format!("{verdict} {}", desc.name);
    if let Some(time) = time {
        let _ = write!(line, " <{:.3}s>", time.as_secs_f64());
    }
    line + "\n"
}

/// `running 2 tests`
fn write_title(out: &mut Terminal, count: usize, shuffle_seed: Option<u64>) -> io::Result<()> {
    let noun = if count == 1 { "test" } else { "tests" };
    let seed = shuffle_seed.map_or_else(String::new, |seed| format!(" (shuffle seed: {seed})"));
    out.plain(&format!("\nrunning {count} {noun}{seed}\n"))
}

/// `test name - should panic ... `
fn write_name(out: &mut Terminal, desc: &TestDesc, width: usize) -> io::Result<()> {
    let name = desc.padded_name(width, desc.name.padding());
    match desc.test_mode() {
        Some(mode) => out.plain(&format!("test {name} - {mode} ... ")),
        None => out.plain(&format!("test {name} ... ")),
    }
}

/// `test name has been running for over 60 seconds`
fn write_slow(out: &mut Terminal, desc: &TestDesc) -> io::Result<()> {
    let seconds = SLOW_TEST.as_secs();
    out.plain(&format!(
        "test {} has been running for over {seconds} seconds\n",
        desc.name
    ))
}

/// The notes on `tests`, then their names.
fn write_section(out: &mut Terminal, title: &str, tests: &[Noted]) -> io::Result<()> {
    let title = format!("\n{title}:\n");
    out.plain(&title)?;
    let mut notes = String::new();
    for (desc, note) in tests.iter().filter(|(_, note)| !note.is_empty()) {
        let _ = write!(notes, "---- {} stdout ----\n{note}\n", desc.name);
    }
    if !notes.is_empty() {
        out.plain(&format!("\n{notes}"))?;
    }
    out.plain(&title)?;
    let mut names: Vec<&str> = tests.iter().map(|(desc, _)| desc.name.as_slice()).collect();
    names.sort_unstable();
    for name in names {
        out.plain(&format!("    {name}\n"))?;
    }
    Ok(())
}

/// `test result: ok. 1 passed; ..`
fn write_result_line(out: &mut Terminal, tally: &Tally) -> io::Result<()> {
    out.plain("\ntest result: ")?;
    if tally.failed() == 0 {
        out.colored("ok", Color::Green)?;
    } else {
        out.colored("FAILED", Color::Red)?;
    }
    let Tally {
        passed,
        ignored,
        measured,
        filtered_out,
        ..
    } = tally;
    out.plain(&format!(
        ". {passed} passed; {} failed; {ignored} ignored; {measured} measured; {filtered_out} \
         filtered out; finished in {:.2}s\n\n",
        tally.failed(),
        tally.time.as_secs_f64()
    ))
}

/// How rustdoc reports its times in the formats that people read.
fn write_doctest_times(out: &mut Terminal, total: f64, build: f64) -> io::Result<()> {
    out.plain(&format!(
        "all doctests ran in {total:.2}s; merged doctests compilation took {build:.2}s\n"
    ))
}

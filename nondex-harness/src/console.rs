//! Prints the output of a test executable: listings in libtest's formats, and one line for each
//! test that is run.
//!
//! A test's own output is not captured, as with libtest's `--no-capture`: only std can capture it,
//! and only for libtest. The driver captures the output of each process, and then the harness
//! prints nothing.

mod listing;
mod terminal;

use std::io;
use std::time::{Duration, Instant};

use super::arguments::Arguments;
use super::descriptor::TestDesc;
use super::verdict::Verdict;
pub(crate) use listing::list;
pub(crate) use terminal::Printing;
use terminal::{Shade, Terminal};

/// Duration after which a running test is reported as slow.
pub(crate) const SLOW_TEST: Duration = Duration::from_secs(60);

/// Console of one run.
#[derive(Debug)]
pub(crate) struct Console {
    out: Terminal,
    /// Whether a test's name is printed when it starts, which shows the test that hangs.
    one_by_one: bool,
    passed: usize,
    ignored: usize,
    filtered_out: usize,
    /// Names of the failed tests, each with an optional note.
    failures: Vec<(String, Option<String>)>,
    start: Instant,
}

impl Console {
    /// Returns the console of a run.
    pub(crate) fn new(arguments: &Arguments, printing: Printing) -> Self {
        let out = Terminal::stdout(arguments, printing);
        // Counting processors takes longer than many a test.
        let one_by_one = !out.is_silent() && arguments.threads() == 1;
        Console {
            out,
            one_by_one,
            passed: 0,
            ignored: 0,
            filtered_out: 0,
            failures: Vec::new(),
            start: Instant::now(),
        }
    }

    /// Returns whether the console prints nothing.
    pub(crate) fn is_silent(&self) -> bool {
        self.out.is_silent()
    }

    /// Reports that the run starts.
    pub(crate) fn run_start(&mut self, count: usize, filtered_out: usize) -> io::Result<()> {
        self.filtered_out = filtered_out;
        let noun = if count == 1 { "test" } else { "tests" };
        self.out.plain(&format!("\nrunning {count} {noun}\n"))
    }

    /// Reports that a test starts.
    pub(crate) fn test_start(&mut self, desc: &TestDesc) -> io::Result<()> {
        if self.one_by_one {
            self.write_name(desc)?;
        }
        Ok(())
    }

    /// Reports that a test has been running for [`SLOW_TEST`].
    pub(crate) fn test_is_slow(&mut self, desc: &TestDesc) -> io::Result<()> {
        let seconds = SLOW_TEST.as_secs();
        self.out.plain(&format!("test {} has been running for over {seconds} seconds\n", desc.name))
    }

    /// Reports that a test ended.
    pub(crate) fn test_end(&mut self, desc: &TestDesc, verdict: &Verdict) -> io::Result<()> {
        if !self.one_by_one {
            self.write_name(desc)?;
        }
        match verdict {
            Verdict::Ok => {
                self.passed += 1;
                self.out.shaded("ok", Shade::Green)?;
            }
            Verdict::Ignored => {
                self.ignored += 1;
                let reason =
                    desc.ignore_message.map_or_else(String::new, |reason| format!(", {reason}"));
                self.out.shaded(&format!("ignored{reason}"), Shade::Yellow)?;
            }
            Verdict::Failed | Verdict::FailedBecause(_) => {
                let note = match verdict {
                    Verdict::FailedBecause(reason) => Some(reason.clone()),
                    _ => None,
                };
                self.failures.push((desc.name.to_string(), note));
                self.out.shaded("FAILED", Shade::Red)?;
            }
        }
        self.out.plain("\n")
    }

    /// Reports that the run ends. Returns whether no test failed.
    pub(crate) fn run_end(&mut self) -> io::Result<bool> {
        if !self.failures.is_empty() {
            self.write_failures()?;
        }
        self.out.plain("\ntest result: ")?;
        if self.failures.is_empty() {
            self.out.shaded("ok", Shade::Green)?;
        } else {
            self.out.shaded("FAILED", Shade::Red)?;
        }
        self.out.plain(&format!(
            ". {} passed; {} failed; {} ignored; 0 measured; {} filtered out; finished in {:.2}s\n\
             \n",
            self.passed,
            self.failures.len(),
            self.ignored,
            self.filtered_out,
            self.start.elapsed().as_secs_f64()
        ))?;
        Ok(self.failures.is_empty())
    }

    /// Writes `test name - should panic ... `.
    fn write_name(&mut self, desc: &TestDesc) -> io::Result<()> {
        let mode = desc.test_mode().map_or_else(String::new, |mode| format!(" - {mode}"));
        self.out.plain(&format!("test {}{mode} ... ", desc.name))
    }

    /// Writes the notes on the failed tests, then their names.
    fn write_failures(&mut self) -> io::Result<()> {
        let mut text = "\nfailures:\n".to_owned();
        let noted = self.failures.iter().filter_map(|(name, note)| Some((name, note.as_ref()?)));
        let notes: Vec<String> =
            noted.map(|(name, note)| format!("---- {name} stdout ----\nnote: {note}\n")).collect();
        if !notes.is_empty() {
            text += &format!("\n{}", notes.concat());
        }
        text += "\nfailures:\n";
        let mut names: Vec<&str> = self.failures.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        for name in names {
            text += &format!("    {name}\n");
        }
        self.out.plain(&text)
    }
}

/// Prints how long rustdoc took for doctests that it compiled together, in seconds.
pub(crate) fn doctest_times(arguments: &Arguments, total: f64, build: f64) -> io::Result<()> {
    Terminal::stdout(arguments, Printing::Strict).plain(&format!(
        "all doctests ran in {total:.2}s; merged doctests compilation took {build:.2}s\n"
    ))
}

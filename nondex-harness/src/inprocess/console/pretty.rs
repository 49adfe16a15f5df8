//! `--format pretty`: a line for each test.

use std::io;
use std::time::Duration;

use super::terminal::{Color, Terminal};
use super::{
    Format, Listed, Tally, write_doctest_times, write_name, write_result_line, write_section,
    write_slow, write_title,
};
use crate::inprocess::descriptor::TestDesc;
use crate::inprocess::time_limit::TimeLimits;
use crate::inprocess::verdict::Verdict;

#[derive(Debug)]
pub(super) struct Pretty {
    name_width: usize,
    /// A test's name is printed when it starts, so that one sees which test hangs.
    one_by_one: bool,
    limits: Option<TimeLimits>,
}

impl Pretty {
    pub(super) const fn new(
        name_width: usize,
        one_by_one: bool,
        limits: Option<TimeLimits>,
    ) -> Self {
        Pretty {
            name_width,
            one_by_one,
            limits,
        }
    }

    fn write_time(&self, out: &mut Terminal, desc: &TestDesc, time: Duration) -> io::Result<()> {
        let Some(limits) = &self.limits else {
            return Ok(());
        };
        let limit = limits.of(desc.test_type);
        let text = format!(" <{:.3}s>", time.as_secs_f64());
        if time >= limit.critical {
            out.colored(&text, Color::Red)
        } else if time >= limit.warn {
            out.colored(&text, Color::Yellow)
        } else {
            out.plain(&text)
        }
    }
}

fn plural(count: usize, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{s}")
}

impl Format for Pretty {
    fn list_start(&mut self, _: &mut Terminal) -> io::Result<()> {
        Ok(())
    }

    fn listed(&mut self, out: &mut Terminal, desc: &TestDesc, kind: &str) -> io::Result<()> {
        out.plain(&format!("{}: {kind}\n", desc.name))
    }

    fn list_end(&mut self, out: &mut Terminal, listed: &Listed) -> io::Result<()> {
        if listed.tests + listed.benchmarks > 0 {
            out.plain("\n")?;
        }
        let tests = plural(listed.tests, "test");
        let benchmarks = plural(listed.benchmarks, "benchmark");
        out.plain(&format!("{tests}, {benchmarks}\n"))
    }

    fn run_start(
        &mut self,
        out: &mut Terminal,
        count: usize,
        shuffle_seed: Option<u64>,
    ) -> io::Result<()> {
        write_title(out, count, shuffle_seed)
    }

    fn test_start(&mut self, out: &mut Terminal, desc: &TestDesc) -> io::Result<()> {
        if self.one_by_one {
            write_name(out, desc, self.name_width)?;
        }
        Ok(())
    }

    fn test_is_slow(&mut self, out: &mut Terminal, desc: &TestDesc) -> io::Result<()> {
        write_slow(out, desc)
    }

    fn test_end(
        &mut self,
        out: &mut Terminal,
        desc: &TestDesc,
        verdict: &Verdict,
        time: Option<Duration>,
    ) -> io::Result<()> {
        if !self.one_by_one {
            write_name(out, desc, self.name_width)?;
        }
        match verdict {
            Verdict::Ok => out.colored("ok", Color::Green)?,
            Verdict::Failed | Verdict::FailedBecause(_) => out.colored("FAILED", Color::Red)?,
            Verdict::TooSlow => out.colored("FAILED (time limit exceeded)", Color::Red)?,
            Verdict::Ignored => match desc.ignore_message {
                Some(reason) => out.colored(&format!("ignored, {reason}"), Color::Yellow)?,
                None => out.colored("ignored", Color::Yellow)?,
            },
            Verdict::Measured(samples) => {
                out.colored("bench", Color::Cyan)?;
                out.plain(&format!(": {samples}"))?;
            }
        }
        if let Some(time) = time {
            self.write_time(out, desc, time)?;
        }
        out.plain("\n")
    }

    fn run_end(&mut self, out: &mut Terminal, tally: &Tally) -> io::Result<()> {
        if tally.show_output {
            write_section(out, "successes", &tally.successes)?;
        }
        if !tally.failures.is_empty() {
            write_section(out, "failures", &tally.failures)?;
        }
        if !tally.too_slow.is_empty() {
            write_section(out, "failures (time limit exceeded)", &tally.too_slow)?;
        }
        write_result_line(out, tally)
    }

    fn doctest_times(&mut self, out: &mut Terminal, total: f64, build: f64) -> io::Result<()> {
        write_doctest_times(out, total, build)
    }
}

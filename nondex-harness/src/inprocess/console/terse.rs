//! `--format terse`: a character for each test, and a line for each that fails.

use std::io;
use std::time::Duration;

use super::terminal::{Color, Terminal};
use super::{
    Format, Listed, Tally, write_doctest_times, write_name, write_result_line, write_section,
    write_slow, write_title,
};
use crate::inprocess::descriptor::{NamePadding, TestDesc};
use crate::inprocess::verdict::Verdict;

/// A line has this many characters, and then the progress.
const COLUMNS: usize = 87;

#[derive(Debug)]
pub(super) struct Terse {
    name_width: usize,
    one_by_one: bool,
    total: usize,
    done: usize,
    column: usize,
}

impl Terse {
    pub(super) const fn new(name_width: usize, one_by_one: bool) -> Self {
        Terse {
            name_width,
            one_by_one,
            total: 0,
            done: 0,
            column: 0,
        }
    }

    fn character(&mut self, out: &mut Terminal, text: &str, color: Color) -> io::Result<()> {
        out.colored(text, color)?;
        self.done += 1;
        self.column += 1;
        if self.column == COLUMNS {
            self.progress(out)?;
        }
        Ok(())
    }

    fn progress(&mut self, out: &mut Terminal) -> io::Result<()> {
        self.column = 0;
        out.plain(&format!(" {}/{}\n", self.done, self.total))
    }
}

impl Format for Terse {
    fn list_start(&mut self, _: &mut Terminal) -> io::Result<()> {
        Ok(())
    }

    fn listed(&mut self, out: &mut Terminal, desc: &TestDesc, kind: &str) -> io::Result<()> {
        out.plain(&format!("{}: {kind}\n", desc.name))
    }

    fn list_end(&mut self, _: &mut Terminal, _: &Listed) -> io::Result<()> {
        Ok(())
    }

    fn run_start(
        &mut self,
        out: &mut Terminal,
        count: usize,
        shuffle_seed: Option<u64>,
    ) -> io::Result<()> {
        self.total = count;
        write_title(out, count, shuffle_seed)
    }

    fn test_start(&mut self, out: &mut Terminal, desc: &TestDesc) -> io::Result<()> {
        // A measured benchmark has a line of its own here, too.
        if self.one_by_one && desc.name.padding() == NamePadding::PadOnRight {
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
        _: Option<Duration>,
    ) -> io::Result<()> {
        match verdict {
            Verdict::Ok => self.character(out, ".", Color::Green),
            Verdict::Ignored => self.character(out, "i", Color::Yellow),
            Verdict::Failed | Verdict::FailedBecause(_) | Verdict::TooSlow => {
                if self.column != 0 {
                    self.progress(out)?;
                }
                self.done += 1;
                out.plain(&format!("{} --- ", desc.name))?;
                out.colored("FAILED", Color::Red)?;
                out.plain("\n")
            }
            Verdict::Measured(samples) => {
                if !self.one_by_one {
                    write_name(out, desc, self.name_width)?;
                }
                out.colored("bench", Color::Cyan)?;
                out.plain(&format!(": {samples}\n"))
            }
        }
    }

    fn run_end(&mut self, out: &mut Terminal, tally: &Tally) -> io::Result<()> {
        if tally.show_output {
            write_section(out, "successes", &tally.successes)?;
        }
        if tally.failed() > 0 {
            write_section(out, "failures", &tally.failures)?;
        }
        write_result_line(out, tally)?;
        // The only test, and it was not run: then the reason is of interest.
        if let (1, [(desc, _)]) = (self.total, &tally.ignores[..])
            && let Some(reason) = desc.ignore_message
        {
            out.plain(&format!(
                "test: {}, ignore_message: {reason}\n\n",
                desc.name
            ))?;
        }
        Ok(())
    }

    fn doctest_times(&mut self, out: &mut Terminal, total: f64, build: f64) -> io::Result<()> {
        write_doctest_times(out, total, build)
    }
}

//! `--format junit`: one document, on one line, at the end.

use std::io;
use std::time::Duration;

use super::terminal::Terminal;
use super::{Format, Listed, Tally};
use crate::inprocess::descriptor::{TestDesc, TestType};
use crate::inprocess::verdict::Verdict;

/// The results so far: their number and sum stand before them in the document.
#[derive(Debug, Default)]
pub(super) struct Junit {
    cases: String,
}

/// Text as it stands in an attribute. libtest does not escape it, and panics at a line break.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
        .replace('\n', "&#xA;")
}

/// The class and the name of a test.
fn class_and_name(desc: &TestDesc) -> (&str, &str) {
    let name = desc.name.as_slice();
    match desc.test_type {
        TestType::UnitTest => name.rsplit_once("::").unwrap_or(("crate", name)),
        TestType::DocTest => name
            .split_once(" - ")
            .map_or(("doctest", name), |(file, line)| (file.trim(), line.trim())),
        TestType::IntegrationTest => ("integration", name),
        TestType::Unknown => ("unknown", name),
    }
}

impl Format for Junit {
    fn list_start(&mut self, _: &mut Terminal) -> io::Result<()> {
        Ok(())
    }

    fn listed(&mut self, _: &mut Terminal, _: &TestDesc, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn list_end(&mut self, _: &mut Terminal, _: &Listed) -> io::Result<()> {
        Ok(())
    }

    fn run_start(&mut self, out: &mut Terminal, _: usize, _: Option<u64>) -> io::Result<()> {
        out.plain("<?xml version=\"1.0\" encoding=\"UTF-8\"?>")
    }

    fn test_start(&mut self, _: &mut Terminal, _: &TestDesc) -> io::Result<()> {
        Ok(())
    }

    fn test_is_slow(&mut self, _: &mut Terminal, _: &TestDesc) -> io::Result<()> {
        Ok(())
    }

    fn test_end(
        &mut self,
        _: &mut Terminal,
        desc: &TestDesc,
        verdict: &Verdict,
        time: Option<Duration>,
    ) -> io::Result<()> {
        let (class, name) = class_and_name(desc);
        let (class, name) = (escaped(class), escaped(name));
        let time = time.unwrap_or_default().as_secs_f64();
        let open = format!("<testcase classname=\"{class}\" name=\"{name}\" time=\"{time}\"");
        self.cases += &match verdict {
            Verdict::Ignored => return Ok(()),
            Verdict::Ok => format!("{open}/>"),
            Verdict::Failed => format!("{open}><failure type=\"assert\"/></testcase>"),
            Verdict::FailedBecause(reason) => {
                let reason = escaped(reason);
                format!("{open}><failure message=\"{reason}\" type=\"assert\"/></testcase>")
            }
            Verdict::TooSlow => format!("{open}><failure type=\"timeout\"/></testcase>"),
            Verdict::Measured(samples) => format!(
                "<testcase classname=\"benchmark::{class}\" name=\"{name}\" time=\"{}\" />",
                samples.summary.sum
            ),
        };
        Ok(())
    }

    fn run_end(&mut self, out: &mut Terminal, tally: &Tally) -> io::Result<()> {
        out.plain(&format!(
            "<testsuites><testsuite name=\"test\" package=\"test\" id=\"0\" errors=\"0\" \
             failures=\"{}\" tests=\"{}\" skipped=\"{}\" >{}<system-out/><system-err/></testsuite>\
             </testsuites>\n",
            tally.failed(),
            tally.total,
            tally.ignored,
            self.cases
        ))
    }

    fn doctest_times(&mut self, out: &mut Terminal, total: f64, build: f64) -> io::Result<()> {
        out.plain(&format!(
            "<report total_time=\"{total}\" compilation_time=\"{build}\"></report>\n"
        ))
    }
}

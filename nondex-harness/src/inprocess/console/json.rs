//! `--format json`: an object for each event, on one line.

use std::fmt;
use std::io;
use std::time::Duration;

use super::terminal::Terminal;
use super::{Format, Listed, Tally};
use crate::inprocess::descriptor::TestDesc;
use crate::inprocess::verdict::Verdict;

#[derive(Debug)]
pub(super) struct Json;

/// A string as it stands between the quotes of a JSON string.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        for character in self.0.chars() {
            match character {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\x08' => f.write_str("\\b")?,
                '\t' => f.write_str("\\t")?,
                '\n' => f.write_str("\\n")?,
                '\x0c' => f.write_str("\\f")?,
                '\r' => f.write_str("\\r")?,
                '\0'..='\x1f' | '\x7f' => write!(f, "\\u{:04x}", u32::from(character))?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

impl Format for Json {
    fn list_start(&mut self, out: &mut Terminal) -> io::Result<()> {
        out.plain("{ \"type\": \"suite\", \"event\": \"discovery\" }\n")
    }

    fn listed(&mut self, out: &mut Terminal, desc: &TestDesc, kind: &str) -> io::Result<()> {
        let name = Escaped(desc.name.as_slice());
        let ignore = desc.ignore;
        // libtest writes the reason unescaped, which is no JSON when it has a quote.
        let reason = Escaped(desc.ignore_message.unwrap_or_default());
        let file = Escaped(desc.source_file);
        let (start_line, start_col) = (desc.start_line, desc.start_col);
        let (end_line, end_col) = (desc.end_line, desc.end_col);
        out.plain(&format!(
            "{{ \"type\": \"{kind}\", \"event\": \"discovered\", \"name\": \"{name}\", \
             \"ignore\": {ignore}, \"ignore_message\": \"{reason}\", \"source_path\": \"{file}\", \
             \"start_line\": {start_line}, \"start_col\": {start_col}, \
             \"end_line\": {end_line}, \"end_col\": {end_col} }}\n"
        ))
    }

    fn list_end(&mut self, out: &mut Terminal, listed: &Listed) -> io::Result<()> {
        let Listed {
            tests,
            benchmarks,
            ignored,
        } = listed;
        let total = tests + benchmarks;
        out.plain(&format!(
            "{{ \"type\": \"suite\", \"event\": \"completed\", \"tests\": {tests}, \
             \"benchmarks\": {benchmarks}, \"total\": {total}, \"ignored\": {ignored} }}\n"
        ))
    }

    fn run_start(
        &mut self,
        out: &mut Terminal,
        count: usize,
        shuffle_seed: Option<u64>,
    ) -> io::Result<()> {
        let seed =
            shuffle_seed.map_or_else(String::new, |seed| format!(", \"shuffle_seed\": {seed}"));
        out.plain(&format!(
            "{{ \"type\": \"suite\", \"event\": \"started\", \"test_count\": {count}{seed} }}\n"
        ))
    }

    fn test_start(&mut self, out: &mut Terminal, desc: &TestDesc) -> io::Result<()> {
        let name = Escaped(desc.name.as_slice());
        out.plain(&format!(
            "{{ \"type\": \"test\", \"event\": \"started\", \"name\": \"{name}\" }}\n"
        ))
    }

    fn test_is_slow(&mut self, out: &mut Terminal, desc: &TestDesc) -> io::Result<()> {
        let name = Escaped(desc.name.as_slice());
        out.plain(&format!(
            "{{ \"type\": \"test\", \"event\": \"timeout\", \"name\": \"{name}\" }}\n"
        ))
    }

    fn test_end(
        &mut self,
        out: &mut Terminal,
        desc: &TestDesc,
        verdict: &Verdict,
        time: Option<Duration>,
    ) -> io::Result<()> {
        let name = Escaped(desc.name.as_slice());
        let message = |text: &str| format!(", \"message\": \"{}\"", Escaped(text));
        let (event, extra) = match verdict {
            Verdict::Ok => ("ok", String::new()),
            Verdict::Failed => ("failed", String::new()),
            Verdict::FailedBecause(reason) => ("failed", message(reason)),
            Verdict::TooSlow => ("failed", ", \"reason\": \"time limit exceeded\"".to_owned()),
            Verdict::Ignored => (
                "ignored",
                desc.ignore_message.map_or_else(String::new, message),
            ),
            Verdict::Measured(samples) => {
                let rate = match samples.megabytes_per_second {
                    0 => String::new(),
                    rate => format!(", \"mib_per_second\": {rate}"),
                };
                let (median, deviation) = (samples.summary.median, samples.deviation());
                return out.plain(&format!(
                    "{{ \"type\": \"bench\", \"name\": \"{name}\", \"median\": {median}, \
                     \"deviation\": {deviation}{rate} }}\n"
                ));
            }
        };
        let time = time.map_or_else(String::new, |time| {
            format!(", \"exec_time\": {}", time.as_secs_f64())
        });
        out.plain(&format!(
            "{{ \"type\": \"test\", \"name\": \"{name}\", \"event\": \"{event}\"{time}{extra} }}\n"
        ))
    }

    fn run_end(&mut self, out: &mut Terminal, tally: &Tally) -> io::Result<()> {
        let failed = tally.failed();
        let event = if failed == 0 { "ok" } else { "failed" };
        let Tally {
            passed,
            ignored,
            measured,
            filtered_out,
            ..
        } = tally;
        let time = tally.time.as_secs_f64();
        out.plain(&format!(
            "{{ \"type\": \"suite\", \"event\": \"{event}\", \"passed\": {passed}, \
             \"failed\": {failed}, \"ignored\": {ignored}, \"measured\": {measured}, \
             \"filtered_out\": {filtered_out}, \"exec_time\": {time} }}\n"
        ))
    }

    fn doctest_times(&mut self, out: &mut Terminal, total: f64, build: f64) -> io::Result<()> {
        out.plain(&format!(
            "{{ \"type\": \"report\", \"total_time\": {total}, \"compilation_time\": {build} }}\n"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_as_json_strings() {
        let text = "a\"b\\c\n\u{1}\u{7f}é";
        assert_eq!(Escaped(text).to_string(), r#"a\"b\\c\n\u0001\u007fé"#);
    }
}

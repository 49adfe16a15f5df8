//! Prints listings of tests in libtest's formats. nextest reads the terse format, the driver reads
//! JSON.

use std::fmt;
use std::io;

use super::terminal::{Printing, Terminal};
use crate::arguments::{Arguments, Listing};
use crate::descriptor::{TestDesc, TestDescAndFn};
use crate::selection::select;

/// Prints the tests that `arguments` select.
pub(crate) fn list(arguments: &Arguments, tests: Vec<TestDescAndFn>) -> io::Result<()> {
    let mut out = Terminal::stdout(arguments, Printing::Strict);
    let selected = select(arguments, tests);
    let benchmarks = selected.iter().filter(|test| test.testfn.is_benchmark()).count();
    let tests = selected.len() - benchmarks;
    let ignored = selected.iter().filter(|test| test.desc.ignore).count();
    let is_json = arguments.listing == Listing::Json;
    if is_json {
        out.plain("{ \"type\": \"suite\", \"event\": \"discovery\" }\n")?;
    }
    for TestDescAndFn { desc, testfn } in &selected {
        let kind = if testfn.is_benchmark() { "benchmark" } else { "test" };
        out.plain(&if is_json { json(desc, kind) } else { format!("{}: {kind}\n", desc.name) })?;
    }
    match arguments.listing {
        Listing::Terse => Ok(()),
        Listing::Json => out.plain(&format!(
            "{{ \"type\": \"suite\", \"event\": \"completed\", \"tests\": {tests}, \"benchmarks\": \
             {benchmarks}, \"total\": {}, \"ignored\": {ignored} }}\n",
            selected.len()
        )),
        Listing::Pretty => {
            let space = if selected.is_empty() { "" } else { "\n" };
            let (tests, benchmarks) = (plural(tests, "test"), plural(benchmarks, "benchmark"));
            out.plain(&format!("{space}{tests}, {benchmarks}\n"))
        }
    }
}

fn plural(count: usize, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{s}")
}

fn json(desc: &TestDesc, kind: &str) -> String {
    let name = Escaped(desc.name.as_slice());
    let ignore = desc.ignore;
    // libtest does not escape the reason, which is invalid JSON if it contains a quote.
    let reason = Escaped(desc.ignore_message.unwrap_or_default());
    let file = Escaped(desc.source_file);
    let (start_line, start_col) = (desc.start_line, desc.start_col);
    let (end_line, end_col) = (desc.end_line, desc.end_col);
    format!(
        "{{ \"type\": \"{kind}\", \"event\": \"discovered\", \"name\": \"{name}\", \"ignore\": \
         {ignore}, \"ignore_message\": \"{reason}\", \"source_path\": \"{file}\", \"start_line\": \
         {start_line}, \"start_col\": {start_col}, \"end_line\": {end_line}, \"end_col\": \
         {end_col} }}\n"
    )
}

/// String that is displayed as the content of a JSON string.
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

//! Compares the outputs of two runs of one test, ignoring what differs in every run.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;
use std::time::Duration;

use anstream::adapter::strip_str;
use regex::Regex;
use similar::TextDiff;

use super::listing::cut;

/// Number of unchanged lines shown around a difference.
const CONTEXT: usize = 3;

/// Maximum number of lines of a difference.
pub const MAX_LINES: usize = 200;

/// Maximum number of characters of a line.
const MAX_WIDTH: usize = 400;

/// Time limit of the search for the shortest difference, after which a longer one is used.
const DEADLINE: Duration = Duration::from_millis(500);

/// Patterns of text that differs in every run, with their replacements.
static VARYING: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let patterns = [
        // The first line of a panic report: `thread 'name' (12345) panicked at`.
        (r"(?m)^(thread '.*') \(\d+\) (panicked|has overflowed)", "$1 $2"),
        // 64-bit addresses, or 32-bit ones with all their digits.
        (r"\b0x[0-9a-fA-F]{8,16}\b", "<address>"),
        (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:?\d\d\b)?", "<time>"),
        // Whole numbers are kept: they are more often part of what a test is about.
        (r"\b\d+\.\d+ ?(ns|µs|us|ms|s)\b", "<duration>"),
        (r"(?i)\b(pid|process id)([ =:]+)\d+\b", "$1$2<pid>"),
        (r"\bThreadId\(\d+\)", "ThreadId(<id>)"),
        // Names from the crate tempfile.
        (r"\.tmp[A-Za-z0-9]{6}\b", ".tmp<name>"),
    ];
    let compiled = patterns.map(|(pattern, replacement)| {
        let regex = Regex::new(pattern).expect("the patterns are constant and tested");
        (regex, replacement)
    });
    compiled.into()
});

/// Returns the text without escape sequences and with placeholders for what differs in every run.
pub fn normalise(text: &str) -> String {
    let mut normalised = strip_str(text).to_string();
    for (pattern, replacement) in VARYING.iter() {
        let replaced = pattern.replace_all(&normalised, *replacement);
        if let std::borrow::Cow::Owned(replaced) = replaced {
            normalised = replaced;
        }
    }
    normalised
}

/// Returns a hash of an output. Outputs that differ only in what differs in every run have the same
/// one.
pub fn fingerprint(output: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    normalise(output).hash(&mut hasher);
    hasher.finish()
}

/// Removes std's report of the panic or error with this message, for readers who see the message.
pub fn without_report(output: &str, message: &str) -> String {
    // std prints `Error: ` before an error that a harness or `main` returns.
    let line = |at: usize| output[..at].strip_suffix("Error: ").unwrap_or(&output[..at]);
    let is_at_line = |at: &usize| line(*at).is_empty() || line(*at).ends_with('\n');
    let Some(at) = output.rfind(message).filter(is_at_line).filter(|_| !message.is_empty()) else {
        return output.to_owned();
    };
    let mut before = line(at);
    let head = before.trim_end_matches('\n').rfind('\n').map_or(0, |end| end + 1);
    if before[head..].starts_with("thread '") && before[head..].contains(" panicked at ") {
        before = &before[..head];
        // The panic hook of the harness prints an empty line first.
        if before == "\n" || before.ends_with("\n\n") {
            before = &before[..before.len() - 1];
        }
    }
    let rest = &output[at + message.len()..];
    let mut after = rest.strip_prefix('\n').unwrap_or(rest);
    if after.starts_with("note: run with `RUST_BACKTRACE=") {
        after = after.split_once('\n').map_or("", |(_, rest)| rest);
    }
    format!("{before}{after}")
}

/// Returns a unified diff from the output of a passing run to that of a failing one, without the
/// report of the failure's `message`. The diff has at most [`MAX_LINES`] lines, and one more with
/// the number of omitted lines. Returns `None` when there is no difference. Takes at most half a
/// second.
pub fn between(passing: &str, failing: &str, message: &str) -> Option<String> {
    let (passing, failing) = (normalise(passing), normalise(failing));
    let failing = without_report(&failing, normalise(message).trim_end());
    if passing == failing {
        return None;
    }
    let diff = TextDiff::configure().timeout(DEADLINE).diff_lines(&passing, &failing);
    let text = diff.unified_diff().context_radius(CONTEXT).missing_newline_hint(false).to_string();
    let all: Vec<&str> = text.lines().collect();
    let mut lines: Vec<String> =
        all.iter().take(MAX_LINES).map(|line| cut(line, MAX_WIDTH)).collect();
    if all.len() > MAX_LINES {
        lines.push(format!("[{} lines left out]", all.len() - MAX_LINES));
    }
    // Outputs that differ only in the last newline look the same to a reader.
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_varies_from_run_to_run_is_no_difference() {
        for (first, second) in [
            (
                "thread 'orders' (4711) panicked at src/lib.rs:3:5:",
                "thread 'orders' (4712) panicked at src/lib.rs:3:5:",
            ),
            (
                "thread '<unnamed>' (1) panicked at src/lib.rs:3:5:",
                "thread '<unnamed>' (22) panicked at src/lib.rs:3:5:",
            ),
            ("at 0x7ffff7d8a1b0", "at 0x7ffff7d8b2c0"),
            ("finished in 0.00s", "finished in 1.52s"),
            ("took 1.234567ms", "took 987.5µs"),
            ("[2026-11-21T11:32:01Z INFO shop] open", "[2026-11-21T11:32:02Z INFO shop] open"),
            ("2026-11-21 11:32:01.123456 +0000 x", "2026-11-22 01:02:03.9 +0000 x"),
            ("server has pid 1234", "server has pid 99"),
            ("on ThreadId(2)", "on ThreadId(3)"),
            ("/tmp/.tmpAbCdEf/log", "/tmp/.tmp012345/log"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
        ] {
            assert_eq!(between(first, second, ""), None, "{first} / {second}");
        }
    }

    #[test]
    fn what_a_test_is_about_is_a_difference() {
        for (first, second) in [
            ("order (1) a", "order (2) a"),
            ("mask 0xff", "mask 0x0f"),
            ("waited 5s", "waited 10s"),
            ("1.5 apples", "2.5 apples"),
            ("on 2026-11-21", "on 2026-11-22"),
            ("process 7 of 9", "process 8 of 9"),
        ] {
            assert!(between(first, second, "").is_some(), "{first} / {second}");
        }
    }

    #[test]
    fn a_difference_is_unified_with_three_lines_of_context() {
        let numbers = |changed: &str| {
            let lines = (0..10).map(|n| match n {
                5 => format!("{changed}\n"),
                _ => format!("line {n}\n"),
            });
            lines.collect::<String>()
        };
        assert_eq!(
            between(&numbers("a, b"), &numbers("b, a"), "").unwrap(),
            "@@ -3,7 +3,7 @@\n line 2\n line 3\n line 4\n-a, b\n+b, a\n line 6\n line 7\n line 8"
        );
    }

    #[test]
    fn the_report_of_the_failure_is_no_difference_and_that_of_another_panic_is() {
        let report = |message: &str| {
            format!(
                "\nthread 'a' (7) panicked at src/lib.rs:3:5:\n{message}\n\
                 note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n"
            )
        };
        let message = "left != right\n  left: 1\n right: 2";
        for (passing, failing, of_failure) in [
            ("", report(message), message),
            ("one\n", format!("one\n{}", report(message)), message),
            ("one\ntwo\n", format!("one\n{}two\n", report(message)), message),
            ("one\n", "one\nError: \"no\"\n".to_owned(), "Error: \"no\""),
            ("one\n", "one\nError: \"no\"\n".to_owned(), "\"no\""),
        ] {
            assert_eq!(between(passing, &failing, of_failure), None, "{failing}");
            assert_eq!(without_report(&failing, of_failure), passing);
        }
        let both = [report("first"), report(message)].concat();
        let difference = between("", &both, message).unwrap();
        assert!(difference.contains("+first") && !difference.contains("left"), "{difference}");
    }

    #[test]
    fn a_long_difference_is_cut() {
        let long = format!("{}\n", "é".repeat(MAX_WIDTH * 2)).repeat(MAX_LINES * 2);
        let difference = between("", &long, "").unwrap();
        let lines: Vec<&str> = difference.lines().collect();
        assert_eq!(lines.len(), MAX_LINES + 1);
        assert_eq!(*lines.last().unwrap(), "[201 lines left out]");
        assert!(lines.iter().all(|line| line.chars().count() <= MAX_WIDTH + 1));
    }
}

//! Failure messages that are not in a run's record, taken from its output.

use std::fmt::{self, Write};
use std::time::Duration;

use nondex_core::{Failure, Outcome, ScheduleEnd, ScheduleEndKind};

pub use self::panics::before_end as panic_before_end;

mod panics;

/// Maximum number of lines that a message takes from an output.
const MAX_LINES: usize = 40;

/// Number of last lines that replace the message of a panic without text.
const LAST_LINES: usize = 10;

/// Message of a panic whose value is not text.
const NOT_TEXT: &str = "Box<dyn Any>";

/// Beginning of the message of a test that returned an error.
const RETURNED: &str = "the test returned a termination value with a non-zero status code";

/// Beginning of the line in which std prints the error that a test returned.
const ERROR: &str = "Error: ";

/// Limit that a run exceeds if it does not end.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// Time limit.
    Elapsed(Duration),
    /// Limit on processor time.
    Busy(Duration),
}

impl From<Duration> for Limit {
    fn from(elapsed: Duration) -> Self {
        Limit::Elapsed(elapsed)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Elapsed(limit) => write!(f, "{limit:?}"),
            Limit::Busy(taken) => write!(f, "{} s of processor time", taken.as_secs()),
        }
    }
}

/// Returns the failure of a record, with a message from the output if the record has none. For a
/// panic whose value is not text, these are the last lines that the test wrote before it. For a
/// returned error, it is what std printed. A panic that only follows from another one gets the
/// message of its cause.
pub fn clarify(failure: Failure, output: &str) -> Failure {
    let message = if failure.message == NOT_TEXT {
        last_lines(before_panic(output)).map(|lines| {
            format!("panicked with a value that is not a string, after this output:\n{lines}")
        })
    } else if failure.message.starts_with(RETURNED) {
        returned(output)
    } else {
        None
    };
    match message {
        Some(message) => Failure { message, ..failure },
        None => panics::trace_back(failure, output),
    }
}

/// Returns the output before std's report of the last panic whose value is not text, or the whole
/// output if there is none.
fn before_panic(output: &str) -> &str {
    let mut from = output.len();
    while let Some(at) = output[..from]
        .rfind("\nthread '")
        .map(|at| at + 1)
        .or_else(|| (from > 0 && output.starts_with("thread '")).then_some(0))
    {
        let mut lines = output[at..].lines();
        let is_panic =
            lines.next().is_some_and(|line| line.contains("' ") && line.contains(" panicked at "));
        if is_panic && lines.next() == Some(NOT_TEXT) {
            return &output[..at];
        }
        from = at;
    }
    output
}

/// Returns the last lines of an output, or `None` if it is blank.
fn last_lines(output: &str) -> Option<String> {
    let lines: Vec<&str> = output.trim().lines().collect();
    let last = lines[lines.len().saturating_sub(LAST_LINES)..].join("\n");
    (!last.is_empty()).then_some(last)
}

/// Returns the error that std printed last, without its backtrace.
pub(super) fn returned(output: &str) -> Option<String> {
    let lines: Vec<&str> = output.lines().collect();
    let start = lines.iter().rposition(|line| line.starts_with(ERROR))?;
    let error: Vec<&str> = lines[start..]
        .iter()
        .take_while(|line| !line.eq_ignore_ascii_case("stack backtrace:"))
        .take(MAX_LINES)
        .copied()
        .collect();
    Some(error.join("\n").trim_end().to_owned())
}

/// Returns the error of a test as libtest-mimic printed it. Returns `None` for a panic, which is in
/// the output as usual.
pub(super) fn of_trial(name: &str, output: &str) -> Option<String> {
    // libtest-mimic lists a test with a kind as `[kind] name`.
    let own =
        name.strip_prefix('[').and_then(|rest| rest.split_once("] ")).map_or(name, |(_, own)| own);
    let (_, rest) = output.rsplit_once(&format!("\n---- {own} ----\n"))?;
    let text = rest.rsplit_once("\nfailures:\n").map_or(rest, |(text, _)| text);
    let lines: Vec<&str> = text.trim().lines().take(MAX_LINES).collect();
    let text = lines.join("\n");
    (!text.is_empty() && !text.starts_with("test panicked")).then_some(text)
}

/// Returns the failure for the reason why the scheduler ended a run.
pub fn of_schedule(end: &ScheduleEnd) -> Failure {
    let why = match end.kind {
        ScheduleEndKind::Deadlock => "deadlock: every thread waits for another one",
        ScheduleEndKind::Outside => {
            "timed out: every thread waits, and nothing outside the test has woken one"
        }
        ScheduleEndKind::Livelock => {
            "livelock: the running threads read the same values again and again, and no thread \
             changes them"
        }
        ScheduleEndKind::Steps => {
            "timed out: its threads reached the limit on operations (`--max-steps`)"
        }
        ScheduleEndKind::Time => "timed out: nothing happened for one hour of virtual time",
    };
    let mut message = why.to_owned();
    for wait in &end.waits {
        let name = wait.name.as_deref().unwrap_or(&wait.thread);
        let _ = write!(message, "\n  thread `{name}`: {}", wait.operation);
        if let Some(on) = wait.on {
            let _ = write!(message, " on {on}");
        }
    }
    Failure { message, ..Failure::default() }
}

/// Returns the failure of a run whose record does not have it: its last panic message, and how it
/// ended.
pub fn explain(outcome: &Outcome, output: &str, limit: impl Into<Limit>) -> Failure {
    let panic = panics::last(output).map(|panic| panics::trace_back(panic, output));
    let end = match outcome {
        Outcome::Passed | Outcome::Failed => None,
        Outcome::Exited(0) => {
            Some("the process exited with code 0 before the test ended".to_owned())
        }
        Outcome::Exited(code) => Some(format!("the process exited with code {code}")),
        Outcome::Signalled(signal) => Some(match nix::sys::signal::Signal::try_from(*signal) {
            Ok(name) => format!("the process was killed by signal {signal} ({name})"),
            Err(_) => format!("the process was killed by signal {signal}"),
        }),
        Outcome::TimedOut => Some(format!("timed out after {}", limit.into())),
    };
    match (panic, end) {
        (Some(panic), None) => panic,
        (Some(panic), Some(end)) => {
            Failure { message: format!("{end}: {}", panic.message), ..panic }
        }
        (None, end) => Failure {
            message: end.unwrap_or_else(|| "the test failed".to_owned()),
            ..Failure::default()
        },
    }
}

#[cfg(test)]
mod tests {
    use nondex_core::WaitRecord;

    use super::*;

    fn clarified(message: &str, output: &str) -> String {
        let failure =
            Failure { message: message.into(), file: Some("src/lib.rs".into()), line: Some(3) };
        let clear = clarify(failure.clone(), output);
        assert_eq!((&clear.file, clear.line), (&failure.file, failure.line));
        clear.message
    }

    #[test]
    fn a_trial_that_returned_an_error_has_the_message_that_its_harness_printed() {
        let printed = |message: &str| {
            format!(
                "running 1 test\ntest own ... FAILED\n\nfailures:\n\n---- own ----\n{message}\n\n\n\
                 failures:\n    own\n\ntest result: FAILED. 0 passed; 1 failed\n"
            )
        };
        for (name, message, expected) in [
            ("own", "a bug\n\nin line 3", Some("a bug\n\nin line 3")),
            ("[file] own", "a bug", Some("a bug")),
            ("own", "test panicked: it is odd", None),
            ("own", "", None),
            ("other", "a bug", None),
        ] {
            let found = of_trial(name, &printed(message));
            assert_eq!(found.as_deref(), expected, "{name}: {message}");
        }
    }

    #[test]
    fn a_panic_whose_value_is_not_text_is_told_by_the_last_lines_before_it() {
        let panic = "thread 't' (7) panicked at src/lib.rs:3:5:\nBox<dyn Any>\n\
            note: run with `RUST_BACKTRACE=1`\n";
        let after = "panicked with a value that is not a string, after this output:\n";
        let many: String = (0..30).map(|n| format!("line {n}\n")).collect();
        for (output, expected) in [
            (format!("expected 1\nfound 2\n\n{panic}"), format!("{after}expected 1\nfound 2")),
            ("resumed\n".to_owned(), format!("{after}resumed")),
            (format!("{panic}thread 'x' is mine\n"), NOT_TEXT.to_owned()),
            (panic.to_owned(), NOT_TEXT.to_owned()),
            (String::new(), NOT_TEXT.to_owned()),
            (
                many,
                after.to_owned()
                    + &(20..30).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n"),
            ),
        ] {
            assert_eq!(clarified(NOT_TEXT, &output), expected, "{output}");
        }
    }

    #[test]
    fn a_returned_error_is_told_as_std_printed_it() {
        let message = format!("{RETURNED} (1) which indicates a failure");
        for (output, expected) in [
            ("Error: mine\nhello\nError: Os { code: 2 }\n", "Error: Os { code: 2 }"),
            (
                "Error: outer\n\nCaused by:\n    inner\n\nStack backtrace:\n   0: main\n",
                "Error: outer\n\nCaused by:\n    inner",
            ),
            ("nothing\n", message.as_str()),
        ] {
            assert_eq!(clarified(&message, output), expected);
        }
        assert_eq!(clarified("plain", "Error: no\n"), "plain");
    }

    #[test]
    fn what_each_thread_waits_for_is_told_of_a_deadlock() {
        let wait = |thread: &str, name: Option<&str>, operation: &str, on| WaitRecord {
            thread: thread.into(),
            name: name.map(Into::into),
            operation: operation.into(),
            on,
            ..WaitRecord::default()
        };
        let end = ScheduleEnd {
            kind: ScheduleEndKind::Deadlock,
            waits: vec![
                wait("0", Some("main"), "join", None),
                wait("0.0", None, "futex wait", Some(2)),
            ],
        };
        assert_eq!(
            of_schedule(&end).message,
            "deadlock: every thread waits for another one\n  thread `main`: join\n  \
             thread `0.0`: futex wait on 2"
        );
        let end = ScheduleEnd { kind: ScheduleEndKind::Steps, waits: Vec::new() };
        assert!(of_schedule(&end).message.starts_with("timed out: "));
    }
}

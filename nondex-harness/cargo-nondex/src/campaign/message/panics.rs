//! Panics that std's hook printed, and the panic that caused another thread's panic.

use nondex_core::Failure;
use nondex_core::protocol::site::portable_path;

use super::MAX_LINES;

/// Text between the name of a thread and the place of its panic.
const PANICKED_AT: &str = " panicked at ";

/// Beginning of the first line of a panic.
const THREAD: &str = "thread '";

/// Last part of the message of a panic because a joined thread panicked.
const JOINED: [&str; 2] = ["Any { .. }", "a scoped thread panicked"];

/// Last part of the message of a panic because another thread of the test panicked or ended.
const DISCONNECTED: [&str; 4] =
    ["PoisonError { .. }", "RecvError", "SendError { .. }", "Disconnected"];

/// Returns the panics of an output, in the order in which they were printed.
fn all(output: &str) -> Vec<Failure> {
    let is_start = |line: &str| line.starts_with(THREAD) && line.contains(PANICKED_AT);
    let mut starts = Vec::new();
    let mut at = 0;
    for line in output.split_inclusive('\n') {
        if is_start(line) {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([output.len()]);
    let texts = starts.iter().zip(ends).map(|(&start, end)| &output[start..end]);
    texts.filter_map(|text| parse(text.split_once(PANICKED_AT)?.1)).collect()
}

/// Returns the last panic that std's hook printed: `thread 'name' panicked at file:line:column:`,
/// then the message.
pub(super) fn last(output: &str) -> Option<Failure> {
    all(output).pop()
}

/// Returns a description of the first panic before a deadlock. A thread that waits for the panicked
/// thread waits forever.
pub fn before_end(output: &str) -> Option<String> {
    let panic = all(output).into_iter().next()?;
    let first = panic.message.lines().next().unwrap_or_default();
    Some(format!("{} before: {first}", place(&panic)?))
}

/// Returns the failure with its cause, if it only follows from another thread's panic.
pub(super) fn trace_back(failure: Failure, output: &str) -> Failure {
    let panics = all(output);
    let is_own = |panic: &Failure| {
        let is_there = failure.file.is_none() || is_at(panic, &failure);
        is_there && panic.message.starts_with(failure.message.trim_end())
    };
    let Some(at) = panics.iter().rposition(is_own) else { return failure };
    // A resumed panic has the place of the original one.
    let Failure { file, line, .. } = panics[at].clone();
    let own = Failure { message: failure.message, file, line };
    let first_line = own.message.lines().next().unwrap_or_default();
    let has_joined = JOINED.iter().any(|words| first_line.ends_with(words));
    if !has_joined && !is_consequence(&own) {
        return own;
    }
    let cause = panics[..at].iter().rev().find(|panic| !is_consequence(panic));
    let Some((cause, place)) = cause.and_then(|cause| Some((cause, place(cause)?))) else {
        return own;
    };
    let message = if has_joined {
        format!("{place}: {}", cause.message)
    } else {
        format!("{}, after {place}: {}", own.message.trim_end(), cause.message)
    };
    Failure { message, ..own }
}

/// Returns whether a panic has the place of a failure.
fn is_at(panic: &Failure, failure: &Failure) -> bool {
    (&panic.file, panic.line) == (&failure.file, failure.line)
}

/// Returns whether a panic only shows that another thread has panicked or ended.
fn is_consequence(panic: &Failure) -> bool {
    let first = panic.message.lines().next().unwrap_or_default();
    JOINED.iter().chain(&DISCONNECTED).any(|words| first.ends_with(words))
}

/// Returns a description of the place of a panic.
fn place(panic: &Failure) -> Option<String> {
    Some(format!("a thread panicked at {}:{}", panic.file.as_ref()?, panic.line?))
}

/// Parses a panic from text that begins with its place.
fn parse(text: &str) -> Option<Failure> {
    let (place, rest) = text.split_once(":\n")?;
    let mut parts = place.rsplitn(3, ':');
    let (_column, line, file) = (parts.next()?, parts.next()?.parse().ok()?, parts.next()?);
    let message: Vec<&str> = rest
        .lines()
        .take_while(|line| {
            !line.starts_with("note: run with `RUST_BACKTRACE") && *line != "stack backtrace:"
        })
        .take(MAX_LINES)
        .collect();
    Some(Failure {
        message: message.join("\n").trim_end().to_owned(),
        file: Some(portable_path(file).to_owned()),
        line: Some(line),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(line: u32, what: &str) -> String {
        format!("\nthread '<unnamed>' (7) panicked at src/a.rs:{line}:5:\n{what}\n")
    }

    #[test]
    fn the_first_panic_before_a_deadlock_is_reported() {
        let output = format!("begins\n{}{}", printed(3, "no lock\nmore"), printed(9, "poisoned"));
        assert_eq!(
            before_end(&output).as_deref(),
            Some("a thread panicked at src/a.rs:3 before: no lock")
        );
        for none in ["", "it panicked at noon", "thread 'x' panicked at src/a.rs:\n"] {
            assert_eq!(before_end(none), None, "{none}");
        }
    }

    #[test]
    fn the_last_panic_of_an_output_is_found_without_its_backtrace() {
        let text = "hello\nthread 'a' (12) panicked at src/lib.rs:3:5:\nfirst\n\
            thread 'b' panicked at /x/.cargo/registry/src/i/d-1.0.0/src/lib.rs:7:9:\n\
            assertion failed\n  left: 1\n\
            note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
        assert_eq!(
            last(text),
            Some(Failure {
                message: "assertion failed\n  left: 1".into(),
                file: Some("d-1.0.0/src/lib.rs".into()),
                line: Some(7),
            })
        );
        assert_eq!(last("nothing panicked at all"), None);
        assert_eq!(last(""), None);
    }

    #[test]
    fn a_panic_that_only_passes_on_another_one_is_told_by_that() {
        const WAITED: &str = "called `Result::unwrap()` on an `Err` value: Any { .. }";
        const GONE: &str = "called `Result::unwrap()` on an `Err` value: RecvError";
        const CAUSE: &str = "assertion failed\n  left: 1";
        let traced = |message: &str, place: Option<u32>, panics: &[(u32, &str)]| {
            let output: String = panics.iter().map(|(line, what)| printed(*line, what)).collect();
            let file = place.map(|_| "src/a.rs".to_owned());
            let failure = Failure { message: message.to_owned(), file, line: place };
            let traced = trace_back(failure, &output);
            (traced.message, traced.line)
        };
        let told = |text: &str, line| (text.to_owned(), line);
        let by_three = "a thread panicked at src/a.rs:3: assertion failed\n  left: 1";
        for joined in [WAITED, "the worker: Any { .. }", "a scoped thread panicked"] {
            assert_eq!(
                traced(joined, Some(9), &[(3, CAUSE), (9, joined)]),
                told(by_three, Some(9))
            );
        }
        // The panics in between are consequences, too.
        let chain = [(3, CAUSE), (5, GONE), (9, WAITED)];
        assert_eq!(traced(WAITED, Some(9), &chain), told(by_three, Some(9)));
        let after = format!("{GONE}, after {by_three}");
        assert_eq!(traced(GONE, Some(5), &chain), told(&after, Some(5)));
        // A resumed panic has the place of the original one.
        assert_eq!(traced(CAUSE, None, &[(3, CAUSE)]), told(CAUSE, Some(3)));
        // These are no consequences, or their cause is unknown.
        assert_eq!(traced("other", Some(7), &[(3, CAUSE), (7, "other")]), told("other", Some(7)));
        assert_eq!(traced(GONE, Some(5), &[(5, GONE)]), told(GONE, Some(5)));
        assert_eq!(traced(WAITED, Some(9), &[]), told(WAITED, Some(9)));
        assert_eq!(traced(CAUSE, None, &[(4, "other")]), told(CAUSE, None));
    }
}

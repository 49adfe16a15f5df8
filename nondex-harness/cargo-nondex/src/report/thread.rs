//! Descriptions of threads.

/// Logical paths of the thread that runs the test: the name that the harness gives it, and the name
/// without a harness, where libtest starts it from an unnamed first thread.
const OWN: [&str; 2] = ["0", "?.0"];

/// Returns whether the thread with this logical path runs the test.
pub(super) fn is_own(thread: &str) -> bool {
    OWN.contains(&thread)
}

/// Describes a thread by its logical path, in the middle of a sentence: `0` is the test's own
/// thread, `0.1` the second thread that it starts.
pub(super) fn describe(thread: &str) -> String {
    if is_own(thread) {
        return "the test's own thread".to_owned();
    }
    let started =
        thread.rsplit_once('.').and_then(|(by, ordinal)| Some((by, ordinal.parse::<u64>().ok()?)));
    match started {
        Some((by, ordinal)) if is_own(by) => {
            format!("the {} thread that the test starts", nth(ordinal + 1))
        }
        Some((by, ordinal)) => format!("the {} thread of {}", nth(ordinal + 1), describe(by)),
        None => format!("thread {thread}"),
    }
}

/// Returns an ordinal number, from 1: `1st`, `22nd`, `113th`.
pub(super) fn nth(number: u64) -> String {
    let suffix = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_told_by_who_starts_it_and_how_many_that_one_started_before() {
        for (thread, words) in [
            ("0", "the test's own thread"),
            ("0.0", "the 1st thread that the test starts"),
            ("0.11", "the 12th thread that the test starts"),
            ("?.0.1", "the 2nd thread that the test starts"),
            ("0.1.2", "the 3rd thread of the 2nd thread that the test starts"),
            ("?", "thread ?"),
            ("p4/1", "thread p4/1"),
        ] {
            assert_eq!(describe(thread), words);
        }
    }
}

//! Decides whether a test passed, from how its function ended. Messages are libtest's.

use std::any::Any;

use super::descriptor::{ShouldPanic, TestDesc};

/// Exit code of a test executable if a test failed or its command line is wrong.
pub const ERROR_EXIT_CODE: i32 = 101;

/// Verdict on one test.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// Passed.
    Ok,
    /// Panicked, or returned an error.
    Failed,
    /// Did not end as `#[should_panic]` requires.
    FailedBecause(String),
    /// Was not run.
    Ignored,
}

impl Verdict {
    /// Returns whether the run fails because of this test.
    pub(crate) const fn is_failure(&self) -> bool {
        matches!(self, Verdict::Failed | Verdict::FailedBecause(_))
    }
}

/// Payload of the panic of a test's function, if any. A returned error counts as a panic with its
/// message.
pub(crate) type Thrown = Option<Box<dyn Any + Send>>;

/// Returns the message of a panic, unless its payload is not text.
pub(crate) fn message_of(thrown: &(dyn Any + Send)) -> Option<&str> {
    thrown
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| thrown.downcast_ref::<&'static str>().copied())
}

/// Returns the verdict on a test that ended with `thrown`.
pub(crate) fn judge(desc: &TestDesc, thrown: Option<&(dyn Any + Send)>) -> Verdict {
    match (desc.should_panic, thrown) {
        (ShouldPanic::No, None) | (ShouldPanic::Yes, Some(_)) => {}
        (ShouldPanic::No, Some(_)) => return Verdict::Failed,
        (ShouldPanic::YesWithMessage(expected), Some(thrown)) => match message_of(thrown) {
            Some(message) if message.contains(expected) => {}
            Some(message) => {
                return Verdict::FailedBecause(format!(
                    "panic did not contain expected string\n      panic message: {message:?}\n \
                     expected substring: {expected:?}"
                ));
            }
            None => {
                return Verdict::FailedBecause(format!(
                    "expected panic with string value,\n found non-string value: `{:?}`\n     \
                     expected substring: {expected:?}",
                    thrown.type_id()
                ));
            }
        },
        (ShouldPanic::Yes | ShouldPanic::YesWithMessage(_), None) => {
            let mut message = "test did not panic as expected".to_owned();
            if !desc.source_file.is_empty() {
                message +=
                    &format!(" at {}:{}:{}", desc.source_file, desc.start_line, desc.start_col);
            }
            return Verdict::FailedBecause(message);
        }
    }
    Verdict::Ok
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptor::TestDescAndFn;
    use crate::trial::Trial;

    fn judged(trial: Trial, thrown: Option<&(dyn Any + Send)>) -> Verdict {
        let mut desc = TestDescAndFn::from(trial).desc;
        (desc.source_file, desc.start_line, desc.start_col) = ("a.rs", 3, 4);
        judge(&desc, thrown)
    }

    fn test() -> Trial {
        Trial::new("t", || {})
    }

    #[test]
    fn a_plain_test_passes_unless_something_was_thrown() {
        assert_eq!(judged(test(), None), Verdict::Ok);
        assert_eq!(judged(test(), Some(&"x")), Verdict::Failed);
    }

    #[test]
    fn a_test_that_should_panic_passes_with_any_panic_and_fails_without() {
        assert_eq!(judged(test().with_should_panic(), Some(&1)), Verdict::Ok);
        assert_eq!(
            judged(test().with_should_panic(), None),
            Verdict::FailedBecause("test did not panic as expected at a.rs:3:4".to_owned())
        );
    }

    #[test]
    fn an_expected_text_must_be_part_of_the_message() {
        let expecting = || test().with_expected_panic("two");
        assert_eq!(judged(expecting(), Some(&"one two")), Verdict::Ok);
        assert_eq!(judged(expecting(), Some(&"one two".to_owned())), Verdict::Ok);
        assert_eq!(
            judged(expecting(), Some(&"one")),
            Verdict::FailedBecause(
                "panic did not contain expected string\n      panic message: \"one\"\n \
                 expected substring: \"two\""
                    .to_owned()
            )
        );
        let Verdict::FailedBecause(message) = judged(expecting(), Some(&1)) else {
            panic!("a number is no text");
        };
        assert!(
            message.starts_with(
                "expected panic with string value,\n found non-string value: `TypeId("
            )
        );
    }
}

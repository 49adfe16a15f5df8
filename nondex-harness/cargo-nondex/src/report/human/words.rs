//! The words for outcomes in `cargo nondex test`.

use nix::sys::signal::Signal;
use nondex_core::Outcome;

use crate::report::schema::{TestReport, Verdict};

/// Returns the outcome of a test, in nextest's terms where it has one.
pub fn outcome(test: &TestReport) -> &'static str {
    let end = test.failures.first().map(|failure| &failure.outcome);
    match test.verdict {
        Verdict::Stable | Verdict::Passed if test.parting.is_some() => "DIFFERS",
        Verdict::Stable | Verdict::Passed => "PASS",
        Verdict::NotRun => "SKIP",
        Verdict::Network => "NETWORK",
        _ if test.is_sanitised() => "SANITISED",
        _ if test.known.is_some() => "KNOWN",
        _ if test.advice().is_some() => "DELAYED",
        Verdict::NonDeterministic | Verdict::Unknown => "FLAKY",
        _ => match end {
            Some(Outcome::TimedOut) => "TIMEOUT",
            Some(Outcome::Signalled(number)) => {
                Signal::try_from(*number).map_or("SIGNAL", Signal::as_str)
            }
            _ => "FAIL",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::verdict::Fact;
    use crate::report::schema::FailureReport;

    #[test]
    fn a_signal_is_named_as_nextest_names_it() {
        for (number, expected) in [(6, "SIGABRT"), (11, "SIGSEGV"), (999, "SIGNAL")] {
            let mut test = TestReport::new("p", "p", "t");
            test.rule(Fact::Fails);
            test.failures.push(FailureReport::new(Outcome::Signalled(number), None));
            assert_eq!(outcome(&test), expected);
        }
    }
}

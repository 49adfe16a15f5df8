//! The words of `cargo nondex test` for how a test ended.

use nondex_core::Outcome;

use crate::report::schema::{TestReport, Verdict};

/// How a test ended, in nextest's words.
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
            Some(Outcome::Signalled(_)) => "SIGNAL",
            _ => "FAIL",
        },
    }
}

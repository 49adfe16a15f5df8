//! The exit code that follows from a report.

use super::schema::{Report, Verdict};
use crate::exit_code::ExitCode;

/// The exit code of a command that ends with `report`.
///
/// Findings at level FULL only are advice unless the run was strict. An interrupted run is never a success: as in
/// nextest, a cancelled run is a failed one. A report in which nothing was executed is [`ExitCode::NoTests`].
#[must_use]
pub fn exit_code(report: &Report) -> ExitCode {
    let is_finding = |verdict| match verdict {
        Verdict::ImplementationDependent
        | Verdict::OrderDependentVictim
        | Verdict::OrderDependentBrittle
        | Verdict::NonDeterministic
        | Verdict::Unknown => true,
        Verdict::Stable | Verdict::Network | Verdict::Broken | Verdict::NotRun => false,
    };
    let found = report
        .tests
        .iter()
        .any(|test| is_finding(test.verdict) && (report.run.strict || !test.is_full_only()));
    if found || report.partial {
        ExitCode::Found
    } else if report
        .tests
        .iter()
        .any(|test| test.verdict == Verdict::Broken)
    {
        ExitCode::CleanRunFailed
    } else if report
        .tests
        .iter()
        .all(|test| test.verdict == Verdict::NotRun)
    {
        ExitCode::NoTests
    } else {
        ExitCode::Ok
    }
}

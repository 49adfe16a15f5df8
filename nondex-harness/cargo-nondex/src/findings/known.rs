//! Known flakes: tests that are allowed to fail from a known cause, until a date.
//!
//! An entry covers a test while the failure has the recorded [cause](cause()): the same calls, the
//! same earlier tests, the same assertion. Any other finding for the test fails the run. `cargo
//! nondex test` does not search for causes, so there an entry covers its test whatever makes it
//! flaky. A broken test is never covered.

pub mod date;
mod file;
mod missing;

pub use file::{KNOWN_FILE, Known, KnownEntry};
pub use missing::missing;

use chrono::NaiveDate;

pub use crate::report::cause::{cause, shared_by_seeds};
use crate::report::{KnownFlake, Overdue, OverdueReason, Report, Sources, TestReport, Verdict};

/// Marks each test of the report that is a known flake, and lists the entries that are overdue on
/// this day. `is_meant` returns whether an entry matches a test. Marks of an earlier call are
/// removed. Entries with missing tests stay in the list, because only the run could detect them.
pub fn apply(
    known: &Known,
    is_meant: &dyn Fn(&KnownEntry, &TestReport) -> bool,
    today: NaiveDate,
    sources: &Sources,
    report: &mut Report,
) {
    let is_entry = |name: &String| known.entries().iter().any(|entry| entry.name() == name);
    report
        .overdue
        .retain(|overdue| overdue.reason == OverdueReason::Missing && is_entry(&overdue.entry));
    for test in &mut report.tests {
        test.known = None;
    }
    // A report of `cargo nondex test` has a world, and no causes.
    let has_causes = report.run.world.is_none();
    for entry in known.entries() {
        let mut is_doubtful = false;
        let mut bound: Option<f64> = None;
        for test in report.tests.iter_mut().filter(|test| is_meant(entry, test)) {
            match (test.verdict, test.failure_bound) {
                (Verdict::Stable, Some(of_test)) => {
                    bound = Some(bound.unwrap_or_default().max(of_test));
                }
                _ => is_doubtful = true,
            }
            if !may_be_known(test) || test.known.is_some() {
                continue;
            }
            let found = cause(test, sources);
            let shared = shared_by_seeds(test, sources);
            if !has_causes || entry.covers(test.verdict, &found, &shared) {
                test.known = Some(KnownFlake {
                    reason: entry.reason.clone(),
                    expires: entry.expires.to_string(),
                    link: entry.link.clone(),
                });
            } else {
                let known = entry.words();
                let note = format!(
                    "it is a known flake with another cause: the entry has {known}, this run found \
                     {} by {}",
                    test.verdict,
                    found.join(" and ")
                );
                if !test.notes.contains(&note) {
                    test.notes.push(note);
                }
            }
        }
        let reason = if today > entry.expires {
            OverdueReason::Expired
        } else if bound.is_some() && !is_doubtful && !report.partial {
            OverdueReason::Stable
        } else {
            continue;
        };
        report.overdue.retain(|overdue| overdue.entry != entry.name());
        report.overdue.push(Overdue {
            entry: entry.name().to_owned(),
            reason,
            expires: entry.expires.to_string(),
            failure_bound: bound.filter(|_| reason == OverdueReason::Stable),
            renamed: None,
        });
    }
    report.summary.known = report.tests.iter().filter(|t| t.known.is_some()).count() as u64;
}

/// Returns whether an entry may cover the test: its verdict is a flaky one, and no sanitiser
/// explains it.
pub fn may_be_known(test: &TestReport) -> bool {
    test.verdict.is_flaky() && !test.is_sanitised()
}

#[cfg(test)]
mod tests;

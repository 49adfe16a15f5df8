//! Derives the exit code of a command from its report.

use super::schema::{Report, TestReport, Verdict};
use crate::exit_code::ExitCode;

/// Returns the exit code of a command that ends with `report`.
///
/// - [Advice](super::TestReport::advice) counts only in a strict run. So do failures that are known
///   not to be caused by the change at hand, and tests that differ between two equal runs.
/// - A known flake never counts, but in a strict run an overdue entry does.
/// - An interrupted run is never a success: as in nextest, a cancelled run is a failed one.
/// - A run that sanitised more tests than it accepts fails.
/// - If nothing else was found, a run fails if doctests did not compile. It also fails if a test
///   was run but not judged, for example because it fails only with this tool.
/// - A report in which nothing was executed is [`ExitCode::NoTests`], unless tests were skipped
///   because they are known to be stable.
pub fn exit_code(report: &Report) -> ExitCode {
    let strict = report.run.strict;
    let counted = || report.tests.iter().filter(|test| counts(test, strict));
    let parts = strict && counted().any(|test| test.parting.is_some());
    let is_overdue = strict && !report.overdue.is_empty();
    let found = counted().any(|test| test.verdict.is_flaky() && is_failure(test, strict));
    let summary = &report.summary;
    let run = summary.tests - summary.not_run;
    let is_exceeded =
        report.run.max_sanitised.is_some_and(|limit| limit.is_exceeded(summary.sanitised, run));
    if found || parts || report.partial || is_exceeded || is_overdue {
        ExitCode::Found
    } else if counted().any(|test| test.verdict == Verdict::Broken) {
        match report.run.world {
            // `cargo nondex test` has one code for all failures, like nextest.
            Some(_) => ExitCode::Found,
            None => ExitCode::CleanRunFailed,
        }
    } else if !report.run.unbuilt.is_empty() {
        ExitCode::BuildFailed
    } else if report.tests.iter().any(|test| test.unjudged) {
        ExitCode::Setup
    } else if report.unchanged.is_empty()
        && report.tests.iter().all(|test| test.verdict == Verdict::NotRun)
    {
        ExitCode::NoTests
    } else {
        ExitCode::Ok
    }
}

/// Returns whether a test alone makes the run fail.
pub fn is_failure(test: &TestReport, strict: bool) -> bool {
    let fails = match test.verdict {
        Verdict::Broken => true,
        verdict => verdict.is_flaky() && (strict || test.advice().is_none()),
    };
    fails && counts(test, strict)
}

/// Returns whether a failure of the test counts: it is not excused, and it is new or the run is
/// strict.
fn counts(test: &TestReport, strict: bool) -> bool {
    !test.is_excused() && (strict || !test.is_of_before())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::schema::tests::{report, test};
    use crate::report::{Culprit, FailureReport};
    use nondex_core::Level;

    #[test]
    fn the_exit_code_follows_from_the_verdicts() {
        use Verdict::{
            Broken, ImplementationDependent, Network, NonDeterministic, NotRun,
            OrderDependentBrittle, OrderDependentVictim, Stable, Unknown,
        };
        for (verdicts, expected) in [
            (vec![Stable], ExitCode::Ok),
            (vec![Stable, Network, NotRun], ExitCode::Ok),
            (vec![], ExitCode::NoTests),
            (vec![NotRun, NotRun], ExitCode::NoTests),
            (vec![Stable, Broken], ExitCode::CleanRunFailed),
            (vec![Stable, ImplementationDependent], ExitCode::Found),
            (vec![Broken, ImplementationDependent], ExitCode::Found),
            (vec![OrderDependentVictim], ExitCode::Found),
            (vec![OrderDependentBrittle], ExitCode::Found),
            (vec![NonDeterministic], ExitCode::Found),
            (vec![Unknown], ExitCode::Found),
        ] {
            let found = exit_code(&report(verdicts.iter().map(|&v| test(v)).collect()));
            assert_eq!(found, expected, "{verdicts:?}");
        }
    }

    #[test]
    fn tests_that_are_as_they_were_need_not_run() {
        let mut report = report(Vec::new());
        report.unchanged.push("pkg$a".to_owned());
        assert_eq!(exit_code(&report), ExitCode::Ok);
    }

    #[test]
    fn what_does_not_build_is_told_when_nothing_else_was_found() {
        for (verdict, expected) in [
            (Verdict::Stable, ExitCode::BuildFailed),
            (Verdict::Broken, ExitCode::CleanRunFailed),
            (Verdict::ImplementationDependent, ExitCode::Found),
        ] {
            let mut report = report(vec![test(verdict)]);
            report.run.unbuilt.push("pkg::doc/pkg".to_owned());
            assert_eq!(exit_code(&report), expected, "{verdict}");
        }
    }

    #[test]
    fn a_finding_at_full_only_is_a_failure_when_strict() {
        for level in Level::ALL {
            for strict in [false, true] {
                let mut finding = test(Verdict::ImplementationDependent);
                finding.weakest_level = Some(level);
                let mut report = report(vec![finding]);
                report.run.strict = strict;
                let expected =
                    if level == Level::Full && !strict { ExitCode::Ok } else { ExitCode::Found };
                assert_eq!(exit_code(&report), expected, "{level} strict {strict}");
            }
        }
    }

    /// Returns a culprit in a file, confirmed or only suspected.
    fn culprit(api: &str, family: nondex_core::Family, confirmed: bool) -> Culprit {
        let site = nondex_core::Site {
            api: api.into(),
            family,
            file: "src/lib.rs".into(),
            line: 1,
            column: 1,
        };
        Culprit { confirmed, ..Culprit::new(&site) }
    }

    fn delay(confirmed: bool) -> Culprit {
        culprit("std::thread::sleep", nondex_core::Family::Time, confirmed)
    }

    #[test]
    fn a_delay_that_is_only_suspected_and_that_no_plain_run_shows_is_a_warning() {
        for (confirmed, plain, end, after_panic, is_advice) in [
            (false, None, None, false, true),
            (false, Some([0, 20]), None, false, true),
            (false, Some([1, 20]), None, false, false),
            (true, Some([0, 20]), None, false, false),
            // A deadlock needs no culprit.
            (false, None, Some("deadlock"), false, false),
            // After a panic it does: the threads may only wait for the one that panicked.
            (false, None, Some("deadlock"), true, true),
            (true, None, Some("deadlock"), true, false),
        ] {
            let mut finding = test(Verdict::NonDeterministic);
            finding.reason = Some(crate::report::schema::Timing::Race);
            finding.weakest_level = Some(Level::Std);
            finding.culprits.push(delay(confirmed));
            finding.plain = plain;
            finding.scheduled = end.map(|end| crate::report::schema::Scheduled {
                end: Some(end.to_owned()),
                after_panic,
                ..Default::default()
            });
            let mut report = report(vec![finding]);
            let expected = [ExitCode::Found, ExitCode::Ok][usize::from(is_advice)];
            assert_eq!(exit_code(&report), expected, "{confirmed} {plain:?} {end:?}");
            report.run.strict = true;
            assert_eq!(exit_code(&report), ExitCode::Found);
        }
    }

    #[test]
    fn what_needs_a_delay_of_seconds_is_a_failure_when_strict() {
        use crate::report::schema::Timing;
        for (seed, needed, is_advice) in [
            (Level::Full, Some(Level::Id), true),
            (Level::Id, Some(Level::Id), true),
            (Level::Full, None, true),
            // The seed drew a longer delay than necessary.
            (Level::Full, Some(Level::Eq), false),
            (Level::Id, Some(Level::Std), false),
            // The necessary delay is unknown. It is only known whether a seed with delays of one
            // second showed the failure.
            (Level::Id, None, true),
            (Level::Eq, None, false),
        ] {
            let mut finding = test(Verdict::NonDeterministic);
            finding.reason = Some(Timing::Time);
            finding.culprits.push(delay(true));
            finding.weakest_level = Some(seed);
            finding.delay_level = needed;
            let mut report = report(vec![finding]);
            let expected = [ExitCode::Found, ExitCode::Ok][usize::from(is_advice)];
            assert_eq!(exit_code(&report), expected, "{seed}, needs {needed:?}");
            report.run.strict = true;
            assert_eq!(exit_code(&report), ExitCode::Found);
        }
    }

    #[test]
    fn findings_that_no_implementation_would_show_are_failures_when_strict() {
        use nondex_core::Family::{Directory, FixedHasher, HashMap};
        let map = "std::collections::HashMap::iter";
        let culprit = |family, confirmed| culprit(map, family, confirmed);
        let fixed = || culprit(FixedHasher, true);
        for (levels, culprits, in_canonical_order, is_advice) in [
            ([Level::Eq, Level::Id], vec![fixed()], false, true),
            ([Level::Eq, Level::Id], vec![fixed(), fixed()], false, true),
            // Real on another platform.
            ([Level::Std, Level::One], vec![fixed()], false, false),
            // Other models than fixed hashers.
            ([Level::Eq, Level::Id], vec![culprit(HashMap, true)], false, false),
            ([Level::Eq, Level::Id], vec![culprit(Directory, true)], false, false),
            ([Level::Eq, Level::Id], vec![fixed(), culprit(HashMap, true)], false, false),
            // No confirmed culprit.
            ([Level::Eq, Level::Id], vec![culprit(FixedHasher, false)], false, false),
            ([Level::Eq, Level::Id], vec![], false, false),
            // It also fails in canonical order.
            ([Level::Eq, Level::Id], vec![fixed()], true, false),
            ([Level::Full, Level::Full], vec![fixed()], true, false),
        ] {
            for level in levels {
                let mut finding = test(Verdict::ImplementationDependent);
                finding.weakest_level = Some(level);
                finding.culprits.clone_from(&culprits);
                if in_canonical_order {
                    finding.failures.push(FailureReport {
                        ..FailureReport::clean(nondex_core::Outcome::Failed)
                    });
                }
                let mut report = report(vec![finding]);
                let expected = [ExitCode::Found, ExitCode::Ok][usize::from(is_advice)];
                assert_eq!(exit_code(&report), expected, "{level} {culprits:?}");
                assert_eq!(report.summary.advice, u64::from(is_advice));
                report.run.strict = true;
                assert_eq!(exit_code(&report), ExitCode::Found);
            }
        }
    }

    #[test]
    fn what_a_sanitiser_explains_is_not_held_against_the_code() {
        use crate::report::schema::Sanitised;
        for verdict in [Verdict::Broken, Verdict::NonDeterministic] {
            let mut explained = test(verdict);
            explained.sanitised_by = Some(Sanitised {
                name: "port".to_owned(),
                reason: "the port is in use".to_owned(),
                operations: Vec::new(),
            });
            let mut all = report(vec![explained.clone(), test(Verdict::Stable)]);
            assert_eq!(exit_code(&all), ExitCode::Ok, "{verdict}");
            assert_eq!(all.summary.sanitised, 1);
            all.run.max_sanitised = Some("40%".parse().unwrap());
            assert_eq!(exit_code(&all), ExitCode::Found, "{verdict}");
            let with_another = report(vec![explained, test(Verdict::Broken)]);
            assert_eq!(exit_code(&with_another), ExitCode::CleanRunFailed);
        }
    }

    #[test]
    fn what_the_change_did_not_cause_is_a_failure_when_strict() {
        use crate::report::schema::{Blame, ChangeReport};
        for (blame, broken, flaky) in [
            (Blame::Flaky, ExitCode::Ok, ExitCode::Ok),
            (Blame::Regression, ExitCode::CleanRunFailed, ExitCode::Found),
            (Blame::Unknown, ExitCode::CleanRunFailed, ExitCode::Found),
        ] {
            for (verdict, expected) in
                [(Verdict::Broken, broken), (Verdict::NonDeterministic, flaky)]
            {
                let mut failing = test(verdict);
                failing.change = Some(ChangeReport {
                    verdict: blame,
                    witness: None,
                    lines: Vec::new(),
                    files: Vec::new(),
                });
                let mut report = report(vec![failing]);
                assert_eq!(exit_code(&report), expected, "{verdict} {blame:?}");
                report.run.strict = true;
                assert_ne!(exit_code(&report), ExitCode::Ok, "{verdict} {blame:?}");
            }
        }
    }

    #[test]
    fn a_test_that_could_not_be_judged_is_no_success_and_hides_nothing() {
        let mut unjudged = test(Verdict::NotRun);
        unjudged.unjudged = true;
        for (other, expected) in [
            (Verdict::NotRun, ExitCode::Setup),
            (Verdict::Stable, ExitCode::Setup),
            (Verdict::Broken, ExitCode::CleanRunFailed),
            (Verdict::NonDeterministic, ExitCode::Found),
        ] {
            let report = report(vec![unjudged.clone(), test(other)]);
            assert_eq!(exit_code(&report), expected, "{other}");
        }
    }

    #[test]
    fn an_interrupted_run_is_never_a_success() {
        for verdict in Verdict::ALL {
            let mut report = report(vec![test(verdict)]);
            report.partial = true;
            assert_eq!(exit_code(&report), ExitCode::Found, "{verdict}");
        }
    }
}

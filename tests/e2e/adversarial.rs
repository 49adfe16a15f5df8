//! The effects of the clock and the scheduler are not blamed on an order or a value.
//! `tests/corpus/adversarial` repeats this 1,000 times.

use cargo_nondex::report::{Culprit, Report, Verdict};
use nondex_core::Family;

use crate::support::{Fixture, Nondex};

#[test]
fn no_choice_is_confirmed_to_do_what_the_clock_does() {
    let project = Fixture::new("adversarial");
    let output =
        Nondex::run_in(&project.path("")).args(["--seeds", "4", "clock::", "race::"]).run();
    let report: Report = output.report();
    assert_eq!(report.tests.len(), 37);
    for test in &report.tests {
        assert!(test.choice_points > 0, "{test:#?}");
        let mut confirmed = test.culprits.iter().filter(|culprit| culprit.confirmed);
        let is_delay =
            |culprit: &Culprit| matches!(culprit.family, Family::Schedule | Family::Time);
        assert!(confirmed.all(is_delay), "{test:#?}");
    }
    let flaky = report.tests.iter().filter(|test| test.verdict == Verdict::NonDeterministic);
    // Most of these tests fail in 6 to 94 percent of their runs.
    assert!(flaky.count() > 15, "{:#?}", report.summary);
}

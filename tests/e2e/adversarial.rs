//! What the clock and the scheduler do is not blamed on a choice. `tests/corpus/adversarial` tries it 1,000 times.

use nondex_harness::report::{Report, Verdict};

use crate::support::{Fixture, Nondex};

#[test]
fn no_choice_is_confirmed_to_do_what_the_clock_does() {
    let project = Fixture::new("adversarial");
    let output = Nondex::run_in(&project.path(""))
        .args(["--seeds", "4", "clock::", "race::"])
        .run();
    let report: Report = output.report();
    assert_eq!(report.tests.len(), 37);
    for test in &report.tests {
        assert!(test.choice_points > 0, "{test:#?}");
        let confirmed = test.culprits.iter().any(|culprit| culprit.confirmed);
        assert!(!confirmed, "{test:#?}");
    }
    let flaky = report
        .tests
        .iter()
        .filter(|test| test.verdict == Verdict::NonDeterministic);
    // Most fail between 6 and 94 times of 100.
    assert!(flaky.count() > 15, "{:#?}", report.summary);
}

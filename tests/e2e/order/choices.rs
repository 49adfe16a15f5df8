//! Outcomes that the test order and random choices decide together, and outcomes that choices
//! decide alone.

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Verdict;
use nondex_core::Level;

use super::{reported, reproduced};
use crate::support::{Fixture, test};

#[test]
fn an_order_and_a_choice_that_fail_only_together_are_found_and_chance_is_no_other_tests_doing() {
    let fixture = Fixture::new("order-choices");
    let output = reported(&fixture, "order", &[]);
    let report = output.expect(ExitCode::Found).report();
    for test in &report.tests {
        let name = test.name.rsplit("::").next().unwrap();
        let expected: &[Verdict] = match name {
            "one_is_chosen" | "zero_is_chosen" => &[Verdict::OrderDependentVictim],
            // Their draws decide the outcome: some fail without an earlier test, and others after
            // many.
            _ if name.starts_with("draws_") => &[Verdict::Stable, Verdict::ImplementationDependent],
            _ => &[Verdict::Stable],
        };
        assert!(expected.contains(&test.verdict), "{test:#?}");
        assert_eq!(test.race, None, "{test:#?}");
    }
    let victim = test(&report, "tests::one_is_chosen");
    let order = victim.order.as_ref().unwrap();
    assert_eq!(order.polluters, ["tests::chooses_the_first_name"]);
    let [choice] = &order.choices[..] else {
        panic!("{order:#?}");
    };
    let place = (choice.file.as_str(), choice.confirmed);
    assert_eq!(place, ("src/lib.rs", true), "{choice:#?}");
    assert!(choice.api.contains("HashMap"), "{choice:#?}");
    let [state] = &order.state[..] else {
        panic!("{order:#?}");
    };
    assert!(state.confirmed && state.name.ends_with("CHOSEN"), "{state:#?}");
    assert_eq!(victim.weakest_level, Some(Level::Std));
    // In canonical order, the polluter leaves the number that was there before.
    let victim_of_zero = test(&report, "zero_is_chosen");
    let order = victim_of_zero.order.as_ref().unwrap();
    assert_eq!(order.polluters, ["chooses_a_number"]);
    output.prints(&["only with other choices of `", "src/lib.rs:"]);
    reproduced(&fixture, victim).expect(ExitCode::Found);
}

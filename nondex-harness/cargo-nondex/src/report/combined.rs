//! Combines the results of choices and test orders for the same tests into one report.

use std::collections::BTreeMap;

use super::judged::JUDGED_ALONE;
use super::schema::{MAX_FAILURES, Report, Step, TestReport, Verdict};
use crate::judge::{Combined, Fact};

/// Adds the results of `orders`, a report on test orders, to `report`. A test that is only in
/// `orders` is added if it has a finding: the campaign on choices skipped it because its result is
/// known.
pub fn add_orders(report: &mut Report, orders: Report) {
    let ids = report.tests.iter().map(|test| test.id.clone());
    let places: BTreeMap<String, usize> = ids.zip(0..).collect();
    for order in orders.tests {
        match places.get(&order.id) {
            Some(place) => add(&mut report.tests[*place], order),
            None if matches!(
                order.verdict,
                Verdict::Stable | Verdict::Passed | Verdict::Broken | Verdict::NotRun
            ) => {}
            None => report.tests.push(order),
        }
    }
    report.partial |= orders.partial;
    let new = |note: &String| !report.notes.contains(note);
    let notes: Vec<String> = orders.notes.into_iter().filter(new).collect();
    report.notes.extend(notes);
    report.orders.extend(orders.orders);
    sum_up(report);
}

/// Recomputes rates and the summary of `report` after verdicts have changed.
pub fn sum_up(report: &mut Report) {
    report.tests.iter_mut().for_each(TestReport::describe_rate);
    report.count_again();
}

fn add(test: &mut TestReport, mut order: TestReport) {
    let fails_by_chance = matches!(test.verdict, Verdict::NonDeterministic | Verdict::Unknown);
    let is_dependent = order.verdict.is_of_order();
    test.runs += order.runs;
    test.idempotent = order.idempotent.filter(|_| !fails_by_chance);
    test.elapsed_ms += order.elapsed_ms;
    test.leaves.append(&mut order.leaves);
    if order.runs > 0 || is_dependent {
        test.steps.push(Step {
            name: "order".to_owned(),
            runs: order.runs,
            failures: order.failures.len() as u64,
        });
    }
    let is_of_files = order
        .order
        .as_ref()
        .is_some_and(|order| order.state.iter().any(|part| part.confirmed && part.kind == "file"));
    if test.verdict.passes() && order.verdict == Verdict::Broken && order.sanitised_by.is_none() {
        order.rule(Fact::Varies);
        order.notes.push(
            "alone and in canonical order it passed each time before the orders were tried"
                .to_owned(),
        );
    }
    let combined = Combined::new(test.verdict, order.verdict, is_of_files);
    if combined == Combined::Overruled {
        // A test that fails by chance without other tests is not disturbed by them.
        if order.verdict == Verdict::NonDeterministic
            && order.race.is_none()
            && order.failures.iter().all(|failure| failure.before.is_empty())
        {
            test.run_alone = false;
            test.notes.retain(|note| !note.ends_with(JUDGED_ALONE));
        }
        // A victim passes alone, so what failed before was disturbed, also in the plain build: by
        // what another test had left.
        let is_victim = order.verdict == Verdict::OrderDependentVictim;
        if test.verdict == Verdict::NotRun || (test.verdict == Verdict::Broken && is_victim) {
            test.notes.clear();
        }
        test.rule_as(&order);
        test.reproduce = order.reproduce;
        test.replay = order.replay;
        test.output = order.output.or_else(|| test.output.take());
        let known = std::mem::replace(&mut test.failures, order.failures);
        test.failures.extend(known);
        test.failures.truncate(MAX_FAILURES);
        order.notes.retain(|note| !test.notes.contains(note));
        test.notes.extend(order.notes);
        test.weakest_level = order.weakest_level;
        for (level, [failed, runs]) in order.failure_rate {
            let known = test.failure_rate.entry(level).or_default();
            *known = [known[0] + failed, known[1] + runs];
        }
        test.order = order.order;
        test.race = order.race;
    } else if combined == Combined::Agreed
        || (test.idempotent == Some(false) && order.verdict == Verdict::Stable)
    {
        order.notes.retain(|note| !test.notes.contains(note));
        test.notes.extend(order.notes);
    } else if combined == Combined::Both && test.order.is_none() {
        test.order = order.order;
        let is_brittle = order.verdict == Verdict::OrderDependentBrittle;
        let word = if is_brittle { "brittle" } else { "a victim" };
        test.notes.push(format!(
            "it depends on the tests before it, too ({word}): see `cargo nondex order`"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nondex_core::Outcome;

    use crate::report::schema::tests::{report, test};
    use crate::report::{FailureReport, Order, Sanitised};

    fn dependent(verdict: Verdict) -> TestReport {
        TestReport { order: Some(Order::default()), runs: 5, ..test(verdict) }
    }

    #[test]
    fn an_order_overrules_what_is_stable_or_broken_and_stands_beside_every_other_finding() {
        use Verdict::{
            Broken, ImplementationDependent, NonDeterministic, NotRun, OrderDependentBrittle,
            OrderDependentVictim, Stable, Unknown,
        };
        for (run, order, expected, has_order) in [
            (Stable, dependent(OrderDependentVictim), OrderDependentVictim, true),
            (Broken, dependent(OrderDependentBrittle), OrderDependentBrittle, true),
            (Stable, test(NonDeterministic), NonDeterministic, false),
            (Stable, test(Broken), NonDeterministic, false),
            // A plain build was compared.
            (Stable, test(NotRun), Stable, false),
            (Stable, test(Unknown), Unknown, false),
            (
                Stable,
                TestReport { sanitised_by: Some(Sanitised::default()), ..test(Broken) },
                Stable,
                false,
            ),
            (Stable, test(Stable), Stable, false),
            (NonDeterministic, dependent(OrderDependentVictim), NonDeterministic, true),
            (
                ImplementationDependent,
                dependent(OrderDependentVictim),
                ImplementationDependent,
                true,
            ),
        ] {
            let mut combined = report(vec![TestReport { runs: 2, ..test(run) }]);
            let runs = order.runs;
            add_orders(&mut combined, report(vec![order]));
            let found = &combined.tests[0];
            assert_eq!((found.verdict, found.order.is_some()), (expected, has_order));
            assert_eq!(combined.summary.runs, 2 + runs);
        }
    }

    fn combined(test: TestReport, order: TestReport) -> TestReport {
        let mut combined = report(vec![test]);
        add_orders(&mut combined, report(vec![order]));
        combined.tests.swap_remove(0)
    }

    #[test]
    fn what_both_say_of_a_test_is_said_once() {
        let noted = |notes: &[&str]| TestReport {
            notes: notes.iter().map(|&note| note.to_owned()).collect(),
            ..dependent(Verdict::OrderDependentBrittle)
        };
        let found = combined(noted(&["a", "b"]), noted(&["b", "c"]));
        assert_eq!(found.notes, ["a", "b", "c"]);
    }

    #[test]
    fn an_overruled_verdict_leaves_no_note_that_contradicts_the_order() {
        for (known, order, is_kept) in [
            (Verdict::Broken, Verdict::OrderDependentVictim, false),
            (Verdict::NotRun, Verdict::OrderDependentVictim, false),
            (Verdict::NotRun, Verdict::OrderDependentBrittle, false),
            (Verdict::Broken, Verdict::OrderDependentBrittle, true),
        ] {
            let plain = "it fails in a plain build too".to_owned();
            let known = TestReport { notes: vec![plain], ..test(known) };
            let found = combined(known, dependent(order));
            assert_eq!((found.verdict, !found.notes.is_empty()), (order, is_kept));
        }
    }

    #[test]
    fn what_fails_by_chance_alone_is_not_said_to_be_disturbed_by_others() {
        for (before, is_disturbed) in [(vec![], false), (vec!["other".to_owned()], true)] {
            let disturbed = TestReport {
                run_alone: true,
                notes: vec![format!("it failed, so {JUDGED_ALONE}")],
                ..test(Verdict::Stable)
            };
            let failure = FailureReport { before, ..FailureReport::clean(Outcome::Failed) };
            let order = TestReport {
                failures: vec![failure],
                notes: vec!["2 of 10 runs failed".to_owned()],
                ..test(Verdict::NonDeterministic)
            };
            let found = combined(disturbed, order);
            let notes = 1 + usize::from(is_disturbed);
            assert_eq!((found.run_alone, found.notes.len()), (is_disturbed, notes));
        }
    }

    #[test]
    fn a_test_that_fails_by_chance_is_not_called_not_idempotent() {
        for (verdict, idempotent, notes) in [
            (Verdict::NonDeterministic, None, 0),
            (Verdict::Unknown, None, 0),
            (Verdict::Stable, Some(false), 1),
            (Verdict::ImplementationDependent, Some(false), 1),
        ] {
            let order = TestReport {
                idempotent: Some(false),
                notes: vec!["it is not idempotent".to_owned()],
                ..test(Verdict::Stable)
            };
            let found = combined(test(verdict), order);
            assert_eq!((found.idempotent, found.notes.len()), (idempotent, notes));
        }
    }
}

//! Tests that end their process, or hang.

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Verdict;
use nondex_core::Outcome;

use super::{expect_lines, reported, reproduced};
use crate::support::{Fixture, test};

#[test]
fn tests_that_end_their_process_hide_no_other_and_a_polluter_of_several_is_one_cause() {
    let fixture = Fixture::new("order-ends");
    let output = reported(&fixture, "order", &["--lib"]);
    let report = output.expect(ExitCode::Found).report();
    for (name, verdict) in [
        ("tests::a_pollutes", Verdict::Stable),
        ("tests::b_exits_behind_it", Verdict::OrderDependentVictim),
        ("tests::c_always_exits", Verdict::Broken),
        ("tests::d_leaves_a_thread", Verdict::Stable),
        ("tests::e_is_a_victim", Verdict::OrderDependentVictim),
        ("tests::f_is_a_victim", Verdict::OrderDependentVictim),
        ("tests::g_is_ignored", Verdict::NotRun),
    ] {
        let test = test(&report, name);
        assert_eq!(test.verdict, verdict, "{test:#?}");
        if verdict == Verdict::OrderDependentVictim {
            let order = test.order.as_ref().expect("its order is known");
            assert_eq!(order.sets, [["tests::a_pollutes"]], "{name}");
            assert!(order.state[0].name.ends_with("DIRTY"), "{order:?}");
            expect_lines(&fixture, &order.state[0], name);
            reproduced(&fixture, test).expect(ExitCode::Found);
        }
    }
    let ends = |name: &str| format!("`order-ends$tests::{name}` ends the process");
    for name in ["b_exits_behind_it", "c_always_exits"] {
        let is_noted = report.notes.iter().any(|note| note.contains(&ends(name)));
        assert!(is_noted, "{:?}", report.notes);
    }
    output.prints(&["3 OD (1 cause)", "also: tests::e_is_a_victim"]);
}

#[test]
fn tests_that_hang_or_abort_are_known_by_the_limits_that_are_set_for_them() {
    let fixture = Fixture::new("order-ends");
    let output = reported(&fixture, "order", &["--test", "limits"]);
    let report = output.expect(ExitCode::Found).report();
    for (name, verdict, outcome) in [
        ("a_pollutes", Verdict::Stable, None),
        ("b_hangs_behind_it", Verdict::OrderDependentVictim, Some(Outcome::TimedOut)),
        ("c_aborts_behind_it", Verdict::OrderDependentVictim, Some(Outcome::Signalled(6))),
        ("d_always_hangs", Verdict::Broken, Some(Outcome::TimedOut)),
        ("e_always_aborts", Verdict::Broken, Some(Outcome::Signalled(6))),
        ("f_is_a_victim", Verdict::OrderDependentVictim, Some(Outcome::Failed)),
    ] {
        let test = test(&report, name);
        assert_eq!(test.verdict, verdict, "{test:#?}");
        let failure = test.failures.first();
        assert_eq!(failure.map(|failure| failure.outcome.clone()), outcome);
        if verdict == Verdict::OrderDependentVictim {
            let order = test.order.as_ref().expect("its order is known");
            assert_eq!(order.sets, [["a_pollutes"]], "{name}");
            assert!(order.state[0].name.ends_with("DIRTY"), "{order:?}");
            expect_lines(&fixture, &order.state[0], name);
        }
        if outcome == Some(Outcome::TimedOut) {
            let command = test.reproduce.as_ref().expect("it can be reproduced");
            assert!(command.contains("--timeout 0.4"), "{command}");
        }
    }
    // Each of these pairs would take the whole time limit.
    let pairs = report
        .notes
        .iter()
        .find(|note| note.contains("the time limit"))
        .expect("they are left out");
    assert!(pairs.starts_with("the pairs of 1 test of"), "{pairs}");
}

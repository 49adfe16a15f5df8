//! Requested orders.

use std::fs;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::TestReport;

use super::{nondex, reported};
use crate::support::{Fixture, test};

#[test]
fn an_order_that_cannot_be_is_refused() {
    let fixture = Fixture::new("order");
    let id = "order::states$counter::is_zero";
    for (after, expected) in [
        (&["counter::no_such"][..], "there is no test `counter::no_such` in `order::states`"),
        (&["counter::adds", "counter::adds"], "`counter::adds` is to run twice"),
        (&["counter::is_zero"], "`counter::is_zero` is to run twice"),
    ] {
        let mut args = vec![id];
        after.iter().for_each(|test| args.extend(["--after", test]));
        nondex(&fixture, "replay", &args).expect(ExitCode::Usage).prints(&[expected]);
    }
}

#[test]
fn an_order_whose_names_do_not_fit_into_a_variable_is_run_all_the_same() {
    let fixture = Fixture::new("order-ends");
    let mut suite = "use order_ends::DIRTY;\nuse std::sync::atomic::Ordering::SeqCst;\n".to_owned();
    let tests = 400;
    for number in 0..tests {
        let name = format!("case_{number:03}_{}", "of_many_with_a_long_name_".repeat(16));
        let body = match number {
            10 => "assert_eq!(DIRTY.load(SeqCst), 0)",
            300 => "DIRTY.store(1, SeqCst)",
            _ => "",
        };
        suite += &format!("#[test]\nfn {name}() {{ {body} }}\n");
    }
    assert!(suite.len() > 128 << 10);
    fs::write(fixture.path("tests/long.rs"), suite).unwrap();
    let orders = ["--test", "long", "--pairs", "0", "--strategies", "reverse"];
    let output = reported(&fixture, "order", &orders);
    let report = output.expect(ExitCode::Found).report();
    let victims: Vec<&TestReport> =
        report.tests.iter().filter(|test| test.order.is_some()).collect();
    let [victim] = &victims[..] else {
        panic!("{victims:#?}");
    };
    assert!(victim.name.starts_with("case_010"), "{}", victim.name);
    let polluters = &victim.order.as_ref().unwrap().polluters;
    assert_eq!(polluters.len(), 1);
    assert!(polluters[0].starts_with("case_300"), "{polluters:?}");
    assert!(!report.notes.iter().any(|note| note.contains("gave no result")), "{:?}", report.notes);
}

#[test]
fn a_report_has_the_orders_and_what_tests_leave_to_others_though_none_fails_for_it() {
    let fixture = Fixture::new("order-races");
    let suite = r#"
        #![cfg(test)]
        use std::env;

        #[test]
        fn a_sets() {
            // SAFETY: no other thread reads the environment.
            unsafe { env::set_var("LEFT", "here") };
        }

        #[test]
        fn b_reads() {
            assert_ne!(env::var("LEFT"), Ok(String::from("there")));
        }

        #[test]
        fn c_puts_back() {
            // SAFETY: as above.
            unsafe { env::set_var("LEFT", "elsewhere") };
            unsafe { env::remove_var("LEFT") };
        }

        #[test]
        fn d_fails() {
            assert_eq!(1 + 1, 3);
        }
    "#;
    fs::write(fixture.path("src/lib.rs"), suite).unwrap();
    let arguments = ["--orders", "1", "-v"];
    let output = reported(&fixture, "order", &arguments);
    let report = output.expect(ExitCode::CleanRunFailed).report();
    for name in ["b_reads", "c_puts_back", "d_fails"] {
        assert_eq!(test(&report, name).leaves, [], "{name}");
    }
    let [left] = &test(&report, "a_sets").leaves[..] else {
        panic!("{report:#?}");
    };
    let found = (left.kind.as_str(), left.name.as_str(), &left.users[..]);
    assert_eq!(found, ("env", "LEFT", &["b_reads".to_owned()][..]));
    output.prints(&["a_sets leaves the variable `LEFT` changed, which b_reads uses"]);
    let names = ["a_sets", "b_reads", "c_puts_back", "d_fails"];
    let reverse: Vec<&str> = names.iter().rev().copied().collect();
    assert_eq!(report.orders[0].tests, names);
    assert_eq!(report.orders[1].tests, reverse);
    for order in &report.orders {
        assert_eq!(order.tests.len(), names.len());
        assert_eq!((&order.failed[..], &order.ended), (&["d_fails".to_owned()][..], &None));
    }
}

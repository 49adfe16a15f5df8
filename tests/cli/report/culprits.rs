//! The report on calls that make a test fail, and on the origin of their elements.

use cargo_nondex::report::schema::{CallReport, Position};
use cargo_nondex::report::{Culprit, TestReport};
use nondex_core::Family;

use crate::sample::{because_of, culprit, dependent, element, findings, known, report, shown};

#[test]
fn a_call_without_a_place_is_never_shown_by_its_stack() {
    let hidden = |file: &str, line| {
        let mut culprit =
            culprit("std::collections::HashMap::fmt", Family::HashMap, (file, line, 0));
        culprit.site = Some("stack:9baf4734e811ac81".to_owned());
        culprit
    };
    let finding = TestReport {
        culprits: vec![hidden("src/lib.rs", 2), hidden("src/lib.rs", 12), hidden("", 0)],
        ..dependent()
    };
    let shown = shown(&report(vec![finding]), 0, false);
    assert!(!shown.contains("stack:"), "{shown}");
    insta::assert_snapshot!(shown.split_once(" = unspecified").unwrap().0);
}

#[test]
fn a_directory_read_by_c_code_is_told_what_c_promises_and_not_what_rust_does() {
    let rust = culprit("std::fs::read_dir", Family::Directory, ("src/lib.rs", 4, 14));
    let c = Culprit { site: Some("stack:1".to_owned()), ..rust.clone() };
    let of = |culprits| findings(vec![because_of(culprits)], 0);
    let of_c = of(vec![c.clone()]);
    let (promise, fix) =
        ("`readdir`, called by C code", "sort the entries where the library returns");
    assert!(of_c.contains(promise) && of_c.contains(fix), "{of_c}");
    assert!(!of_c.contains("sort them by file name"), "{of_c}");
    assert!(of_c.contains("relies on the order of `readdir`"), "{of_c}");
    let of_rust = of(vec![rust.clone()]);
    assert!(!of_rust.contains("C code") && of_rust.contains("sort them by file name"), "{of_rust}");
    let both = of(vec![c, rust]);
    for text in [promise, fix, "sort them by file name"] {
        assert!(both.contains(text), "{both}");
    }
}

#[test]
fn a_pair_is_shown_where_its_elements_and_the_collection_come_from() {
    insta::assert_snapshot!(findings(vec![because_of(vec![known()])], 0));
}

#[test]
fn elements_inserted_on_one_line_share_its_label_and_entries_are_called_by_their_names() {
    let pair = Culprit {
        elements: Some([1, 0]),
        element_details: vec![element(1, None, Some(7)), element(0, None, Some(7))],
        created: None,
        call: None,
        ..known()
    };
    let entries = Culprit {
        elements: Some([0, 1]),
        element_details: vec![element(0, Some("a.log"), None), element(1, Some("b.log"), None)],
        ..culprit("std::fs::read_dir", Family::Directory, ("src/lib.rs", 4, 14))
    };
    insta::assert_snapshot!(findings(vec![because_of(vec![pair]), because_of(vec![entries])], 0));
}

#[test]
fn calls_at_one_site_are_told_apart_and_nothing_is_said_twice() {
    let calls = [1, 21].map(|ordinal| Culprit {
        call: Some(CallReport { thread: "0".to_owned(), ordinal, of: 40 }),
        ..known()
    });
    let finding = TestReport {
        notes: vec!["several of the calls change the outcome only together".to_owned()],
        ..because_of(calls.to_vec())
    };
    let shown = findings(vec![finding], 0);
    insta::assert_snapshot!(shown.split_once("   = message").unwrap().0);
}

#[test]
fn the_position_that_decides_is_said() {
    let labels = [Position::First, Position::Last, Position::Nth(1)].map(|position| {
        let culprit = Culprit {
            position: Some(position),
            elements: None,
            element_details: Vec::new(),
            created: None,
            call: None,
            ..known()
        };
        let shown = findings(vec![because_of(vec![culprit])], 0);
        let carets = shown.lines().find(|line| line.contains("^^^^")).unwrap();
        carets.split_once("^^^^ ").unwrap().1.to_owned()
    });
    assert_eq!(
        labels,
        [
            "which of 2 elements comes first decides",
            "which of 2 elements comes last decides",
            "which of 2 elements comes at index 1 decides",
        ]
    );
}

#[test]
fn a_call_in_a_dependency_is_shown_there_and_where_the_user_leads_to_it() {
    let inner = Culprit {
        user_file: Some("src/lib.rs".to_owned()),
        user_line: Some(14),
        ..culprit("std::fs::read_dir", Family::Directory, ("walkdir-2.5.0/src/lib.rs", 4, 9))
    };
    insta::assert_snapshot!(findings(vec![because_of(vec![inner])], 0));
}

#[test]
fn what_is_not_confirmed_is_suspected_and_never_the_cause() {
    let suspected = Culprit { confirmed: false, ..known() };
    let report = report(vec![because_of(vec![suspected])]);
    let shown = shown(&report, 0, false);
    assert!(!shown.contains("leaves open") && !shown.contains("1 cause"), "{shown}");
    insta::assert_snapshot!(shown.split_once("  = unspecified").unwrap().0);
}

#[test]
fn a_place_that_cannot_be_read_is_named() {
    let gone = Culprit { file: "src/gone.rs".to_owned(), ..known() };
    insta::assert_snapshot!(findings(vec![because_of(vec![gone])], 0));
}

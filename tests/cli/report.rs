//! The report for people, on reports written by hand.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::Utf8Path;
use nondex_core::model::CATALOGUE;
use nondex_core::{Family, Level, Outcome, Site};
use nondex_harness::report::human::{View, render};
use nondex_harness::report::schema::{NetworkEvent, Order, RunInfo, SCHEMA, Summary};
use nondex_harness::report::{Culprit, FailureReport, Report, TestReport, Verdict};

/// The source that the findings point at: two calls, one behind a tab.
const SOURCE: &str = "pub fn names(map: &Map) -> Vec<String> {\n    map.keys().cloned().collect()\n}\n\
                      \tlet files = std::fs::read_dir(dir)?;\n";

fn report(tests: Vec<TestReport>) -> Report {
    let models = [
        "directory/std::fs::read_dir",
        "hash_map/std::collections::HashMap::keys",
    ];
    Report {
        schema: SCHEMA,
        partial: false,
        run: RunInfo::default(),
        summary: Summary {
            choice_points: 213,
            runs: 87,
            implied: 40,
            ..Summary::new(&tests, models.map(str::to_owned).to_vec())
        },
        tests,
        notes: Vec::new(),
    }
}

fn test(name: &str, verdict: Verdict) -> TestReport {
    TestReport {
        file: Some("src/lib.rs".to_owned()),
        line: Some(12),
        verdict,
        ..TestReport::new("shop", "shop", name)
    }
}

fn failure(level: Option<Level>, seed: Option<u64>, message: &str) -> FailureReport {
    FailureReport {
        id: None,
        level,
        seed,
        message: message.to_owned(),
        file: Some("src/lib.rs".to_owned()),
        line: Some(20),
        outcome: Outcome::Failed,
    }
}

fn culprit(api: &str, family: Family, (file, line, column): (&str, u32, u32)) -> Culprit {
    Culprit {
        len: 2,
        confirmed: true,
        ..Culprit::new(&Site {
            api: api.to_owned(),
            family,
            file: file.to_owned(),
            line,
            column,
        })
    }
}

/// A test that fails at ONE because of a call in the user's own code.
fn dependent() -> TestReport {
    let message =
        "assertion `left == right` failed\n  left: [\"b\", \"a\"]\n right: [\"a\", \"b\"]";
    TestReport {
        weakest_level: Some(Level::One),
        failures: vec![
            failure(Some(Level::One), Some(3), message),
            failure(Some(Level::One), Some(4), message),
        ],
        failure_rate: BTreeMap::from([(Level::Std, [0, 10]), (Level::One, [3, 10])]),
        culprits: vec![culprit(
            "std::collections::HashMap::keys",
            Family::HashMap,
            ("src/lib.rs", 2, 9),
        )],
        reproduce: Some("cargo nondex --seed 3 --levels ONE -p shop -- --exact names".to_owned()),
        ..test("names", Verdict::ImplementationDependent)
    }
}

/// A test that fails at FULL only, because of a call in a dependency.
fn advice() -> TestReport {
    let mut inner = culprit(
        "std::fs::read_dir",
        Family::Directory,
        ("walkdir-2.5.0/src/lib.rs", 900, 23),
    );
    inner.user_file = Some("src/lib.rs".to_owned());
    inner.user_line = Some(4);
    inner.confirmed = false;
    let mut own = culprit(
        "std::fs::read_dir",
        Family::Directory,
        ("src/lib.rs", 4, 14),
    );
    own.elements = Some([0, 1]);
    TestReport {
        weakest_level: Some(Level::Full),
        failures: vec![failure(Some(Level::Full), Some(0), "no first entry")],
        failure_rate: BTreeMap::from([(Level::Full, [10, 10])]),
        culprits: vec![inner, own],
        ..test("listing", Verdict::ImplementationDependent)
    }
}

/// What a user reads, without colours.
fn shown(report: &Report, verbose: u8, quiet: bool) -> String {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("src")).unwrap();
    std::fs::write(root.path().join("src/lib.rs"), SOURCE).unwrap();
    let text = render(
        report,
        &View {
            workspace_root: Utf8Path::from_path(root.path()).unwrap(),
            report: Some(Utf8Path::new("target/nondex/runs/1-2/report.json")),
            elapsed: Duration::from_millis(12_345),
            verbose,
            quiet,
        },
    );
    anstream::adapter::strip_str(&text).to_string()
}

#[test]
fn a_finding_reads_like_a_diagnostic() {
    insta::assert_snapshot!(shown(
        &report(vec![dependent(), test("stable", Verdict::Stable)]),
        0,
        false
    ));
}

#[test]
fn a_finding_at_full_is_advice_and_shows_the_users_frame_first() {
    insta::assert_snapshot!(shown(&report(vec![advice()]), 0, false));
}

#[test]
fn a_strict_run_makes_advice_an_error() {
    let mut report = report(vec![advice()]);
    report.run.strict = true;
    assert!(shown(&report, 0, false).starts_with("error[ID]: `shop$listing`"));
}

#[test]
fn every_other_verdict_has_its_line_and_the_output_of_the_failing_run() {
    let network = NetworkEvent {
        operation: "connect".to_owned(),
        address: "example.org:443".to_owned(),
        error: "network is unreachable".to_owned(),
        file: None,
        line: None,
    };
    let long: String = (0..50).map(|n| format!("line {n}\n")).collect();
    let tests = vec![
        TestReport {
            failures: vec![failure(None, None, "exited with code 3")],
            output: Some(long),
            ..test("fails", Verdict::Broken)
        },
        TestReport {
            failures: vec![failure(Some(Level::Std), Some(1), "timed out after 60 s")],
            output: Some("thread 'main' panicked\n\n  at here\n".to_owned()),
            notes: vec!["it passed 1 of 3 runs of the same spec".to_owned()],
            ..test("races", Verdict::NonDeterministic)
        },
        TestReport {
            order: Some(Order {
                polluters: vec!["sets_locale".to_owned()],
                ..Order::default()
            }),
            ..test("victim", Verdict::OrderDependentVictim)
        },
        TestReport {
            network: vec![network],
            ..test("fetches", Verdict::Network)
        },
        TestReport {
            notes: vec!["it is ignored".to_owned()],
            ..test("slow", Verdict::NotRun)
        },
    ];
    insta::assert_snapshot!(shown(&report(tests), 1, false));
}

#[test]
fn a_green_run_says_what_it_reached() {
    let mut report = report(vec![test("a", Verdict::Stable)]);
    report
        .notes
        .push("the doctests of 1 package were not run".to_owned());
    insta::assert_snapshot!(shown(&report, 0, false));
}

#[test]
fn a_partial_report_says_so_even_when_quiet() {
    let mut report = report(vec![test("a", Verdict::Stable), test("b", Verdict::NotRun)]);
    report.partial = true;
    insta::assert_snapshot!(shown(&report, 0, true));
}

#[test]
fn tests_that_were_run_alone_are_named_and_models_that_are_off_are_not_missed() {
    let mut report = report(
        ["a", "b", "c", "d"]
            .map(|name| TestReport {
                run_alone: true,
                ..test(name, Verdict::Stable)
            })
            .to_vec(),
    );
    report.run.models_off.extend(
        CATALOGUE
            .iter()
            .map(|model| model.name(model.family))
            .filter(|name| !name.starts_with("directory")),
    );
    insta::assert_snapshot!(shown(&report, 0, false));
}

#[test]
fn a_call_without_a_place_is_never_shown_by_its_stack() {
    let hidden = |file: &str, line| {
        let mut culprit = culprit(
            "std::collections::HashMap::fmt",
            Family::HashMap,
            (file, line, 0),
        );
        culprit.site = Some("stack:9baf4734e811ac81".to_owned());
        culprit
    };
    let finding = TestReport {
        culprits: vec![
            hidden("src/lib.rs", 2),
            hidden("src/lib.rs", 12),
            hidden("", 0),
        ],
        ..dependent()
    };
    let shown = shown(&report(vec![finding]), 0, false);
    assert!(!shown.contains("stack:"), "{shown}");
    insta::assert_snapshot!(shown.split_once(" = open").unwrap().0);
}

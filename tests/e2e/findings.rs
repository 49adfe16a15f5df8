//! Known dependences on an order are found at the weakest level that shows them, and at the
//! responsible line.

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::schema::Advice;
use cargo_nondex::report::{Report, Verdict};
use nondex_core::{Family, Level};

use crate::support::{Fixture, Nondex, Output, test};

/// Expected report of one test.
struct Finding {
    test: &'static str,
    weakest: Level,
    api: &'static str,
    family: Family,
    /// File of the call and mark of its line. `None` where the report may name one of several
    /// calls.
    place: Option<(&'static str, &'static str)>,
    /// Reason if the finding is advice.
    advice: Option<Advice>,
}

const FINDINGS: [Finding; 12] = [
    Finding {
        test: "tests::std_own_map",
        weakest: Level::Std,
        api: "std::collections::HashMap::keys",
        family: Family::HashMap,
        place: Some(("src/lib.rs", "own_map")),
        advice: None,
    },
    Finding {
        test: "orders::one_fixed_hasher",
        weakest: Level::One,
        api: "std::collections::HashSet::iter",
        family: Family::FixedHasher,
        place: Some(("src/orders.rs", "fixed_hasher")),
        advice: None,
    },
    Finding {
        test: "orders::eq_other_content",
        weakest: Level::Eq,
        api: "std::collections::HashSet::into_iter",
        family: Family::FixedHasher,
        place: None,
        advice: Some(Advice::FixedHasher),
    },
    Finding {
        test: "orders::id_rebuilt",
        weakest: Level::Id,
        api: "std::collections::HashSet::into_iter",
        family: Family::FixedHasher,
        place: None,
        advice: Some(Advice::FixedHasher),
    },
    Finding {
        test: "orders::id_undone",
        weakest: Level::Id,
        api: "std::collections::HashSet::iter",
        family: Family::HashSet,
        place: None,
        advice: None,
    },
    Finding {
        test: "orders::clone_prints_the_same",
        weakest: Level::Full,
        api: "std::collections::HashMap::fmt",
        family: Family::HashMap,
        place: None,
        advice: Some(Advice::ReadAgain),
    },
    Finding {
        test: "orders::std_read_dir",
        weakest: Level::Std,
        api: "std::fs::read_dir",
        family: Family::Directory,
        place: Some(("src/orders.rs", "read_dir")),
        advice: None,
    },
    Finding {
        test: "orders::std_environment",
        weakest: Level::Std,
        api: "std::env::vars",
        family: Family::Environment,
        place: Some(("src/orders.rs", "environment")),
        advice: None,
    },
    Finding {
        test: "orders::one_environment_of_its_own",
        weakest: Level::One,
        api: "std::env::vars",
        family: Family::Environment,
        place: Some(("src/orders.rs", "own_environment")),
        advice: None,
    },
    Finding {
        test: "std_start_of_the_clock",
        weakest: Level::Std,
        api: "clock_gettime",
        family: Family::Entropy,
        place: Some(("tests/entropy.rs", "start")),
        advice: None,
    },
    Finding {
        test: "std_child_process",
        weakest: Level::Std,
        api: "std::collections::HashSet::iter",
        family: Family::HashSet,
        place: Some(("src/bin/lister.rs", "child")),
        advice: None,
    },
    Finding {
        test: "orders::full_read_twice",
        weakest: Level::Full,
        api: "std::collections::HashMap::keys",
        family: Family::HashMap,
        place: None,
        advice: Some(Advice::ReadAgain),
    },
];

#[test]
fn every_known_finding_is_found_at_its_level_and_at_its_line() {
    let fixture = Fixture::new("findings");
    let app = fixture.path("app");
    let output = Nondex::run_in(&app).run();
    output.expect(ExitCode::Found);
    let report = output.report();

    for expected in FINDINGS {
        let found = test(&report, expected.test);
        assert_eq!(found.verdict, Verdict::ImplementationDependent, "{found:#?}");
        assert_eq!(found.weakest_level, Some(expected.weakest), "{found:#?}");
        assert!(
            !found.culprits.is_empty() && found.culprits.iter().all(|culprit| culprit.confirmed),
            "{found:#?}"
        );
        assert_eq!(found.advice(), expected.advice, "{found:#?}");
        let culprit = &found.culprits[0];
        assert_eq!(
            (culprit.api.as_str(), culprit.family),
            (expected.api, expected.family),
            "{found:#?}"
        );
        if let Some((file, mark)) = expected.place {
            assert_eq!(found.culprits.len(), 1, "{found:#?}");
            let line = fixture.line(&format!("app/{file}"), mark);
            assert_eq!((culprit.file.as_str(), culprit.line), (file, line), "{found:#?}");
        }
    }
    a_call_in_a_dependency_is_named_with_the_user_s_own_line(&fixture, &report);
    a_call_that_has_no_line_is_named_by_the_user_s_own(&fixture, &report);
    what_is_outside_every_choice_is_nondeterministic(&report);
    what_no_order_explains_is_broken(&report);

    for name in ["tests::stable_sorted", "tests::stable_without_a_choice", "stable_entropy"] {
        let found = test(&report, name);
        assert_eq!(found.verdict, Verdict::Stable, "{found:#?}");
    }
    assert_eq!(test(&report, "std_entropy").verdict, Verdict::ImplementationDependent);
    assert_eq!(
        test(&report, "tests::stable_without_a_choice").runs,
        2,
        "a test without a choice runs no more"
    );
    the_summary_adds_up(&report);

    advice_is_a_failure_only_when_strict(&fixture);
    a_test_that_always_fails_has_an_exit_code_of_its_own(&fixture);
    the_reproducing_command_reproduces(&fixture, &report);
}

fn a_call_in_a_dependency_is_named_with_the_user_s_own_line(fixture: &Fixture, report: &Report) {
    let found = test(report, "tests::std_dependency");
    assert_eq!(found.weakest_level, Some(Level::Std), "{found:#?}");
    let culprit = &found.culprits[0];
    let line = fixture.line("dependency/src/lib.rs", "dependency");
    let file = fixture.path("dependency/src/lib.rs");
    assert_eq!(culprit.api, "std::collections::HashSet::into_iter");
    assert_eq!((file.to_str(), line), (Some(culprit.file.as_str()), culprit.line), "{found:#?}");
    let user = (culprit.user_file.as_deref(), culprit.user_line);
    assert_eq!(
        user,
        (Some("src/lib.rs"), Some(fixture.line("app/src/lib.rs", "dependency_user"))),
        "{found:#?}"
    );
}

fn a_call_that_has_no_line_is_named_by_the_user_s_own(fixture: &Fixture, report: &Report) {
    let found = test(report, "orders::std_path_read_dir");
    assert_eq!(found.weakest_level, Some(Level::Std), "{found:#?}");
    let culprit = &found.culprits[0];
    let line = fixture.line("app/src/orders.rs", "path_read_dir");
    assert_eq!(culprit.api, "std::path::Path::read_dir");
    let (file, shown, _) = culprit.place();
    assert_eq!((file, shown), ("src/orders.rs", line), "{found:#?}");
}

fn what_is_outside_every_choice_is_nondeterministic(report: &Report) {
    for (name, message) in
        [("nd_in_clean_runs", "every other run"), ("nd_after_clean_runs", "every third run")]
    {
        let found = test(report, name);
        assert_eq!(found.verdict, Verdict::NonDeterministic, "{found:#?}");
        assert!(
            found.failures.iter().any(|failure| failure.message.contains(message)),
            "{found:#?}"
        );
        assert!(found.culprits.is_empty(), "{found:#?}");
    }
}

fn what_no_order_explains_is_broken(report: &Report) {
    let found = test(report, "tests::broken_always");
    assert_eq!(found.verdict, Verdict::Broken, "{found:#?}");
    assert!(found.failures[0].message.contains("a failure that no order explains"), "{found:#?}");
    assert_eq!(found.failures[0].level, None, "{found:#?}");
}

fn the_summary_adds_up(report: &Report) {
    let summary = &report.summary;
    assert_eq!(summary.tests, report.tests.len() as u64);
    assert_eq!((summary.nd, summary.broken, summary.not_run), (2, 1, 0));
    assert_eq!(summary.stable + summary.id + summary.nd + summary.broken, summary.tests);
    assert!(
        summary.models_reached.contains(&"directory/std::fs::read_dir".to_owned()),
        "{summary:#?}"
    );
    assert!(!report.partial);
}

fn advice_is_a_failure_only_when_strict(fixture: &Fixture) {
    let names = [
        "orders::full_read_twice",
        "orders::clone_prints_the_same",
        "orders::eq_other_content",
        "orders::id_rebuilt",
    ];
    let run = || {
        let run = Nondex::run_in(&fixture.path("app")).args(["--lib", "--exact"]);
        run.args(names)
    };
    let reasons = ["unmodified data", "the hasher is not `RandomState`"];
    let advice = run().run();
    assert_eq!(advice.expect(ExitCode::Ok).report().summary.advice, 4);
    let count = |output: &Output, text: &str| output.stderr.matches(text).count();
    assert_eq!(count(&advice, "warning[ID]"), 4);
    for reason in reasons {
        let lines = advice.stderr.lines();
        let given = lines.filter(|line| line.contains("= advice: ") && line.contains(reason));
        assert_eq!(given.count(), 2, "{reason}: {}", advice.stderr);
    }
    let strict = run().arg("--strict").run();
    strict.expect(ExitCode::Found);
    assert_eq!(count(&strict, "error[ID]"), 4);
    assert_eq!(count(&strict, "= advice: "), 0);
}

fn a_test_that_always_fails_has_an_exit_code_of_its_own(fixture: &Fixture) {
    let run = Nondex::run_in(&fixture.path("app")).args([
        "-E",
        "test(=tests::broken_always)",
        "--seeds",
        "2",
    ]);
    run.run().expect(ExitCode::CleanRunFailed);
}

fn the_reproducing_command_reproduces(fixture: &Fixture, report: &Report) {
    let command = test(report, "tests::std_own_map")
        .reproduce
        .as_deref()
        .expect("a finding can be reproduced");
    let arguments: Vec<&str> = command
        .strip_prefix("cargo nondex ")
        .expect(command)
        .split(' ')
        .map(|word| word.trim_matches('\''))
        .collect();
    let own = Nondex::with_cache(&fixture.path("app"), &crate::support::cache());
    let output = own.args(arguments).run();
    output.expect(ExitCode::Found).prints(&["Failed again as recorded"]);
}

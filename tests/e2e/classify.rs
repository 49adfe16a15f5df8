//! Tests that no choice makes fail are run again under other circumstances. The report shows each
//! step.

use std::fs;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::judge::circumstance::Circumstance;
use cargo_nondex::report::{Report, Verdict};
use nondex_core::Level;

use crate::support::{Fixture, Nondex, test};

/// Returns the steps of a test: names, runs and failures.
fn steps<'a>(report: &'a Report, name: &str) -> Vec<(&'a str, u64, u64)> {
    let steps = test(report, name).steps.iter();
    steps.map(|step| (step.name.as_str(), step.runs, step.failures)).collect()
}

#[test]
fn a_test_is_classified_by_the_first_circumstance_that_makes_it_fail() {
    let fixture = Fixture::new("classify");
    let output = Nondex::command(&fixture.path("."), "classify")
        .args([
            "--alone",
            "30",
            "--circumstances",
            "4",
            "--natural",
            "9",
            "-E",
            "all()",
            "--offline",
            "--message-format",
            "json",
        ])
        .env("TZ", "UTC")
        .env("LC_ALL", "C")
        .run();
    output.expect(ExitCode::Found);
    let report = output.report();

    // The test fails in its 25th run alone. The files that count its runs are restored before other
    // orders run.
    let found = test(&report, "tests::fails_alone");
    assert_eq!(found.verdict, Verdict::NonDeterministic, "{found:#?}");

    // The test runs with real threads, so further seeds change nothing.
    let found = test(&report, "tests::asks_for_a_timer");
    assert_eq!(found.verdict, Verdict::Stable, "{found:#?}");
    assert!(found.real_threads.is_some());

    let found = test(&report, "tests::wants_two_processors");
    assert_eq!(found.verdict, Verdict::ImplementationDependent, "{found:#?}");
    assert_eq!(found.environment, Some(Circumstance::OneCore));
    let made = steps(&report, "tests::wants_two_processors");
    // Most of the runs with real threads are made together with other tests, unless the first one
    // takes long on a busy machine.
    let &(name, runs, failures) = &made[0];
    assert!(name == "clean" && (2 + 2..=2 + 20).contains(&runs) && failures == 0, "{made:?}");
    assert_eq!(
        made[1..],
        [
            // 31 schedules with at most two preemptions, the seeds, of which three levels have one,
            // and further seeds at STD.
            ("interleavings", 31 + 2 * 10 + 3 + 90, 0),
            ("further-seeds", 30, 0),
            ("alone", 30, 0),
            ("addresses", 4, 0),
            ("one-core", 3, 3)
        ]
    );
    assert_eq!(found.failures.len(), 1);

    let found = test(&report, "tests::wants_its_usual_place");
    assert_eq!(found.verdict, Verdict::NonDeterministic, "{found:#?}");
    assert_eq!(found.environment, Some(Circumstance::Addresses));
    // The campaign itself finds this dependence.
    let made = steps(&report, "tests::wants_its_usual_place");
    assert_eq!((made.len(), made[0].0), (1, "clean"), "{made:?}");
    output.prints(&["depends on addresses, which are random in plain runs"]);

    for (name, part, what) in [
        ("tests::wants_a_home", Circumstance::CleanEnvironment, "an empty home"),
        ("tests::wants_a_zone_of_whole_hours", Circumstance::TimeZone, "TZ=CHADT-13:45"),
        ("tests::wants_a_decimal_point", Circumstance::Locale, "`LC_ALL`"),
    ] {
        let found = test(&report, name);
        assert_eq!(found.verdict, Verdict::ImplementationDependent, "{found:#?}");
        assert_eq!(found.environment, Some(part));
        assert_eq!(steps(&report, name).last(), Some(&(part.name(), 3, 3)));
        let mut notes = found.notes.iter();
        assert!(
            notes.any(|note| note.contains("depends on its environment") && note.contains(what))
        );
    }

    // No seed of the campaign makes this test fail, but a further seed does. The report explains
    // it.
    let found = test(&report, "tests::fails_for_one_key_of_many");
    assert_eq!(found.verdict, Verdict::ImplementationDependent, "{found:#?}");
    assert_eq!(found.environment, None);
    assert_eq!(found.culprits[0].api, "std::hash::RandomState::new");
    assert!(found.culprits[0].confirmed);
    let all = steps(&report, "tests::fails_for_one_key_of_many");
    let further = all.iter().find(|(name, _, _)| *name == "further-seeds");
    let &(_, runs, failures) = further.unwrap();
    assert!(failures > 0 && runs <= 3 * 30);
    assert_eq!(
        found.failure_rate[&Level::Std],
        [failures, 10 + runs],
        "seeds that were tried later count"
    );

    let found = test(&report, "tests::fails_without_the_tool");
    assert_eq!(found.verdict, Verdict::Unknown, "{found:#?}");
    assert_eq!(steps(&report, "tests::fails_without_the_tool").last(), Some(&("natural", 3, 3)));

    let found = test(&report, "tests::passes");
    assert_eq!(found.verdict, Verdict::Stable, "{found:#?}");
    assert_eq!(
        steps(&report, "tests::passes"),
        [
            ("clean", 2, 0),
            ("alone", 10, 0),
            ("addresses", 4, 0),
            ("one-core", 4, 0),
            ("load", 4, 0),
            ("clean-environment", 4, 0),
            ("time-zone", 3, 0),
            ("locale", 3, 0),
            ("natural", 9, 0),
            ("together", 4, 0)
        ]
    );
    assert_eq!(found.runs, 47);
}

/// Returns the classification of each test, with the number of runs.
fn classified(fixture: &Fixture, more: &[&str]) -> Vec<(String, Verdict, u64)> {
    let usual = [
        "-E",
        "not test(fails_alone)",
        "--alone",
        "14",
        "--circumstances",
        "12",
        "--natural",
        "12",
    ];
    let shown = ["--offline", "--message-format", "json"];
    let output = Nondex::command(&fixture.path("."), "classify")
        .args([&usual[..], &shown, more].concat())
        .env("TZ", "UTC")
        .env("LC_ALL", "C")
        .run();
    let tests = output.expect(ExitCode::Found).report().tests.into_iter().map(|test| {
        let steps = test.steps.iter().map(|step| step.runs);
        (test.name, test.verdict, steps.sum())
    });
    tests.collect()
}

#[test]
#[ignore = "second tier: makes every run"]
fn a_test_without_chance_is_called_the_same_after_few_runs_as_after_all() {
    let fixture = Fixture::new("classify");
    let short = classified(&fixture, &[]);
    let long = classified(&fixture, &["--no-prune"]);
    for ((name, verdict, _), (_, expected, _)) in short.iter().zip(&long) {
        assert_eq!(verdict, expected, "{name}");
    }
    // A pruned classification runs all schedules of a test that has few, which may be more runs for
    // this test. So only the sums are compared.
    let runs = |all: &[(String, Verdict, u64)]| all.iter().map(|(_, _, runs)| runs).sum::<u64>();
    assert!(runs(&short) < runs(&long), "{short:?} {long:?}");
}

/// The number of threads is not a state that one test changes and another test reads.
#[test]
fn a_test_that_fails_only_together_with_others_is_found_as_cargo_test_runs_them() {
    let fixture = Fixture::new("classify");
    let suite = "
        #![cfg(test)]
        use std::fs;
        use std::time::Duration;

        /// The first thread of the process, and that of the test.
        fn is_alone() -> bool {
            let wait = || std::thread::sleep(Duration::from_millis(200));
            wait();
            let threads = fs::read_dir(\"/proc/self/task\").unwrap().count();
            wait();
            threads <= 2
        }

        #[test]
        fn is_the_first() {
            assert!(is_alone());
        }

        #[test]
        fn is_the_second() {
            assert!(is_alone());
        }
    ";
    fs::write(fixture.path("src/lib.rs"), suite).unwrap();
    let few = ["--alone", "0", "--circumstances", "2", "--natural", "0"];
    let output = Nondex::command(&fixture.path("."), "classify")
        .args(["--seeds", "1", "--levels", "STD", "--offline"])
        .args(["--message-format", "json"])
        .args(few)
        .env("RUST_TEST_THREADS", "2")
        .run();
    let report = output.expect(ExitCode::Found).report();
    for name in ["is_the_first", "is_the_second"] {
        let found = test(&report, name);
        assert_eq!(found.verdict, Verdict::Unknown, "{found:#?}");
        assert_eq!(steps(&report, name).last(), Some(&("together", 2, 2)));
        assert_eq!(found.failures[0].line, found.line.map(|line| line + 1), "{found:#?}");
    }
}

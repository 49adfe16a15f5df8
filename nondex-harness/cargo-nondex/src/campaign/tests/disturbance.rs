//! Tests of interference outside of the process, by other tests or by earlier runs of the same
//! test.

use super::*;

#[test]
fn a_test_never_runs_at_once_with_itself() {
    let mut project = Project::new(
        Harness::Nondex,
        r#"point 1 3 100
        mkdir "lock.$name" || end false
        sleep 0.01
        rmdir "lock.$name"
        end true"#,
        &["a", "b"],
    );
    project.options.jobs = NonZeroUsize::new(8).unwrap();
    project.options.levels = vec![Level::One];
    assert_eq!(verdicts(&project.run()), [("a", Verdict::Stable), ("b", Verdict::Stable)]);
}

#[test]
fn tests_that_disturb_each_other_are_judged_from_runs_alone() {
    // The first run of each test waits for that of the other, so the tests disturb each other once.
    let mut project = Project::new(
        Harness::Nondex,
        r#"touch "started.$name"
        [ -e met ] || until [ -e started.a ] && [ -e started.b ]; do sleep 0.01; done
        touch met
        mkdir lock || end false
        sleep 0.02
        rmdir lock
        end true"#,
        &["a", "b"],
    );
    project.options.jobs = NonZeroUsize::new(8).unwrap();
    let report = project.run();
    assert_eq!(verdicts(&report), [("a", Verdict::Stable), ("b", Verdict::Stable)]);
    assert!(report.summary.run_alone >= 1);
    assert_eq!(crate::report::exit_code(&report), crate::exit_code::ExitCode::Ok);
}

/// Returns a project whose tests create a folder and leave it, under a random or a fixed name. With
/// a random name, a run only finds the folder of an earlier run because this tool repeats random
/// values. With a fixed name, it finds the folder in any case.
fn folder_is_left_behind(random: bool, tests: &[&str]) -> Project {
    let family = if random { "entropy" } else { "hash_map" };
    let body = r#"point 1 3 100
        mkdir "${TMPDIR:-.}/left.$name" || end false
        end true"#;
    let project = Project::new(Harness::Nondex, body, tests);
    let executable = &project.suite.binary.executable;
    let script = fs::read_to_string(executable).unwrap();
    let script = script.replace(r#""family":"hash_map""#, &format!(r#""family":"{family}""#));
    fs::write(executable, script).unwrap();
    project
}

#[test]
fn a_folder_that_is_left_behind_under_a_random_name_is_no_finding() {
    for tests in [&["a"][..], &["a", "b"]] {
        let project = folder_is_left_behind(true, tests);
        // In the second campaign, every run finds the folder, except those in an empty folder.
        for _ in 0..2 {
            let report = project.run();
            let stable: Vec<_> = tests.iter().map(|name| (*name, Verdict::Stable)).collect();
            assert_eq!(verdicts(&report), stable);
            assert_eq!(report.summary.run_alone, tests.len() as u64);
            let notes = report.tests.iter().flat_map(|test| &test.notes);
            for note in notes {
                assert!(note.contains("a path whose random name"), "{note}");
            }
        }
    }
}

#[test]
fn a_folder_that_is_left_behind_under_a_fixed_name_is_one() {
    let report = folder_is_left_behind(false, &["a", "b"]).run();
    let expected = Verdict::NonDeterministic;
    assert_eq!(verdicts(&report), [("a", expected), ("b", expected)]);
}

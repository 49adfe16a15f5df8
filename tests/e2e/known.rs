//! Known flakes: a test may be flaky until a date, for the recorded cause.

use std::fs;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Verdict;
use cargo_nondex::report::schema::OverdueReason;

use crate::support::{Fixture, Nondex, test};

const FILE: &str = ".config/nondex-known.toml";
const TEST: &str = "rotated_logs_are_read_in_order";

fn run(project: &Fixture) -> Nondex {
    Nondex::run_in(&project.path("")).args([
        "--seeds",
        "3",
        "--levels",
        "STD",
        "-E",
        "test(rotated)",
    ])
}

fn known(project: &Fixture, arguments: &[&str]) -> Nondex {
    Nondex::command(&project.path(""), "known").args(arguments)
}

#[test]
fn a_known_flake_does_not_fail_the_run_until_its_cause_or_its_date_changes() {
    let project = Fixture::example("quickstart");
    run(&project).run().expect(ExitCode::Found);
    let add = ["add", TEST, "--reason", "logs are not sorted", "--expires"];
    let added = |day: &str| {
        let arguments: Vec<&str> = add.into_iter().chain([day]).collect();
        known(&project, &arguments).run().expect(ExitCode::Ok).stderr.clone()
    };
    assert!(!added("9999-12-31").contains("warning"));
    let text = fs::read_to_string(project.path(FILE)).unwrap();
    assert!(
        text.contains("verdict = \"ID\"\ncause = [\"std::fs::read_dir at src/logs.rs: "),
        "{text}"
    );
    known(&project, &["check"]).run().expect(ExitCode::Ok);

    // The cause is recognised at another line, and the report still has the verdict.
    let source = project.path("src/logs.rs");
    let before = fs::read_to_string(&source).unwrap();
    let (documentation, code) = before.split_at(before.find("\nuse ").unwrap());
    let moved = format!("{documentation}\n// More.\n\n{code}");
    fs::write(&source, &moved).unwrap();
    let output = run(&project).run();
    let report = output.expect(ExitCode::Ok).report();
    let found = test(&report, TEST);
    assert_eq!(found.verdict, Verdict::ImplementationDependent);
    assert_eq!(found.known.as_ref().unwrap().expires, "9999-12-31");
    assert_eq!(report.summary.known, 1);
    assert!(
        output.stderr.contains("known to be flaky until 9999-12-31: logs are not sorted"),
        "{}",
        output.stderr
    );

    // After the date, the entry is reported, and a strict run fails.
    assert!(added("2000-01-01").contains("warning: 2000-01-01 is over"));
    let report = run(&project).run().expect(ExitCode::Ok).report();
    assert_eq!(report.overdue[0].reason, OverdueReason::Expired);
    run(&project).arg("--strict").run().expect(ExitCode::Found);
    known(&project, &["check"]).run().expect(ExitCode::Found);

    // A different cause does not match the entry.
    let text = fs::read_to_string(project.path(FILE)).unwrap();
    fs::write(project.path(FILE), text.replace("src/logs.rs: ", "src/logs.rs: not ")).unwrap();
    let output = run(&project).run();
    let report = output.expect(ExitCode::Found).report();
    let found = test(&report, TEST);
    assert!(found.known.is_none());
    assert!(
        found.notes.iter().any(|note| note.contains("with another cause")),
        "{:?}",
        found.notes
    );
    known(&project, &["prune"]).run().expect(ExitCode::Ok);
    assert_eq!(fs::read_to_string(project.path(FILE)).unwrap(), "");
}

#[test]
fn an_invalid_file_of_known_flakes_is_reported_before_anything_is_built() {
    let project = Fixture::new("does-not-compile");
    fs::create_dir_all(project.path(".config")).unwrap();
    for (text, expected) in [
        ("[[known]]\ntest = \"a$b\"\nreason = \"x\"\n", "expires"),
        ("[[known]]\nfilterset = \"test(\"\nreason = \"x\"\nexpires = 2027-01-31\n", "test("),
        (
            "[[known]]\nfilterset = \"package(nowhere)\"\nreason = \"x\"\nexpires = 2027-01-31\n",
            "no package",
        ),
    ] {
        fs::write(project.path(FILE), text).unwrap();
        let output = run(&project).run();
        output.expect(ExitCode::Setup);
        assert!(output.stderr.contains(expected), "{}", output.stderr);
    }
    for (arguments, expected) in [
        (vec!["add", "x", "--reason", "y", "--expires", "soon"], ExitCode::Usage),
        (vec!["add", "x", "--reason", "y", "--expires", "2027-01-31"], ExitCode::Setup),
        (vec!["check"], ExitCode::Setup),
        (vec![], ExitCode::Usage),
    ] {
        known(&project, &arguments).run().expect(expected);
    }
}

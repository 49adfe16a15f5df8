//! What CI systems are shown of a run.

use std::fs;

use cargo_nondex::exit_code::ExitCode;

use crate::support::{Fixture, Nondex};

const TEST: &str = "access-report::report$rotated_logs_are_read_in_order";

#[test]
fn a_job_of_github_is_annotated_and_summarised_and_json_stays_json() {
    let project = Fixture::example("quickstart");
    let summary = project.path("summary.md");
    fs::write(&summary, "what another step wrote\n").unwrap();
    let in_job = |call: Nondex| {
        let call = call.env("GITHUB_ACTIONS", "true");
        let few = ["--seeds", "3", "--levels", "STD", "-E", "test(rotated)"];
        call.env("GITHUB_STEP_SUMMARY", &summary).args(few)
    };

    let output = in_job(Nondex::command(&project.path(""), "run").arg("--offline")).run();
    output.expect(ExitCode::Found);
    let start = "::error file=src/logs.rs,line=11,col=17,title=nondex[ID]%3A relies on the order \
                 of `std%3A%3Afs%3A%3Aread_dir`::";
    assert!(output.stdout.starts_with(start), "{}", output.stdout);
    assert_eq!(output.stdout.lines().count(), 1);
    let written = fs::read_to_string(&summary).unwrap();
    let text = written.strip_prefix("what another step wrote\n").unwrap();
    let first = "**1 failed; 1 needs you**\n\n1 test: 1 ID (1 cause)\n";
    assert!(text.starts_with(first), "{text}");
    let row = format!(
        "| `{TEST}` | **ID** relies on the order of `std::fs::read_dir` | `src/logs.rs:11` |"
    );
    assert!(text.contains(&row), "{text}");

    // Elsewhere, and later.
    let report = |arguments: &[&str]| {
        let call = Nondex::command(&project.path(""), "report").args(arguments);
        let call = call.env("GITHUB_ACTIONS", "true").run();
        call.expect(ExitCode::Ok);
        call.stdout
    };
    assert_eq!(report(&["--markdown"]), text);
    let comment = project.path("out/comment.md");
    assert_eq!(report(&["--markdown", comment.to_str().unwrap()]), "");
    assert_eq!(fs::read_to_string(comment).unwrap(), text);
    let annotated = report(&["--annotations", "always"]);
    assert_eq!(annotated, output.stdout);

    // A program reads stdout.
    let output = in_job(Nondex::run_in(&project.path(""))).run();
    assert_eq!(output.expect(ExitCode::Found).report().summary.id, 1);
    output.prints(&[start]);

    let before = fs::read_to_string(&summary).unwrap();
    let silent = Nondex::command(&project.path(""), "run").args(["--annotations", "never"]);
    let silent = in_job(silent.arg("--offline")).run();
    assert_eq!(silent.expect(ExitCode::Found).stdout, "");
    assert_eq!(fs::read_to_string(&summary).unwrap(), before);
}

//! Output for CI systems.

use std::fs;
use std::path::Path;

use cargo_nondex::exit_code::ExitCode;

use cargo_nondex::report::Report;
use cargo_nondex::report::schema::KnownFlake;

use crate::support::{Fixture, Nondex, blocks, git_at_noon, repository};

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

    // Another command makes the same output later, from the report.
    let report = |arguments: &[&str]| {
        let call = Nondex::command(&project.path(""), "report")
            .args(arguments)
            .env("GITHUB_ACTIONS", "true")
            .run();
        call.expect(ExitCode::Ok);
        call.stdout
    };
    assert_eq!(report(&["--markdown"]), text);
    let comment = project.path("out/comment.md");
    assert_eq!(report(&["--markdown", comment.to_str().unwrap()]), "");
    assert_eq!(fs::read_to_string(comment).unwrap(), text);
    let annotated = report(&["--annotations", "always"]);
    assert_eq!(annotated, output.stdout);
    let page = fs::read_to_string(repository().join("docs/src/ci.md")).unwrap();
    let shown = blocks(&page).find(|block| block.contains("--skip-list nix"));
    let (_, expected) = shown.unwrap().split_once('\n').unwrap();
    assert_eq!(report(&["--skip-list", "nix"]).trim_end(), expected);

    // With a machine-readable format on stdout, the annotations go to stderr.
    let output = in_job(Nondex::run_in(&project.path(""))).run();
    assert_eq!(output.expect(ExitCode::Found).report().summary.id, 1);
    output.prints(&[start]);

    let before = fs::read_to_string(&summary).unwrap();
    let silent = Nondex::command(&project.path(""), "run").args(["--annotations", "never"]);
    let silent = in_job(silent.arg("--offline")).run();
    assert_eq!(silent.expect(ExitCode::Found).stdout, "");
    assert_eq!(fs::read_to_string(&summary).unwrap(), before);
}

/// Returns the scripts of a workflow that call the tool.
fn scripts(workflow: &str) -> Vec<&str> {
    let lines = workflow.lines().map(str::trim);
    let scripts = lines.filter_map(|line| line.strip_prefix("run: "));
    scripts.filter(|script| script.starts_with("cargo nondex ")).collect()
}

fn latest(project: &Path) -> Report {
    let path = project.join("target/nondex/latest/report.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_new_project_gets_a_workflow_that_is_green_until_something_new_is_found() {
    let project = Fixture::example("quickstart");
    let root = project.path("");
    git_at_noon(&project, &["init", "--quiet", "--initial-branch", "trunk"]);
    let init = |arguments: &[&str]| {
        let output = Nondex::command(&root, "init").args(arguments).run();
        output.expect(ExitCode::Ok);
        output.stderr
    };

    let printed = init(&[]);
    assert!(printed.contains("there is no report yet"), "{printed}");
    let workflow = fs::read_to_string(project.path(".github/workflows/nondex.yml")).unwrap();
    assert!(workflow.contains("branches: [trunk]\n"), "{workflow}");
    assert_eq!(workflow.matches("timeout-minutes:").count(), 2);
    let [change, night] = scripts(&workflow)[..] else {
        panic!("{workflow}");
    };

    // Files are overwritten only with `--force`.
    let config = project.path(".config/nondex.toml");
    fs::write(&config, "[profile.nightly]\nseeds = 'random:6'\nmodels = 'never'\n").unwrap();
    let printed = init(&[]);
    assert_eq!(printed.matches("already exists: --force overwrites it").count(), 2);
    assert!(fs::read_to_string(&config).unwrap().contains("never"));
    let printed = init(&["--force"]);
    assert_eq!(printed.matches("Wrote").count(), 2, "{printed}");
    let written = fs::read_to_string(&config).unwrap();
    assert!(!written.contains("never"));

    // A report that cannot be read is not mistaken for none.
    let damaged = project.path("target/nondex/latest");
    fs::create_dir_all(&damaged).unwrap();
    fs::write(damaged.join("report.json"), "{").unwrap();
    let printed = init(&[]);
    assert!(printed.contains("no known flakes are written: failed to read report"), "{printed}");
    fs::remove_dir_all(&damaged).unwrap();

    // The nightly job draws new seeds and records them.
    fs::write(&config, written.replace("random:40", "random:6")).unwrap();
    let job = |script: &str| Nondex::pasted(&root, &format!("{script} --offline")).run();
    job(change).expect(ExitCode::Ok);
    job(night).expect(ExitCode::Found);
    let first = latest(&root);
    assert_eq!(first.run.seeds.len(), 6);
    let sarif = fs::read_to_string(project.path("target/nondex.sarif")).unwrap();
    assert!(sarif.contains("\"version\": \"2.1.0\""));

    // A flake that is found today becomes a known one for three months.
    let printed = init(&[]);
    assert!(printed.contains(".config/nondex-known.toml, with "), "{printed}");
    // Not every seed fails, so run one that did.
    let failures = first.tests.iter().flat_map(|test| &test.failures);
    let failing = failures.filter_map(|failure| failure.seed).next().unwrap();
    let again = ["--seed", &failing.to_string()];
    let report = Nondex::run_in(&root).args(again).run().expect(ExitCode::Ok).report();
    let known: Vec<&KnownFlake> =
        report.tests.iter().filter_map(|test| test.known.as_ref()).collect();
    assert!(!known.is_empty());
    assert_eq!(known[0].reason, "not examined yet");
    let add = ["add", "--all"];
    let none = Nondex::command(&root, "known").args(add).run();
    none.expect(ExitCode::Ok).prints(&["nothing to add"]);

    job(night);
    assert_ne!(latest(&root).run.seeds, first.run.seeds);

    fs::remove_file(project.path(".config/nondex-known.toml")).unwrap();
    let added = Nondex::command(&root, "known").args(add).run();
    let text = fs::read_to_string(project.path(".config/nondex-known.toml")).unwrap();
    let entries = text.matches("[[known]]").count();
    assert_eq!(added.expect(ExitCode::Ok).stderr.matches("Added").count(), entries);
    assert!(entries > 0 && text.contains("not examined yet"), "{text}");
}

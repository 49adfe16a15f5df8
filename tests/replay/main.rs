//! Findings after the run that made them: replayed, listed, exported, and tried first.

#![cfg(target_os = "linux")]

#[expect(dead_code, unused_imports, reason = "shared with the other end-to-end tests")]
#[path = "../e2e/support/mod.rs"]
mod support;

mod ordinary;

use std::fs;
use std::path::Path;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::{Report, TestReport};
use nondex_core::Level;
use serde_json::Value;

use support::{Fixture, Nondex, test};

const TEST: &str = "tests::std_own_map";

/// Runs one test of the fixture at STD, with these seeds.
fn run(app: &Path, seeds: &str) -> Nondex {
    Nondex::run_in(app).args(["--lib", "--levels", "STD", "--seeds", seeds, "--exact", TEST])
}

/// Returns the id in the replay command of the report.
fn id(test: &TestReport) -> String {
    let replay = test.replay.as_ref().expect("a finding can be replayed");
    let id = replay.primary.as_deref().expect("it fails");
    assert!(test.failures.iter().any(|failure| failure.id.as_deref() == Some(id)), "{test:#?}");
    id.to_owned()
}

/// Returns the command line of the report that reproduces the failure.
fn reproduce(test: &TestReport) -> &str {
    let line = test.reproduce.as_deref();
    line.expect("a finding can be reproduced")
}

/// Edits the file of a finding.
fn edit(fixture: &Fixture, id: &str, change: impl Fn(&str) -> String) {
    let path = fixture.path(format!("app/target/nondex/findings/{id}.json"));
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, change(&text)).unwrap();
}

#[test]
fn a_finding_is_replayed_listed_exported_and_tried_first() {
    let fixture = Fixture::new("findings");
    let app = fixture.path("app");
    let report = run(&app, "20").run().expect(ExitCode::Found).report();
    let found = test(&report, TEST);
    let id = id(found);

    it_fails_again_when_replayed(&app, &id);
    what_is_watched_otherwise_fails_as_well(&app, &id);
    it_is_listed_and_reported(&app, &id, &report);
    it_is_tried_first_once_exported(&app, found, &report);
    a_change_is_said_and_what_no_longer_applies_is_refused(&fixture, &id);
}

fn it_fails_again_when_replayed(app: &Path, id: &str) {
    let replay = |arguments: &[&str]| Nondex::command(app, "replay").args(arguments).run();
    for name in [id, &id[..7], "latest", "own_map"] {
        let output = replay(&[name]);
        output.expect(ExitCode::Found).prints(&[
            &format!("Replaying {id} findings${TEST}: at STD with seed"),
            "panicked at src/lib.rs",
            "Failed again as recorded, at src/lib.rs:",
        ]);
        assert!(!output.stderr.contains("warning:"), "{}", output.stderr);
    }
    let quiet = replay(&[id, "-q"]);
    quiet.expect(ExitCode::Found).prints(&["Failed again as recorded"]);
    assert!(!quiet.stderr.contains("panicked at"), "{}", quiet.stderr);

    let json = replay(&[id, "--trace", "--message-format", "json"]);
    let value: Value = serde_json::from_str(&json.expect(ExitCode::Found).stdout).unwrap();
    assert_eq!((&value["reproduced"], &value["id"]), (&true.into(), &id.into()));
    let frames = value["trace"][0]["stack"].as_array().expect("the culprit is traced");
    let is_ours =
        |frame: &Value| frame["function"].as_str().is_some_and(|f| f.contains("findings::names"));
    assert!(frames.iter().any(is_ours), "{frames:#?}");

    let often = replay(&[id, "--runs", "3"]);
    often.expect(ExitCode::Found).prints(&[
        ": at STD with seed",
        ", 3 runs",
        "Failed each of 3 runs\n",
        "3 as recorded at src/lib.rs:",
    ]);
    let often = replay(&[id, "--runs", "2", "--message-format", "json"]);
    let value: Value = serde_json::from_str(&often.expect(ExitCode::Found).stdout).unwrap();
    assert_eq!((&value["failures"], &value["runs"]), (&2.into(), &2.into()));
    assert_eq!(value["ends"][0]["as_recorded"], true, "{value:#}");

    let after = replay(&[id, "--", "--skip", TEST]);
    assert!(
        after.stderr.contains("not as recorded"),
        "the test executable is given what stands after `--`: {}",
        after.stderr
    );
    replay(&["nothing"]).expect(ExitCode::Usage).prints(&["no finding `nothing`", "report --list"]);
}

fn what_is_watched_otherwise_fails_as_well(app: &Path, id: &str) {
    let debug =
        |command: &str| Nondex::command(app, "replay").args([id, "--debugger", command]).run();
    debug("env A=1").expect(ExitCode::Found).prints(&["Failed again as recorded"]);
    debug("true").expect(ExitCode::Setup).prints(&["the debugger ended before the test did"]);
    debug("/nonexistent/debugger").expect(ExitCode::Setup).prints(&["/nonexistent/debugger"]);
}

fn it_is_listed_and_reported(app: &Path, id: &str, report: &Report) {
    let show = |arguments: &[&str]| Nondex::command(app, "report").args(arguments).run();
    let list = show(&["--list"]);
    let stdout = &list.expect(ExitCode::Ok).stdout;
    assert!(stdout.starts_with(id), "{stdout}");
    assert!(stdout.contains("std::collections::HashMap::keys at src/lib.rs:"), "{stdout}");
    let all = show(&["--list", "--message-format", "json", "-v"]);
    let all: Value = serde_json::from_str(&all.expect(ExitCode::Ok).stdout).unwrap();
    let failures = report.tests.iter().map(|test| test.failures.len());
    assert_eq!(all.as_array().unwrap().len(), failures.sum::<usize>());

    let json = ["--message-format", "json"];
    assert_eq!(show(&json).expect(ExitCode::Ok).report(), *report);
    let by_id = show(&[&[report.run.id.as_str()], &json[..]].concat());
    assert_eq!(by_id.expect(ExitCode::Ok).report(), *report);
    show(&[])
        .expect(ExitCode::Ok)
        .prints(&[&format!("reproduce: {}", reproduce(test(report, TEST)))]);
    for name in ["7-7", "..", "."] {
        show(&[name]).expect(ExitCode::Usage).prints(&["there is no run", &report.run.id]);
    }
}

fn it_is_tried_first_once_exported(app: &Path, found: &TestReport, report: &Report) {
    let fails = |seed: &u64| found.failures.iter().any(|failure| failure.seed == Some(*seed));
    let seeds = &report.run.seeds;
    let passing = seeds.iter().find(|seed| !fails(seed)).expect("one order in 24 passes");
    let seeds = format!("{passing}..={passing}");
    run(app, &seeds).run().expect(ExitCode::Ok);

    let export = || Nondex::command(app, "report").arg("--export").run();
    export().expect(ExitCode::Ok).prints(&["1 new regression to"]);
    let file = app.join(".config/nondex-regressions.json");
    let text = fs::read_to_string(&file).unwrap();
    export().expect(ExitCode::Ok).prints(&["0 new regressions to"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);

    // A regression keeps its own schedule.
    let again =
        run(app, &seeds).args(["--schedule", "random"]).run().expect(ExitCode::Found).report();
    let again = test(&again, TEST);
    assert_eq!(again.reproduce, found.reproduce);
    assert_eq!(again.failure_rate[&Level::Std], [0, 1], "the rate is that of the seeds");
    assert!(again.notes.iter().any(|note| note.contains("regression")), "{:?}", again.notes);

    // A regression of a test that was renamed is never tried.
    let test = TEST.trim_start_matches('$');
    fs::write(&file, text.replace(test, "tests::renamed")).unwrap();
    let run_again = run(app, &seeds).run();
    run_again.expect(ExitCode::Ok).prints(&["there is no test `", "$tests::renamed`"]);

    fs::write(&file, "<<<<<<< HEAD\n").unwrap();
    run(app, "1").run().expect(ExitCode::Setup).prints(&["nondex-regressions.json", "not JSON"]);
    fs::remove_file(&file).unwrap();
    run(app, "1")
        .args(["--regressions", "other.json"])
        .run()
        .expect(ExitCode::Setup)
        .prints(&["there are no regressions at", "other.json"]);
}

fn a_change_is_said_and_what_no_longer_applies_is_refused(fixture: &Fixture, id: &str) {
    let app = fixture.path("app");
    let replay = || Nondex::command(&app, "replay").arg(id).run();
    let source = app.join("src/lib.rs");
    let original = fs::read_to_string(&source).unwrap();

    fs::write(&source, format!("{original}\n#[test]\nfn another() {{}}\n")).unwrap();
    let changed =
        "warning: the test executable has changed since this was found: the result may differ";
    replay().expect(ExitCode::Found).prints(&[changed, "Failed again as recorded"]);

    let fixed = original
        .replace("register.keys().copied()", "[\"ada\", \"bob\", \"cleo\", \"dan\"].into_iter()");
    fs::write(&source, fixed).unwrap();
    replay().expect(ExitCode::Ok).prints(&[changed, "Passed it did not fail this time"]);

    fs::write(&source, original.replace("fn std_own_map", "fn renamed")).unwrap();
    replay()
        .expect(ExitCode::Setup)
        .prints(&[&format!("the test `findings${TEST}` no longer exists")]);

    edit(fixture, id, |text| {
        let own = format!("\"algorithm\": {}", nondex_core::ALGORITHM);
        text.replace(&own, "\"algorithm\": 99")
    });
    replay().expect(ExitCode::Setup).prints(&["version 99 of the algorithm", "cannot be replayed"]);
    edit(fixture, id, |text| text[..text.len() / 2].to_owned());
    replay().expect(ExitCode::Setup).prints(&["failed to read the finding", "it is not JSON"]);
    let list = Nondex::command(&app, "report").args(["--list", "-v"]).run();
    list.expect(ExitCode::Ok).prints(&["failed to read the finding"]);
}

#[test]
fn a_log_and_a_report_are_enough_in_a_fresh_clone() {
    let fixture = Fixture::new("findings");
    let app = fixture.path("app");
    let report = run(&app, "4").run().expect(ExitCode::Found).report();
    let found = test(&report, TEST);
    let line = reproduce(found);
    assert!(
        line.contains("--lib")
            && line.contains("'findings$tests::std_own_map' --level STD --seed "),
        "{line}"
    );
    Nondex::pasted(&app, line).run().expect(ExitCode::Found).prints(&["Failed again as recorded"]);

    let clone = Fixture::new("findings");
    let app = clone.path("app");
    let output = Nondex::pasted(&app, line).run();
    output.expect(ExitCode::Found).prints(&[
        "Replaying",
        "panicked at src/lib.rs",
        "Failed at src/lib.rs:",
    ]);
    assert!(!output.stderr.contains("as recorded"), "{}", output.stderr);
    let clean = line.split(" --level").next().unwrap();
    Nondex::pasted(&app, &format!("{clean} --clean --runs 2"))
        .run()
        .expect(ExitCode::Ok)
        .prints(&["Passed each of 2 runs: it does not fail this way"]);
    Nondex::pasted(&app, &format!("{clean} --clean"))
        .run()
        .expect(ExitCode::Ok)
        .prints(&["it does not fail this way"]);
    Nondex::pasted(&app, &format!("{clean} --level STD"))
        .run()
        .expect(ExitCode::Usage)
        .prints(&["--seed"]);
    Nondex::pasted(&app, "cargo nondex replay own_map --clean --lib").run().expect(ExitCode::Ok);
    Nondex::pasted(&app, "cargo nondex replay tests:: --clean --lib")
        .run()
        .expect(ExitCode::Usage)
        .prints(&["`tests::` may be several tests:\n", "\n  findings$tests::std_own_map\n"]);
    Nondex::pasted(&app, "cargo nondex replay nowhere --clean --lib")
        .run()
        .expect(ExitCode::Usage)
        .prints(&["there is no test `nowhere`"]);

    let file = app.join("downloaded.json");
    fs::write(&file, serde_json::to_string(&report).unwrap()).unwrap();
    let with_report = |command: &str, name: &str| {
        let command = Nondex::command(&app, command).args(["--report", "downloaded.json"]);
        command.args((!name.is_empty()).then_some(name)).run()
    };
    for name in [TEST, "latest", &id(found), "findings$tests::std_own_map", "s::std_own"] {
        let output = with_report("replay", name);
        output.expect(ExitCode::Found).prints(&["Failed again as recorded"]);
        assert!(!output.stderr.contains("warning"), "{}", output.stderr);
    }
    with_report("replay", "nothing").expect(ExitCode::Usage).prints(&["no failing run `nothing`"]);
    with_report("report", "").expect(ExitCode::Ok).prints(&[&format!("reproduce: {line}")]);
    with_report("explain", TEST)
        .expect(ExitCode::Found)
        .prints(&["std::collections::HashMap::keys"]);
}

#[test]
fn a_test_that_is_explained_stays_among_the_others() {
    let fixture = Fixture::new("findings");
    let app = fixture.path("app");
    let run = Nondex::run_in(&app).args(["--lib", "--seeds", "4", "--levels", "STD"]);
    let before = run.arg("tests::").run().expect(ExitCode::Found).report();
    assert!(before.tests.len() > 1);
    let explain = |name: &str| Nondex::command(&app, "explain").arg(name).run();
    explain("tests::")
        .expect(ExitCode::Usage)
        .prints(&["`tests::` may be several findings:\n", " of findings$tests::std_own_map\n"]);
    let explained = explain("own_map");
    explained.expect(ExitCode::Found).prints(&["1 test: 1 ID", "hash_map, reached: "]);
    assert!(!explained.stderr.contains("never reached"), "{}", explained.stderr);
    let after = Nondex::command(&app, "report")
        .args(["--message-format", "json"])
        .run()
        .expect(ExitCode::Ok)
        .report();
    let names = |report: &Report| -> Vec<String> {
        report.tests.iter().map(|test| test.id.clone()).collect()
    };
    assert_eq!(names(&after), names(&before));
    assert!(test(&after, TEST).culprits.iter().all(|one| one.confirmed));
    assert_eq!(after.summary.tests, before.summary.tests);

    // A test that now fails for every choice is compared with a plain build, as in any other
    // campaign.
    let source = app.join("src/lib.rs");
    let text = fs::read_to_string(&source)
        .unwrap()
        .replace("register.keys().copied()", "register.keys().copied().take(1)");
    fs::write(&source, text).unwrap();
    let broken = explain("own_map");
    broken.expect(ExitCode::CleanRunFailed).prints(&[
        "error[broken]: `findings$tests::std_own_map` fails in canonical order too",
        "it fails in a plain build too",
    ]);
}

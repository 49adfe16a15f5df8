//! Archives of built tests, which run on a machine without a compiler and without sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::{Report, Verdict};

use crate::support::{Fixture, Nondex, judged, test};

const JSON: [&str; 2] = ["--message-format", "json"];

/// Returns a call on a machine without a toolchain and without a cache of this tool.
fn on_another_machine(dir: &Path, name: &str) -> Nondex {
    let call = Nondex::command(dir, name).env("PATH", "/usr/bin:/bin");
    let none = dir.join("none");
    let names = ["CARGO", "RUSTC", "CARGO_HOME", "RUSTUP_HOME", "NONDEX_CACHE_DIR"];
    names.iter().fold(call, |call, name| call.env(name, &none))
}

fn all(report: &Report) -> BTreeSet<String> {
    report.tests.iter().map(judged).collect()
}

/// Packs the project with these additional arguments.
fn pack(project: &Fixture, file: &Path, more: &[&str]) {
    let call = Nondex::command(&project.path(""), "archive")
        .args(["--offline", "--workspace"])
        .args(more)
        .arg("--archive-file")
        .arg(file);
    call.run().expect(ExitCode::Ok).prints(&["Archived 8 tests of 5 executables"]);
}

#[test]
fn parts_that_run_from_an_archive_are_together_what_a_run_at_home_is() {
    let project = Fixture::new("packed");
    let few = ["--seeds", "3"];
    let whole = Nondex::run_in(&project.path(""))
        .arg("--workspace")
        .args(few)
        .run()
        .expect(ExitCode::Found)
        .report();
    let order = "tests::the_order_of_a_map_decides";
    let broken = "tests::it_fails_with_and_without_this_tool";
    assert_eq!(test(&whole, order).verdict, Verdict::ImplementationDependent);
    assert_eq!(test(&whole, broken).verdict, Verdict::Broken);
    assert_eq!((whole.summary.stable, whole.summary.tests), (6, 8));

    let away = tempfile::tempdir().unwrap();
    let file = away.path().join("tests.tar.gz");
    pack(&project, &file, &[]);
    let small = away.path().join("small.tar.gz");
    pack(&project, &small, &["--no-plain", "--no-sources"]);
    fs::remove_dir_all(project.path("target")).unwrap();
    fs::rename(project.path("app"), away.path().join("app")).unwrap();

    let run = |name: &str, file: &Path, to: &str, arguments: &[&str]| {
        let call = on_another_machine(away.path(), name).args(JSON).arg("--archive-file").arg(file);
        call.arg("--extract-to").arg(away.path().join(to)).args(arguments).run()
    };
    let parts = ["1/2", "2/2"].map(|part| {
        let arguments = ["--seeds", "3", "--partition", part];
        let output = run("run", &file, &part.replace('/', "-"), &arguments);
        output.report()
    });
    let files = ["1-2", "2-2"].map(|part| {
        let folder = away.path().join(part);
        folder.join("target/nondex/latest/report.json")
    });
    let merge = on_another_machine(&away.path().join("1-2"), "report");
    let merged = merge.arg("merge").args(JSON).args(files).run().expect(ExitCode::Found).report();
    assert_eq!(all(&merged), all(&whole));
    assert_eq!(merged.summary.id, 1);
    assert_eq!(parts.iter().map(|part| part.tests.len()).sum::<usize>(), 8);

    // Another command uses the files that were extracted before.
    let again = run("test", &file, "1-2", &["-E", "package(app)", "--no-fail-fast"]);
    let tests = again.expect(ExitCode::Found).report();
    // Like any `test`, this one does not include doctests.
    assert_eq!((tests.summary.tests, tests.summary.passed), (6, 5));
    let replayed = run("replay", &file, "1-2", &[&format!("app${order}"), "--clean"]);
    replayed.expect(ExitCode::Ok);

    // Tests need their files, and judging a failure needs the plain build.
    fs::remove_file(project.path("Cargo.toml")).unwrap();
    let workspace = project.path("");
    let workspace = workspace.to_str().unwrap().trim_end_matches('/');
    let expected = format!("is not at `{workspace}`: --workspace-remap DIR names a checkout");
    let lost = run("run", &small, "small", &few);
    lost.expect(ExitCode::Usage).prints(&[&expected]);
    let checkout = away.path().join("1-2");
    let remapped = ["--workspace-remap", checkout.to_str().unwrap()];
    let report = run("run", &small, "small", &[&remapped[..], &few].concat()).report();
    let failed = test(&report, broken);
    assert_eq!(failed.verdict, Verdict::Broken);
    let text = serde_json::to_string(failed).unwrap();
    assert!(text.contains("the archive has no plain build"), "{text}");
}

#[test]
fn what_an_archive_cannot_do_is_refused_before_it_is_looked_at() {
    let here = tempfile::tempdir().unwrap();
    for (arguments, expected) in [
        (&["run", "--release"][..], "'--release' cannot be used with '--archive-file <FILE>'"),
        (&["confirm"], "`confirm` does not work on an archive: it builds the tests"),
        (&["deflake"], "`deflake` does not work on an archive"),
        (&["check", "--base", "HEAD"], "`--base` does not work on an archive"),
        (&["run", "--changed"], "`--changed` does not work on an archive"),
    ] {
        let call = Nondex::command(here.path(), arguments[0]).args(&arguments[1..]);
        let output = call.args(["--archive-file", "none.tar.gz"]).run();
        output.expect(ExitCode::Usage).prints(&[expected]);
    }
    let missing = Nondex::command(here.path(), "run").args(["--archive-file", "none.tar.gz"]);
    missing.run().expect(ExitCode::Setup).prints(&["failed to read `none.tar.gz`"]);
    let named = Nondex::command(here.path(), "archive").args(["--archive-file", "it.zip"]);
    named.run().expect(ExitCode::Usage).prints(&["ends in one of .tar.zst, .tar.gz"]);
}

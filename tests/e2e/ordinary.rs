//! A test is called broken only if it also fails without this tool.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::{Report, TestReport, Verdict};

use crate::support::{Fixture, Nondex, test};

fn run(fixture: &Fixture) -> Nondex {
    let folder = fixture.path("target/folder");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    with_variables(Nondex::run_in(&fixture.path("")).args(["--seeds", "4"]), &folder)
}

/// Sets the variables that the tests of the fixture read.
fn with_variables(command: Nondex, folder: &Path) -> Nondex {
    command.env("FIXTURE_FOLDER", folder).env("FIXTURE_TEMPORARY", std::env::temp_dir())
}

/// Returns the names in the project's folder, except for what cargo creates there.
fn names(fixture: &Fixture) -> BTreeSet<String> {
    let entries = fs::read_dir(fixture.path("")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != "target" && name != "Cargo.lock").collect()
}

fn note(test: &TestReport) -> &str {
    test.notes.last().map_or("", String::as_str)
}

#[test]
fn what_fails_only_for_what_this_tool_adds_is_not_broken_and_no_success() {
    let fixture = Fixture::new("ordinary");
    let before = names(&fixture);
    let output = run(&fixture).run();
    let report = output.expect(ExitCode::Found).report();
    assert_eq!(names(&fixture), before);

    let environment = test(&report, "tests::asks_for_the_environment");
    assert_eq!(environment.verdict, Verdict::NotRun, "{environment:#?}");
    // A test of chance may well pass three times, so the plain build runs more often if there is
    // time.
    let Some([0, runs @ 3..=20]) = environment.plain else {
        panic!("{environment:#?}");
    };
    let passes = format!("it passes in {runs} of {runs} runs of a plain build");
    assert!(
        note(environment).contains(&passes)
            && note(environment).contains("a variable of this tool"),
        "{environment:#?}"
    );
    assert!(!environment.failures.is_empty());
    // The mirror's types have the size of std's. They allocate as std does, also when a call is
    // made for the first time.
    let size = test(&report, "tests::asks_for_the_size");
    assert_eq!(size.verdict, Verdict::Stable, "{size:#?}");
    let allocations = test(&report, "tests::asks_for_allocations");
    assert_eq!(allocations.verdict, Verdict::Stable, "{allocations:#?}");
    // The thread that waits for the test allocates nothing during the test.
    let others = test(&report, "tests::asks_for_allocations_of_other_threads");
    assert_eq!(others.verdict, Verdict::Stable, "{others:#?}");
    // Three failures by chance are just as likely.
    let broken = test(&report, "tests::is_broken");
    assert!(
        broken.verdict == Verdict::Broken
            && matches!(broken.plain, Some([failures, runs @ 3..=20]) if failures == runs),
        "{broken:#?}"
    );
    assert_eq!(note(broken), "it fails in a plain build too");
    let flaky = test(&report, "tests::is_flaky_in_an_ordinary_build");
    assert_eq!((flaky.verdict, flaky.plain), (Verdict::Unknown, Some([3, 4])));
    // No order decides how often keys are compared, but the random keys of std's hasher do.
    let chance = test(&report, "tests::counts_comparisons");
    assert_eq!(chance.verdict, Verdict::Unknown, "{chance:#?}");
    assert!(chance.plain.is_some_and(|[failures, _]| failures > 0));
    // Doctests are not compared with a plain build. The report shows this.
    let doctest = report.tests.iter().find(|test| test.binary.contains("doc"));
    let doctest = doctest.expect("there is a doctest");
    assert_eq!((doctest.verdict, doctest.plain), (Verdict::Broken, None));
    assert!(note(doctest).contains("doctests are not compared"));
    output.prints(&[
        "warning[not-run]: `ordinary$tests::asks_for_the_environment` fails only with this tool",
        "error[broken]: `ordinary$tests::is_broken` fails in canonical order too",
        "error[UD]: `ordinary$tests::is_flaky_in_an_ordinary_build`",
    ]);

    what_fails_in_orders_only_for_what_this_tool_adds_is_stable(&fixture);
    what_is_not_judged_has_a_code_of_its_own(&fixture);
    where_there_is_no_ordinary_build_a_test_stays_broken(&fixture);
}

/// In other orders, each process has its own folder for temporary files.
fn what_fails_in_orders_only_for_what_this_tool_adds_is_stable(fixture: &Fixture) {
    let name = "tests::asks_for_the_folder_of_temporary_files";
    for (command, expected, code) in
        [("check", Verdict::Stable, ExitCode::Ok), ("order", Verdict::NotRun, ExitCode::Setup)]
    {
        let only = Nondex::reported(&fixture.path(""), command).args(["--lib", "--exact", name]);
        let output = with_variables(only, &fixture.path("target/folder")).run();
        let report = output.expect(code).report();
        assert_eq!(test(&report, name).verdict, expected, "{report:#?}");
    }
}

fn what_is_not_judged_has_a_code_of_its_own(fixture: &Fixture) {
    let only = |name: &str| run(fixture).args(["--lib", "--exact", name]);
    let alone = only("tests::asks_for_the_environment").run();
    let report: Report = alone.expect(ExitCode::Setup).report();
    assert_eq!((report.summary.not_run, report.summary.broken), (1, 0));
    only("tests::is_broken").run().expect(ExitCode::CleanRunFailed);
    only("tests::passes").run().expect(ExitCode::Ok);
}

fn where_there_is_no_ordinary_build_a_test_stays_broken(fixture: &Fixture) {
    let name = "tests::asks_for_the_environment";
    let only = || run(fixture).args(["--lib", "--exact", name]);
    let blocked =
        only().args(["--network", "block"]).run().expect(ExitCode::CleanRunFailed).report();
    assert_eq!(test(&blocked, name).plain, None);

    let refused =
        only().env("FIXTURE_REFUSES", "1").run().expect(ExitCode::CleanRunFailed).report();
    let found = test(&refused, name);
    assert_eq!((found.verdict, found.plain), (Verdict::Broken, None));
    assert!(
        note(found).contains("whether it fails in a plain build too is not known"),
        "{found:#?}"
    );
}

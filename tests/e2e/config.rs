//! The configuration file in real runs.

use std::fs;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::{TestReport, Verdict};
use nondex_core::Level;

use crate::support::{Fixture, Nondex, committed, test};

#[test]
fn a_profile_and_its_overrides_decide_how_each_test_is_run() {
    let fixture = Fixture::new("findings");
    let app = fixture.path("app");
    fs::create_dir(app.join(".config")).unwrap();
    let file = app.join(".config/nondex.toml");
    fs::write(
        &file,
        "[profile.default]\nlevels = ['STD']\nseeds = 4\nclean-runs = 1\n\
         junit = 'out/junit.xml'\nsarif = 'out/nondex.sarif'\n\
         gitlab = 'out/gitlab.json'\n\n\
         [profile.strange]\nseeds = [70, 71]\n\n[[profile.default.overrides]]\n\
         filter = 'test(read_dir)'\nmodels-off = ['^directory/']\n\n[[profile.default.overrides]]\n\
         filter = 'test(one_fixed)'\nlevels = ['STD', 'ONE']\n",
    )
    .unwrap();
    let run = |args: &[&str]| {
        let names = ["std_own_map", "std_read_dir", "one_fixed"];
        let output = Nondex::run_in(&app).args(args).args(names).run();
        output.expect(ExitCode::Found).report()
    };

    let report = run(&[]);
    assert_eq!(report.run.levels, [Level::Std]);
    assert_eq!(report.run.seeds, [0, 1, 2, 3]);
    assert_eq!(report.tests.len(), 3, "of the library");
    let map = test(&report, "tests::std_own_map");
    assert_eq!(map.weakest_level, Some(Level::Std));
    let folder = test(&report, "orders::std_read_dir");
    assert_eq!((folder.verdict, folder.choice_points), (Verdict::Stable, 0));
    let fixed = test(&report, "orders::one_fixed_hasher");
    assert_eq!(fixed.weakest_level, Some(Level::One));
    let junit = fs::read_to_string(app.join("out/junit.xml")).unwrap();
    let junit = quick_junit::Report::deserialize_from_str(&junit).unwrap();
    assert_eq!((junit.tests, junit.failures), (3, 2));
    let sarif = fs::read_to_string(app.join("out/nondex.sarif")).unwrap();
    let sarif: serde_json::Value = serde_json::from_str(&sarif).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    let gitlab = fs::read_to_string(app.join("out/gitlab.json")).unwrap();
    let gitlab: Vec<serde_json::Value> = serde_json::from_str(&gitlab).unwrap();
    assert_eq!(gitlab.len(), 2);
    assert_eq!(sarif["runs"][0]["invocations"][0]["exitCode"], 100);

    // Options of the command line override the settings of every test.
    let report = run(&["-P", "strange", "--levels", "STD"]);
    assert_eq!(report.run.seeds, [70, 71]);
    let fixed = test(&report, "orders::one_fixed_hasher");
    assert_eq!(fixed.verdict, Verdict::Stable);

    fs::write(&file, "[profile.default]\nfilters = 'a'\n").unwrap();
    let refused = Nondex::run_in(&app).run();
    refused
        .expect(ExitCode::Setup)
        .prints(&[".config/nondex.toml:2:1: unknown key `filters`: did you mean `filterset`?"]);
}

/// Returns the name of the sanitiser that excluded a test.
fn sanitised(test: &TestReport) -> &str {
    let sanitised = test.sanitised_by.as_ref();
    sanitised.map_or("", |sanitised| sanitised.name.as_str())
}

#[test]
fn missing_prerequisites_are_told_from_failures_of_the_code() {
    let fixture = Fixture::new("prerequisites");
    let output = Nondex::run_in(&fixture.path("")).args(["--test", "missing"]).run();
    let report = output.expect(ExitCode::Ok).report();
    assert_eq!(report.summary.sanitised, report.summary.tests);
    for test in &report.tests {
        assert_eq!(test.verdict, Verdict::Broken, "{}", test.name);
        assert!(test.name.starts_with(sanitised(test)), "{}", test.name);
    }
    let program = test(&report, "program").sanitised_by.as_ref().unwrap();
    assert_eq!(program.reason, "the program is not installed");
    let event = &program.operations[0];
    assert_eq!(
        (event.operation.as_str(), event.address.as_str(), event.error.as_str()),
        ("exec", "no-such-program", "ENOENT")
    );
    assert_eq!(event.file.as_deref(), Some("tests/missing.rs"));

    let output =
        Nondex::run_in(&fixture.path("")).args(["--test", "real", "--test", "passes"]).run();
    let report = output.expect(ExitCode::CleanRunFailed).report();
    assert_eq!(report.summary.sanitised, 0);
    assert_eq!((report.summary.passed, report.summary.broken), (1, 4));
}

#[test]
fn what_nextest_is_told_about_the_tests_holds_here_too() {
    let project = committed(&[
        ("Cargo.toml", "[package]\nname = \"told\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        (
            "src/lib.rs",
            "#[test]\nfn needs_the_script() {\n    \
             assert_eq!(std::env::var(\"PLACE\").unwrap(), \"a table\");\n}\n\
             #[test]\nfn is_left_out() {\n    panic!();\n}\n",
        ),
        (
            ".config/nextest.toml",
            "[profile.default]\ndefault-filter = 'not test(left_out)'\n\
             [[profile.default.scripts]]\nfilter = 'all()'\nsetup = 'place'\n\
             run-wrapper = 'place'\n\
             [scripts.setup.place]\ncommand = \"sh -c 'echo PLACE=a table >> $NEXTEST_ENV'\"\n",
        ),
    ]);
    let run = || Nondex::reported(&project.path(""), "test");
    let built = run().arg("--no-run").run();
    built.expect(ExitCode::Ok);
    assert!(!built.stderr.contains("Setup place"), "{}", built.stderr);
    let output = run().run();
    output.expect(ExitCode::Ok).prints(&[
        "`run-wrapper` scripts are ignored",
        "Setup place",
        "`default-filter` leaves out 1 test",
        "1 test run: 1 passed",
    ]);
    let all = run().arg("--ignore-default-filter").run();
    all.expect(ExitCode::Found).prints(&["2 tests run: 1 passed, 1 failed"]);
}

//! The commands besides `run`, and the output of each stream.

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::{Verdict, store};
use nondex_core::model::CATALOGUE;

use crate::distance::{manifest, repository};
use crate::support::{Fixture, Nondex, ONE_FINDING, test};

#[test]
fn help_and_version_go_to_stdout() {
    let folder = tempfile::tempdir().unwrap();
    for (arg, text) in [("--help", "Exit codes:"), ("--version", env!("CARGO_PKG_VERSION"))] {
        let output = Nondex::with_cache(folder.path(), folder.path()).arg(arg).run();
        output.expect(ExitCode::Ok);
        assert!(output.stdout.contains(text), "{}", output.stdout);
        assert_eq!(output.stderr, "");
    }
}

/// With the feature, `tests/mcp.rs` is the client.
#[cfg(not(feature = "mcp"))]
#[test]
fn without_its_feature_the_server_for_agents_shows_how_to_build_it() {
    let folder = tempfile::tempdir().unwrap();
    let output = Nondex::with_cache(folder.path(), folder.path()).arg("mcp").run();
    output.expect(ExitCode::Usage).prints(&["--features mcp"]);
    assert_eq!(output.stdout, "");
}

#[test]
fn every_model_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let output = Nondex::with_cache(folder.path(), folder.path()).arg("models").run();
    output.expect(ExitCode::Ok);
    for model in CATALOGUE {
        assert!(output.stdout.contains(model.api), "{} in {}", model.api, output.stdout);
    }
}

#[test]
fn a_run_leaves_its_report_and_clean_removes_it() {
    let fixture = Fixture::new("findings");
    let app = fixture.path("app");
    let target = camino::Utf8PathBuf::from_path_buf(app.join("target")).unwrap();
    // The human format goes to stderr only.
    let human = Nondex::command(&app, "run").args(ONE_FINDING).run();
    let line = format!("src/lib.rs:{}:", fixture.line("app/src/lib.rs", "own_map"));
    human.expect(ExitCode::Found).prints(&[
        "seeds 0..3 at STD",
        "HashMap::keys",
        &line,
        "register.keys().copied().collect()",
        "reproduce: cargo nondex",
        "report.json",
    ]);
    assert_eq!(human.stdout, "");

    let report = store::read_latest(&target).unwrap();
    assert_eq!(test(&report, "tests::std_own_map").verdict, Verdict::ImplementationDependent);
    assert!(target.join("nondex/runs").join(&report.run.id).join("report.json").is_file());
    let mut outside: Vec<String> = std::fs::read_dir(&app)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    outside.sort_unstable();
    assert_eq!(
        outside,
        ["Cargo.lock", "Cargo.toml", "src", "target", "tests"],
        "nothing but cargo's own lock is new"
    );

    // Without the models that reveal it, the test has no choice point.
    let skipped =
        Nondex::run_in(&app).args(["--lib", "--skip-models", "^hash_map/", "std_own_map"]).run();
    let report = skipped.expect(ExitCode::Ok).report();
    assert_eq!(test(&report, "tests::std_own_map").choice_points, 0);

    Nondex::command(&app, "clean").run().expect(ExitCode::Ok);
    assert!(!target.join("nondex").exists());
}

#[test]
fn a_terminal_shows_a_bar_that_counts_tests_and_is_gone_in_the_end() {
    let fixture = Fixture::new("slow");
    let run = || {
        let arguments = ["--offline", "--seeds", "0", "--lib", "a_quick_one"];
        Nondex::command(&fixture.path(""), "run").args(arguments)
    };
    let (code, drawn) = run().run_on_terminal(100);
    assert_eq!(code, Some(ExitCode::Ok as i32), "{drawn}");
    let (before, after) = drawn.rsplit_once("/1 tests, ").expect(&drawn);
    let bar = before.rsplit('\r').next().unwrap();
    assert!(bar.contains("Running [00:0") && bar.contains("] ["), "{bar}");
    assert!(after.contains("Summary ["), "{after}");
    // A log has no progress bar.
    let plain = run().run();
    plain.expect(ExitCode::Ok).prints(&["Summary ["]);
    assert!(!plain.stderr.contains("/1 tests"), "{}", plain.stderr);
}

#[test]
fn a_filterset_asks_for_no_crate_of_another_platform() {
    let absent =
        r#"{"name":"absent","vers":"1.0.0","deps":[],"cksum":"0","features":{},"yanked":false}"#;
    let project = repository(&[
        ("Cargo.toml", manifest("app", "[target.'cfg(windows)'.dependencies]\nabsent = \"1\"\n")),
        ("src/lib.rs", String::new()),
        // A registry that lists the crate in its index, but does not have its files.
        ("registry/index/ab/se/absent", format!("{absent}\n")),
        (
            ".cargo/config.toml",
            "[source.crates-io]\nreplace-with = \"kept\"\n[source.kept]\n\
             local-registry = \"registry\"\n"
                .to_owned(),
        ),
    ]);
    let list = Nondex::command(&project.path(""), "list");
    let output = list.args(["-E", "package(of_nobody)"]).run();
    output.expect(ExitCode::Usage);
    assert!(output.stderr.contains("of_nobody"), "{}", output.stderr);
}

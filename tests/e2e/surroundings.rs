//! A test gets the environment, folder and build that plain `cargo test` gives it.

use std::fs;

use cargo_nondex::exit_code::ExitCode;

use crate::support::{Fixture, Nondex, cargo, plain_command};

#[test]
fn a_test_meets_what_cargo_gives_it() {
    let project = Fixture::new("project");
    let root = project.path("");
    let dump = |name: &str| project.path(format!("{name}.txt"));

    let mut plain = plain_command(cargo(), &root);
    plain.args(["test", "--quiet", "--offline", "-p", "app", "--test", "surroundings"]);
    // The variables of this tool and of the shell are the same in both.
    plain
        .env("NONDEX_CACHE_DIR", crate::support::cache())
        .env("NONDEX_THOROUGH", "true")
        .env("NO_COLOR", "1")
        .env("FIXTURE_DUMP", dump("dump"));
    let output = plain.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    fs::rename(dump("dump"), dump("plain")).unwrap();

    let ours = Nondex::run_in(&root).env("FIXTURE_DUMP", dump("dump"));
    let output =
        ours.args(["-p", "app", "--test", "surroundings", "--seeds", "0", "-j", "1"]).run();
    let report = output.expect(ExitCode::Ok).report();
    assert_eq!(report.tests.len(), 3);

    // Only the build folder differs, as it must.
    let build = fs::read_dir(project.path("target/nondex/build"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("debug").is_dir())
        .max_by_key(|path| path.as_os_str().len())
        .unwrap();
    let text = fs::read_to_string(dump("dump"))
        .unwrap()
        .replace(build.to_str().unwrap(), project.path("target").to_str().unwrap());
    let host = project.path("target/nondex/build");
    let text = text.replace(host.to_str().unwrap(), project.path("target").to_str().unwrap());
    let plain = fs::read_to_string(dump("plain")).unwrap();
    assert_eq!(without_hashes(&text), without_hashes(&plain));
    assert!(plain.contains("CARGO_MANIFEST_DIR"), "{plain}");
}

#[test]
fn a_runner_of_the_users_is_run_in_whichever_form_it_is_written() {
    for runner in ["\"sh runner.sh\"", "[\"sh\", \"runner.sh\"]"] {
        let project = Fixture::new("project");
        let host = plain_command("rustc", &project.path(""))
            .args(["--print", "host-tuple"])
            .output()
            .unwrap();
        let host = String::from_utf8(host.stdout).unwrap();
        fs::create_dir(project.path(".cargo")).unwrap();
        let text = format!("[target.{}]\nrunner = {runner}\n", host.trim());
        fs::write(project.path(".cargo/config.toml"), text).unwrap();
        // Tests start in the folder of their package.
        let script =
            format!("echo >>{:?}\nexec \"$@\"\n", project.path("runs.txt").to_str().unwrap());
        fs::write(project.path("library/runner.sh"), script).unwrap();

        let ours =
            Nondex::run_in(&project.path("")).args(["-p", "library", "--lib", "--seeds", "0"]);
        assert_eq!(ours.run().expect(ExitCode::Ok).report().summary.passed, 1);
        let runs = fs::read_to_string(project.path("runs.txt")).unwrap();
        assert!(runs.lines().count() >= 2, "{runner}");
    }
}

/// Replaces the hash in the folder names of build scripts, which cargo computes from the path of
/// the build.
fn without_hashes(dump: &str) -> String {
    let is_hash =
        |part: &str| part.len() == 16 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts = dump.split_inclusive(['-', '/', '\n', '"']);
    parts.map(|part| if is_hash(&part[..part.len() - 1]) { "<hash>" } else { part }).collect()
}

/// Name of the only doctest of the project.
const DOCTEST: &str = "library::doc/library$library/src/lib.rs - greet (line 5)";

#[test]
fn packages_features_and_targets_are_selected_as_cargo_selects_them() {
    let project = Fixture::new("project");
    let names = |args: &[&str]| {
        let output = Nondex::command(&project.path(""), "list").arg("--offline").args(args).run();
        let text = output.expect(ExitCode::Ok).stdout.clone();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        names(&[]),
        [
            "app$in_the_library",
            "app::bin/lister$in_the_binary",
            "app::surroundings$dumps_its_surroundings",
            "app::surroundings$greets_as_the_features_say",
            "app::surroundings$starts_the_binary",
            "library$greets",
            DOCTEST,
        ]
    );
    assert_eq!(names(&["-p", "library"]), ["library$greets", DOCTEST]);
    assert_eq!(
        names(&["-p", "library", "--lib", "--features", "shout"]),
        ["library$greets", "library$shouts"]
    );
    assert_eq!(names(&["--workspace", "--exclude", "app"]), ["library$greets", DOCTEST]);
    assert_eq!(names(&["--bins"]), ["app::bin/lister$in_the_binary"]);
    assert_eq!(
        names(&["-E", "package(library) | binary(lister)"]),
        ["app::bin/lister$in_the_binary", "library$greets", DOCTEST]
    );
    assert_eq!(
        names(&["--test", "surroundings", "greets"]),
        ["app::surroundings$greets_as_the_features_say"]
    );

    let output = Nondex::run_in(&project.path(""))
        .args(["--workspace", "--all-features", "--seeds", "1"])
        .run();
    let report = output.expect(ExitCode::Ok).report();
    assert_eq!(report.summary.stable, 8, "{report:#?}");
    assert!(report.notes.is_empty(), "{:?}", report.notes);
}

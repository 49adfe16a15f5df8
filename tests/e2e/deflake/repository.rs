//! `deflake` leaves the user's repository unchanged, and reports why a repository does not show the
//! change.

use std::fs;

use cargo_nondex::exit_code::ExitCode;

use super::*;
use crate::support::{Output, cargo, plain_command};

#[test]
fn a_repository_that_does_not_show_what_changed_is_reported_and_left_unchanged() {
    let project = repository();
    let expect = |project: &Fixture, code: ExitCode, message: &str| {
        let output = deflake(project).args(["-E", "test(is_stable)"]).run();
        output.expect(code);
        assert!(output.stderr.contains(message), "{}", output.stderr);
    };
    expect(&project, ExitCode::Usage, "nothing is changed since `HEAD`, which is the first commit");
    edit(&project, "src/lib.rs", &[("    a + b", "    b + a")]);
    commit(&project);
    // A detached head.
    git_at_noon(&project, &["checkout", "--quiet", "--detach"]);
    let state = state(&project);
    expect(&project, ExitCode::Ok, "Comparing");
    assert_eq!(self::state(&project), state);

    let shallow = Fixture::new("no-tests");
    fs::remove_dir_all(shallow.path("")).unwrap();
    let from = format!("file://{}", project.path("").display());
    let to = shallow.path("");
    let clone = ["clone", "--quiet", "--depth", "1", &from, to.to_str().unwrap()];
    git_at_noon(&project, &clone);
    expect(
        &shallow,
        ExitCode::Usage,
        "has no parent in this shallow clone: `git fetch --deepen 1`",
    );
    let base = deflake(&shallow).args(["--base", "HEAD~1"]).run();
    base.expect(ExitCode::Usage);
    let message = "`HEAD~1` names no commit in this shallow clone: `git fetch --unshallow`";
    assert!(base.stderr.contains(message), "{}", base.stderr);

    fs::remove_dir_all(shallow.path(".git")).unwrap();
    expect(&shallow, ExitCode::Setup, "has no history to search");
    git_at_noon(&shallow, &["init", "--quiet"]);
    expect(&shallow, ExitCode::Setup, "has no commit yet");
}

#[test]
fn a_vendored_dependency_acts_on_what_is_built_with_it() {
    let manifest = "[package]\nname = \"project\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
        [dependencies]\ntiny = \"1\"\n";
    let project = committed(&[
        ("Cargo.toml", manifest),
        (
            ".cargo/config.toml",
            "[source.crates-io]\nreplace-with = \"here\"\n[source.here]\ndirectory = \"vendor\"\n",
        ),
        ("vendor/tiny/.cargo-checksum.json", "{\"files\": {}, \"package\": null}"),
        ("vendor/tiny/Cargo.toml", "[package]\nname = \"tiny\"\nversion = \"1.0.0\"\n"),
        ("vendor/tiny/src/lib.rs", "pub fn seven() -> u32 {\n    7\n}\n"),
        ("src/lib.rs", "#[test]\nfn is_seven() {\n    assert_eq!(tiny::seven(), 7);\n}\n"),
    ]);
    edit(&project, "vendor/tiny/src/lib.rs", &[("    7", "    8")]);
    let output = deflake(&project).run();
    let report = output.expect(ExitCode::CleanRunFailed).report();
    let expected = (Blame::Regression, Some(Witness::Coverage), vec![2]);
    assert_eq!(blamed(&report)["is_seven"], expected);
}

#[test]
fn configuration_that_a_change_adds_does_not_hold_before_it() {
    let project = committed(&[(
        "src/lib.rs",
        "#[test]\nfn is_lenient() {\n    assert!(!cfg!(strict));\n}\n\n\
         #[test]\nfn retries() {\n    assert_eq!(std::env::var(\"RETRIES\").ok(), None);\n}\n",
    )]);
    let config = "[env]\nRETRIES = \"0\"\n[build]\nrustflags = [\"--cfg\", \"strict\"]\n";
    project.write(".cargo/config.toml", config);
    let report = deflake(&project).run().expect(ExitCode::CleanRunFailed).report();
    for test in ["is_lenient", "retries"] {
        assert_eq!(blamed(&report)[test].0, Blame::Regression, "{test}");
    }

    // No build shows what another toolchain does.
    fs::write(project.path("rust-toolchain.toml"), "[toolchain]\nprofile = \"minimal\"\n").unwrap();
    let output = deflake(&project).run();
    let message = "could not be tried: the change selects another toolchain";
    assert!(output.stderr.contains(message), "{}", output.stderr);
}

#[test]
fn the_code_before_a_change_is_outside_of_the_project_and_finds_what_is_around_it() {
    let project = Fixture::new("no-tests");
    fs::remove_file(project.path("Cargo.toml")).unwrap();
    let manifest = |name: &str, more: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{more}")
    };
    let lib = r#"
pub fn marks() -> usize {
    around::one()
}

#[test]
fn is_marked_once() {
    let folders = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let marked = folders.filter(|folder| folder.join("mark").exists());
    assert_eq!(marked.count(), marks());
}
"#;
    for (file, text) in [
        ("app/Cargo.toml", &*manifest("app", "[dependencies]\naround.path = \"../around\"\n")),
        ("app/src/lib.rs", lib),
        ("app/mark", ""),
        ("app/.gitignore", "target\n"),
        ("around/Cargo.toml", &manifest("around", "")),
        ("around/src/lib.rs", "pub fn one() -> usize {\n    1\n}\n"),
    ] {
        project.write(file, text);
    }
    let git = |arguments: &[&str]| git_at_noon(&project, &[&["-C", "app"], arguments].concat());
    git(&["init", "--quiet"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "x"]);
    edit(&project, "app/src/lib.rs", &[("around::one()", "around::one() + 8")]);
    let deflake = || Nondex::reported(&project.path("app"), "deflake");
    let report = deflake().run().expect(ExitCode::CleanRunFailed).report();
    let expected = (Blame::Regression, Some(Witness::Coverage), vec![3]);
    assert_eq!(blamed(&report)["is_marked_once"], expected);
    let cleaned = Nondex::command(&project.path("app"), "clean").run();
    cleaned.expect(ExitCode::Ok);
    let removed = cleaned.stderr.lines().filter(|line| line.contains("checkout-"));
    assert_eq!(removed.count(), 1, "{}", cleaned.stderr);
}

#[test]
fn a_dependency_is_compiled_once_for_all_builds_of_a_comparison() {
    let manifest = "[package]\nname = \"tiny\"\nversion = \"1.0.0\"\n";
    let source = "pub fn seven() -> u32 {\n    7\n}\n";
    let tiny = committed(&[("Cargo.toml", manifest), ("src/lib.rs", source)]);
    let home = tempfile::tempdir().unwrap();
    let manifest = format!(
        "[package]\nname = \"project\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
         [dependencies]\ntiny.git = \"file://{}\"\n",
        tiny.path("").display()
    );
    let test = "#[test]\nfn is_seven() {\n    assert_eq!(tiny::seven(), 7);\n}\n\n\
        #[test]\nfn is_in_order() {\n    let all = std::collections::HashSet::from([1, 2, 3]);\n\
        assert!(all.into_iter().is_sorted());\n}\n";
    let project = committed(&[("Cargo.toml", &manifest), ("src/lib.rs", test)]);
    edit(&project, "src/lib.rs", &[("), 7)", "), 8)")]);
    let mut fetch = plain_command(cargo(), &project.path(""));
    let fetched = fetch.args(["fetch", "--quiet"]).env("CARGO_HOME", home.path()).status();
    assert!(fetched.unwrap().success());
    let output = deflake(&project).env("CARGO_HOME", home.path()).run();
    let report = output.expect(ExitCode::CleanRunFailed).report();
    let blamed = blamed(&report);
    assert_eq!(blamed["is_seven"].0, Blame::Regression);
    assert_eq!(blamed["is_in_order"].0, Blame::Flaky);
    let compiled =
        |output: &Output, name: &str| output.stderr.matches(&format!("Compiling {name} ")).count();
    assert_eq!(compiled(&output, "tiny"), 1, "{}", output.stderr);
    // With the change, with coverage, and without the change.
    assert_eq!(compiled(&output, "project"), 3, "{}", output.stderr);

    commit(&project);
    let bisect = Nondex::reported(&project.path(""), "bisect").arg("is_in_order");
    let output = bisect.env("CARGO_HOME", home.path()).run();
    assert_eq!(compiled(output.expect(ExitCode::Ok), "tiny"), 0, "{}", output.stderr);
}

#[test]
fn a_test_in_a_renamed_file_is_compared_with_itself() {
    let test = "#[test]\nfn is_in_order() {\n\
        let all = std::collections::HashSet::from([1, 2, 3]);\n\
        assert!(all.into_iter().is_sorted());\n}\n";
    let project = committed(&[("src/lib.rs", ""), ("tests/before.rs", test)]);
    fs::rename(project.path("tests/before.rs"), project.path("tests/after.rs")).unwrap();
    for arguments in [&[][..], &["--test", "after"]] {
        let report = deflake(&project).args(arguments).run().expect(ExitCode::Ok).report();
        let (verdict, witness, _) = &blamed(&report)["is_in_order"];
        let expected = (Blame::Flaky, Some(Witness::Culprit));
        assert_eq!((*verdict, *witness), expected, "{arguments:?}");
    }
}

#[test]
fn nothing_of_a_repository_changes_when_a_comparison_is_killed() {
    let project = repository();
    edit(&project, "src/lib.rs", &[("    a + b", "    a + b + 1")]);
    fs::write(project.path("new.rs"), "").unwrap();
    git_at_noon(&project, &["add", "new.rs"]);
    let before = state(&project);
    // At any time: before the first build, in a build, or during the checkout or the build of the
    // base.
    for milliseconds in [300, 2_000, 6_000] {
        let mut child = deflake(&project).in_own_group().spawn();
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        let group = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
        let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
        child.wait().unwrap();
        assert_eq!(state(&project), before);
    }
    // Left-over files do no harm.
    deflake(&project).args(["-E", "test(adds)"]).run().expect(ExitCode::CleanRunFailed);
    assert_eq!(state(&project), before);
}

/// Returns the state of a repository without its objects, and the list of its tracked files.
fn state(project: &Fixture) -> Vec<(String, String)> {
    let commands = [
        &["status", "--porcelain"][..],
        &["for-each-ref"],
        &["config", "--list", "--local"],
        &["worktree", "list", "--porcelain"],
        &["stash", "list"],
        &["count-objects", "-v"],
        &["ls-files", "--stage"],
        &["reflog"],
    ];
    let outputs = commands.map(|command| (command.join(" "), git_at_noon(project, command)));
    let index = format!("{:?}", fs::read(project.path(".git/index")).unwrap());
    outputs.into_iter().chain([("index".to_owned(), index)]).collect()
}

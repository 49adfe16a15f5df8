//! Arguments, variables and streams of the binary. No test here builds a project.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Returns the binary in `dir`, without variables of the environment that it reads.
fn nondex(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-nondex"));
    command.current_dir(dir).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("NONDEX_") || text.starts_with("CARGO_TERM_") || text == "NO_COLOR" {
            command.env_remove(name);
        }
    }
    command
}

fn fixture() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/filterset"))
}

/// Runs the binary with the words of a line, split at spaces.
pub(crate) fn run(line: &str) -> Output {
    nondex(fixture()).args(line.split(' ')).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_command_line_that_cannot_be_understood_ends_with_2_and_says_what_was_expected() {
    for (line, part) in [
        ("--seeds ten", "expected a number of seeds"),
        ("--seeds 5..2", "`5..2` has no seeds"),
        ("--seed -1", "unexpected argument '-1'"),
        ("--seed 1 --seeds 3", "cannot be used with"),
        ("run --seed 1 --seeds 3", "cannot be used with"),
        ("--levels FUL", "unknown level `FUL`, expected one of STD, ONE, EQ, ID, FULL"),
        ("--levels STD,,ONE", "unknown level ``"),
        ("-E test(one", "expected `)`, found the end"),
        ("-E package(nope)", "no package of the workspace matches this"),
        ("list -E binary(nope)", "no binary name of the workspace matches this"),
        ("-- --nocapture", "expected test filters, --exact, --skip"),
        ("-- --test-threads=1", "`--test-threads N` before `--`"),
        (
            "-- --nocapture",
            "`cargo nondex test --no-capture` and `cargo nondex replay` show the output",
        ),
        ("--ignored --include-ignored", "cannot be used with"),
        ("--ignored -- --include-ignored", "cannot be used together"),
        ("-q list", "`cargo nondex list [OPTIONS]`"),
        ("--models (", "unclosed group"),
        ("--models zzz", "matches no model"),
        ("--skip-models .", "leave no model on"),
        ("models zzz", "no model matches `zzz`"),
        ("--clean-runs 0", "expected a whole number of at least 1"),
        ("--seed x", "expected a whole number below 2^64"),
        ("replay x --level STD --seed 1.5", "expected a whole number below 2^64"),
        ("order --pairs many", "expected a whole number below 2^64"),
        ("with --seed x -- true", "expected a whole number below 2^64"),
        ("--schedule cover", "expected covering or random"),
        ("-j 0", "expected a whole number of at least 1"),
        ("--timeout 0", "expected a time above 0"),
        ("--message-format xml", "human, json"),
        ("--color blue", "auto, always, never"),
        ("--mode half", "program, swap"),
        ("--release --cargo-profile x", "cannot be used with"),
        ("-q -v", "cannot be used with"),
        ("--bogus", "unexpected argument '--bogus'"),
        ("replay", "<ID|TEST>"),
        ("replay x --gdb --debugger y", "cannot be used with"),
        ("replay x --gdb -q", "cannot be used with"),
        ("replay x --timeout 0", "expected a time above 0"),
        ("replay x --debugger=", "the debugger's command is empty"),
        ("report --list --export", "cannot be used with"),
        ("report 1-2 --list", "cannot be used with"),
        ("confirm", "name the tests to confirm"),
        ("confirm x --runs 0", "expected a whole number of at least 1"),
        ("confirm x --runs 3 --seeds 4", "cannot be used with"),
        ("confirm x --seeds 0", "`--seeds 0` leaves nothing to run"),
        ("-q replay", "`cargo nondex replay [OPTIONS]`"),
        ("rnu", "did you mean `cargo nondex run`?"),
        ("hlep", "did you mean `cargo nondex help`?"),
        ("modles --seeds 1", "did you mean `cargo nondex models`?"),
    ] {
        let output = run(line);
        assert_eq!(output.status.code(), Some(2), "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains(part), "{line}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{line}");
    }
}

#[test]
fn help_is_a_command_as_in_cargo() {
    let output = run("help replay");
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).contains("cargo nondex replay"));
}

#[test]
fn a_variable_is_checked_as_its_option_is_and_named() {
    for (name, value, expected) in [
        ("NONDEX_SEEDS", "ten", "expected a number of seeds"),
        ("NONDEX_LEVELS", "STD,FUL", "expected one of STD, ONE"),
        ("NONDEX_STRICT", "maybe", "expected `true` or `false`"),
        ("NONDEX_JOBS", "0", "expected a whole number of at least 1"),
        ("NONDEX_MAX_STEPS", "many", "expected a whole number"),
    ] {
        let output = nondex(fixture()).env(name, value).output().unwrap();
        assert_eq!(output.status.code(), Some(96), "{name}: {}", stderr(&output));
        assert!(
            stderr(&output).contains(&format!("`{name}` is `{value}`: ")),
            "{name}: {}",
            stderr(&output)
        );
        assert!(stderr(&output).contains(expected), "{name}: {}", stderr(&output));
    }
}

#[test]
fn the_command_line_wins_over_the_environment() {
    expect_accepted(nondex(fixture()).env("NONDEX_SEEDS", "3").args(["--seed", "7"]));
}

/// Asserts that all options of this call are accepted.
fn expect_accepted(call: &mut Command) {
    // A wrong filter is only reported after the other options were accepted.
    let output = call.args(["-E", "("]).output().unwrap();
    assert!(stderr(&output).contains("invalid filterset"), "{}", stderr(&output));
}

#[test]
fn the_flag_of_cargo_test_for_what_is_done_anyway_is_understood() {
    expect_accepted(nondex(fixture()).arg("--no-fail-fast"));
}

#[test]
fn a_project_that_is_not_there_ends_with_96() {
    let empty = tempfile::tempdir().unwrap();
    for line in [
        "--manifest-path /nonexistent/Cargo.toml",
        "list --manifest-path /nonexistent/Cargo.toml",
        "clean --manifest-path /nonexistent/Cargo.toml",
    ] {
        let output = run(line);
        assert_eq!(output.status.code(), Some(96), "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains("/nonexistent/Cargo.toml"), "{}", stderr(&output));
    }
    let output = nondex(empty.path()).arg("--offline").output().unwrap();
    assert_eq!(output.status.code(), Some(96), "{}", stderr(&output));
    assert!(stderr(&output).contains("could not find `Cargo.toml`"), "{}", stderr(&output));
}

#[test]
fn cargo_passes_the_name_of_the_subcommand_and_nothing_changes() {
    let plain = run("models directory/ --message-format json");
    let through_cargo = run("nondex models directory/ --message-format json");
    assert_eq!(stdout(&plain), stdout(&through_cargo));
    assert_eq!(plain.status.code(), Some(0));
    assert!(stdout(&plain).starts_with("[\n"), "{}", stdout(&plain));
}

#[test]
fn help_and_version_go_to_stdout_and_end_with_0() {
    for line in [
        "--help",
        "-h",
        "nondex --help",
        "run --help",
        "list -h",
        "models --help",
        "clean --help",
        "replay --help",
        "report --help",
        "confirm --help",
    ] {
        let output = run(line);
        assert_eq!(output.status.code(), Some(0), "{line}");
        assert!(stdout(&output).contains("Usage: cargo nondex"), "{line}: {}", stdout(&output));
        assert_eq!(stderr(&output), "", "{line}");
    }
    assert!(stdout(&run("--version")).starts_with("cargo-nondex "));
}

#[test]
fn events_are_for_commands_that_run_tests() {
    let output = run("models --message-format json-lines");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("`run`, `test`, `check` and `order`"));
    let lines = stdout(&output);
    let last: serde_json::Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!((&last["event"], &last["exit_code"]), (&"run-finished".into(), &2.into()));
}

#[test]
fn models_lists_each_api_with_what_is_open_and_the_fix() {
    let text = stdout(&run("models"));
    for model in nondex_core::model::CATALOGUE {
        for part in [model.api, model.promise, model.link, model.fix] {
            assert!(text.contains(part), "{part}");
        }
    }
    let json: serde_json::Value =
        serde_json::from_slice(&run("models --message-format json").stdout).unwrap();
    let names: Vec<&str> =
        json.as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"fixed_hasher/std::collections::HashMap::iter"));
    assert!(json[0]["levels"]["STD"].is_string());
}

#[test]
fn clean_removes_what_was_written_into_the_target_directory_and_nothing_else() {
    let target = tempfile::tempdir().unwrap();
    let path = target.path().to_str().unwrap();
    std::fs::create_dir_all(target.path().join("nondex/latest")).unwrap();
    std::fs::create_dir_all(target.path().join("debug")).unwrap();
    for _ in 0..2 {
        let output = run(&format!("clean --target-dir {path}"));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(!target.path().join("nondex").exists());
    }
    assert!(target.path().join("debug").exists());
}

#[test]
fn colours_follow_the_flag_then_the_variables() {
    let coloured =
        |output: &Output| stderr(output).contains('\u{1b}') || stdout(output).contains('\u{1b}');
    assert!(!coloured(&run("models")), "not a terminal");
    assert!(coloured(&run("models --color always")));
    let with = |variables: &[(&str, &str)], line: &str| {
        nondex(fixture()).envs(variables.iter().copied()).args(line.split(' ')).output().unwrap()
    };
    assert!(coloured(&with(&[("CARGO_TERM_COLOR", "always")], "models")));
    assert!(!coloured(&with(&[("CARGO_TERM_COLOR", "always")], "models --color never")));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut child =
        nondex(fixture()).arg("models").stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 4];
    reader.read_exact(&mut first).unwrap();
    drop(reader);
    let mut printed = String::new();
    child.stderr.take().unwrap().read_to_string(&mut printed).unwrap();
    assert_eq!((child.wait().unwrap().code(), printed.as_str()), (Some(0), ""));

    // If stderr is closed, the exit code still reports the error.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = nondex(fixture()).args(["-E", "("]).stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(2));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = nondex(fixture()).arg("models").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(96));
    assert!(stderr(&output).contains("failed to write to stdout"), "{}", stderr(&output));
}

#[test]
fn completions_and_a_manual_page_know_every_command() {
    let commands = ["replay", "explain", "report", "confirm", "completions"];
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let text = stdout(&run(&format!("completions {shell}")));
        assert!(commands.iter().all(|name| text.contains(name)), "{shell}");
        assert!(text.contains("max-time") || shell == "elvish", "{shell}");
    }
    let page = stdout(&run("man"));
    assert!(page.starts_with(".ie") && page.contains(".TH cargo-nondex"), "{page}");
    assert!(commands.iter().all(|name| page.contains(name)), "{page}");
    assert_eq!(run("completions").status.code(), Some(2));
}

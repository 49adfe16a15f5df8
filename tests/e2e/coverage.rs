//! The coverage and the opened files of a test are known however the test ends. This includes
//! doctests and programs that a test starts.
//!
//! Each test fails in the user's own folder, and passes in the checkout of the code before the
//! change. So the report on it depends only on what it ran, and its name shows what that is.

mod files;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use cargo_nondex::report::Report;
use cargo_nondex::report::schema::{Blame, Witness};

use crate::support::{Fixture, Nondex, committed, edit};

fn deflake(project: &Fixture) -> Nondex {
    let arguments = ["--seeds", "0", "--clean-runs", "1", "--delayed"];
    Nondex::reported(&project.path(""), "deflake").args(arguments)
}

type Impact = (Blame, Option<Witness>, Vec<String>);

/// Returns the reported impact of the change on each failing test, with the lines it ran and the
/// files it opened.
fn impacts(report: &Report) -> BTreeMap<&str, Impact> {
    let changes = report.tests.iter().filter_map(|test| {
        let change = test.change.as_ref()?;
        let lines = change.lines.iter().map(|line| line.line.to_string());
        let reached = lines.chain(change.files.iter().cloned()).collect();
        Some((test.name.as_str(), (change.verdict, change.witness, reached)))
    });
    changes.collect()
}

fn blamed(by: Witness, reached: &[&str]) -> Impact {
    let reached = reached.iter().map(|&name| name.to_owned()).collect();
    (Blame::Regression, Some(by), reached)
}

const fn cleared() -> Impact {
    (Blame::Flaky, Some(Witness::Coverage), Vec::new())
}

const LIB: &str = r#"
pub fn changed(a: u32) -> u32 {
    a + 1
}

pub fn other(a: u32) -> u32 {
    a + 2
}

/// Whether this is the checkout of the code before the change.
pub fn is_before() -> bool {
    env!("CARGO_MANIFEST_DIR").contains("checkout-")
}
"#;

const ENDS: &str = r#"
use std::io::BufRead;
use std::process::{Command, Stdio};

fn hang() {
    while !project::is_before() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

fn kill() {
    if !project::is_before() {
        let own = std::process::id().to_string();
        let _ = Command::new("kill").args(["-9", &own]).status();
        hang();
    }
}

fn overflow(depth: u64) -> u64 {
    let mut room = [depth; 64];
    if !project::is_before() {
        room[1] = overflow(std::hint::black_box(depth + 1));
    }
    room[1] + std::hint::black_box(&room)[2]
}

/// Lets a program of the project run until it prints that it has, and kills it.
fn serve(what: &str) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_serve"));
    let mut child = program.arg(what).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(project::is_before(), "{line}");
}

#[test]
fn hangs_behind_the_change() {
    project::changed(1);
    hang();
}

#[test]
fn hangs_behind_other_code() {
    project::other(1);
    hang();
}

#[test]
fn hangs_while_another_thread_runs_the_change() {
    let thread = std::thread::spawn(|| project::changed(1));
    hang();
    thread.join().unwrap();
}

#[test]
fn is_killed_behind_the_change() {
    project::changed(1);
    kill();
}

#[test]
fn is_killed_behind_other_code() {
    project::other(1);
    kill();
}

#[test]
fn overflows_behind_the_change() {
    project::changed(1);
    overflow(1);
}

#[test]
fn overflows_behind_other_code() {
    project::other(1);
    overflow(1);
}

#[test]
fn kills_what_runs_the_change() {
    serve("changed");
}

#[test]
fn kills_what_runs_other_code() {
    serve("other");
}

#[test]
fn leaves_at_once_behind_the_change() {
    unsafe extern "C" {
        fn _exit(code: i32) -> !;
    }
    project::changed(1);
    if !project::is_before() {
        unsafe { _exit(3) }
    }
}
"#;

const SERVE: &str = r#"
fn main() {
    let what = std::env::args().nth(1).unwrap();
    let said = if what == "changed" { project::changed(1) } else { project::other(1) };
    println!("{said}");
    if std::env::args().nth(2).is_some() {
        return;
    }
    std::thread::sleep(std::time::Duration::from_secs(1000));
}
"#;

#[test]
fn what_a_test_ran_is_known_however_it_or_a_program_that_it_started_ended() {
    let project =
        committed(&[("src/lib.rs", LIB), ("src/bin/serve.rs", SERVE), ("tests/ends.rs", ENDS)]);
    edit(&project, "src/lib.rs", &[("    a + 1", "    1 + a")]);
    let output = deflake(&project)
        // Most of these tests hang until the time limit.
        .args(["--test", "ends", "--timeout", "2", "--jobs", "4"])
        .run();
    let report = output.report();
    let regression = || blamed(Witness::Coverage, &["3"]);
    let expected = BTreeMap::from([
        ("hangs_behind_the_change", regression()),
        ("hangs_behind_other_code", cleared()),
        ("hangs_while_another_thread_runs_the_change", regression()),
        ("is_killed_behind_the_change", regression()),
        ("is_killed_behind_other_code", cleared()),
        ("overflows_behind_the_change", regression()),
        ("overflows_behind_other_code", cleared()),
        ("kills_what_runs_the_change", regression()),
        ("kills_what_runs_other_code", cleared()),
        ("leaves_at_once_behind_the_change", regression()),
    ]);
    assert_eq!(impacts(&report), expected, "{}", output.stderr);
    // No files of flags are left over.
    let runs = fs::read_dir(project.path("target/nondex/runs")).unwrap();
    for run in runs.flatten() {
        let left = fs::read_dir(run.path().join("records")).into_iter().flatten();
        let names = left.flatten().map(|file| file.file_name().into_string().unwrap());
        let flags: Vec<String> = names.filter(|name| name.contains("flags")).collect();
        assert_eq!(flags, Vec::<String>::new());
    }
}

#[test]
fn where_the_linker_takes_no_scripts_what_a_killed_process_ran_is_unknown() {
    let forks = r#"
#[test]
fn ends_a_fork_at_once_behind_the_change() {
    unsafe extern "C" {
        fn fork() -> i32;
        fn waitpid(child: i32, status: *mut i32, options: i32) -> i32;
        fn _exit(code: i32) -> !;
    }
    unsafe {
        match fork() {
            0 => _exit(if project::changed(1) == 2 && !project::is_before() { 1 } else { 0 }),
            child => {
                let mut status = 0;
                waitpid(child, &mut status, 0);
                assert_eq!(status, 0);
            }
        }
    }
}

#[test]
fn lets_a_program_run_the_change_to_its_end() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_serve"));
    let ended = program.args(["changed", "end"]).status().unwrap();
    assert!(ended.success() && project::is_before());
}
"#;
    let project = committed(&[
        ("src/lib.rs", LIB),
        ("src/bin/serve.rs", SERVE),
        ("tests/ends.rs", &format!("{ENDS}{forks}")),
    ]);
    let link = project.path("target/wrapped");
    fs::create_dir_all(project.path("target")).unwrap();
    fs::write(&link, "#!/bin/sh\nexec cc \"$@\"\n").unwrap();
    fs::set_permissions(&link, fs::Permissions::from_mode(0o755)).unwrap();
    edit(&project, "src/lib.rs", &[("    a + 1", "    1 + a")]);
    let filter = "test(kills_what) | test(is_killed) | test(fork) | test(to_its_end)";
    let output = deflake(&project)
        .args(["--test", "ends", "--timeout", "2", "--jobs", "4", "-E", filter])
        .env("RUSTFLAGS", format!("-Clinker={}", link.display()))
        .run();
    let unknown = || (Blame::Unknown, None, Vec::new());
    let expected = BTreeMap::from([
        ("is_killed_behind_the_change", unknown()),
        ("is_killed_behind_other_code", unknown()),
        ("kills_what_runs_the_change", unknown()),
        ("kills_what_runs_other_code", unknown()),
        ("ends_a_fork_at_once_behind_the_change", unknown()),
        ("lets_a_program_run_the_change_to_its_end", blamed(Witness::Coverage, &["3"])),
    ]);
    assert_eq!(impacts(&output.report()), expected, "{}", output.stderr);
}

const DOCUMENTED: &str = r#"
//! Words.
//!
//! ```
//! # assert!(env!("CARGO_MANIFEST_DIR").contains("checkout-"));
//! assert_eq!(project::other(1), 3);
//! ```

/// Adds one.
///
/// ```
/// assert_eq!(project::changed(1), 2);
/// assert!(env!("CARGO_MANIFEST_DIR").contains("checkout-"));
/// ```
pub fn changed(a: u32) -> u32 {
    a + 1
}

/// Adds two.
///
/// ```
/// assert!(project::other(1) == 3, "three");
/// assert!(env!("CARGO_MANIFEST_DIR").contains("checkout-"));
/// ```
pub fn other(a: u32) -> u32 {
    a + 2
}
"#;

#[test]
fn what_a_doctest_ran_is_known_and_that_it_is_another_one_itself() {
    let project = committed(&[("src/lib.rs", DOCUMENTED)]);
    // The doctests below move down by one line, but keep their identity.
    let edits = [
        ("//! Words.\n", "//! Words.\n//! More of them.\n"),
        ("    a + 1", "    1 + a"),
        ("\"three\"", "\"3\""),
    ];
    edit(&project, "src/lib.rs", &edits);
    let output = deflake(&project).run();
    let report = output.report();
    let expected = BTreeMap::from([
        ("src/lib.rs - (line 5)", cleared()),
        ("src/lib.rs - changed (line 12)", blamed(Witness::Coverage, &["17"])),
        ("src/lib.rs - other (line 22)", blamed(Witness::Coverage, &["22"])),
    ]);
    assert_eq!(impacts(&report), expected, "{}", output.stderr);
}

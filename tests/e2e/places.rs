//! Places where changed code may run. A test that ran it in any of them is not cleared.
//!
//! Each test fails in the user's own folder, and passes in the checkout of the code before the
//! change. So the report on it depends only on what it ran.

use std::collections::BTreeMap;

use cargo_nondex::report::Report;
use cargo_nondex::report::schema::Blame;

use crate::support::{Fixture, Nondex, committed, edit};

fn deflake(project: &Fixture) -> Nondex {
    let arguments = ["--seeds", "0", "--delayed", "--tests"];
    Nondex::reported(&project.path(""), "deflake").args(arguments)
}

/// Returns the reported verdict for each failing test, with the lines that it ran.
fn impacts(report: &Report) -> BTreeMap<&str, (Blame, Vec<u32>)> {
    let changes = report.tests.iter().filter_map(|test| {
        let change = test.change.as_ref()?;
        let lines = change.lines.iter().map(|line| line.line);
        Some((test.name.as_str(), (change.verdict, lines.collect())))
    });
    changes.collect()
}

const LIB: &str = r#"
pub fn changed(a: u32) -> u32 {
    a + 1
}

#[inline(always)]
pub fn inlined(a: u32) -> u32 {
    a * 3
}

pub fn generic<T: Into<u64>>(a: T) -> u64 {
    let b: u64 = a.into();
    b * 5
}

pub trait Named {
    fn name(&self) -> String {
        "named".to_owned()
    }
}

pub async fn later(a: u32) -> u32 {
    a + 7
}

pub fn adder() -> impl Fn(u32) -> u32 {
    |a| {
        a + 9
    }
}

pub struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        std::hint::black_box(11);
    }
}

pub fn other(a: u32) -> u32 {
    a + 2
}

/// Whether this is the checkout of the code before the change.
pub fn is_before() -> bool {
    env!("CARGO_MANIFEST_DIR").contains("checkout-")
}
"#;

const EDITS: [(&str, &str); 7] = [
    ("    a + 1", "    1 + a"),
    ("    a * 3", "    3 * a"),
    ("    b * 5", "    5 * b"),
    ("\"named\".to_owned()", "String::from(\"named\")"),
    ("    a + 7", "    7 + a"),
    ("        a + 9", "        9 + a"),
    ("black_box(11)", "black_box(12)"),
];

const PLACES: &str = r#"
use project::{Named, changed, is_before};

unsafe extern "C" {
    fn fork() -> i32;
    fn waitpid(child: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(code: i32) -> !;
    fn atexit(function: extern "C" fn()) -> i32;
    fn signal(number: i32, handler: extern "C" fn(i32)) -> usize;
    fn raise(number: i32) -> i32;
}

fn fail() {
    assert!(is_before());
}

struct Last;

impl Drop for Last {
    fn drop(&mut self) {
        if changed(1) == 2 && !is_before() {
            std::process::abort();
        }
    }
}

thread_local!(static LAST: Last = const { Last });

extern "C" fn at_exit() {
    if changed(1) == 2 && !is_before() {
        unsafe { _exit(3) }
    }
}

extern "C" fn on_signal(_: i32) {
    changed(1);
}

#[test]
fn forks() {
    unsafe {
        match fork() {
            0 => _exit(i32::from(changed(1) == 2 && !is_before())),
            child => {
                let mut status = 0;
                waitpid(child, &mut status, 0);
                assert_eq!(status, 0);
            }
        }
    }
}

#[test]
fn becomes_another_program() {
    use std::os::unix::process::CommandExt;
    changed(1);
    if !is_before() {
        std::process::Command::new("false").exec();
    }
}

#[test]
fn starts_a_program_that_does_more_before_it_is_one() {
    use std::os::unix::process::CommandExt;
    let mut command = std::process::Command::new("true");
    unsafe {
        command.pre_exec(|| {
            changed(1);
            Ok(())
        });
    }
    assert!(command.status().unwrap().success());
    fail();
}

#[test]
fn keeps_something_until_its_thread_ends() {
    LAST.with(|_| ());
}

#[test]
fn has_a_thread_that_keeps_something() {
    std::thread::spawn(|| LAST.with(|_| ())).join().unwrap();
}

#[test]
fn has_a_thread_that_nobody_joins() {
    let (said, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        changed(1);
        said.send(()).unwrap();
        std::thread::park();
    });
    heard.recv().unwrap();
    fail();
}

#[test]
fn does_more_at_exit() {
    unsafe { atexit(at_exit) };
}

#[test]
fn does_more_at_a_signal() {
    unsafe {
        signal(10, on_signal);
        raise(10);
    }
    fail();
}

#[test]
fn does_more_at_a_panic() {
    std::panic::set_hook(Box::new(|_| {
        changed(1);
    }));
    let _ = std::panic::catch_unwind(|| panic!());
    fail();
}

#[test]
fn has_it_inlined() {
    assert_eq!(project::inlined(2), 6);
    fail();
}

#[test]
fn has_an_instance_of_its_own() {
    assert_eq!(project::generic(2_u8), 10);
    fail();
}

#[test]
fn has_a_provided_method() {
    struct A;
    impl Named for A {}
    assert_eq!(A.name(), "named");
    fail();
}

#[test]
fn waits_for_a_future() {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let future = std::pin::pin!(project::later(1));
    assert_eq!(future.poll(&mut context), std::task::Poll::Ready(8));
    fail();
}

#[test]
fn calls_a_closure() {
    assert_eq!(project::adder()(1), 10);
    fail();
}

#[test]
fn drops_a_value() {
    drop(project::Guard);
    fail();
}

#[test]
fn runs_other_code() {
    assert_eq!(project::other(1), 3);
    fail();
}
"#;

fn expected() -> BTreeMap<&'static str, (Blame, Vec<u32>)> {
    let of_changed = [
        "forks",
        "becomes_another_program",
        "starts_a_program_that_does_more_before_it_is_one",
        "keeps_something_until_its_thread_ends",
        "has_a_thread_that_keeps_something",
        "has_a_thread_that_nobody_joins",
        "does_more_at_exit",
        "does_more_at_a_signal",
        "does_more_at_a_panic",
    ];
    let others = [
        ("has_it_inlined", 8),
        ("has_an_instance_of_its_own", 13),
        ("has_a_provided_method", 18),
        ("waits_for_a_future", 23),
        ("calls_a_closure", 28),
        ("drops_a_value", 36),
    ];
    let lines = of_changed.map(|name| (name, 3)).into_iter().chain(others);
    lines
        .map(|(name, line)| (name, (Blame::Regression, vec![line])))
        .chain([("runs_other_code", (Blame::Flaky, vec![]))])
        .collect()
}

fn project() -> Fixture {
    let project = committed(&[("src/lib.rs", LIB), ("tests/places.rs", PLACES)]);
    edit(&project, "src/lib.rs", &EDITS);
    project
}

#[test]
fn changed_code_is_recorded_wherever_it_runs() {
    let project = project();
    let output = deflake(&project).run();
    assert_eq!(impacts(&output.report()), expected(), "{}", output.stderr);
}

#[test]
#[ignore = "second tier: builds with other profiles"]
fn changed_code_is_recorded_with_every_profile() {
    let project = project();
    for profile in
        [&[("OPT_LEVEL", "3"), ("DEBUG", "0")][..], &[("STRIP", "symbols"), ("LTO", "thin")]]
    {
        let mut call = deflake(&project);
        for (name, value) in profile {
            call = call.env(&format!("CARGO_PROFILE_DEV_{name}"), value);
        }
        let output = call
            .env("RUSTFLAGS", "--remap-path-prefix=/=/elsewhere/ -Csymbol-mangling-version=v0")
            .run();
        assert_eq!(impacts(&output.report()), expected(), "{profile:?}: {}", output.stderr);
    }
}

#[test]
fn the_verdict_on_a_program_without_line_information_is_unknown() {
    let project = project();
    let output = deflake(&project)
        .args(["-E", "test(runs_other_code) | test(forks)"])
        .env("RUSTFLAGS", "-Clink-arg=-s")
        .run();
    let unknown = || (Blame::Unknown, vec![]);
    let expected = BTreeMap::from([("runs_other_code", unknown()), ("forks", unknown())]);
    assert_eq!(impacts(&output.report()), expected, "{}", output.stderr);
}

//! Test groups of nextest's configuration: tests that share a port or a file never run at the same
//! time.

use std::fs;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Verdict;

use crate::support::{Fixture, Nondex, committed, test};

/// Returns a project with this configuration. Its tests `file_…` use one lock file for a while. Its
/// tests `state_…` race on a counter, and one of them fails after another one.
fn project(configuration: &str) -> Fixture {
    committed(&[
        ("Cargo.toml", "[package]\nname = \"locks\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        (
            "src/lib.rs",
            r#"
#![cfg(test)]

/// The only owner of the lock file.
fn own() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
    let lock = folder.join("lock");
    if std::fs::File::create_new(&lock).is_err() {
        std::fs::write(folder.join("overlap"), "").unwrap();
        panic!("another test has the lock");
    }
    // Sleeping takes no time here.
    for number in 0..500_000_u64 {
        std::hint::black_box(number);
    }
    std::fs::remove_file(&lock).unwrap();
}

#[test]
fn file_one() {
    own();
}

#[test]
fn file_two() {
    own();
}

#[test]
fn file_three() {
    let _ = std::collections::HashMap::from([(1, 1), (2, 2)]).keys().count();
    own();
}

mod state {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    static COUNTER: AtomicUsize = AtomicUsize::new(0);
    static SEEN: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn state_adds() {
        COUNTER.fetch_add(1, SeqCst);
    }

    #[test]
    fn state_counts_two() {
        let before = COUNTER.load(SeqCst);
        COUNTER.fetch_add(2, SeqCst);
        assert_eq!(COUNTER.load(SeqCst), before + 2);
    }

    #[test]
    fn state_sees() {
        SEEN.store(1, SeqCst);
    }

    #[test]
    fn state_sees_nothing() {
        assert_eq!(SEEN.load(SeqCst), 0);
    }
}
"#,
        ),
        (".gitignore", "/target\n"),
        (".config/nextest.toml", configuration),
    ])
}

const GROUPS: &str = "[test-groups]\nfile = { max-threads = 1 }\nstate = { max-threads = 1 }\n\
    [[profile.default.overrides]]\nfilter = 'test(file_)'\ntest-group = 'file'\n\
    [[profile.default.overrides]]\nfilter = 'test(state_)'\ntest-group = 'state'\n\
    [[profile.default.overrides]]\nfilter = 'test(file_three)'\n\
    threads-required = 'num-test-threads'\n";

#[test]
fn tests_of_a_group_that_use_one_file_never_overlap_and_are_still_tried_in_other_orders() {
    let project = project(GROUPS);
    let nondex = |command: &str| {
        let nondex = match command {
            "list" => Nondex::command(&project.path(""), command),
            command => Nondex::reported(&project.path(""), command),
        };
        nondex.args(["-j", "4"])
    };
    let listed = nondex("list").arg("-v").run();
    let expected = "file_one at src/lib.rs:20 in test group file";
    assert!(listed.stdout.contains(expected), "{}", listed.stdout);
    for command in ["test", "run"] {
        let report = nondex(command).arg("file").run().expect(ExitCode::Ok).report();
        assert_eq!(report.summary.tests, 3);
    }
    let report = nondex("check").run().expect(ExitCode::Found).report();
    for test in &report.tests {
        let expected = match test.name.as_str() {
            "state::state_sees_nothing" => Verdict::OrderDependentVictim,
            _ => Verdict::Stable,
        };
        assert_eq!((test.verdict, &test.race), (expected, &None), "{test:#?}");
    }
    // A failure that a concurrent test explains changes no verdict, so the file is checked too.
    assert!(!project.path("target/overlap").exists());
    fs::write(project.path(".config/nextest.toml"), "").unwrap();
    let ungrouped = nondex("order").arg("state").run();
    let report = ungrouped.expect(ExitCode::Found).report();
    let race = test(&report, "state::state_counts_two").race.as_ref();
    assert_eq!(race.unwrap().with, "state::state_adds");
    // The project's settings for its usual runner apply unless a number of jobs is given.
    let order = || Nondex::reported(&project.path(""), "order").arg("state");
    let of_libtest = order().env("RUST_TEST_THREADS", "1").run();
    fs::write(project.path(".config/nextest.toml"), "profile.default.test-threads = 1").unwrap();
    for limited in [of_libtest, order().run()] {
        assert!(limited.stderr.contains("lets 1 test run at a time"), "{}", limited.stderr);
        let report = limited.expect(ExitCode::Found).report();
        assert_eq!(test(&report, "state::state_counts_two").race, None);
    }
}

//! Tests that fail alone, although no other test of their process decides this.

use std::fs;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Verdict;

use super::{called, reported};
use crate::support::{Fixture, Nondex, test};

const SUITE: &str = r#"
    #![cfg(test)]

    fn outside(name: &str) -> std::path::PathBuf {
        std::path::PathBuf::from(std::env::var_os("OUTSIDE").unwrap()).join(name)
    }

    #[test]
    fn expects_no_mark() {
        assert!(!outside("mark").exists());
    }

    #[test]
    fn is_wrong() {
        std::fs::write(outside("log"), "begun").unwrap();
        assert_eq!(1 + 1, 3);
    }

    #[test]
    fn makes_a_folder() {
        std::fs::create_dir(outside("once")).unwrap();
    }

    #[test]
    fn zz_leaves_a_mark() {
        std::fs::write(outside("mark"), "here").unwrap();
    }
"#;

#[test]
fn a_test_that_fails_only_since_its_first_run_is_neither_stable_nor_broken_and_the_file_is_named() {
    use Verdict::{Broken, NonDeterministic, Stable};
    let fixture = Fixture::new("order-races");
    fs::write(fixture.path("src/lib.rs"), SUITE).unwrap();
    // Expected verdicts in an empty folder, and then in the same folder again. `run` judges the
    // first test before the last one leaves its mark. It sees one failure of the third test, in the
    // second run.
    let first = [NonDeterministic, Broken, NonDeterministic, Stable];
    let later = [Broken, Broken, Broken, Stable];
    for command in ["order", "check", "run"] {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path().canonicalize().unwrap();
        for expected in [first, later] {
            let call = Nondex::command(&fixture.path(""), command)
                .args(["--offline", "--message-format", "json", "-j", "1"])
                .env("OUTSIDE", &folder);
            let expects =
                if expected == first { ExitCode::Found } else { ExitCode::CleanRunFailed };
            let report = called(&fixture, call).expect(expects).report();
            for (name, expected, file) in [
                ("expects_no_mark", expected[0], Some("mark")),
                ("is_wrong", expected[1], None),
                ("makes_a_folder", expected[2], Some("once")),
                ("zz_leaves_a_mark", expected[3], None),
            ] {
                // `run` does not compare the state that other tests change.
                if command == "run" && name == "expects_no_mark" {
                    continue;
                }
                let test = test(&report, name);
                assert_eq!(test.verdict, expected, "{command}: {test:#?}");
                let mut notes = test.notes.iter();
                let note = notes.find(|note| note.contains("does not restore such files"));
                let path = file.map(|file| format!("`{}`", folder.join(file).display()));
                match path {
                    Some(path) => assert!(
                        note.is_some_and(|note| note.contains(&path)),
                        "{command}: {test:#?}"
                    ),
                    None => assert_eq!(note, None, "{command}: {name}"),
                }
            }
        }
    }
}

#[test]
fn a_test_that_always_fails_in_real_time_and_passes_in_virtual_time_is_not_broken() {
    let fixture = Fixture::new("order-races");
    let suite = r#"
        #![cfg(test)]
        use std::time::{Duration, Instant};

        #[test]
        fn sleeps_for_exactly_so_long() {
            let begun = Instant::now();
            for _ in 0..20 {
                std::thread::sleep(Duration::from_millis(1));
            }
            assert!(begun.elapsed() < Duration::from_micros(20_200));
        }

        #[test]
        fn is_wrong() {
            std::thread::sleep(Duration::from_millis(1));
            assert_eq!(1 + 1, 3);
        }
    "#;
    fs::write(fixture.path("src/lib.rs"), suite).unwrap();
    let report = reported(&fixture, "order", &[]).expect(ExitCode::Found).report();
    let sleeps = test(&report, "sleeps_for_exactly_so_long");
    assert_eq!(sleeps.verdict, Verdict::NonDeterministic, "{sleeps:#?}");
    let mut notes = sleeps.notes.iter();
    assert!(notes.any(|note| note.contains("virtual time")));
    assert_eq!(test(&report, "is_wrong").verdict, Verdict::Broken);
}

#[test]
fn a_test_that_passes_since_another_one_left_a_file_is_not_stable() {
    let fixture = Fixture::new("order-races");
    let suite = r#"
        #![cfg(test)]

        #[test]
        fn a_needs_the_file() {
            std::fs::read("left.txt").unwrap();
        }

        #[test]
        fn b_makes_the_file() {
            // In real time, so that the other one has failed before.
            std::process::Command::new("sleep").arg("2").status().unwrap();
            std::fs::write("left.txt", "").unwrap();
        }
    "#;
    fs::write(fixture.path("src/lib.rs"), suite).unwrap();
    let report =
        reported(&fixture, "run", &["--seeds", "0", "-j", "2"]).expect(ExitCode::Found).report();
    let needs = test(&report, "a_needs_the_file");
    assert_eq!(needs.verdict, Verdict::NonDeterministic, "{needs:#?}");
    let mut notes = needs.notes.iter();
    assert!(notes.any(|note| note.contains("`left.txt`")), "{needs:#?}");
    assert_eq!(needs.failures.len(), 1);
    assert_eq!(test(&report, "b_makes_the_file").verdict, Verdict::Passed);
}

/// Returns the source of tests that share a list in a static. Its elements are in a heap of this
/// number of bytes, which is a static too.
fn with_heap(bytes: usize) -> String {
    format!(
        r#"
        #![cfg(test)]
        use std::alloc::{{GlobalAlloc, Layout}};
        use std::cell::UnsafeCell;
        use std::sync::Mutex;
        use std::sync::atomic::{{AtomicUsize, Ordering}};

        struct Heap {{
            bytes: UnsafeCell<[u8; {bytes}]>,
            next: AtomicUsize,
        }}

        unsafe impl Sync for Heap {{}}

        unsafe impl GlobalAlloc for Heap {{
            unsafe fn alloc(&self, layout: Layout) -> *mut u8 {{
                let size = layout.size() + layout.align();
                let start = self.next.fetch_add(size, Ordering::Relaxed);
                if start + size > {bytes} {{
                    return std::ptr::null_mut();
                }}
                let place = unsafe {{ self.bytes.get().cast::<u8>().add(start) }};
                place.map_addr(|address| address.next_multiple_of(layout.align()))
            }}

            unsafe fn dealloc(&self, _: *mut u8, _: Layout) {{}}
        }}

        #[global_allocator]
        static HEAP: Heap = Heap {{
            bytes: UnsafeCell::new([0; {bytes}]),
            next: AtomicUsize::new(0),
        }};

        static NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());

        #[test]
        fn adds_a_name() {{
            NAMES.lock().unwrap().push("a name".to_owned());
        }}

        #[test]
        fn finds_no_name() {{
            assert!(NAMES.lock().unwrap().is_empty());
        }}
        "#
    )
}

#[test]
fn shared_state_is_named_next_to_a_heap_in_a_static_or_the_report_says_why_not() {
    let fixture = Fixture::new("order-races");
    for bytes in [16 << 20, 300 << 10] {
        fs::write(fixture.path("src/lib.rs"), with_heap(bytes)).unwrap();
        let output = reported(&fixture, "order", &["--interleavings", "0"]);
        let report = output.expect(ExitCode::Found).report();
        let found = test(&report, "finds_no_name");
        assert_eq!(found.verdict, Verdict::OrderDependentVictim, "{bytes} {found:#?}");
        let mut state = found.order.as_ref().unwrap().state.iter();
        let is_named = state.any(|state| state.confirmed && state.name.ends_with("NAMES"));
        let mut notes = found.notes.iter();
        let is_unknown = notes.any(|note| note.starts_with("the state they share is not known"));
        assert_eq!(
            (is_named, is_unknown),
            (bytes > 1 << 20, bytes < 1 << 20),
            "{bytes} {found:#?}"
        );
    }
}

const ONLY_HERE: &str = r#"
    #![cfg(test)]

    #[test]
    fn asks_for_a_variable() {
        assert!(std::env::var_os("NONDEX_SPEC").is_none());
    }

    #[test]
    fn is_wrong() {
        assert_eq!(1 + 1, 3);
    }
"#;

#[test]
fn a_test_that_passes_in_a_plain_build_is_not_broken_though_it_fails_in_every_order() {
    let fixture = Fixture::new("order-races");
    fs::write(fixture.path("src/lib.rs"), ONLY_HERE).unwrap();
    let output = reported(&fixture, "order", &[]);
    let report = output.expect(ExitCode::CleanRunFailed).report();
    let own = test(&report, "asks_for_a_variable");
    assert_eq!((own.verdict, own.unjudged), (Verdict::NotRun, true));
    assert_eq!(own.plain.map(|[failures, _]| failures), Some(0));
    let wrong = test(&report, "is_wrong");
    assert_eq!(wrong.verdict, Verdict::Broken);
    assert!(wrong.plain.is_some_and(|[failures, runs]| failures == runs));
}

/// Tests of which one fails in every other second.
const SECOND: &str = r#"
    use std::time::{SystemTime, UNIX_EPOCH};

    #[test]
    fn does_something_else() {}

    #[test]
    fn is_even() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        assert_eq!(now.as_secs() % 2, 0);
    }
"#;

#[test]
fn a_test_that_the_second_decides_is_neither_broken_nor_the_victim_of_another() {
    let fixture = Fixture::new("no-tests");
    fixture.write("tests/second.rs", SECOND);
    for _ in 0..3 {
        let report = reported(&fixture, "order", &[]).report();
        let found = test(&report, "is_even");
        let is_honest = matches!(found.verdict, Verdict::NonDeterministic | Verdict::Stable);
        assert!(is_honest, "{found:#?}");
    }
}

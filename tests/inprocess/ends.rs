//! Outcomes of tests in the records of their runs.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use cargo_nondex::campaign::StopFlag;
use cargo_nondex::campaign::launch::Launcher;
use cargo_nondex::project::TestCase;
use nondex_core::channel;
use nondex_core::{Failure, Outcome, RunRecord, RunSpec};

use crate::compile::{Harness, binary, compile, fixture};

/// Failure message, and the text of the line of the failure if it has one.
type Message = (&'static str, Option<&'static str>);

/// Expected record of each test in `ends.rs`.
const ENDS: &[(&str, Outcome, Option<Message>)] = &[
    ("passes", Outcome::Passed, None),
    ("panics", Outcome::Failed, Some(("told so", Some("panic!(\"told so\")")))),
    ("panics_with_a_number", Outcome::Failed, Some(("Box<dyn Any>", Some("panic_any(7)")))),
    ("panics_on_another_thread", Outcome::Passed, None),
    (
        "fails_after_a_caught_panic",
        Outcome::Failed,
        Some(("not caught", Some("panic!(\"not caught\")"))),
    ),
    ("catches_its_panic", Outcome::Passed, None),
    ("has_a_hook_of_its_own", Outcome::Failed, Some(("unheard", None))),
    ("takes_the_hook_away", Outcome::Failed, Some(("unheard", None))),
    ("resumes_a_panic_from_elsewhere", Outcome::Failed, Some(("carried over", None))),
    (
        "returns_an_error",
        Outcome::Failed,
        Some((
            "the test returned a termination value with a non-zero status code (1) which \
             indicates a failure",
            None,
        )),
    ),
    (
        "should_panic_and_does_not",
        Outcome::Failed,
        Some(("test did not panic as expected at ", Some("fn should_panic_and_does_not()"))),
    ),
    (
        "should_panic_with_other_words",
        Outcome::Failed,
        Some((
            "panic did not contain expected string\n      panic message: \"that\"\n \
             expected substring: \"this\"",
            Some("panic!(\"that\")"),
        )),
    ),
    ("exits_with_0", Outcome::Exited(0), None),
    ("aborts", Outcome::Signalled(6), None),
    ("panics_while_panicking", Outcome::Signalled(6), Some(("second", Some("panic!(\"second\")")))),
    (
        "throws_what_panics_when_dropped",
        Outcome::Failed,
        Some(("Box<dyn Any>", Some("panic_any(Bomb)"))),
    ),
    ("overflows_the_stack", Outcome::Signalled(6), None),
    ("changes_the_directory", Outcome::Failed, Some(("far away", Some("panic!(\"far away\")")))),
    ("closes_all_of_stdio", Outcome::Passed, None),
    // The record has the outcome although the test can no longer open or write any file.
    ("nothing_left::leaves_no_descriptor_free", Outcome::Passed, None),
    (
        "nothing_left::fails_while_no_descriptor_is_free",
        Outcome::Failed,
        Some(("nothing is left", Some("panic!(\"nothing is left\")"))),
    ),
    ("nothing_left::may_write_no_file", Outcome::Passed, None),
    ("nothing_left::closes_all_descriptors", Outcome::Passed, None),
    ("nothing_left::may_open_nothing", Outcome::Passed, None),
    (
        "prints_what_looks_like_a_result",
        Outcome::Failed,
        Some(("not so", Some("panic!(\"not so\")"))),
    ),
];

fn record_of(executable: &Path, test: &str) -> RunRecord {
    use std::os::unix::process::ExitStatusExt;
    let path = executable.with_file_name(format!("{test}.jsonl"));
    let _ = fs::remove_file(&path);
    let mut spec = RunSpec::clean(test);
    spec.record = Some(path.clone());
    let status = Command::new(executable)
        .args(["--exact", test, "--nocapture"])
        .env("NONDEX_SPEC", spec.to_json())
        .output()
        .unwrap()
        .status;
    let process_end = match (status.code(), status.signal()) {
        (Some(code), _) => Outcome::Exited(code),
        (None, signal) => Outcome::Signalled(signal.unwrap()),
    };
    let recorded = channel::read(&fs::File::open(&path).unwrap()).unwrap().expect("a channel");
    let events = RunRecord::parse_events(&recorded.events).unwrap();
    RunRecord::fold(&spec, events, process_end)
}

#[test]
fn however_a_test_ends_its_record_says_so() {
    let ends = compile("ends.rs", "2021", Harness::Ours);
    let source = fs::read_to_string(fixture("ends.rs")).unwrap();
    assert_eq!(source.matches("#[test]").count(), ENDS.len());
    for (test, outcome, failure) in ENDS {
        let record = record_of(&ends, test);
        assert_eq!(record.outcome, *outcome, "{test}: {record:?}");
        match (failure, record.failure) {
            (None, None) => {}
            (Some((message, place)), Some(found)) => {
                let Failure { message: text, file, line } = found;
                assert!(text.starts_with(message), "{test}: {text}");
                assert_eq!(file.is_some(), place.is_some(), "{test}: {file:?}");
                if let (Some(place), Some(line)) = (place, line) {
                    let text = source.lines().nth(line as usize - 1).unwrap();
                    assert!(text.contains(place), "{test}: line {line} is {text}");
                }
            }
            (expected, found) => panic!("{test}: expected {expected:?}, found {found:?}"),
        }
    }
}

#[test]
fn an_experiment_runs_its_tests_in_its_order_in_one_process_and_gives_a_record_for_each() {
    let executable = compile("order.rs", "2021", Harness::Ours);
    let binary = binary(&executable);
    let folder = &binary.cwd;
    let case = |name: &&str| TestCase { ignored: *name == "setter", ..TestCase::new(*name) };
    let stop = StopFlag::new();
    let limit = Duration::from_secs(60);
    let launcher = Launcher::new(folder.to_owned(), &stop);
    let outcomes = |tests: &[&str]| {
        let cases: Vec<TestCase> = tests.iter().map(case).collect();
        let cases: Vec<&TestCase> = cases.iter().collect();
        let spec = RunSpec::clean(*tests.last().unwrap());
        let runs = launcher.experiment(None, &[limit], &binary, &cases, &spec).unwrap();
        let outcomes = runs.into_iter().map(|run| run.outcome);
        outcomes.collect::<Vec<Outcome>>()
    };
    let (passed, failed, exited) = (Outcome::Passed, Outcome::Failed, Outcome::Exited(7));
    for (tests, expected) in [
        (&["setter", "alone", "last"][..], vec![&passed, &passed, &passed]),
        (&["alone", "setter", "last"], vec![&failed, &failed, &failed]),
        (&["setter", "last", "alone"], vec![&passed, &failed, &failed]),
        (&["setter"], vec![&passed]),
        (&["alone"], vec![&failed]),
        (&["setter", "ends_the_process", "alone"], vec![&passed, &exited, &exited]),
    ] {
        assert_eq!(outcomes(tests).iter().collect::<Vec<_>>(), expected, "{tests:?}");
    }
}

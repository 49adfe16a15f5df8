//! Scheduled threads: the same spec gives the same schedule. Correct programs pass, and wrong ones
//! fail.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::OnceLock;

use camino::Utf8Path;
use cargo_nondex::project::addresses;
use nondex_core::channel;
use nondex_core::{
    Execution, Level, Outcome, RunRecord, RunSpec, ScheduleEndKind, TracedOperation,
};

use crate::compile::{compile_threads, fixture};

fn executable() -> &'static Path {
    static COMPILED: OnceLock<PathBuf> = OnceLock::new();
    COMPILED.get_or_init(|| compile_threads(&fixture("threads.rs")))
}

/// Returns the tests of the fixture whose names start with `kind`.
fn tests(kind: &str) -> Vec<String> {
    tests_of("threads.rs", kind)
}

pub(crate) fn tests_of(name: &str, kind: &str) -> Vec<String> {
    let source = fs::read_to_string(fixture(name)).unwrap();
    let names = source.lines().filter_map(|line| {
        let name = line.strip_prefix("fn ")?.strip_suffix("() {")?;
        name.starts_with(kind).then(|| name.to_owned())
    });
    names.collect()
}

/// Runs a test with a spec. Returns the recorded events as text, and the record.
fn run(spec: &RunSpec) -> (String, RunRecord) {
    run_in(executable(), spec)
}

pub(crate) fn run_in(executable: &Path, spec: &RunSpec) -> (String, RunRecord) {
    run_as(executable, spec, |command| command.output().unwrap().status)
}

/// Does the same as [`run_in`], with another way to wait for the command.
pub(crate) fn run_as(
    executable: &Path,
    spec: &RunSpec,
    wait: impl FnOnce(&mut Command) -> ExitStatus,
) -> (String, RunRecord) {
    use std::os::unix::process::ExitStatusExt;
    use std::sync::atomic::{AtomicU32, Ordering};

    static RUNS: AtomicU32 = AtomicU32::new(0);
    let number = RUNS.fetch_add(1, Ordering::Relaxed);
    let path = executable.with_file_name(format!("{number}.jsonl"));
    let mut spec = spec.clone();
    spec.record = Some(path.clone());
    if spec.execution == Execution::default() {
        spec = spec.with_scheduler(0);
    }
    let mut command = Command::new(executable);
    command
        .args(["--exact", &spec.test, "--nocapture"])
        .env("NONDEX_SPEC", spec.to_json())
        // With backtraces, the number of files that are read and the time for that depend on the
        // executable.
        .env("RUST_BACKTRACE", "0");
    let status = wait(&mut command);
    let end = match (status.code(), status.signal()) {
        (Some(code), _) => Outcome::Exited(code),
        (None, signal) => Outcome::Signalled(signal.unwrap()),
    };
    let recorded = channel::read(&fs::File::open(&path).unwrap()).unwrap().expect("a channel");
    let _ = fs::remove_file(path);
    let mut events = RunRecord::parse_events(&recorded.events).unwrap();
    addresses::resolve(Utf8Path::from_path(executable).unwrap(), None, &mut events);
    // Where a thread waits in the engine depends on which thread first saw that none can continue.
    // These frames belong to no stack, but their addresses are recorded. So the text is made of
    // resolved events.
    let text = events.iter().map(|event| format!("{event:?}\n")).collect();
    (text, RunRecord::fold(&spec, events, end))
}

/// Returns a clean run, and runs with some seeds at STD and at FULL.
pub(crate) fn specs(test: &str, seeds: u64) -> Vec<RunSpec> {
    let mut specs = vec![RunSpec::clean(test)];
    for level in [Level::Std, Level::Full] {
        specs.extend((0..seeds).map(|seed| RunSpec::new(test, level, seed)));
    }
    specs
}

#[test]
fn right_programs_pass_under_every_schedule_without_a_leak() {
    for test in tests("right_") {
        for spec in specs(&test, 8) {
            let (events, record) = run(&spec);
            let about = format!("{test} {} {} {events}", spec.level(), spec.seed());
            assert_eq!(record.outcome, Outcome::Passed, "{about}");
            let schedule = record.schedule.expect(&test);
            assert!(schedule.threads >= 2, "{about}");
            if test != "right_children" {
                assert!(schedule.is_repeatable(), "{about}");
            }
            let is_clean = spec.is_clean();
            assert!(!is_clean || !record.points.is_empty(), "{about}");
        }
    }
}

#[test]
fn the_same_spec_is_the_same_schedule() {
    for test in ["right_mutex", "right_channels", "wrong_if", "wrong_order_of_locks"] {
        for seed in 0..4 {
            let spec = RunSpec::new(test, Level::Std, seed);
            let records: BTreeSet<String> = (0..12).map(|_| run(&spec).0).collect();
            assert_eq!(records.len(), 1, "{test} {seed}: {records:#?}");
        }
    }
}

#[test]
fn a_seed_is_the_same_schedule_in_another_folder_and_with_another_function_between() {
    const BETWEEN: &str = r#"
#[test]
fn is_another_function() {
    let names: std::collections::BTreeMap<String, u32> =
        (0..9).map(|n| (n.to_string(), n)).collect();
    assert_eq!(names["7"], 7);
}
"#;
    let folder = executable().with_file_name("another folder").join("and longer");
    fs::create_dir_all(&folder).unwrap();
    let source = folder.join("threads.rs");
    let text = fs::read_to_string(fixture("threads.rs")).unwrap();
    let (imports, tests) = text.split_once("\nfn join(").unwrap();
    fs::write(&source, format!("{imports}{BETWEEN}\nfn join({tests}")).unwrap();
    let edited = compile_threads(&source);
    let schedule = |record: RunRecord| {
        let mut schedule = record.schedule.unwrap();
        let waits = schedule.end.iter_mut().flat_map(|end| &mut end.waits);
        waits.for_each(|wait| wait.stack.clear());
        schedule
    };
    let addresses = |record: &RunRecord| {
        let sites = record.points.iter().map(|point| point.site.file.clone());
        sites.collect::<BTreeSet<_>>()
    };
    let mut moved = 0;
    for test in [
        "wrong_count",
        "wrong_if",
        "wrong_order_of_locks",
        "wrong_notification",
        "right_limits_of_waits",
        "right_look_at_a_clock_for_long",
    ] {
        for spec in specs(test, 8) {
            let (first, second) = (run(&spec).1, run_in(&edited, &spec).1);
            moved += usize::from(addresses(&first) != addresses(&second));
            let about = format!("{test} {} {}", spec.level(), spec.seed());
            assert_eq!(first.outcome, second.outcome, "{about}");
            assert_eq!(schedule(first), schedule(second), "{about}");
        }
    }
    assert!(moved > 0, "the code lies at another place");
}

#[test]
fn a_run_that_is_shown_has_the_schedule_of_one_that_is_not() {
    for test in ["right_", "wrong_"].into_iter().flat_map(tests) {
        for spec in specs(&test, 1) {
            let plain = run(&spec).1;
            let shown = spec.clone().with_scheduler(0).with_operations(1_000);
            let mut shown = run(&shown).1;
            let schedule = shown.schedule.as_mut().unwrap();
            let trace = schedule.trace.take().expect(&test);
            let (is_repeatable, count) = (schedule.is_repeatable(), schedule.operations);
            if !is_repeatable {
                continue;
            }
            assert_eq!(plain, shown, "{test} {} {}", spec.level(), spec.seed());
            if !test.starts_with("wrong_") {
                continue;
            }
            let last = spec.clone().with_scheduler(0).with_operations(MOST_AT_THE_END);
            let last = run(&last.with_last_operations_of(count)).1.schedule.unwrap();
            let mut ends = last.trace.unwrap().operations.into_iter().rev();
            let mut whole = trace.operations.into_iter().rev();
            let of = |operation: TracedOperation| (operation.operation, operation.time);
            for _ in 0..MOST_AT_THE_END {
                assert_eq!(ends.next().map(of), whole.next().map(of), "{test}");
            }
        }
    }
}

/// Number of operations that are compared if a run shows only its last ones.
const MOST_AT_THE_END: u64 = 5;

#[test]
fn the_memory_of_a_test_lies_at_the_same_place_however_its_thread_is_started() {
    // At different addresses, locks that are found by their address would wake different threads.
    let spec = RunSpec::clean("tells_where_its_memory_lies");
    let places: BTreeSet<_> =
        (0..40).map(|_| run(&spec).1.failure.expect("it always fails").message).collect();
    assert_eq!(places.len(), 1, "{places:?}");
}

#[test]
fn other_seeds_are_other_schedules_and_a_clean_run_holds_nobody_back() {
    let switches = |spec: &RunSpec| {
        let schedule = run(spec).1.schedule.unwrap();
        (schedule.switches, schedule.steps, schedule.holds)
    };
    let clean = switches(&RunSpec::clean("right_mutex"));
    assert_eq!(clean.2, 0);
    let seeds: BTreeSet<_> =
        (0..8).map(|seed| switches(&RunSpec::new("right_mutex", Level::Std, seed))).collect();
    assert!(seeds.len() > 6 && seeds.iter().all(|seed| seed.2 > 0), "{seeds:?}");
}

#[test]
fn wrong_programs_fail_under_some_seed_and_then_always() {
    for test in tests("wrong_") {
        assert_eq!(run(&RunSpec::clean(&*test)).1.outcome, Outcome::Passed, "{test}");
        let seeds = (0..300).map(|seed| RunSpec::new(&*test, Level::Std, seed));
        let failing = seeds
            .map(|spec| (run(&spec), spec))
            .find(|((_, record), _)| record.outcome != Outcome::Passed);
        let ((events, _), spec) = failing.expect(&test);
        for _ in 0..5 {
            assert_eq!(run(&spec).0, events, "{test} {}", spec.seed());
        }
    }
}

#[test]
fn an_update_that_is_lost_in_one_of_a_thousand_operations_is_found_in_twenty_seeds() {
    let test = "wrong_count_among_many_operations";
    let mut seeds = (0..20).map(|seed| RunSpec::new(test, Level::Std, seed));
    assert!(seeds.any(|spec| run(&spec).1.outcome != Outcome::Passed));
}

#[test]
fn a_deadlock_is_reported_at_once_with_what_each_thread_waits_for() {
    for spec in specs("hangs_for_ever", 3) {
        let (events, record) = run(&spec);
        assert_eq!(record.outcome, Outcome::Failed, "{events}");
        let end = record.schedule.unwrap().end.unwrap();
        assert_eq!(end.kind, ScheduleEndKind::Deadlock);
        let waits: Vec<_> = end
            .waits
            .iter()
            .map(|wait| (&*wait.thread, &*wait.operation, wait.name.as_deref()))
            .collect();
        let own = ("0", "join", Some("hangs_for_ever"));
        assert_eq!(waits, [own, ("0.0", "futex wait", None)]);
    }
    let end = (0..100)
        .map(|seed| RunSpec::new("wrong_order_of_locks", Level::Std, seed))
        .find_map(|spec| run(&spec).1.schedule.unwrap().end)
        .expect("some seed makes it lock");
    let on: BTreeMap<&str, _> =
        end.waits.iter().map(|wait| (wait.name.as_deref().unwrap_or_default(), wait.on)).collect();
    assert_eq!(on.len(), 2);
    assert!(on["other"].is_some() && on["other"] != on["wrong_order_of_locks"]);
}

#[test]
fn threads_that_wait_for_pipes_and_sockets_that_nobody_else_has_are_a_deadlock() {
    for spec in specs("waits_for_ever_for_descriptors_of_its_own", 2) {
        let (events, record) = run(&spec);
        assert_eq!(record.outcome, Outcome::Failed, "{events}");
        let end = record.schedule.unwrap().end.unwrap();
        let waits: Vec<_> = end.waits.iter().map(|wait| &*wait.operation).collect();
        assert_eq!((end.kind, &*waits), (ScheduleEndKind::Deadlock, &["read", "read"][..]));
    }
}

#[test]
fn a_test_that_never_ends_is_ended_at_its_limit() {
    for spec in specs("never_ends", 2) {
        let (events, record) = run(&spec.with_scheduler(2_000));
        assert_eq!(record.outcome, Outcome::Failed, "{events}");
        let end = record.schedule.unwrap().end.unwrap();
        assert_eq!((end.kind, end.waits.len()), (ScheduleEndKind::Steps, 2));
    }
}

#[test]
fn a_thread_that_counts_its_looks_may_come_to_its_end() {
    for test in tests("looks_for_long") {
        assert_eq!(run(&RunSpec::clean(&*test)).1.outcome, Outcome::Passed, "{test}");
    }
}

#[test]
fn threads_that_spin_for_ever_on_what_no_thread_changes_are_a_livelock() {
    for (test, threads) in [
        ("looks_for_ever_when_it_is_alone", 1),
        ("looks_for_ever_while_another_one_waits", 2),
        ("never_ends", 2),
    ] {
        for spec in specs(test, 2) {
            let (events, record) = run(&spec);
            assert_eq!(record.outcome, Outcome::Failed, "{events}");
            let end = record.schedule.unwrap().end.unwrap();
            let found = (end.kind, end.waits.len());
            assert_eq!(found, (ScheduleEndKind::Livelock, threads), "{test}");
        }
    }
}

#[test]
fn a_process_that_a_thread_ends_says_what_was_scheduled() {
    for (test, outcome) in [
        ("ends_by_exit_in_a_thread", Outcome::Exited(7)),
        ("ends_by_abort_in_a_thread", Outcome::Signalled(6)),
    ] {
        for spec in specs(test, 3) {
            let (events, record) = run(&spec);
            assert_eq!(record.outcome, outcome, "{events}");
            let has_ended_by_exit = matches!(outcome, Outcome::Exited(_));
            assert_eq!(record.schedule.is_some(), has_ended_by_exit, "{events}");
        }
    }
}

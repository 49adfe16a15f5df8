//! The allocator of a test: no interposed function allocates from it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use nondex_core::{
    Frame, Given, GivenChoice, Level, Network, Observed, Outcome, PointRecord, RunRecord, RunSpec,
    ScheduleEndKind, StateId, StateKind, model,
};

use crate::compile::{compile_threads, fixture};
use crate::threads::{run_in, specs, tests_of};

fn executable() -> &'static Path {
    static COMPILED: OnceLock<PathBuf> = OnceLock::new();
    COMPILED.get_or_init(|| compile_threads(&fixture("allocators.rs")))
}

fn run(spec: &RunSpec, outcome: &Outcome) -> RunRecord {
    let (events, record) = run_in(executable(), spec);
    assert_eq!(record.outcome, *outcome, "{spec:?}\n{events}");
    record
}

/// Asserts that a stack contains a function of the fixture.
fn assert_leads_to(stack: &[Frame], function: &str) {
    let is_it = |frame: &Frame| {
        frame.file.ends_with("libtest/allocators.rs") && frame.function.contains(function)
    };
    assert!(stack.iter().any(is_it), "{function}: {stack:?}");
}

#[test]
fn what_an_allocator_calls_with_its_lock_does_not_call_the_allocator() {
    for test in tests_of("allocators.rs", "right_") {
        for spec in specs(&test, 12) {
            run(&spec, &Outcome::Passed);
        }
    }
}

#[test]
fn operations_that_fail_and_their_stacks_are_recorded_without_memory() {
    const TEST: &str = "wrong_operations_that_fail";
    let observe = ["bind EADDRNOTAVAIL", "exec ENOENT", "mkdir ENOENT", "open ENOENT"];
    let observed = observe.map(|observed| {
        let (operation, error) = observed.split_once(' ').unwrap();
        Observed { operation: operation.to_owned(), error: error.to_owned() }
    });
    for spec in specs(TEST, 2) {
        let spec =
            RunSpec { network: Network::Block(Vec::new()), observe: observed.to_vec(), ..spec };
        let record = run(&spec, &Outcome::Failed);
        let network: Vec<&str> = record.network.iter().map(|one| &*one.operation).collect();
        assert_eq!(network, ["connect", "getaddrinfo", "send"]);
        for one in &record.network {
            assert_leads_to(&one.stack, TEST);
        }
        let failed: Vec<String> = record
            .failed_operations
            .iter()
            .inspect(|one| assert_leads_to(&one.stack, TEST))
            .map(|one| format!("{} {}", one.operation, one.error))
            .collect();
        assert_eq!(failed, observe);
    }
}

#[test]
fn accesses_to_what_is_watched_are_recorded_without_memory() {
    const TEST: &str = "right_accesses_to_what_is_shared";
    let kinds = [StateKind::File, StateKind::Env, StateKind::Umask];
    for lines in [false, true] {
        let spec = RunSpec::clean(TEST).in_order(|tests| {
            tests.watch = kinds.map(StateId::every).to_vec();
            tests.lines = lines;
        });
        let record = run(&spec, &Outcome::Passed);
        for kind in kinds {
            let mut accesses = record.accesses.iter();
            let access = accesses
                .find(|access| access.state.kind == kind)
                .unwrap_or_else(|| panic!("{kind:?}: {:?}", record.accesses));
            if lines {
                assert_leads_to(&access.stack, TEST);
            }
        }
    }
}

#[test]
fn a_choice_that_is_given_and_its_stack_are_recorded_without_memory() {
    const TEST: &str = "right_random_bytes";
    let spec = RunSpec::new(TEST, Level::Std, 1);
    let found = run(&spec, &Outcome::Passed);
    // The allocator reads a clock, which is a choice point too.
    let is_drawn = |point: &&PointRecord| point.site.api == model::GETRANDOM.api;
    let point = found.points.iter().find(is_drawn).unwrap();
    let spec = RunSpec {
        trace: vec![point.site.clone()],
        ..spec.with_given(vec![Given {
            site: point.site.clone(),
            thread: point.thread.clone(),
            ordinal: 0,
            choice: GivenChoice::Steps(1),
        }])
    };
    let given = run(&spec, &Outcome::Passed);
    assert_eq!(given.steps.len(), 1);
    let traced = given.points.iter().find(|one| one.site == point.site);
    assert_leads_to(&traced.unwrap().stack, TEST);
}

#[test]
fn a_deadlock_is_recorded_without_memory() {
    const TEST: &str = "ends_in_a_deadlock";
    for spec in specs(TEST, 4) {
        for operations in [0, 100] {
            let spec = spec.clone().with_scheduler(0).with_operations(operations);
            let schedule = run(&spec, &Outcome::Failed).schedule.unwrap();
            let end = schedule.end.unwrap();
            assert_eq!(end.kind, ScheduleEndKind::Deadlock);
            assert_eq!(end.waits.len(), 3);
            assert_eq!(end.waits[0].name.as_deref(), Some(TEST));
            assert_eq!(end.waits[1].name, None);
            for wait in &end.waits {
                assert_leads_to(&wait.stack, TEST);
            }
        }
    }
}

#[test]
fn the_schedule_of_a_process_that_ends_itself_is_recorded_without_memory() {
    for spec in specs("ends_by_itself", 4) {
        let record = run(&spec, &Outcome::Exited(3));
        assert!(record.schedule.is_some());
    }
}

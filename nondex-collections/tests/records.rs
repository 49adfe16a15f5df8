//! The spec decides a run of the shims: the same spec gives the same record, byte for byte.

use nondex_collections::collections::{HashMap, HashSet};
use nondex_collections::{env, fs, thread};
use nondex_core::context::{Context, enter};
use nondex_core::{Level, Outcome, RunRecord, RunSpec, json};

/// Returns the values that the test observed, and its record as JSON.
fn run(spec: &RunSpec, body: fn() -> Vec<String>) -> (Vec<String>, String) {
    let context = Context::new(spec.clone());
    let entered = enter(&context, &spec.test);
    let seen = body();
    drop(entered);
    let record = RunRecord::fold(spec, context.take_events(), Outcome::Exited(0));
    (seen, json::to_string(&record))
}

fn orders(of: u32) -> Vec<String> {
    let map: HashMap<u32, u32> = (0..of).map(|key| (key, key)).collect();
    let set: HashSet<String> = map.keys().map(u32::to_string).collect();
    vec![
        format!("{map:?}"),
        format!("{:?}", set.iter().collect::<Vec<_>>()),
        format!("{:?}", env::vars_os().map(|(name, _)| name).collect::<Vec<_>>()),
    ]
}

fn single_threaded() -> Vec<String> {
    let mut seen = orders(12);
    let sources = fs::read_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
    seen.push(format!("{:?}", sources.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>()));
    seen
}

fn threads_that_are_joined() -> Vec<String> {
    let spawned: Vec<_> = (3..6).map(|of| thread::spawn(move || orders(of))).collect();
    let mut seen = thread::scope(|scope| {
        let scoped: Vec<_> = (6..9).map(|of| scope.spawn(move || orders(of))).collect();
        let named =
            thread::Builder::new().name("named".to_owned()).spawn_scoped(scope, || orders(10));
        let mut seen: Vec<String> =
            scoped.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        seen.extend(named.unwrap().join().unwrap());
        seen
    });
    seen.extend(spawned.into_iter().flat_map(|thread| thread.join().unwrap()));
    seen
}

/// Makes this number of runs of each spec, all from one place: a call through a function pointer is
/// identified by its whole stack.
fn runs(specs: &[RunSpec], times: usize, body: fn() -> Vec<String>) -> Vec<(Vec<String>, String)> {
    let mut runs = Vec::new();
    for spec in specs.iter().flat_map(|spec| std::iter::repeat_n(spec, times)) {
        runs.push(run(spec, body));
    }
    runs
}

/// Asserts that this number of runs at each of these levels has one record.
fn assert_one_record(levels: &[Level], times: usize) {
    for body in [single_threaded, threads_that_are_joined] {
        for level in levels {
            let runs = runs(&[RunSpec::new("t", *level, 3)], times, body);
            assert!(runs.iter().all(|run| *run == runs[0]), "{level}");
        }
    }
}

const ABOVE_STD: [Level; 4] = [Level::One, Level::Eq, Level::Id, Level::Full];

#[test]
fn runs_of_one_spec_have_one_record() {
    assert_one_record(&ABOVE_STD, 25);
}

#[test]
fn at_std_the_record_repeats_and_so_do_the_orders() {
    assert_one_record(&[Level::Std], 100);
}

#[test]
#[ignore = "second tier: many runs"]
fn thousands_of_runs_of_one_spec_have_one_record() {
    assert_one_record(&ABOVE_STD, 250);
    assert_one_record(&[Level::Std], 1000);
}

#[test]
fn another_seed_gives_other_orders_and_the_same_points() {
    let specs = [1, 2].map(|seed| RunSpec::new("t", Level::Full, seed));
    let runs = runs(&specs, 1, single_threaded);
    assert_ne!(runs[0].0, runs[1].0);
    assert_eq!(runs[0].1, runs[1].1);
}

//! The algorithm is fixed. A seed gives the same choices on every machine, and with every version
//! that has the same algorithm number.

use std::thread;

use nondex_core::choice::{seen_key, table_key};
use nondex_core::context::{Context, Entered, enter, inherit, pause};
use nondex_core::{
    ALGORITHM, Caller, Decision, Event, Failure, Family, Files, Level, Outcome, PointRecord,
    RunRecord, RunSpec, Selection, Site, Source, decide, entropy, model,
};
use rand_core::Rng;

const HERE: Caller = Caller { file: "src/lib.rs", line: 7, column: 3 };
const THERE: Caller = Caller { file: "src/lib.rs", line: 9, column: 5 };

/// Returns the decision for a collection of five elements, as text.
fn order(caller: Caller) -> String {
    match decide(&model::HASH_MAP_ITER, Family::HashMap, caller, 5, |_| 42) {
        Decision::Base => "base".to_owned(),
        Decision::Std { key } => format!("std {key:016x}"),
        Decision::Permute(order) => format!("{:?}", order.collect::<Vec<_>>()),
        Decision::PermuteContent(order) => format!("content {:?}", order.collect::<Vec<_>>()),
        Decision::Intermediate(_) => unreachable!("no order is given"),
        Decision::ByContent { .. } => unreachable!("it is short"),
    }
}

/// Returns the first elements of longer orders.
fn longer(seed: u64) -> Vec<String> {
    let context = Context::new(RunSpec::new("mod::test", Level::One, seed));
    let _entered = enter(&context, "mod::test");
    let first = |len| match decide(&model::HASH_MAP_ITER, Family::HashMap, HERE, len, |_| 42) {
        Decision::Permute(order) => format!("{len} {:?}", order.take(6).collect::<Vec<_>>()),
        other => format!("{other:?}"),
    };
    [9, 10, 16, 17, 100, 300, 5000].map(first).into()
}

fn run(spec: &RunSpec) -> (Vec<String>, RunRecord) {
    let context = Context::new(spec.clone());
    let entered = enter(&context, &spec.test);
    let mut orders = vec![order(HERE), order(HERE), order(THERE)];
    let inherited = [inherit(), inherit()];
    thread::scope(|scope| {
        let threads = inherited.map(|inherited| {
            scope.spawn(|| {
                inherited.enter();
                order(HERE)
            })
        });
        orders.extend(threads.map(|thread| thread.join().unwrap()));
    });
    let mut bytes = [0; 4];
    entropy(&model::GETRANDOM, HERE).unwrap().fill_bytes(&mut bytes);
    orders.push(format!("{bytes:02x?}"));
    let table = table_key(&model::RANDOM_STATE_NEW, HERE).unwrap();
    let seen = seen_key(&model::RANDOM_STATE_NEW, HERE, table, false);
    orders.push(format!("{table:016x} {seen:016x}"));
    Entered::end(entered, &context, &spec.test, None, true);
    (orders, RunRecord::fold(spec, context.take_events(), Outcome::Exited(0)))
}

#[test]
fn a_golden_record_pins_the_algorithm() {
    let mut text = format!("algorithm {ALGORITHM}\n");
    for level in Level::ALL {
        for seed in [0, 1, 2026] {
            text +=
                &format!("{level} {seed} {:?}\n", run(&RunSpec::new("mod::test", level, seed)).0);
        }
    }
    for seed in [1, 5, 2026] {
        text += &format!("longer {seed} {:?}\n", longer(seed));
    }
    text += &format!("clean {:?}\n", run(&RunSpec::clean("mod::test")).0);
    text += &serde_json::to_string_pretty(&run(&RunSpec::new("mod::test", Level::Full, 2026)).1)
        .unwrap();
    text += "\n";
    let golden = include_str!("golden.txt");
    assert_eq!(
        text, golden,
        "raise ALGORITHM when seeds no longer reproduce, then put this in golden.txt:\n{text}"
    );
}

#[test]
fn the_same_spec_gives_the_same_record_a_thousand_times_with_threads() {
    for level in [Level::Std, Level::Full] {
        let spec = RunSpec::new("mod::test", level, 7);
        let first = serde_json::to_vec(&run(&spec)).unwrap();
        for _ in 0..1000 {
            assert_eq!(serde_json::to_vec(&run(&spec)).unwrap(), first);
        }
    }
}

#[test]
fn turning_one_site_off_leaves_every_other_choice_as_it_was() {
    let all = run(&RunSpec::new("t", Level::Full, 5));
    let site = Site {
        api: model::HASH_MAP_ITER.api.to_owned(),
        family: Family::HashMap,
        file: "src/lib.rs".to_owned(),
        line: 7,
        column: 3,
    };
    let spec = RunSpec::new("t", Level::Full, 5);
    let except = spec.clone().with_selection(Selection::except([site.clone()]));
    let without = run(&except);
    assert_eq!(without.0[2], all.0[2]);
    assert_eq!([&without.0[0], &without.0[1], &without.0[3]], ["base"; 3]);
    let only = run(&spec.with_selection(Selection::only([site])));
    assert_eq!(only.0[..2], all.0[..2]);
    assert_eq!(only.0[2], "base");
    // A site that is off draws from no key.
    let reached = |record: &RunRecord| {
        let points = record.points.iter().cloned();
        points.map(|point| PointRecord { keys: 0, ..point }).collect::<Vec<_>>()
    };
    assert_eq!(
        reached(&without.1),
        reached(&all.1),
        "what is reached does not depend on what is chosen here"
    );
}

#[test]
fn a_model_that_is_off_is_neither_chosen_nor_recorded() {
    let off = vec![model::HASH_MAP_ITER.name(Family::HashMap)];
    let (orders, record) = run(&RunSpec { models_off: off, ..RunSpec::new("t", Level::Full, 5) });
    assert!(orders[..5].iter().all(|order| order == "base"));
    assert!(record.points.iter().all(|point| !point.site.family.is_of_orders()));
}

#[test]
fn a_call_in_a_file_that_is_skipped_is_neither_chosen_nor_recorded() {
    let of = |only: &[&str], skip: &[&str]| {
        let paths = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
        let files = Files { only: paths(only), skip: paths(skip) };
        run(&RunSpec { files, ..RunSpec::new("t", Level::Full, 5) })
    };
    let all = run(&RunSpec::new("t", Level::Full, 5));
    assert_eq!(of(&["src"], &["other"]), all);
    for (orders, record) in [of(&[], &["src/lib.rs"]), of(&["tests"], &[])] {
        assert!(orders[..5].iter().all(|order| order == "base"));
        let mut points = record.points.iter();
        assert!(points.all(|point| point.site.family == Family::Entropy));
    }
}

#[test]
fn nothing_is_chosen_or_recorded_outside_a_test_or_while_paused() {
    assert_eq!(order(HERE), "base");
    let spec = RunSpec::new("t", Level::Full, 1);
    let context = Context::new(spec);
    let entered = enter(&context, "t");
    {
        let _outer = pause();
        let _inner = pause();
        assert_eq!(order(HERE), "base");
    }
    assert_ne!(order(HERE), "base");
    drop(entered);
    assert_eq!(order(HERE), "base");
}

#[test]
fn a_crash_keeps_the_sites_that_were_reached_and_the_panic_that_was_seen() {
    let spec = RunSpec::new("t", Level::Full, 1);
    let context = Context::new(spec.clone());
    let entered = enter(&context, "t");
    order(HERE);
    order(HERE);
    let failure = Failure { message: "gone".to_owned(), file: None, line: None };
    Entered::panicked("t", &context, failure.clone());
    let events = context.take_events();
    drop(entered);
    let record = RunRecord::fold(&spec, events, Outcome::Signalled(6));
    assert_eq!(
        (record.outcome, record.failure, record.points[0].count),
        (Outcome::Signalled(6), Some(failure), 1)
    );
}

#[test]
fn a_test_used_the_sources_of_all_its_events() {
    let spec = RunSpec::clean("t");
    let used =
        |sources: &[Source]| Event::Sources { test: "t".to_owned(), sources: sources.into() };
    // Before an `exec` that failed, and at the end.
    let events = [used(&[Source::Date, Source::Child]), used(&[Source::Clock, Source::Child])];
    let record = RunRecord::fold(&spec, events, Outcome::Exited(0));
    assert_eq!(record.sources, [Source::Clock, Source::Date, Source::Child]);
}

#[test]
fn a_test_that_ended_well_in_a_process_that_did_not_has_not_passed() {
    let spec = RunSpec::clean("t");
    let end = |passed| [Event::End { test: "t".to_owned(), passed, failure: None }];
    let outcome = |passed, process_end| RunRecord::fold(&spec, end(passed), process_end).outcome;
    assert_eq!(outcome(true, Outcome::Exited(0)), Outcome::Passed);
    assert_eq!(outcome(true, Outcome::Signalled(11)), Outcome::Signalled(11));
    assert_eq!(outcome(true, Outcome::TimedOut), Outcome::TimedOut);
    assert_eq!(outcome(false, Outcome::Exited(101)), Outcome::Failed);
    assert_eq!(RunRecord::fold(&spec, [], Outcome::Exited(0)).outcome, Outcome::Exited(0));
}

//! Tests of the enumeration of all choices.

use crate::evidence::Evidence;
use crate::question::Question;
use nondex_core::context::place;
use nondex_core::{Family, PointRecord};

use super::*;
use crate::conclusion::Conclusion;
use crate::simulation::{options, run, runs_at, simulate, site};

/// Simulated test. From the orders drawn until now, it returns the line of its next choice and the
/// number of elements, or whether it passes.
type Program = fn(&[Vec<usize>]) -> Result<(u32, u64), bool>;

/// Runs the test under `spec`. At EQ and ID, every collection is a separate object.
fn simulated(program: Program, spec: &RunSpec) -> Run {
    let mut orders: Vec<Vec<usize>> = Vec::new();
    let mut choices = Vec::new();
    let mut points: Vec<PointRecord> = Vec::new();
    loop {
        match program(&orders) {
            Err(passed) => {
                let of_lines = points.iter().map(|point| point.site.line);
                return Run {
                    choices: choices.into(),
                    points: points.clone().into(),
                    ..run(passed, of_lines)
                };
            }
            Ok((line, len)) => {
                let here = points.iter_mut().find(|point| point.site.line == line);
                let ordinal = match here {
                    Some(point) => {
                        point.count += 1;
                        point.count - 1
                    }
                    None => {
                        points.push(PointRecord {
                            site: site(line),
                            thread: "0".into(),
                            count: 1,
                            max_len: len,
                            keys: 0,
                            stack: Vec::new(),
                        });
                        0
                    }
                };
                let is_clean = spec.is_clean();
                let is_by_content = !is_clean && matches!(spec.level(), Level::Eq | Level::Id);
                let choice = ChoiceRecord {
                    place: place("t", "0", &site(line)),
                    ordinal,
                    len,
                    aspect: is_by_content.then_some(u64::from(line) * 1000 + ordinal),
                    reading: None,
                    own: 0,
                };
                let base = || (0..len as usize).collect();
                orders.push(if is_clean {
                    base()
                } else {
                    drawn(spec, &choice).unwrap_or_else(base)
                });
                choices.push(choice);
            }
        }
    }
}

fn explored(program: Program, options: &Options) -> (Conclusion, Evidence, Vec<Level>) {
    let (conclusion, evidence) = simulate(options, |spec| simulated(program, spec));
    let verified = verified(Question::new("t", options, &evidence));
    (conclusion, evidence, verified)
}

const NOT_STD: [Level; 4] = [Level::One, Level::Eq, Level::Id, Level::Full];

#[test]
fn a_test_with_few_orders_is_run_under_all_of_them_and_verified() {
    let program: Program = |orders| match orders {
        [] => Ok((1, 3)),
        _ => Err(true),
    };
    let (conclusion, evidence, verified) = explored(program, &options());
    assert_eq!(conclusion, Conclusion::Stable);
    assert_eq!(verified, NOT_STD);
    // One of six orders is the canonical order. What holds for all orders needs no level except
    // STD.
    assert_eq!(runs_at(&evidence, Level::Full), 5);
    for level in [Level::One, Level::Eq, Level::Id] {
        assert_eq!(runs_at(&evidence, level), 0, "{level}");
    }
    assert_eq!(runs_at(&evidence, Level::Std), 10);
}

#[test]
fn a_rare_order_is_found_where_seeds_alone_would_hardly_find_it() {
    // A tree of 24 · 2 leaves.
    let program: Program = |orders| match orders {
        [] => Ok((1, 4)),
        [_] => Ok((2, 2)),
        [a, b, ..] => Err(!(*a == [2, 0, 3, 1] && *b == [1, 0])),
    };
    let mut options = options();
    options.exhaustive = 48;
    let (conclusion, _, _) = explored(program, &options);
    let Conclusion::Dependent(found) = conclusion else {
        panic!("{conclusion:?}");
    };
    assert!(found.spec.level() > Level::Std);
    assert!(found.culprits.sites().eq([&site(1), &site(2)]));
}

#[test]
fn what_comes_next_may_depend_on_the_orders_before() {
    // A tree of 2 + 4 · 6 leaves: one branch ends early.
    let program: Program = |orders| match orders {
        [] => Ok((1, 3)),
        [first] if first[0] == 0 => Err(true),
        [_] => Ok((2, 3)),
        _ => Err(true),
    };
    let mut options = options();
    options.exhaustive = 36;
    let (conclusion, evidence, verified) = explored(program, &options);
    assert_eq!(conclusion, Conclusion::Stable);
    assert_eq!(verified, NOT_STD);
    assert_eq!(runs_at(&evidence, Level::Full), 2 + 4 * 6 - 1);
}

#[test]
fn too_many_orders_are_left_to_the_seeds() {
    let program: Program = |orders| match orders {
        [] => Ok((1, 4)),
        _ => Err(true),
    };
    let (conclusion, evidence, verified) = explored(program, &options());
    assert_eq!(conclusion, Conclusion::Stable);
    assert!(verified.is_empty());
    assert!(runs_at(&evidence, Level::Full) <= 10);
}

#[test]
fn of_equal_choices_at_a_level_one_order_is_enough() {
    // At ONE, all sets of two elements have one order; at FULL there are 2^5 orders.
    let program: Program = |orders| match orders.len() {
        5 => Err(true),
        _ => Ok((1, 2)),
    };
    let (_, _, verified) = explored(program, &options());
    assert_eq!(verified, [Level::One]);
}

#[test]
fn a_test_without_a_choice_or_with_random_bytes_is_not_called_verified() {
    let (_, _, verified) = explored(|_| Err(true), &options());
    assert!(verified.is_empty());
    let (_, evidence) = simulate(&options(), |spec| {
        let mut run = simulated(
            |orders| {
                if orders.is_empty() { Ok((1, 2)) } else { Err(true) }
            },
            spec,
        );
        let mut points = run.points.to_vec();
        points.push(PointRecord {
            site: nondex_core::Site { family: Family::Entropy, ..site(2) },
            ..points[0].clone()
        });
        run.points = points.into();
        run
    });
    assert!(super::verified(Question::new("t", &options(), &evidence)).is_empty());
}

#[test]
fn a_test_whose_choices_differ_under_the_same_orders_is_not_called_verified() {
    use std::sync::atomic::{AtomicU32, Ordering};
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let program: Program = |orders| match orders {
        [] => Ok((1 + RUNS.fetch_add(1, Ordering::Relaxed) % 2, 2)),
        _ => Err(true),
    };
    let (_, _, verified) = explored(program, &options());
    assert!(verified.is_empty());
}

/// Returns a run of the test that also draws the keys of a hash map.
fn with_keys(program: Program, spec: &RunSpec) -> Run {
    let run = simulated(program, spec);
    let keys = PointRecord {
        site: nondex_core::Site { family: Family::HashKeys, ..site(99) },
        thread: "0".into(),
        count: 1,
        max_len: 1,
        keys: 0,
        stack: Vec::new(),
    };
    Run { points: run.points.iter().cloned().chain([keys]).collect(), ..run }
}

#[test]
fn a_value_that_does_not_vary_at_a_level_hides_no_order_there() {
    let three: Program = |orders| match orders {
        [] => Ok((1, 3)),
        _ => Err(true),
    };
    let none: Program = |_| Err(true);
    for (program, at_full) in [(three, 5), (none, 0)] {
        let (conclusion, evidence) = simulate(&options(), |spec| with_keys(program, spec));
        assert_eq!(conclusion, Conclusion::Stable);
        assert_eq!(runs_at(&evidence, Level::Std), 10);
        assert_eq!(runs_at(&evidence, Level::Full), at_full);
        for level in [Level::One, Level::Eq, Level::Id] {
            assert_eq!(runs_at(&evidence, level), 0, "{level}");
        }
    }
}

#[test]
fn what_is_left_out_beside_values_ends_as_all_the_runs_do() {
    let programs: [Program; 5] = [
        |orders| orders.first().map_or(Ok((1, 3)), |_| Err(true)),
        |orders| orders.first().map_or(Ok((1, 3)), |order| Err(order[0] == 0)),
        |orders| orders.first().map_or(Ok((1, 3)), |order| Err(order[0] != 2)),
        |orders| match orders {
            [] => Ok((1, 2)),
            [_] => Ok((2, 2)),
            [a, b, ..] => Err(a == b),
        },
        |_| Err(true),
    ];
    for (number, program) in programs.into_iter().enumerate() {
        let found = [true, false].map(|prune| {
            let mut options = options();
            options.prune = prune;
            let (conclusion, _) = simulate(&options, |spec| with_keys(program, spec));
            match conclusion {
                Conclusion::Dependent(dependence) => Some((
                    dependence.spec.level(),
                    dependence.culprits.sites().cloned().collect::<Vec<_>>(),
                )),
                Conclusion::Stable => None,
                other => panic!("{number}: {other:?}"),
            }
        });
        assert_eq!(found[0], found[1], "{number}");
    }
}

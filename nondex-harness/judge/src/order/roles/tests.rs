//! Tests of roles in simulated binaries with known roles.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

use nondex_core::Outcome;
use nondex_core::hash::mix;

use super::*;
use crate::order::simulation::{Body, OTHERS, settle};
use crate::order::strategy::{Shuffle, Strategy, orders};
use crate::order::{Experiments, detect};

const LIMITS: SearchLimits = SearchLimits { reruns: 10, questions: 200, has_pairs: false };

fn plain() -> Body {
    Box::new(|_| Outcome::Passed)
}

fn sets(flag: &'static str) -> Body {
    Box::new(move |state| {
        state.insert(flag);
        Outcome::Passed
    })
}

fn clears(flag: &'static str) -> Body {
    Box::new(move |state| {
        state.remove(flag);
        Outcome::Passed
    })
}

/// Returns a test that fails if all these flags are set.
fn victim(flags: &'static [&'static str]) -> Body {
    Box::new(move |state| passed(!flags.iter().all(|flag| state.contains(flag))))
}

/// Returns a test that passes if all these flags are set.
fn brittle(flags: &'static [&'static str]) -> Body {
    Box::new(move |state| passed(flags.iter().all(|flag| state.contains(flag))))
}

fn passed(is_passed: bool) -> Outcome {
    if is_passed { Outcome::Passed } else { Outcome::Failed }
}

/// Returns the orders of the command `order`.
fn planned(tests: usize, seed: u64) -> Vec<Vec<usize>> {
    let owned: Vec<String> = (0..tests).map(|test| format!("t{test:04}")).collect();
    let names: Vec<&str> = owned.iter().map(String::as_str).collect();
    let of = |strategy, count| orders(strategy, &names, count, seed, Shuffle::All);
    [of(Strategy::Original, 1), of(Strategy::Reverse, 1), of(Strategy::Random, 10)].concat()
}

/// Returns the conclusions about these tests, with the number of processes beyond those that found
/// the suspects.
fn concluded(
    bodies: &[Body],
    requested: &[usize],
    seed: u64,
    is_shared: bool,
) -> (Vec<OrderConclusion>, usize) {
    let (found, experiments, before) = made(bodies, requested, seed, is_shared);
    (found, experiments.count() - before)
}

/// Returns the conclusions, all processes, and the number of those that found the suspects.
fn made(
    bodies: &[Body],
    requested: &[usize],
    seed: u64,
    is_shared: bool,
) -> (Vec<OrderConclusion>, Experiments, usize) {
    let mut experiments = Experiments::new(is_shared);
    let tests = bodies.len();
    let mut planned = planned(tests, seed);
    let limits = SearchLimits { has_pairs: tests <= 40, ..LIMITS };
    if limits.has_pairs {
        planned.extend((0..tests).flat_map(|first| {
            let others = (0..tests).filter(move |then| *then != first);
            others.map(move |then| vec![first, then])
        }));
    }
    settle(bodies, &mut experiments, |experiments| {
        gather((0..tests).map(|test| experiments.runs(&[], test, 1, false).map(|_| ())))
    });
    let detection =
        settle(bodies, &mut experiments, |experiments| detect(&planned, &[], experiments));
    let before = experiments.count();
    let found = settle(bodies, &mut experiments, |experiments| {
        conclude(requested, tests, &detection, &limits, experiments)
    });
    (found, experiments, before)
}

fn dependent(conclusion: &OrderConclusion) -> &OrderDependence {
    match conclusion {
        OrderConclusion::Dependent(dependence) => dependence,
        other => panic!("not dependent: {other:?}"),
    }
}

#[test]
fn one_polluter_its_cleaners_and_a_setter_are_found_whatever_the_seed() {
    for is_shared in [false, true] {
        for seed in 0..20 {
            let mut bodies: Vec<Body> = (0..40).map(|_| plain()).collect();
            bodies[7] = sets("dirty");
            bodies[20] = victim(&["dirty"]);
            bodies[12] = clears("dirty");
            bodies[31] = clears("dirty");
            bodies[33] = sets("ready");
            bodies[5] = brittle(&["ready"]);
            let (found, _) = concluded(&bodies, &[20, 5, 1], seed, is_shared);
            let of_victim = dependent(&found[0]);
            assert!(of_victim.passes_alone);
            assert_eq!(of_victim.sets, [vec![7]], "seed {seed}");
            assert_eq!(of_victim.cleaners, [12, 31], "seed {seed}");
            let of_brittle = dependent(&found[1]);
            assert!(!of_brittle.passes_alone);
            assert_eq!(of_brittle.sets, [vec![33]], "seed {seed}");
            assert_eq!(found[2], OrderConclusion::Independent);
        }
    }
}

#[test]
fn a_cleaner_of_one_polluter_is_found_though_another_pollutes_otherwise() {
    for seed in 0..20 {
        let mut bodies: Vec<Body> = (0..40).map(|_| plain()).collect();
        bodies[7] = sets("dirty");
        bodies[9] = sets("full");
        bodies[20] = Box::new(|state| passed(!state.contains("dirty") && !state.contains("full")));
        bodies[31] = clears("dirty");
        let (found, _) = concluded(&bodies, &[20], seed, false);
        let of_victim = dependent(&found[0]);
        assert_eq!(of_victim.sets, [vec![7], vec![9]], "seed {seed}");
        assert_eq!(of_victim.cleaners, [31], "seed {seed}");
    }
}

#[test]
fn wherever_the_search_is_stopped_what_is_said_is_true_and_nothing_of_it_is_taken_back() {
    let mut bodies: Vec<Body> = (0..12).map(|_| plain()).collect();
    bodies[2] = sets("dirty");
    bodies[4] = clears("dirty");
    bodies[6] = sets("dirty");
    bodies[8] = victim(&["dirty"]);
    bodies[9] = sets("ready");
    bodies[1] = brittle(&["ready"]);
    let all: Vec<usize> = (0..bodies.len()).collect();
    for (seed, is_shared) in [(0, false), (1, true), (2, true)] {
        let (whole, experiments, _) = made(&bodies, &all, seed, is_shared);
        let mut so_far = Experiments::new(is_shared);
        let mut first_stated = [None; 2];
        for (count, experiment) in experiments.made().iter().enumerate() {
            so_far.add(experiment.clone());
            let detection = Detection::so_far(&so_far);
            let suspects = so_far.suspects(&all);
            let found = settled(&suspects, bodies.len(), &detection, &LIMITS, &so_far);
            for (test, found) in suspects.iter().zip(&found) {
                let Some(found) = found else { continue };
                let found = dependent(found);
                let (number, sets) = match test {
                    8 => (0, &[vec![2], vec![6]][..]),
                    1 => (1, &[vec![9]][..]),
                    other => panic!("{other} depends on nothing"),
                };
                assert!(found.sets.iter().all(|set| sets.contains(set)), "{found:?}");
                assert!(found.cleaners.iter().all(|test| *test == 4));
                let is_known = found.sets.len() == sets.len();
                assert!(is_known || !found.is_complete, "{found:?}");
                first_stated[number].get_or_insert(count);
            }
            let stated = first_stated.iter().flatten().count();
            assert_eq!(found.iter().flatten().count(), stated, "{count}");
        }
        let all_stated = first_stated.map(|stated| stated.expect("it is concluded"));
        assert!(all_stated.iter().any(|stated| *stated + 5 < experiments.count()));
        assert_eq!(dependent(&whole[8]).sets.len(), 2);
    }
}

#[test]
fn polluters_that_are_needed_together_are_one_set_and_others_are_sets_of_their_own() {
    for seed in 0..20 {
        let mut bodies: Vec<Body> = (0..60).map(|_| plain()).collect();
        bodies[3] = sets("a");
        bodies[50] = sets("b");
        bodies[55] = victim(&["a", "b"]);
        bodies[8] = sets("c");
        bodies[30] = sets("c");
        bodies[40] = victim(&["c"]);
        let (found, _) = concluded(&bodies, &[55, 40], seed, false);
        let together: BTreeSet<_> = dependent(&found[0]).sets[0].iter().copied().collect();
        assert_eq!(together, BTreeSet::from([3, 50]), "seed {seed}");
        assert_eq!(dependent(&found[0]).sets.len(), 1);
        let mut each = dependent(&found[1]).sets.clone();
        each.sort();
        assert_eq!(each, [vec![8], vec![30]], "seed {seed}");
    }
}

#[test]
fn a_polluter_that_needs_a_setter_is_found_behind_it() {
    // It only pollutes if it passes itself.
    let mut bodies: Vec<Body> = (0..30).map(|_| plain()).collect();
    bodies[4] = sets("ready");
    bodies[10] = Box::new(|state| {
        let passes = state.contains("ready");
        if passes {
            state.insert("dirty");
        }
        passed(passes)
    });
    bodies[21] = victim(&["dirty"]);
    for seed in 0..20 {
        let (found, _) = concluded(&bodies, &[21, 10], seed, false);
        assert_eq!(dependent(&found[0]).sets, [vec![4, 10]], "seed {seed}");
        assert_eq!(dependent(&found[1]).sets, [vec![4]]);
    }
}

/// Returns a test that fails in about one of `one_of` runs, whatever runs before it or at the same
/// time.
fn by_chance(seed: u64, one_of: u64) -> Body {
    let drawn = Cell::new(seed);
    Box::new(move |_| {
        let next = drawn.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        drawn.set(next);
        passed(!mix(next).is_multiple_of(one_of))
    })
}

#[test]
fn what_fails_by_chance_depends_on_no_other_test_and_is_not_stable() {
    for is_shared in [false, true] {
        for (tests, one_of) in [(3, 2), (20, 2), (20, 3)] {
            for seed in 0..50 {
                let mut bodies: Vec<Body> = (0..tests).map(|_| plain()).collect();
                bodies[0] = by_chance(mix(seed), one_of);
                bodies[2] = by_chance(mix(seed + 100), one_of);
                let (found, _) = concluded(&bodies, &[0, 2], seed, is_shared);
                for found in found {
                    assert!(
                        matches!(found, OrderConclusion::NonDeterministic { .. }),
                        "{is_shared} {tests} {one_of} {seed}: {found:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_test_that_its_own_first_run_spoils_depends_on_no_other_though_one_repairs_it() {
    for is_shared in [false, true] {
        // State that survives the process.
        let is_left = Rc::new(Cell::new(false));
        let [left, repaired] = [Rc::clone(&is_left), is_left];
        let bodies: [Body; 3] = [
            plain(),
            Box::new(move |_| passed(!left.replace(true))),
            Box::new(move |_| {
                repaired.set(false);
                Outcome::Passed
            }),
        ];
        let (found, experiments, _) = made(&bodies, &[0, 1, 2], 0, is_shared);
        assert!(matches!(
            &found[1],
            OrderConclusion::NonDeterministic { before, .. } if before.is_empty()
        ));
        let [together, alone] = experiments.failures_after(&[], 1);
        let [failed, all] = [together[0] + alone[0], together[1] + alone[1]];
        assert!(failed > 0 && failed < all);
        assert_eq!(
            (&found[0], &found[2]),
            (&OrderConclusion::Independent, &OrderConclusion::Independent)
        );
    }
}

#[test]
fn tests_that_only_processes_at_the_same_time_disturb_take_few_and_depend_on_none() {
    for seed in 0..10 {
        let mut bodies: Vec<Body> = (0..12).map(|_| plain()).collect();
        for (number, test) in [3, 8].into_iter().enumerate() {
            let runs = Cell::new(0);
            bodies[test] = Box::new(move |state| {
                let run = runs.replace(runs.get() + 1);
                let drawn = mix(1000 * seed + 100 * number as u64 + run);
                let is_met = run > 0 && !drawn.is_multiple_of(3);
                passed(!(is_met && state.contains(OTHERS)))
            });
        }
        let (found, count) = concluded(&bodies, &[3, 8], seed, true);
        assert_eq!(
            found,
            [OrderConclusion::Independent, OrderConclusion::Independent],
            "seed {seed}"
        );
        assert!(count <= 100, "seed {seed}: {count} processes");
    }
}

#[test]
fn a_test_that_ends_the_process_hides_no_other() {
    let mut bodies: Vec<Body> = (0..20).map(|_| plain()).collect();
    bodies[2] = sets("dirty");
    bodies[6] =
        Box::new(
            |state| if state.contains("dirty") { Outcome::Exited(0) } else { Outcome::Passed },
        );
    bodies[15] = victim(&["dirty"]);
    let (found, _) = concluded(&bodies, &[15, 6], 0, false);
    assert_eq!(dependent(&found[0]).sets, [vec![2]]);
    assert_eq!(dependent(&found[1]).sets, [vec![2]]);
}

#[test]
fn the_roles_in_five_hundred_tests_take_few_processes() {
    let mut counts = Vec::new();
    for seed in 0..10 {
        let mut bodies: Vec<Body> = (0..500).map(|_| plain()).collect();
        let place = |number: u64| (mix(seed * 100 + number) % 500) as usize;
        let mut used = BTreeSet::new();
        let mut numbers = 0..;
        let mut free = || loop {
            let place = place(numbers.next().expect("there are enough"));
            if used.insert(place) {
                return place;
            }
        };
        let mut truth = Vec::new();
        for flag in ["a", "b", "c", "d"] {
            let [polluter, target, one, other] = [free(), free(), free(), free()];
            bodies[polluter] = sets(flag);
            bodies[target] = Box::new(move |state| passed(!state.contains(flag)));
            bodies[one] = clears(flag);
            bodies[other] = clears(flag);
            let mut cleaners = vec![one, other];
            cleaners.sort_unstable();
            truth.push((target, BTreeSet::from([polluter]), cleaners));
        }
        let [first, second, target, one, other] = [free(), free(), free(), free(), free()];
        bodies[first] = sets("e");
        bodies[second] = sets("f");
        bodies[target] = victim(&["e", "f"]);
        bodies[one] = clears("e");
        bodies[other] = clears("f");
        let mut cleaners = vec![one, other];
        cleaners.sort_unstable();
        truth.push((target, BTreeSet::from([first, second]), cleaners));

        let requested: Vec<usize> = truth.iter().map(|(target, ..)| *target).collect();
        let (found, processes) = concluded(&bodies, &requested, seed, false);
        for ((target, polluters, cleaners), found) in truth.iter().zip(&found) {
            if let OrderConclusion::Independent = found {
                panic!("seed {seed}: {target} is not found");
            }
            let found = dependent(found);
            assert_eq!(found.sets[0].iter().copied().collect::<BTreeSet<_>>(), *polluters);
            assert_eq!(found.cleaners, *cleaners, "seed {seed}");
        }
        // Ten runs of each test, alone and after others, only confirm the result.
        counts.push(processes - requested.len() * 2 * (LIMITS.reruns - REPETITIONS));
    }
    eprintln!("{counts:?}");
    assert!(counts.iter().all(|count| *count <= 150), "{counts:?}");
}

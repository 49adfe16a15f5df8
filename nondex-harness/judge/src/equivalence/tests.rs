//! Tests of which runs represent others.

use nondex_core::{Calls, Family, Level, Reading, Schedule, Scope, Selection};

use super::*;
use crate::simulation;

fn site(family: Family, line: u32) -> Site {
    Site {
        api: "std::collections::HashMap::iter".into(),
        family,
        file: "src/lib.rs".into(),
        line,
        column: 1,
    }
}

/// Returns a run whose points have this number of calls with this number of elements, and whose
/// choices are all listed.
fn run(points: &[(Family, u32, u64, u64)], aspect: Option<u64>) -> Run {
    let listed = points.iter().flat_map(|&(family, line, count, len)| {
        (0..count).map(move |ordinal| ChoiceRecord {
            place: place("t", "0", &site(family, line)),
            ordinal,
            len,
            aspect,
            reading: None,
            own: 0,
        })
    });
    Run {
        points: points
            .iter()
            .map(|&(family, line, count, max_len)| PointRecord {
                site: site(family, line),
                thread: "0".into(),
                count,
                max_len,
                keys: 0,
                stack: Vec::new(),
            })
            .collect(),
        choices: listed.collect(),
        ..simulation::run(true, [])
    }
}

fn spec(level: Level, seed: u64) -> RunSpec {
    RunSpec::new("t", level, seed)
}

fn with(selection: Selection, spec: &RunSpec) -> RunSpec {
    spec.clone().with_selection(selection)
}

#[test]
fn a_run_without_choice_points_is_every_run() {
    for level in Level::ALL {
        assert!(decide_alike(&RunSpec::clean("t"), &spec(level, 3), &run(&[], None)));
    }
}

#[test]
fn a_run_without_the_network_is_not_one_with_it() {
    let clean = RunSpec::clean("t");
    let blocked = RunSpec { network: nondex_core::Network::Block(Vec::new()), ..clean.clone() };
    assert!(!decide_alike(&blocked, &clean, &run(&[], None)));
    assert!(decide_alike(&blocked, &blocked, &run(&[], None)));
}

#[test]
fn a_level_at_which_nothing_varies_is_the_clean_run() {
    let run = run(&[(Family::FixedHasher, 1, 9, 100)], None);
    let clean = RunSpec::clean("t");
    for level in Level::ALL {
        assert_eq!(decide_alike(&clean, &spec(level, 3), &run), level == Level::Std, "{level}");
    }
}

#[test]
fn the_environment_that_is_read_once_or_unchanged_is_varied_at_std_only_as_far_as_a_level_can_tell()
{
    for (readings, own, levels) in [
        (&[Reading::First][..], 0, &Level::ALL[1..]),
        (&[Reading::First, Reading::Again], 0, &Level::ALL[1..4]),
        (&[Reading::First, Reading::Changed], 0, &Level::ALL[1..2]),
        (&[Reading::First], 1, &Level::ALL[2..]),
        (&[Reading::First, Reading::Changed], 2, &[]),
    ] {
        let mut run = run(&[(Family::Environment, 1, readings.len() as u64, 50)], None);
        let choices = run.choices.iter().zip(readings);
        run.choices = choices
            .map(|(choice, reading)| ChoiceRecord { reading: Some(*reading), own, ..*choice })
            .collect();
        let clean = RunSpec::clean("t");
        for level in Level::ALL {
            for seed in 0..5 {
                let is_clean = decide_alike(&clean, &spec(level, seed), &run);
                assert_eq!(is_clean, levels.contains(&level), "{readings:?} {level}");
            }
        }
    }
}

#[test]
fn random_values_differ_with_the_seed_at_std_and_are_those_of_the_clean_run_above_it() {
    for family in [Family::Entropy, Family::HashKeys] {
        let mut run = run(&[(family, 1, 500, 16)], None);
        run.choices = [].into();
        let made = spec(Level::Std, 3);
        let clean = RunSpec::clean("t");
        assert!(decide_alike(&made, &made, &run));
        assert!(!decide_alike(&made, &clean, &run));
        for level in Level::ALL {
            assert!(!decide_alike(&made, &spec(level, 4), &run), "{level}");
            let is_above = level != Level::Std;
            assert_eq!(decide_alike(&clean, &spec(level, 3), &run), is_above);
            assert_eq!(decide_alike(&made, &spec(level, 3), &run), !is_above);
        }
    }
}

#[test]
fn how_long_threads_are_held_back_is_known_for_one_seed_at_one_level_only() {
    for family in [Family::Schedule, Family::Time] {
        let mut run = run(&[(family, 1, 3, 9)], None);
        run.choices = [].into();
        let scheduled = |spec: &RunSpec| spec.clone().with_scheduler(0);
        let clean = scheduled(&RunSpec::clean("t"));
        let made = scheduled(&spec(Level::One, 3));
        assert!(decide_alike(&made, &made, &run));
        assert!(!decide_alike(&made, &spec(Level::One, 3), &run));
        for level in Level::ALL {
            for seed in [3, 4] {
                let other = scheduled(&spec(level, seed));
                let is_made = (level, seed) == (Level::One, 3);
                assert_eq!(decide_alike(&made, &other, &run), is_made);
                assert!(!decide_alike(&clean, &other, &run));
            }
        }
        // A clean run does not reach what a seed chooses at another site. So it is only like a run
        // without choices.
        let other_site = Selection::only([site(family, 2)]);
        assert!(!decide_alike(&clean, &with(other_site.clone(), &made), &run));
        let except = Selection::except([site(family, 1)]);
        assert!(!decide_alike(&clean, &with(except, &made), &run));
        let orders = Selection::only([site(Family::HashMap, 2)]);
        assert!(decide_alike(&clean, &with(orders, &made), &run));
        // In a run of the seed, choices at sites that were not reached do not matter.
        let both = Selection::only([site(family, 1), site(family, 2)]);
        let one = Selection::only([site(family, 1)]);
        assert!(decide_alike(&with(one.clone(), &made), &with(both, &made), &run));
        assert!(!decide_alike(&with(one, &made), &with(other_site, &made), &run));
    }
}

#[test]
fn two_elements_have_two_orders_at_one_and_one_of_them_is_the_base() {
    let run = run(&[(Family::HashMap, 1, 64, 2)], None);
    let clean = RunSpec::clean("t");
    let (base, swapped): (Vec<u64>, Vec<u64>) =
        (0..20).partition(|&seed| decide_alike(&clean, &spec(Level::One, seed), &run));
    assert!(!base.is_empty() && !swapped.is_empty());
    let alike = |a, b| decide_alike(&spec(Level::One, a), &spec(Level::One, b), &run);
    for seeds in [&base, &swapped] {
        assert!(seeds.windows(2).all(|pair| alike(pair[0], pair[1])));
    }
    assert!(!alike(base[0], swapped[0]));
}

#[test]
fn a_single_read_at_full_may_be_the_order_of_one() {
    let run = run(&[(Family::HashMap, 1, 1, 2)], None);
    let orders: Vec<bool> = (0..20)
        .map(|seed| decide_alike(&spec(Level::One, 0), &spec(Level::Full, seed), &run))
        .collect();
    assert!(orders.contains(&true) && orders.contains(&false));
}

#[test]
fn what_depends_on_the_object_is_known_from_a_run_of_the_same_level_only() {
    for level in [Level::Eq, Level::Id] {
        let of = |aspect, other: &RunSpec| {
            decide_alike(&spec(level, 0), other, &run(&[(Family::HashMap, 1, 1, 2)], aspect))
        };
        let seeds = 1..20;
        assert!(seeds.clone().all(|seed| !of(None, &spec(level, seed))));
        let known: Vec<bool> = seeds.map(|seed| of(Some(4), &spec(level, seed))).collect();
        assert!(known.contains(&true) && known.contains(&false));
        let others = Level::ALL.into_iter().filter(|other| {
            *other == Level::Std || *other != level && matches!(other, Level::Eq | Level::Id)
        });
        for other in others {
            assert!((1..20).all(|seed| !of(Some(4), &spec(other, seed))));
        }
    }
}

#[test]
fn the_same_seed_of_another_schedule_is_the_same_run_where_it_draws_the_same() {
    let run = run(&[(Family::HashMap, 1, 1, 2), (Family::Entropy, 2, 9, 8)], None);
    // For two elements, only the first seed is part of the covering design.
    for seed in 1..10 {
        let covering = spec(Level::One, seed);
        let random = covering.clone().with_schedule(Schedule::Random);
        assert!(decide_alike(&covering, &random, &run));
    }
    let entropy = self::run(&[(Family::Entropy, 2, 9, 8)], None);
    let random = spec(Level::Std, 0).with_schedule(Schedule::Random);
    assert!(decide_alike(&random, &spec(Level::Std, 0), &entropy));
}

#[test]
fn what_std_orders_is_never_foreseen() {
    let run = run(&[(Family::HashMap, 1, 1, 2)], None);
    for seed in 1..20 {
        for level in Level::ALL {
            assert!(!decide_alike(&spec(Level::Std, 0), &spec(level, seed), &run));
        }
    }
}

#[test]
fn choices_that_were_not_listed_are_not_foreseen() {
    let mut run = run(&[(Family::HashMap, 1, 2, 2)], None);
    run.choices = run.choices[..1].into();
    let alike = |seed| decide_alike(&spec(Level::One, 0), &spec(Level::One, seed), &run);
    assert!((1..20).all(|seed| !alike(seed)));
}

#[test]
fn selecting_all_calls_that_were_reached_is_selecting_all() {
    let run = run(&[(Family::HashMap, 1, 5, 100), (Family::Directory, 2, 5, 100)], None);
    let all = spec(Level::Id, 3);
    let sites: Vec<Site> = run.points.iter().map(|point| point.site.clone()).collect();
    let calls = |to| {
        let calls = |site: &Site| Scope {
            site: site.clone(),
            calls: Some(Calls { thread: "0".into(), from: 0, to }),
        };
        sites.iter().map(calls).collect::<Vec<_>>()
    };
    for (choices, is_all) in [
        (Selection::only(sites.clone()), true),
        (Selection::only(sites[..1].to_vec()), false),
        (Selection::Only(calls(5)), true),
        (Selection::Only(calls(4)), false),
    ] {
        assert_eq!(decide_alike(&all, &with(choices, &all), &run), is_all);
    }
    for choices in
        [Selection::except(sites.clone()), Selection::Except(calls(7)), Selection::Only(Vec::new())]
    {
        assert!(decide_alike(&RunSpec::clean("t"), &with(choices, &all), &run));
    }
}

#[test]
fn what_two_selections_have_in_common_is_passed_over_with_the_same_result() {
    let points: Vec<_> = (1..6).map(|line| (Family::HashMap, line, 3, 100)).collect();
    let run = run(&points, None);
    let scope = |line: u32, from: u64, to: u64| Scope {
        site: site(Family::HashMap, line),
        calls: Some(Calls { thread: "0".to_owned(), from, to }),
    };
    let whole = |line: u32| Scope::from(site(Family::HashMap, line));
    let lists = [
        vec![],
        vec![whole(1), whole(2), whole(3)],
        vec![whole(1), whole(3)],
        vec![whole(1), whole(9), whole(3)],
        vec![whole(3), whole(2), whole(1)],
        vec![scope(1, 0, 3), whole(2), whole(3)],
        vec![scope(1, 0, 2), whole(2), scope(3, 0, 3)],
        vec![scope(1, 0, 2), scope(1, 2, 3), whole(2), whole(3)],
    ];
    let selections = || {
        let lists = lists.iter();
        lists.flat_map(|list| [Selection::Only(list.clone()), Selection::Except(list.clone())])
    };
    let mut alike = 0;
    for (a, b) in selections().flat_map(|a| selections().map(move |b| (a.clone(), b))) {
        for seed in [3, 4] {
            let [a, b] =
                [with(a.clone(), &spec(Level::Id, 3)), with(b.clone(), &spec(Level::Id, seed))];
            let mut points = run.points.iter();
            let expected = points.all(|point| alike_at(&a, &b, point, &run.choices));
            assert_eq!(decide_alike(&a, &b, &run), expected, "{a:?} {b:?}");
            alike += u32::from(expected && a != b);
        }
    }
    assert!(alike > 10, "{alike}");
}

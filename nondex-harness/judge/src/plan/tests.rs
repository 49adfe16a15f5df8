//! Tests of what runs next, over simulated tests.
use nondex_core::context::place;
use nondex_core::{
    ChoiceRecord, ElementRecord, Family, Given, PointRecord, Site, StepRecord, model,
};

use super::*;
use std::time::Duration;

use crate::Options;
use crate::exploration::{MAX_HANGS, MAX_REQUESTED};
use crate::patience::LONGER;
use crate::simulation::{
    frame, made, options, point, run, runs_at, simulate, simulate_limited, simulate_within, site,
};

fn dependence(conclusion: Conclusion) -> Dependence {
    match conclusion {
        Conclusion::Dependent(dependence) => *dependence,
        other => panic!("expected a dependence, found {other:?}"),
    }
}

#[test]
fn a_test_without_choice_points_runs_twice_and_is_stable_or_broken() {
    for (passes, expected) in [(true, Conclusion::Stable), (false, Conclusion::Broken)] {
        let (conclusion, evidence) = simulate(&options(), |_| run(passes, []));
        assert_eq!(conclusion, expected);
        assert_eq!(evidence.all().count(), 2);
    }
}

#[test]
fn many_seeds_are_requested_in_parts_until_each_is_tried() {
    let mut options = options();
    options.seeds = (0..1000).collect();
    options.levels = vec![Level::Std];
    let mut evidence = Evidence::new(false);
    let mut parts = Vec::new();
    let conclusion = loop {
        match conclude(Question::new("t", &options, &evidence)) {
            Ok(conclusion) => break conclusion,
            Err(missing) => {
                parts.push(missing.experiments.len());
                evidence.extend(
                    missing.experiments.into_iter().map(|spec| (spec, Some(run(true, [1])))),
                );
            }
        }
    };
    assert_eq!(conclusion, Conclusion::Stable);
    assert_eq!(runs_at(&evidence, Level::Std), 1000);
    assert!(parts.iter().all(|part| *part <= MAX_REQUESTED), "{parts:?}");
}

#[test]
fn the_first_failing_seed_is_shown_wherever_the_kernel_ticked_between_two_writes() {
    let file_time =
        Site { family: Family::Time, api: model::METADATA_MODIFIED.api.into(), ..site(2) };
    let simulated = |ticked: fn(u64) -> bool| {
        let (conclusion, _) = simulate(&options(), |spec| {
            let mut run = run(!made(spec, 1), [1]);
            if ticked(spec.seed()) {
                run.points = [point(site(1)), point(file_time.clone())].into();
            }
            run
        });
        dependence(conclusion).spec
    };
    assert_eq!(simulated(|_| false), simulated(|seed| seed == 0));
}

#[test]
fn without_pruning_every_seed_is_run_at_every_level() {
    let mut options = options();
    options.prune = false;
    let (conclusion, evidence) = simulate(&options, |_| run(true, []));
    assert_eq!(conclusion, Conclusion::Stable);
    assert_eq!(evidence.all().count(), 2 + 5 * 10);
}

#[test]
fn without_seeds_there_are_clean_runs_only() {
    let mut options = options();
    options.seeds.clear();
    let (conclusion, evidence) = simulate(&options, |_| run(true, [1]));
    assert_eq!(conclusion, Conclusion::Stable);
    assert_eq!(evidence.all().count(), 2);
}

#[test]
fn a_test_that_passes_everywhere_is_run_at_every_level_where_something_varies() {
    let (conclusion, evidence) = simulate(&options(), |_| run(true, [1]));
    assert_eq!(conclusion, Conclusion::Stable);
    assert_eq!(evidence.all().count(), 2 + 5 * 10);

    let fixed = || {
        let mut point = point(site(1));
        point.site.family = Family::FixedHasher;
        Run { points: [point].into(), ..run(true, []) }
    };
    let (conclusion, evidence) = simulate(&options(), |_| fixed());
    assert_eq!(conclusion, Conclusion::Stable);
    assert_eq!(runs_at(&evidence, Level::Std), 0);
    assert_eq!(runs_at(&evidence, Level::One), 10);
}

#[test]
fn few_elements_leave_few_orders_to_try() {
    let mut options = options();
    options.levels = vec![Level::Std, Level::One];
    let (conclusion, evidence) = simulate(&options, |_| {
        let point = PointRecord { max_len: 2, ..point(site(1)) };
        let choices = (0..point.count).map(|ordinal| ChoiceRecord {
            place: place("t", &point.thread, &point.site),
            ordinal,
            len: 2,
            aspect: None,
            reading: None,
            own: 0,
        });
        Run { choices: choices.collect(), points: [point].into(), ..run(true, []) }
    });
    assert_eq!(conclusion, Conclusion::Stable);
    // One run with the other order: the clean run had the canonical order.
    assert_eq!(runs_at(&evidence, Level::One), 1);
}

#[test]
fn clean_runs_that_disagree_are_non_deterministic() {
    let mut passes = false;
    let (conclusion, evidence) = simulate(&options(), |_| {
        passes = !passes;
        run(passes, [1])
    });
    let spec = options().natural_spec("t");
    assert_eq!(conclusion, Conclusion::NonDeterministic { spec: Box::new(spec) });
    assert_eq!(evidence.all().count(), 2);
}

#[test]
fn a_failure_that_does_not_repeat_is_non_deterministic() {
    let mut runs = 0;
    let (conclusion, _) = simulate(&options(), |_| {
        runs += 1;
        run(runs != 5, [1])
    });
    assert!(matches!(conclusion, Conclusion::NonDeterministic { spec } if spec.draws_all()));
}

#[test]
fn a_test_that_fails_by_chance_is_not_blamed_on_a_choice() {
    // Passes twice, then fails under all seeds of the first level and in their repetition, whatever
    // the choices are.
    let mut runs = 0;
    let (conclusion, _) = simulate(&options(), |_| {
        runs += 1;
        run(runs <= 2 || runs % 7 == 0, [1, 2, 3])
    });
    assert!(matches!(conclusion, Conclusion::NonDeterministic { .. }), "{conclusion:?}");
}

#[test]
fn the_weakest_level_that_fails_is_found_with_all_its_seeds_and_no_level_above_it() {
    for weakest in Level::ALL {
        let (conclusion, evidence) = simulate(&options(), |spec| {
            run(!(made(spec, 2) && spec.level() >= weakest && spec.seed() % 3 == 1), [1, 2, 3])
        });
        let found = dependence(conclusion);
        assert_eq!((found.spec.level(), found.spec.seed()), (weakest, 1));
        assert!(found.passes_clean);
        assert!(found.culprits.sites().eq([&site(2)]));
        assert!(found.culprits.confirmed);
        for level in Level::ALL {
            let expected = match level.cmp(&weakest) {
                std::cmp::Ordering::Less => 10..=10,
                // Includes the repetitions of the failing seed.
                std::cmp::Ordering::Equal => 11..=14,
                std::cmp::Ordering::Greater => 0..=0,
            };
            assert!(expected.contains(&runs_at(&evidence, level)), "{level} of {weakest}");
        }
    }
}

#[test]
fn the_level_that_is_said_is_the_weakest_one_whichever_levels_were_asked_for() {
    let fails_from = |weakest: Level| {
        move |spec: &RunSpec| run(!(made(spec, 1) && spec.level() >= weakest), [1])
    };
    for weakest in Level::ALL {
        let (conclusion, whole) = simulate(&options(), fails_from(weakest));
        let expected = dependence(conclusion);
        assert_eq!(expected.spec.level(), weakest);
        for requested in Level::ALL.into_iter().filter(|level| *level >= weakest) {
            let mut options = options();
            options.levels = vec![requested];
            let (conclusion, evidence) = simulate(&options, fails_from(weakest));
            assert_eq!(dependence(conclusion), expected, "{requested}");
            assert!(!evidence.of(&expected.spec).is_empty(), "{requested}");
            for below in Level::ALL.into_iter().filter(|level| *level < weakest) {
                let runs = runs_at(&evidence, below);
                assert_eq!(runs, runs_at(&whole, below), "{below} for {requested}");
            }
        }
    }
}

#[test]
fn what_only_stronger_levels_show_is_stable_at_the_level_asked_for() {
    let mut options = options();
    options.levels = vec![Level::One];
    let (conclusion, evidence) =
        simulate(&options, |spec| run(!(made(spec, 1) && spec.level() == Level::Full), [1]));
    assert_eq!(conclusion, Conclusion::Stable);
    assert_eq!(runs_at(&evidence, Level::Std), 0);
}

#[test]
fn an_exhaustive_campaign_runs_the_levels_above_the_weakest_too() {
    let mut options = options();
    options.all_levels = true;
    let (conclusion, evidence) = simulate(&options, |spec| run(!made(spec, 1), [1]));
    assert_eq!(dependence(conclusion).spec.level(), Level::Std);
    assert_eq!(runs_at(&evidence, Level::Full), 10);
}

#[test]
fn a_test_that_fails_in_base_order_and_passes_in_another_depends_on_the_order() {
    let (conclusion, _) = simulate(&options(), |spec| {
        run(made(spec, 2) && spec.level() >= Level::One && spec.seed() == 4, [1, 2, 3])
    });
    let found = dependence(conclusion);
    assert!(!found.passes_clean);
    assert_eq!((found.spec.level(), found.spec.seed()), (Level::One, 4));
    assert!(found.culprits.sites().eq([&site(2)]));
    assert!(found.culprits.confirmed);
}

#[test]
fn what_changes_with_the_base_order_too_is_no_order_s_doing() {
    // Whenever there is a choice, something allocates. In the second case the order decides, too.
    for (is_order, expected) in [(false, "artefact"), (true, "dependent")] {
        let (conclusion, _) = simulate(&options(), |spec| {
            let given: Vec<StepRecord> = spec.given().iter().map(step).collect();
            let is_base = |given: &Given| given.choice == nondex_core::GivenChoice::Steps(0);
            let is_changed = made(spec, 2) && !(is_order && spec.given().iter().any(is_base));
            let mut run = run(!is_changed, [1, 2]);
            run.points =
                run.points.iter().map(|point| PointRecord { count: 1, ..point.clone() }).collect();
            Run { steps: given, ..run }
        });
        let found = match conclusion {
            Conclusion::Artefact(_) => "artefact",
            Conclusion::Dependent(_) => "dependent",
            other => panic!("{other:?}"),
        };
        assert_eq!(found, expected);
    }
}

#[test]
fn what_changes_without_any_choice_is_no_seed_s_doing() {
    // Addresses depend on the spec, and vary in natural runs; or this tool changes something else.
    let options = Options { prune: false, ..options() };
    for varies in [true, false] {
        let mut number = 0;
        let (conclusion, _) = simulate(&options, |spec| {
            number += 1;
            let passes =
                if spec.is_natural() { varies && number % 2 == 0 } else { !spec.is_clean() };
            run(passes, [])
        });
        let is_by_addresses = matches!(conclusion, Conclusion::NonDeterministic { .. });
        assert_eq!(is_by_addresses, varies, "{conclusion:?}");
        assert!(varies || matches!(conclusion, Conclusion::Artefact(_)), "{conclusion:?}");
    }
}

#[test]
fn models_that_are_off_are_off_in_every_run() {
    let mut options = options();
    options.models_off = vec!["directory/std::fs::read_dir".into()];
    simulate(&options, |spec| {
        assert_eq!(spec.models_off, options.models_off);
        run(!made(spec, 1), [1, 2])
    });
}

#[test]
fn a_culprit_is_traced_once() {
    let mut traced = Vec::new();
    let (conclusion, _) = simulate(&options(), |spec| {
        let mut run = run(!made(spec, 2), [1, 2]);
        if !spec.trace.is_empty() {
            traced.push(spec.trace.clone());
            let mut points = run.points.to_vec();
            points[1].stack = vec![frame("mine", "src/mine.rs", 7)];
            run.points = points.into();
        }
        run
    });
    assert_eq!(traced, [vec![site(2)]]);
    assert_eq!(dependence(conclusion).culprits.groups[0].points[1].stack.len(), 1);
}

#[test]
fn hundreds_of_seeds_are_each_run_once_at_every_level() {
    let mut options = options();
    options.seeds = (0..300).collect();
    let (conclusion, evidence) = simulate(&options, |_| run(true, [1, 2]));
    assert_eq!(conclusion, Conclusion::Stable);
    assert_eq!(evidence.all().count(), 2 + 5 * 300);
}

#[test]
fn a_test_that_fails_by_chance_is_never_attributed_to_a_choice() {
    let mut numbers = Numbers(1);
    let mut verdicts = [0; 3];
    for trial in 0..1000 {
        // From very rare to almost constant failures, which last for several runs in some trials.
        let failing = 2 + trial % 60;
        let lasting = 1 + trial % 3;
        let mut fails = false;
        let mut made = 0;
        let (conclusion, _) = simulate(&options(), |spec| {
            if made % lasting == 0 {
                fails = numbers.below(64) < failing;
            }
            made += 1;
            Run { steps: spec.given().iter().map(step).collect(), ..run(!fails, [1, 2, 3, 4, 5]) }
        });
        verdicts[match conclusion {
            Conclusion::NonDeterministic { .. } => 0,
            Conclusion::Dependent(found) => {
                assert!(!found.culprits.confirmed, "trial {trial}: {found:?}");
                2
            }
            _ => 1,
        }] += 1;
    }
    assert!(verdicts[0] > 900, "{verdicts:?}");
}

/// Returns what the runtime records of a call whose order is given.
fn step(given: &Given) -> StepRecord {
    let element = |rank| ElementRecord { rank, ..ElementRecord::default() };
    StepRecord {
        site: given.site.clone(),
        thread: given.thread.clone(),
        ordinal: given.ordinal,
        len: 100,
        steps: 2000,
        position: 3,
        exchanged: vec![element(7), element(3)],
        created: Vec::new(),
        number: None,
    }
}

/// Small random number generator (Vigna's splitmix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

mod hangs;
mod spent;
mod stopped;

//! Tests of conclusions about a test whose budget was spent, compared with those from all runs.

use std::collections::BTreeSet;

use nondex_core::{Source, StateChange, StateId, StateKind};

use super::*;
use crate::evidence::JointRuns;
use crate::missing::Spent;
use crate::options::Options;
use crate::unexplored;

/// Only the budget for exploring is spent.
const EXPLORING: Spent = Spent { exploring: true, explaining: false };

/// Only the budget for explaining is spent.
const EXPLAINING: Spent = Spent { exploring: false, explaining: true };

/// Returns the conclusion about a simulated test if `spent` is spent after this number of runs,
/// with the runs.
fn spent_after(
    runs: usize,
    spent: Spent,
    options: &Options,
    mut test: impl FnMut(&RunSpec) -> Run,
) -> (Conclusion, Evidence) {
    let mut evidence = Evidence::new(true);
    loop {
        if evidence.count() >= runs {
            evidence.spend(spent);
        }
        match conclude(Question::new("t", options, &evidence)) {
            Ok(conclusion) => return (conclusion, evidence),
            Err(missing) => {
                assert!(!evidence.spent().leaves_out(missing.purpose), "{missing:?}");
                for spec in missing.experiments {
                    // Stop in the middle of a batch, like the executor.
                    if spent.leaves_out(missing.purpose) && evidence.count() >= runs {
                        break;
                    }
                    let run = test(&spec);
                    evidence.add(spec, run);
                }
            }
        }
    }
}

/// Returns a test that fails at this level and above when one site is drawn, for one seed in three,
/// from `first` on.
fn fails_from(level: Level, first: u64) -> impl Fn(&RunSpec) -> Run {
    move |spec| {
        let is_hit = !spec.is_clean() && spec.level() >= level && spec.seed() % 3 == first;
        run(!(is_hit && made(spec, 1)), [1, 2])
    }
}

#[test]
fn whenever_the_budget_is_spent_a_test_is_stable_or_what_all_runs_show() {
    let options = Options { every_seed: false, ..options() };
    let cases = Level::ALL.into_iter().flat_map(|level| [(level, 0), (level, 2)]);
    for (place, (level, first)) in cases.enumerate() {
        let test = fails_from(level, first);
        let (all, evidence) = simulate(&options, &test);
        let all = dependence(all);
        let mut found = 0;
        // Tries every third number; all cases together try every number.
        for runs in (place % 3..=evidence.count()).step_by(3) {
            match spent_after(runs, EXPLORING, &options, &test).0 {
                Conclusion::Stable => assert_eq!(found, 0, "{level} after {runs} runs"),
                other => {
                    found += 1;
                    let other = dependence(other);
                    assert_eq!(other.spec, all.spec, "{level} after {runs} runs");
                    assert_eq!(other.culprits.groups, all.culprits.groups);
                }
            }
        }
        assert!(found > 0);
    }
}

#[test]
fn whenever_the_time_for_explaining_is_spent_the_culprits_are_among_those_that_are_reported() {
    let options = options();
    let test = |spec: &RunSpec| {
        let is_hit = spec.seed() == 4 && made(spec, 3) && made(spec, 9);
        run(!is_hit, 1..=10)
    };
    let sites = |found: &Dependence| found.culprits.sites().cloned().collect::<BTreeSet<_>>();
    let (all, evidence) = simulate(&options, test);
    let all = dependence(all);
    assert!(all.culprits.confirmed);
    assert_eq!(sites(&all).len(), 2);
    let mut counts = BTreeSet::new();
    for runs in 0..=evidence.count() {
        let (cut, made) = spent_after(runs, EXPLAINING, &options, test);
        let cut = dependence(cut);
        assert_eq!(cut.spec, all.spec, "after {runs} runs");
        assert!(sites(&cut).is_superset(&sites(&all)), "after {runs} runs");
        assert!(!cut.culprits.confirmed || sites(&cut) == sites(&all));
        let mut notes = cut.culprits.notes.iter();
        assert!(cut.culprits.confirmed || notes.any(|note| note.contains("cargo nondex explain")));
        counts.insert(sites(&cut).len());
        assert!(made.count() <= evidence.count() + REPETITIONS_UNCONFIRMED * 2);
    }
    assert!(counts.contains(&10) && counts.contains(&2), "{counts:?}");
}

#[test]
fn what_was_left_out_of_a_test_is_counted() {
    let options = Options { every_seed: false, ..options() };
    let passes = |_: &RunSpec| run(true, [1]);
    for (runs, left) in [(2, 50), (6, 46), (7, 45), (10, 42), (52, 0), (100, 0)] {
        let (conclusion, evidence) = spent_after(runs, EXPLORING, &options, passes);
        assert_eq!(conclusion, Conclusion::Stable);
        let question = Question::new("t", &options, &evidence);
        assert_eq!(unexplored::runs(question), left, "{runs}");
        // Two clean runs, and one for each of five levels.
        assert_eq!(unexplored::is_untried(question), runs < 2 + 5, "{runs}");
    }
}

#[test]
fn seeds_that_were_asked_for_are_all_tried() {
    let options = options();
    assert!(options.every_seed);
    let (conclusion, evidence) = spent_after(0, EXPLORING, &options, |_| run(true, [1]));
    assert_eq!(conclusion, Conclusion::Stable);
    assert_eq!(evidence.count(), 2 + 5 * 10);
    assert_eq!(unexplored::runs(Question::new("t", &options, &evidence)), 0);
}

#[test]
fn repetitions_for_certainty_stay_in_the_budget() {
    let options = options();
    let timed = |_: &RunSpec| Run { sources: vec![Source::Clock], ..run(true, []) };
    let (conclusion, evidence) = spent_after(0, EXPLORING, &options, timed);
    assert_eq!(conclusion, Conclusion::Stable);
    assert_eq!(evidence.count(), 2);
    assert_eq!(unexplored::runs(Question::new("t", &options, &evidence)), 20);
}

#[test]
fn a_test_that_chance_may_decide_is_untried_until_half_of_its_runs_are_made() {
    let options = Options { every_seed: false, ..options() };
    for (source, untried) in [(Source::ProcessNumber, 10), (Source::RandomFile, 30)] {
        let random = |_: &RunSpec| Run { sources: vec![source], ..run(true, []) };
        for runs in [0, untried, untried + 2, 100] {
            let (_, evidence) = spent_after(runs, EXPLORING, &options, random);
            let question = Question::new("t", &options, &evidence);
            assert_eq!(unexplored::is_untried(question), runs <= untried, "{source:?} {runs}");
        }
    }
    let timed = |_: &RunSpec| Run { sources: vec![Source::Clock], ..run(true, []) };
    let (_, evidence) = spent_after(0, EXPLORING, &options, timed);
    assert!(!unexplored::is_untried(Question::new("t", &options, &evidence)));
}

#[test]
fn a_test_whose_hasher_draws_from_addresses_is_untried_until_half_of_its_runs_are_made() {
    let bytes = |start| StateId { kind: StateKind::Static, name: StateId::name_of_bytes(start, 8) };
    let options = Options { every_seed: false, address_seeds: [bytes(64)].into(), ..options() };
    for (written, untried) in [(64, 30), (128, 0)] {
        let hashing = |spec: &RunSpec| {
            let change = StateChange { state: bytes(written), before: None, after: None };
            let states = if spec.records_changes() { vec![change] } else { vec![] };
            Run { states: states.into(), ..run(true, []) }
        };
        for runs in [0, 3, 30, 33, 100] {
            let (_, evidence) = spent_after(runs, EXPLORING, &options, hashing);
            let question = Question::new("t", &options, &evidence);
            // Without the run that records what the test writes, it is unknown whether it draws.
            let is_untried = runs == 0 || question.natural().len() < untried;
            assert_eq!(unexplored::is_untried(question), is_untried, "{written} {runs}");
        }
    }
}

#[test]
fn few_runs_with_other_tests_are_little_evidence_where_a_hasher_may_draw() {
    let bytes = StateId { kind: StateKind::Static, name: StateId::name_of_bytes(64, 8) };
    let options = Options { every_seed: false, address_seeds: [bytes].into(), ..options() };
    for (may_draw, joined, is_untried) in [(true, 12, true), (true, 30, false), (false, 12, false)]
    {
        let (_, mut evidence) = spent_after(0, EXPLORING, &options, |_| run(true, []));
        evidence.note_joint_runs(JointRuns::Agree { runs: joined, may_draw });
        let question = Question::new("t", &options, &evidence);
        assert_eq!(unexplored::is_untried(question), is_untried, "{may_draw} {joined}");
    }
}

#[test]
fn every_level_has_had_a_seed_before_any_has_had_all() {
    let options = Options { every_seed: false, ..options() };
    let passes = |_: &RunSpec| run(true, [1]);
    for (runs, expected) in [(7, [1; 5]), (17, [3; 5]), (52, [10; 5])] {
        let (_, evidence) = spent_after(runs, EXPLORING, &options, passes);
        assert_eq!(Level::ALL.map(|level| runs_at(&evidence, level)), expected);
    }
}

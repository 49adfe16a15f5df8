use nondex_core::Level;

use super::*;
use crate::campaign::evidence::Run;
use crate::campaign::simulation::{made, run, site};

/// Searches the culprits of a simulated test of `n` sites, and counts the runs beyond the two clean and the two failing ones.
fn searched(n: u32, passes: impl Fn(&RunSpec) -> bool) -> (Culprits, usize) {
    let all = RunSpec::new("t", Level::One, 3);
    let simulated = |spec: &RunSpec| -> Run { run(passes(spec), 0..n) };
    let mut evidence = Evidence::new(true);
    for spec in [RunSpec::clean("t"), all.clone()] {
        evidence.add(spec.clone(), simulated(&spec));
        evidence.add(spec.clone(), simulated(&spec));
    }
    let baseline = passes(&RunSpec::clean("t"));
    loop {
        match search(&evidence, &all, baseline) {
            Ok(culprits) => return (culprits, evidence.all().count() - 4),
            Err(Missing(specs)) => {
                for spec in specs {
                    let run = simulated(&spec);
                    evidence.add(spec, run);
                }
            }
        }
    }
}

#[test]
fn one_culprit_is_found_and_confirmed_within_the_bound_on_runs() {
    for n in [1_u32, 2, 3, 5, 16, 100, 500] {
        for guilty in [0, n / 2, n - 1] {
            let (culprits, runs) = searched(n, |spec| !made(spec, guilty));
            assert_eq!(
                (culprits.sites, culprits.confirmed),
                (vec![site(guilty)], true)
            );
            let bound = 3.0 * f64::from(n).log2() + 10.0;
            assert!(runs as f64 <= bound, "{runs} runs for one of {n}");
        }
    }
}

#[test]
fn two_calls_that_fail_only_together_are_both_named() {
    for n in [2, 8, 33] {
        let (culprits, _) = searched(n, |spec| !(made(spec, 0) && made(spec, n - 1)));
        assert_eq!(culprits.sites, [site(0), site(n - 1)]);
        assert!(culprits.confirmed);
        assert_eq!(culprits.notes.len(), 1);
    }
}

#[test]
fn two_calls_each_of_which_fails_alone_are_both_named() {
    let (culprits, _) = searched(20, |spec| !made(spec, 4) && !made(spec, 15));
    assert_eq!(culprits.sites, [site(4), site(15)]);
    assert!(culprits.confirmed);
    assert!(culprits.notes.is_empty());
}

#[test]
fn a_call_that_makes_a_failing_test_pass_is_found_in_the_same_way() {
    let (culprits, _) = searched(20, |spec| made(spec, 7));
    assert_eq!((culprits.sites, culprits.confirmed), (vec![site(7)], true));
}

#[test]
fn where_every_call_is_guilty_the_search_ends_all_the_same() {
    let (culprits, runs) = searched(40, |spec| !(0..40).any(|line| made(spec, line)));
    assert_eq!(culprits.sites.len(), MAX_GROUPS);
    assert!(!culprits.confirmed);
    assert!(runs < 2 * MAX_QUESTIONS);
}

#[test]
fn a_failure_that_needs_most_calls_at_once_is_suspected_within_bounded_runs() {
    let (culprits, runs) = searched(64, |spec| {
        (0..64).filter(|&line| made(spec, line)).count() < 40
    });
    assert!(culprits.sites.len() >= 40);
    assert!(runs < 2 * MAX_QUESTIONS);
}

#[test]
fn a_failure_without_any_choice_has_no_culprit() {
    let (culprits, runs) = searched(0, |spec| spec.choices == Selection::None);
    assert_eq!((culprits, runs), (Culprits::default(), 0));
}

#[test]
fn more_sites_than_a_spec_can_name_are_not_searched() {
    let (culprits, runs) = searched(5000, |spec| spec.choices == Selection::None);
    assert!(culprits.sites.is_empty() && culprits.notes.len() == 1);
    assert_eq!(runs, 0);
}

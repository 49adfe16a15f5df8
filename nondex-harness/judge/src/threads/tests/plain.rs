//! Tests of delays of other machines, and of a plain build that fails on this one.

use super::*;
use crate::isolation::{self, Available, Need, Runs};
use crate::simulation::settle;

#[test]
fn a_confirmed_delay_of_other_machines_stays_where_a_plain_build_fails_too() {
    let threads = Threads::new(60);
    let options = Options { seeds: (0..200).collect(), ..options() };
    let mut runs = Runs::new(true, false);
    runs.plain = Some(PlainBuild::Runs([1, 3]));
    let ask = |runs: &Runs| {
        isolation::conclude("t", &options, Available::default(), runs).map_err(|need| match need {
            Need::Runs(missing) => missing,
            other => panic!("{other:?}"),
        })
    };
    let judgement = settle(&mut runs, ask, |runs, spec: RunSpec, _| {
        let run = threads.run(&spec, |others| others[20] - others[19] < 500_000);
        runs.together.add(spec, run);
    });
    let found = dependence(judgement.conclusion);
    assert!(found.culprits.confirmed && found.is_of_other_machines());
}

#[test]
fn what_is_said_to_fail_on_other_machines_only_must_not_fail_in_a_plain_build() {
    let threads = Threads::new(60);
    let mut options = options();
    options.seeds = (0..200).collect();
    // 500,000 operations take 50 ms, more than a busy machine delays a thread; 100,000 take 10 ms.
    for (least, is_of_others) in [(500_000, true), (100_000, false)] {
        let (conclusion, _) =
            simulate(&options, |spec| threads.run(spec, |others| others[20] - others[19] < least));
        assert_eq!(is_wanted(&conclusion), is_of_others);
        for (runs, is_flaky) in [([0, 20], false), ([1, 3], is_of_others), ([3, 3], is_of_others)] {
            let found = conclusion.clone().compared_with(Some(&PlainBuild::Runs(runs)));
            assert_eq!(found == Conclusion::Flaky, is_flaky, "{least} {runs:?}");
            assert!(is_flaky || found == conclusion);
        }
    }
}

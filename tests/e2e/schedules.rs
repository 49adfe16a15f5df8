//! Small tests with several threads are run under all schedules with few preemptions.

use std::collections::BTreeMap;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Verdict;
use nondex_core::Schedule;
use nondex_core::choice::stops;

use crate::support::{Fixture, Nondex, test};

#[test]
fn what_needs_a_preemption_or_two_is_found_and_replayed_and_what_is_right_is_verified() {
    let fixture = Fixture::new("schedules");
    let output = Nondex::run_in(&fixture.path("."))
        .args(["-v", "--seeds", "1", "--levels", "STD", "--exhaustive", "300"])
        .run();
    output.expect(ExitCode::Found);
    let report = output.report();
    for (name, preemptions) in [
        ("fails_with_0", 0),
        ("fails_with_1", 1),
        ("fails_with_2", 2),
        ("reached_1", 1),
        ("reached_2", 1),
    ] {
        let found = test(&report, &format!("tests::{name}"));
        assert_eq!(found.verdict, Verdict::NonDeterministic, "{found:#?}");
        assert_eq!(found.schedules, None);
        let failures = found.failures.iter();
        let mut listed = failures.filter(|failure| failure.schedule == Schedule::Systematic);
        let first = listed.next().unwrap_or_else(|| panic!("{found:#?}"));
        let held = stops::of_seed(first.seed.unwrap()).count();
        assert!(held >= preemptions.max(1), "{found:#?}");
        assert!(found.culprits.iter().all(|culprit| culprit.confirmed));
        let reproduce = found.reproduce.as_deref().unwrap();
        let replayed = Nondex::pasted(&fixture.path("."), reproduce).run();
        replayed.expect(ExitCode::Found);
        replayed.prints(&["Failed again as recorded"]);
    }
    let verified: BTreeMap<&str, Option<(u32, bool)>> = report
        .tests
        .iter()
        .filter(|test| test.verdict == Verdict::Stable)
        .map(|test| {
            let known = test.schedules;
            let known = known.map(|known| (known.preemptions, known.beyond.is_some()));
            (test.name.trim_start_matches("tests::"), known)
        })
        .collect();
    let expected = [
        ("right_but_long", None),
        ("right_but_of_time", None),
        ("right_never_0", Some((1, true))),
        ("right_small", Some((2, false))),
    ];
    assert_eq!(verified, expected.into());
    let count = test(&report, "tests::right_small").schedules.unwrap().count;
    output.prints(&[&format!(
        "schedules$tests::right_small: no failure in any schedule with at most 2 preemptions \
         ({count} schedules)"
    )]);
}

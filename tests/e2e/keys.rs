//! Dependences on the keys of std's `RandomState` are found at STD, at the line that creates the
//! state. [`guard`](crate::guard) tests that pruning does not change this.

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Verdict;
use nondex_core::{Family, Level};

use crate::support::{Fixture, Nondex, test};

/// Tests whose culprit is the line that is marked with their name.
const MARKED: [&str; 12] = [
    "one_hash",
    "poor_man_s_random_number",
    "newtype",
    "hasher_of_a_map",
    "hasher_cloned_out_of_a_set",
    "thread_local",
    "lazy_static",
    "spawned_thread",
    "asked_by_another_thread",
    "handler_of_a_signal",
    "key_that_looks_at_its_hash",
    "choose",
];

#[test]
fn keys_of_hashers_are_found_at_the_line_that_makes_them() {
    let fixture = Fixture::shared("keys");
    let app = fixture.path("app");
    let output = Nondex::run_in(&app).run();
    output.expect(ExitCode::Found);
    let report = output.report();
    let dependent = |name: &str| {
        let found = test(&report, name);
        assert_eq!(found.verdict, Verdict::ImplementationDependent, "{found:#?}");
        assert_eq!(found.weakest_level, Some(Level::Std), "{found:#?}");
        assert!(found.culprits.iter().all(|culprit| culprit.confirmed));
        found
    };
    for mark in MARKED {
        let name = if mark == "choose" { "chosen_at_random" } else { mark };
        let found = dependent(name);
        let culprit = &found.culprits[0];
        assert_eq!(culprit.family, Family::HashKeys, "{found:#?}");
        let expected = ("src/lib.rs", fixture.line("app/src/lib.rs", mark));
        assert_eq!((culprit.file.as_str(), culprit.line), expected);
    }
    let found = dependent("sharded_map");
    let culprit = &found.culprits[0];
    assert_eq!(culprit.line, fixture.line("shards/src/lib.rs", "shards"));
    let line = fixture.line("app/src/lib.rs", "sharded_map");
    assert_eq!(culprit.user_line, Some(line), "{found:#?}");

    let found = dependent("std_order_of_a_map_that_shows_its_hasher");
    assert_eq!(found.culprits[0].family, Family::HashMap, "{found:#?}");
    assert_eq!(found.culprits.len(), 1, "{found:#?}");
    dependent("two_of_three");

    for name in ["stable_fixed_keys", "stable_same_state", "stable_without_a_choice"] {
        assert_eq!(test(&report, name).verdict, Verdict::Stable);
    }
    assert_eq!(test(&report, "stable_without_a_choice").choice_points, 0);
}

//! The statics that a test uses, recorded all at once. The result is compared with watchpoints on
//! one static at a time.

use std::collections::BTreeSet;

use cargo_nondex::judge::run::Run;
use cargo_nondex::project::TestBinary;
use cargo_nondex::project::symbols::Symbols;
use nondex_core::{Outcome, RunSpec, StateId, StateKind};

use crate::states::{compiled, run};

const STATICS: [&str; 8] = [
    "states::ATOMIC",
    "states::NEIGHBOUR",
    "states::LIST",
    "states::ONCE",
    "states::LAZY",
    "states::POISONED",
    "states::MUTABLE",
    "states::copies_from_one_static_to_another_on_a_thread::COPY",
];

/// Returns a run of this test that watches this state.
fn watched(binary: &TestBinary, test: &str, state: StateId) -> Run {
    let spec = RunSpec::clean("").watching(vec![state]);
    let run = run(binary, &[test], &spec).pop().unwrap();
    assert_eq!(run.outcome, Outcome::Passed, "{test}");
    run
}

/// Returns the statics that a test uses, those that it writes, and whether it may use any other.
fn used<'s>(symbols: &'s Symbols, run: &Run) -> (BTreeSet<&'s str>, BTreeSet<&'s str>, bool) {
    let any = StateId::every(StateKind::Static);
    let names = |writes: bool| {
        let accesses = run.accesses.iter().filter(move |access| !writes || access.writes);
        let found = accesses.flat_map(|access| symbols.at(&access.state));
        found.map(|found| found.name.as_str()).collect()
    };
    let is_open = run.accesses.iter().any(|access| access.state == any);
    (names(false), names(true), is_open)
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_statics_that_a_test_uses_are_those_that_the_registers_see_it_use() {
    let binary = compiled();
    let symbols = Symbols::of(&binary.executable).unwrap();
    let mut changed_in_vain = 0;
    for test in [
        "pollutes_atomic",
        "victim_of_neighbour",
        "pollutes_list",
        "victim_of_once",
        "pollutes_lazy",
        "pollutes_poisoned",
        "pollutes_mutable",
        "pollutes_env",
        "leaves_statics_as_they_were",
        "copies_from_one_static_to_another_on_a_thread",
    ] {
        let all = watched(&binary, test, StateId::every(StateKind::Static));
        let (used, written, may_use_any) = used(&symbols, &all);
        assert!(!may_use_any, "{test}");
        for name in STATICS {
            let found = symbols.named(name).unwrap();
            let alone = watched(&binary, test, found.state());
            assert_eq!(
                used.contains(name),
                !alone.accesses.is_empty(),
                "{test} uses {name}: {used:?}, {alone:?}"
            );
            let is_written = alone.accesses.iter().any(|access| access.writes);
            assert!(written.contains(name) || !is_written, "{test} writes {name}");
        }
        changed_in_vain += usize::from(test.starts_with("leaves") && written.contains(STATICS[0]));
    }
    assert_eq!(changed_in_vain, 1);
}

#[test]
fn a_test_that_uses_statics_very_often_may_use_any() {
    let binary = compiled();
    let symbols = Symbols::of(&binary.executable).unwrap();
    let any = StateId::every(StateKind::Static);
    let run = watched(&binary, "counts_very_often", any);
    assert!(used(&symbols, &run).2);
}

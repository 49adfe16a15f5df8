//! Targets with `harness = false` whose harness is neither libtest nor the one of this project.

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Verdict;
use nondex_core::{Level, Source};

use crate::support::{Fixture, Nondex};

#[test]
fn a_harness_with_a_pool_of_threads_runs_its_test_on_the_main_thread() {
    let fixture = Fixture::new("pooled");
    let output = Nondex::run_in(&fixture.path(".")).args(["--test", "pool"]).run();
    let report = output.expect(ExitCode::Found).report();
    assert_eq!(report.tests.len(), 5);
    for found in &report.tests {
        let is_stable = ["depends_on_nothing", "opens_a_random_file", "starts_a_thread"];
        if is_stable.contains(&&*found.name) {
            assert_eq!(found.verdict, Verdict::Stable, "{found:#?}");
            continue;
        }
        assert_eq!(found.verdict, Verdict::ImplementationDependent, "{found:#?}");
        assert_eq!(found.weakest_level, Some(Level::Std));
        // No other test disturbs this one. Chance decides which of two threads takes it.
        assert!(!found.run_alone && found.culprits[0].confirmed, "{found:#?}");
        let mark = found.name.rsplit_once("_an_").or(found.name.rsplit_once("_on_"));
        let line = fixture.marked("tests/pool.rs", mark.unwrap().1);
        assert_eq!(found.culprits[0].line, line, "{found:#?}");
    }
}

#[test]
fn what_a_test_uses_of_a_harness_with_a_pool_makes_it_run_often_before_it_is_stable() {
    let fixture = Fixture::new("pooled");
    for (name, source, bound) in [
        ("starts_a_thread", Source::Thread, 0.14),
        ("opens_a_random_file", Source::RandomFile, 0.05),
    ] {
        let output = Nondex::run_in(&fixture.path("."))
            .args(["--test", "pool", "-E", &format!("test({name})")])
            .run();
        let report = output.expect(ExitCode::Ok).report();
        let found = &report.tests[0];
        assert_eq!(found.verdict, Verdict::Stable, "{found:#?}");
        assert_eq!(found.sources, [source], "{found:#?}");
        assert!(found.failure_bound.is_some_and(|found| found < bound));
    }
}

#[test]
fn a_harness_that_does_not_know_how_many_threads_it_may_have_is_not_told() {
    let fixture = Fixture::new("pooled");
    let output = Nondex::run_in(&fixture.path("."))
        .args(["--test", "pool-only", "-E", "test(nothing)"])
        .run();
    let report = output.expect(ExitCode::Ok).report();
    assert_eq!(report.tests[0].verdict, Verdict::Stable);
}

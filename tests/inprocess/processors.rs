//! The processor that the threads of a scheduled test share: the test sees all, its children have
//! all, and its own choice is respected.

use nondex_core::{Outcome, RunSpec};

use crate::compile::{compile_threads, fixture};
use crate::threads::{run_in, tests_of};

#[test]
fn threads_that_share_a_processor_see_what_they_had() {
    const FIXTURE: &str = "processors.rs";
    let executable = compile_threads(&fixture(FIXTURE));
    for test in tests_of(FIXTURE, "") {
        for processor in [None, Some(0), Some(1), Some(100_000)] {
            let spec = RunSpec {
                processor,
                ..RunSpec::clean(&*test)
            };
            let (events, record) = run_in(&executable, &spec);
            assert_eq!(
                record.outcome,
                Outcome::Passed,
                "{test} {processor:?}: {events}"
            );
        }
    }
}

//! The processor that the threads of a scheduled test share. The test sees all processors, its
//! children may use all, and its own affinity is respected.

use nondex_core::{Level, Outcome, RunSpec};

use crate::compile::{compile_threads, fixture};
use crate::threads::{run_in, tests_of};

#[test]
fn threads_that_share_a_processor_see_what_they_had() {
    const FIXTURE: &str = "processors.rs";
    let executable = compile_threads(&fixture(FIXTURE));
    for test in tests_of(FIXTURE, "") {
        for processor in [None, Some(0), Some(1), Some(100_000)] {
            let spec = RunSpec { processor, ..RunSpec::clean(&*test) };
            let (events, record) = run_in(&executable, &spec);
            assert_eq!(record.outcome, Outcome::Passed, "{test} {processor:?}: {events}");
        }
    }
}

/// If the requested processor does not exist, the threads share the one that the first thread runs
/// on.
#[test]
fn a_seed_is_the_same_schedule_whichever_processor_the_threads_share() {
    const FIXTURE: &str = "threads.rs";
    let executable = compile_threads(&fixture(FIXTURE));
    for test in ["right_mutex", "right_channels", "wrong_if"] {
        let events = [None, Some(0), Some(1), Some(100_000)].map(|processor| {
            let spec = RunSpec { processor, ..RunSpec::new(test, Level::Std, 1) };
            run_in(&executable, &spec).0
        });
        assert!(events.iter().all(|one| *one == events[0]), "{test}: {events:#?}");
    }
}

//! An experiment: an ordered list of tests that run in one process under one spec, with a record for each. A run of one test is
//! the experiment of length one.

use nondex_core::{Event, Failure, Outcome, RunRecord, RunSpec};

/// The exit code of a test executable in which a test failed.
const FAILED: Outcome = Outcome::Exited(101);

/// The record of each test of `spec`, in the order in which they run, from the events of a process that ended with `process_end`.
///
/// How the process ended is the end of the first test that did not say how it ended itself, or else of the last one; tests
/// after that were not started.
#[must_use]
pub fn records(spec: &RunSpec, events: Vec<Event>, process_end: Outcome) -> Vec<RunRecord> {
    if spec.before.is_empty() {
        return vec![RunRecord::fold(spec, events, process_end)];
    }
    let end_of = |name: &str| {
        events.iter().find_map(|event| match event {
            Event::End { test, passed, .. } if test == name => Some(*passed),
            _ => None,
        })
    };
    let tests: Vec<&str> = spec.tests().collect();
    let cut = tests.iter().position(|test| end_of(test).is_none());
    let has_failed = tests.iter().any(|test| end_of(test) == Some(false));
    let of_last = match cut {
        // The code says no more than the tests do.
        None if has_failed && process_end == FAILED => Outcome::Passed,
        _ => process_end.clone(),
    };
    let last = cut.unwrap_or(tests.len() - 1);
    let record = |(place, test): (usize, &&str)| {
        let own = RunSpec {
            test: (*test).to_owned(),
            before: spec.before[..place].to_vec(),
            ..spec.clone()
        };
        let end = match place.cmp(&last) {
            std::cmp::Ordering::Less => Outcome::Passed,
            std::cmp::Ordering::Equal => of_last.clone(),
            std::cmp::Ordering::Greater => process_end.clone(),
        };
        let mut record = RunRecord::fold(&own, events.iter().cloned(), end);
        if place > last {
            record.failure = Some(Failure {
                message: format!("it was not started: the process ended in `{}`", tests[last]),
                ..Failure::default()
            });
        }
        record
    };
    tests.iter().enumerate().map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(test: &str, passed: bool) -> Event {
        Event::End {
            test: test.to_owned(),
            passed,
            failure: None,
        }
    }

    #[test]
    fn each_test_ends_as_it_says_and_the_process_is_the_end_of_the_one_that_does_not() {
        let spec = RunSpec {
            before: vec!["a".into(), "b".into()],
            ..RunSpec::clean("c")
        };
        let [passed, failed] = [Outcome::Passed, Outcome::Failed];
        let killed = || Outcome::Signalled(9);
        for (events, process_end, expected) in [
            (
                vec![end("a", true), end("b", true), end("c", true)],
                Outcome::Exited(0),
                [passed.clone(), passed.clone(), passed.clone()],
            ),
            (
                vec![end("a", true), end("b", false), end("c", true)],
                FAILED,
                [passed.clone(), failed.clone(), passed.clone()],
            ),
            (
                vec![end("a", true)],
                killed(),
                [passed.clone(), killed(), killed()],
            ),
            // A crash at the exit of the process is the last one's, as it is of a single test.
            (
                vec![end("a", true), end("b", true), end("c", true)],
                killed(),
                [passed.clone(), passed.clone(), killed()],
            ),
            (
                vec![end("a", false), end("b", true), end("c", true)],
                killed(),
                [failed, passed.clone(), killed()],
            ),
            (Vec::new(), FAILED, [FAILED, FAILED, FAILED]),
        ] {
            let shown = format!("{events:?} {process_end:?}");
            let records = records(&spec, events, process_end);
            let tests: Vec<&str> = records.iter().map(|record| record.test.as_str()).collect();
            assert_eq!(tests, ["a", "b", "c"]);
            let outcomes: Vec<Outcome> = records.into_iter().map(|record| record.outcome).collect();
            assert_eq!(outcomes, expected, "{shown}");
        }
    }

    #[test]
    fn one_test_is_the_experiment_of_length_one() {
        for (events, process_end) in [
            (vec![end("c", true)], Outcome::Exited(0)),
            (vec![end("c", true)], Outcome::Signalled(9)),
            (vec![end("c", false)], FAILED),
            (Vec::new(), FAILED),
        ] {
            let spec = RunSpec::clean("c");
            let folded = RunRecord::fold(&spec, events.clone(), process_end.clone());
            assert_eq!(records(&spec, events, process_end), [folded]);
        }
    }
}

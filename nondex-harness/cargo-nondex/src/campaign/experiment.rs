//! Records of experiments. An experiment is an ordered list of tests that run in one process under
//! one spec. A run of one test is an experiment of length one.

use std::collections::BTreeMap;

use nondex_core::{Event, Failure, Outcome, RunRecord, RunSpec};

/// Exit code of a test executable in which a test failed.
const FAILED: Outcome = Outcome::Exited(101);

/// Returns the record of each test of `spec`, in the order in which the tests run. `events` are
/// those of a process that ended with `process_end`.
///
/// The end of the process counts as the end of the first test without a recorded end, or else of
/// the last test. Tests after that one were not started.
pub fn records(spec: &RunSpec, events: Vec<Event>, process_end: Outcome) -> Vec<RunRecord> {
    if spec.before().is_empty() {
        return vec![RunRecord::fold(spec, events, process_end)];
    }
    let tests: Vec<&str> = spec.tests().collect();
    let times = times(&tests, events);
    let ends: Vec<Option<bool>> = times.iter().map(|events| end_of(events)).collect();
    let cut = ends.iter().position(Option::is_none);
    let has_failed = ends.contains(&Some(false));
    let of_last = match cut {
        // The exit code only repeats that a test failed.
        None if has_failed && process_end == FAILED => Outcome::Passed,
        _ => process_end.clone(),
    };
    let last = cut.unwrap_or(tests.len() - 1);
    let record = |(place, (test, events)): (usize, (&&str, Vec<Event>))| {
        let own = RunSpec { test: (*test).to_owned(), ..spec.clone() };
        let end = match place.cmp(&last) {
            std::cmp::Ordering::Less => Outcome::Passed,
            std::cmp::Ordering::Equal => of_last.clone(),
            std::cmp::Ordering::Greater => process_end.clone(),
        };
        let mut record = RunRecord::fold(&own, events, end);
        if place > last {
            record.failure = Some(Failure {
                message: format!("it was not started: the process ended in `{}`", tests[last]),
                ..Failure::default()
            });
        }
        record
    };
    tests.iter().zip(times).enumerate().map(record).collect()
}

/// Returns the record of the test of `spec` in a fork that ended with `end`, from the events of the
/// fork.
pub fn record_of_fork(spec: &RunSpec, events: Vec<Event>, end: Outcome) -> RunRecord {
    // The exit code only repeats that the test failed.
    let end = match (end_of(&events), end) {
        (Some(false), FAILED) => Outcome::Passed,
        (_, end) => end,
    };
    RunRecord::fold(spec, events, end)
}

/// Returns whether a test passed, if that is recorded.
fn end_of(events: &[Event]) -> Option<bool> {
    events.iter().find_map(|event| match event {
        Event::End { passed, .. } => Some(*passed),
        _ => None,
    })
}

/// Returns the events of each test. If a test runs several times, each recorded end begins its next
/// time. Events after its last end belong to its last time.
fn times(tests: &[&str], events: Vec<Event>) -> Vec<Vec<Event>> {
    let mut times = vec![Vec::new(); tests.len()];
    let mut ended: BTreeMap<String, usize> = BTreeMap::new();
    for event in events {
        let name = event.test();
        let ends = ended.get(name).copied().unwrap_or(0);
        let places = tests.iter().enumerate().filter(|(_, test)| **test == name);
        let Some((place, _)) = places.take(ends + 1).last() else { continue };
        if let Event::End { test, .. } = &event {
            *ended.entry(test.clone()).or_default() += 1;
        }
        times[place].push(event);
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(test: &str, passed: bool) -> Event {
        Event::End { test: test.to_owned(), passed, failure: None }
    }

    #[test]
    fn each_test_ends_as_it_says_and_the_process_is_the_end_of_the_one_that_does_not() {
        let spec = RunSpec::clean("c").after(vec!["a".into(), "b".into()]);
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
            (vec![end("a", true)], killed(), [passed.clone(), killed(), killed()]),
            // A crash at the exit of the process counts for the last test, as with a single test.
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
    fn a_test_that_runs_twice_has_a_record_for_each_time() {
        let spec = RunSpec::clean("a").after(vec!["a".into(), "b".into()]);
        let events = vec![end("a", true), end("b", true), end("a", false)];
        let outcomes = records(&spec, events, FAILED);
        let outcomes: Vec<Outcome> = outcomes.into_iter().map(|record| record.outcome).collect();
        assert_eq!(outcomes, [Outcome::Passed, Outcome::Passed, Outcome::Failed]);
        let events = vec![end("a", true), end("b", true)];
        let outcomes = records(&spec, events, Outcome::Signalled(9));
        assert_eq!(outcomes[0].outcome, Outcome::Passed);
        assert_eq!(outcomes[2].outcome, Outcome::Signalled(9));
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

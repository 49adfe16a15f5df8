//! Runs many pairs of tests in one process. The process runs some tests, and forks for each of
//! several others, which run as if they came next.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use nondex_core::{Event, ForkRecord, Forks, RunSpec};

use super::ended::{explain, run_of};
use super::experiment::record_of_fork;
use super::launch::{Launch, Launcher};
use super::process;
use super::record::{RecordFile, have_all_points};
use crate::judge::Run;
use crate::project::{Harness, TestBinary, TestCase, addresses};

/// Time beyond its limit that a fork may take before the whole process is considered hung.
const SLACK: Duration = Duration::from_secs(10);

/// Results of a process and its forks.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// Run of each test that ran first.
    pub first: Vec<Run>,
    /// Run of each test that came next, or `None` if there was no fork for it. Then the first tests
    /// ended the process, or left threads or child processes, which a fork would not have.
    pub then: Vec<Option<Run>>,
}

impl Launcher<'_> {
    /// Runs `first` in one process, one after the other, and each of `then` in a fork, as if it
    /// came next. `limit` is the time limit of all of `first` together; each of `then` has its own.
    /// All runs are under `spec`, with `folder` for temporary files. Returns `None` if the runs
    /// were stopped.
    pub fn pairs(
        &self,
        folder: Option<&Path>,
        limit: Duration,
        binary: &TestBinary,
        first: &[&TestCase],
        then: &[(&TestCase, Duration)],
        spec: &RunSpec,
    ) -> Option<Pairs> {
        if !then.is_empty() && binary.harness == Harness::Nondex && !first.is_empty() {
            return self.forked(folder, limit, binary, (first, then), spec);
        }
        let first = self.experiment(folder, &[limit], binary, first, spec)?;
        Some(Pairs { first, then: vec![None; then.len()] })
    }

    /// Implements [`pairs`](Self::pairs) if there is something to fork for.
    fn forked(
        &self,
        folder: Option<&Path>,
        limit: Duration,
        binary: &TestBinary,
        (first, then): (&[&TestCase], &[(&TestCase, Duration)]),
        spec: &RunSpec,
    ) -> Option<Pairs> {
        let (test, before) = first.split_last()?;
        let forks = Forks {
            tests: then.iter().map(|(test, _)| test.name.clone()).collect(),
            limits_ms: then
                .iter()
                .map(|(_, limit)| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX))
                .collect(),
        };
        let forking = RunSpec {
            test: test.name.clone(),
            ..spec.clone().in_order(|tests| tests.forks = Some(forks))
        };
        let (named, own) = self.named(&forking, before);
        let record = RecordFile::create(own.path().with_extension(Forks::RECORD));
        let longest = then.iter().map(|(_, limit)| *limit).max().unwrap_or_default();
        // While the record of the forks grows, the process does not hang.
        let seen = Cell::new(None);
        let more = || {
            let length = record.read().ok()?.text.len();
            let length = NonZeroUsize::new(length)?;
            (seen.replace(Some(length)) != Some(length)).then_some(longest + SLACK)
        };
        let launch = Launch {
            temporary: folder,
            limits: process::Limits { elapsed: limit, busy: None, more: &more },
            binary,
            test,
            spec: &named,
            record: &own,
        };
        let first = self.runs(&launch, first, &vec![limit; first.len()])?;
        let read = record.read();
        self.note(|written| match &read {
            Ok(recorded) => written.add(recorded),
            Err(_) => written.add_anything(),
        });
        let mut recorded = read.unwrap_or_default();
        addresses::resolve(binary.executable_of(test), binary.moved.as_ref(), &mut recorded.events);
        let is_whole = recorded.is_whole();
        let mut forks = read_forks(recorded.events);
        let then = then.iter().map(|(test, limit)| {
            let (fork, events) = forks.remove(&test.name)?;
            Some(run_of_fork(test, &named.in_fork(&test.name), fork, (events, is_whole), *limit))
        });
        Some(Pairs { first, then: then.collect() })
    }
}

/// Returns each fork by its test, with its events: those between the end of the previous fork and
/// its own end.
fn read_forks(recorded: Vec<Event>) -> BTreeMap<String, (ForkRecord, Vec<Event>)> {
    let mut forks = BTreeMap::new();
    let mut events = Vec::new();
    for event in recorded {
        match event {
            Event::Forked { fork, .. } => {
                let events: Vec<Event> = std::mem::take(&mut events);
                let own = events.into_iter().filter(|event| event.test() == fork.test);
                forks.insert(fork.test.clone(), (fork.clone(), own.collect()));
            }
            event => events.push(event),
        }
    }
    forks
}

/// Returns the run of a test in a fork.
fn run_of_fork(
    test: &TestCase,
    spec: &RunSpec,
    fork: ForkRecord,
    (events, is_whole): (Vec<Event>, bool),
    limit: Duration,
) -> Run {
    let complete = is_whole && have_all_points(&events);
    let mut folded = record_of_fork(spec, events, fork.end);
    if !folded.outcome.passed() && folded.failure.is_none() {
        folded.failure = Some(explain(test, &folded.outcome, "", limit));
    }
    let notes = fork.left_child.then(|| "it left a child process running".to_owned());
    let took = Duration::from_micros(fork.micros);
    run_of(folded, (took, limit), complete, notes.into_iter().collect())
}

//! Events for a program that reads along while tests run: see [`stream`](crate::report::stream).

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use camino::Utf8Path;

use super::console::Console;
use crate::cli::MessageFormat;
use crate::locked::Locked;
use crate::report::stream::{self, Counts, Event, Stage, TestFinished, TestStarted};
use crate::report::{Sources, TestReport};

/// Minimum time between two progress events.
const INTERVAL: Duration = Duration::from_secs(1);

/// Writer of events. A write error does not end the campaign, because its report would be lost.
pub(super) struct Events<'a> {
    console: &'a Console,
    sources: Sources,
    strict: bool,
    state: Mutex<State>,
}

/// State for rate limits and duplicates.
#[derive(Default)]
struct State {
    /// Tests whose start was reported.
    started: BTreeSet<String>,
    /// Time of the last progress event.
    counted: Option<Instant>,
}

impl<'a> Events<'a> {
    /// Creates a writer for the tests of this workspace. Returns `None` if no events are requested.
    pub(super) fn new(console: &'a Console, root: &Utf8Path, strict: bool) -> Option<Self> {
        (console.format == MessageFormat::JsonLines).then(|| Events {
            console,
            sources: Sources::of_user(root),
            strict,
            state: Mutex::default(),
        })
    }

    fn write(&self, event: &Event) {
        // See [`Events`]: the campaign goes on.
        let _ = self.console.event(event);
    }

    /// Reports the start of a test, at its first run.
    pub(super) fn started(&self, test: &str) {
        if self.state.locked().started.insert(test.to_owned()) {
            let test = test.to_owned();
            self.write(&Event::TestStarted(TestStarted { test }));
        }
    }

    /// Reports the progress after a run, at most once per [`INTERVAL`].
    pub(super) fn progress(&self, counts: Counts) {
        let mut state = self.state.locked();
        if state.counted.is_none_or(|last| last.elapsed() >= INTERVAL) {
            state.counted = Some(Instant::now());
            // Writing may block on a slow reader. Release the lock first.
            drop(state);
            self.write(&Event::Progress(counts));
        }
    }

    /// Reports the verdict on a test, and its findings.
    pub(super) fn judged(&self, test: &TestReport, stage: Stage) {
        self.write(&Event::TestFinished(TestFinished::new(test, stage)));
        for finding in stream::findings_of(test, self.strict, &self.sources) {
            self.write(&Event::Finding(Box::new(finding)));
        }
    }
}

//! What a program reads while tests run: see [`stream`](crate::report::stream).

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use camino::Utf8Path;

use super::console::Console;
use crate::cli::MessageFormat;
use crate::report::TestReport;
use crate::report::human::Sources;
use crate::report::stream::{self, Counts, Event, Stage, TestFinished, TestStarted};

/// Least time between two counts.
const INTERVAL: Duration = Duration::from_secs(1);

/// Writes events. What cannot be written does not end a campaign, which would lose its report.
pub(super) struct Events<'a> {
    console: &'a Console,
    sources: Sources,
    strict: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    started: BTreeSet<String>,
    counted: Option<Instant>,
}

impl<'a> Events<'a> {
    /// Events of the tests of this workspace; none if nobody asks for them.
    pub(super) fn new(console: &'a Console, root: &Utf8Path, strict: bool) -> Option<Self> {
        (console.format == MessageFormat::JsonLines).then(|| Events {
            console,
            sources: Sources::of_user(root),
            strict,
            state: Mutex::default(),
        })
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, event: &Event) {
        let _ = self.console.event(event);
    }

    /// A run of a test begins.
    pub(super) fn started(&self, test: &str) {
        if self.state().started.insert(test.to_owned()) {
            let test = test.to_owned();
            self.write(&Event::TestStarted(TestStarted { test }));
        }
    }

    /// A run ended.
    pub(super) fn progress(&self, counts: Counts) {
        let mut state = self.state();
        if state.counted.is_none_or(|last| last.elapsed() >= INTERVAL) {
            state.counted = Some(Instant::now());
            drop(state);
            self.write(&Event::Progress(counts));
        }
    }

    /// A test is judged.
    pub(super) fn judged(&self, test: &TestReport, stage: Stage) {
        self.write(&Event::TestFinished(TestFinished::new(test, stage)));
        for finding in stream::findings_of(test, self.strict, &self.sources) {
            self.write(&Event::Finding(Box::new(finding)));
        }
    }
}

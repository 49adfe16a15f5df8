//! What a campaign shows while it runs: a bar on a terminal, plain lines elsewhere.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use nondex_core::{Outcome, RunSpec};

use super::console::Console;
use super::selection;
use crate::campaign::Progress;
use crate::report::human::verdict_style;
use crate::report::{TestReport, Verdict};

/// How often a plain line says how far the campaign is.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// How often the bar is drawn when nothing happens, so that a slow test does not look like a hang.
const TICK: Duration = Duration::from_millis(500);

/// Shows a campaign's progress on a console.
pub(super) struct Display<'a> {
    console: &'a Console,
    bar: Option<ProgressBar>,
    counts: Mutex<Counts>,
}

struct Counts {
    planned: u64,
    finished: u64,
    last_line: Instant,
}

impl<'a> Display<'a> {
    pub(super) fn new(console: &'a Console) -> Self {
        let bar = (console.has_terminal() && !console.quiet).then(|| {
            let target = ProgressDrawTarget::stderr();
            let prefix = if console.has_colors() {
                "{prefix:>12.green.bold}"
            } else {
                "{prefix:>12}"
            };
            let template = format!(
                "{prefix} [{{elapsed_precise}}] [{{bar:25}}] {{pos}}/{{len}} runs {{wide_msg}}"
            );
            let style = ProgressStyle::with_template(&template).map_or_else(
                |_| ProgressStyle::default_bar(),
                |style| style.progress_chars("=> "),
            );
            let bar = ProgressBar::with_draw_target(Some(0), target)
                .with_style(style)
                .with_prefix("Running");
            bar.enable_steady_tick(TICK);
            bar
        });
        Display {
            console,
            bar,
            counts: Mutex::new(Counts {
                planned: 0,
                finished: 0,
                last_line: Instant::now(),
            }),
        }
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn line(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(self.console.shown(line)),
            None => self.console.text(&format!("{line}\n")),
        }
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for Display<'_> {
    fn planned(&self, runs: u64) {
        self.counts().planned = runs;
        if let Some(bar) = &self.bar {
            bar.set_length(runs);
        }
    }

    fn started(&self, test_id: &str, _spec: &RunSpec) {
        if let Some(bar) = &self.bar {
            bar.set_message(test_id.to_owned());
        }
    }

    fn finished(&self, _test_id: &str, _spec: &RunSpec, _outcome: &Outcome) {
        let mut counts = self.counts();
        counts.finished += 1;
        match &self.bar {
            Some(bar) => bar.set_position(counts.finished),
            None if counts.last_line.elapsed() >= LINE_INTERVAL => {
                counts.last_line = Instant::now();
                let message = format!("{} of {} runs", counts.finished, counts.planned);
                self.console.status("Running", &message);
            }
            None => {}
        }
    }

    fn comparing(&self, tests: usize) {
        if self.console.quiet {
            return;
        }
        let tests = selection::count(tests, "test");
        self.line(&format!(
            "{:>12} an ordinary build, to compare {tests} with that fail in base order",
            "Building"
        ));
    }

    fn judged(&self, test: &TestReport) {
        let routine = matches!(test.verdict, Verdict::Stable | Verdict::NotRun) && !test.unjudged;
        if self.console.quiet || (routine && self.console.verbose == 0) {
            return;
        }
        let style = verdict_style(test);
        let level = test
            .weakest_level
            .map_or_else(String::new, |level| format!(" at {level}"));
        self.line(&format!(
            "{style}{:>12}{style:#} {}{level}",
            test.verdict, test.id
        ));
    }
}

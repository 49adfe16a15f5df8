//! Built and selected tests, and what commands do with them.

mod announced;

use super::console::Console;
use super::coverage::Coverage;
use super::events::Events;
use super::past::Past;
use super::progress::Display;
use super::{outcome, progress, selection};
use crate::campaign::builds::{self, Builds};
use crate::campaign::comparison::{self, Builder};
use crate::campaign::{self, Launcher, Progress, SelectedTests, StopFlag, Tree, orders};
use crate::error::Result;
use crate::judge::order::OrderOptions;
use crate::judge::{Options, World};
use crate::project::Rebuilds;
use crate::report::stream::Stage;
use crate::report::{Report, RunDirectory, TestReport, Verdict, plural};

/// Stages of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stages {
    /// A campaign.
    Choices,
    /// A campaign and other test orders.
    ChoicesAndOrders,
    /// Other test orders. Doctests have none.
    Orders,
    /// One fixed set of choices.
    World(World),
}

impl Stages {
    /// Returns whether the tests run in other orders.
    pub(super) const fn have_orders(self) -> bool {
        matches!(self, Stages::ChoicesAndOrders | Stages::Orders)
    }

    /// Returns whether the tests run alone, with other choices.
    pub(super) const fn have_choices(self) -> bool {
        !matches!(self, Stages::Orders)
    }

    /// Returns the fixed set of choices, if there is one.
    pub(super) const fn world(self) -> Option<World> {
        match self {
            Stages::World(world) => Some(world),
            Stages::Choices | Stages::ChoicesAndOrders | Stages::Orders => None,
        }
    }

    /// Returns the share of `--max-time` that a campaign may take.
    pub(super) const fn share(self) -> f64 {
        match self {
            Stages::ChoicesAndOrders => 0.6,
            Stages::Choices | Stages::Orders | Stages::World(_) => 1.0,
        }
    }
}

/// Built and selected tests, and how they are run.
pub(super) struct Session<'a> {
    /// Builds in which programs of the project generate something else.
    pub(super) rebuilds: &'a Rebuilds,
    /// Tests of the campaign.
    pub(super) selected: &'a [SelectedTests<'a>],
    /// Tests that run in other orders: all of a binary, or none.
    pub(super) in_order: &'a [SelectedTests<'a>],
    /// Collector of the lines that tests run, if requested.
    pub(super) coverage: Option<&'a Coverage>,
    /// Earlier results of the tests.
    pub(super) past: &'a Past,
    /// Options of the runs.
    pub(super) options: &'a Options,
    /// Directory of the report.
    pub(super) directory: &'a RunDirectory,
    /// Builder of the plain build.
    pub(super) plain: &'a outcome::PlainBuilder,
    /// Flag that stops the session.
    pub(super) stop: &'a StopFlag,
    /// Events for a program that reads along, if there is one.
    pub(super) events: Option<&'a Events<'a>>,
    /// Function that decides whether a test fails the run.
    pub(super) is_failure: &'a (dyn Fn(&TestReport) -> bool + Sync),
    /// Snapshot of the files before any test ran, if other orders are tried.
    pub(super) tree: Tree,
    pub(super) console: &'a Console,
}

impl Session<'_> {
    /// Returns a launcher for single runs.
    pub(super) fn launcher(&self) -> Launcher<'_> {
        Launcher::new(self.directory.records(), self.stop)
    }

    /// Runs a campaign.
    ///
    /// # Errors
    /// As [`campaign::run`](crate::campaign::run).
    pub(super) fn campaign(&self) -> Result<Report> {
        let Session { selected, options, console, .. } = *self;
        match &options.world {
            None => console.status("Running", &announced::plan(selected, options)),
            Some(world) => console.status("Starting", &announced::world(selected, world)),
        }
        let mut display = self.display(selected, Stage::Choices);
        display.coverage = self.coverage;
        display.is_failure = Some(self.is_failure);
        display.has_all = options.world.is_some();
        display.every_seed = options.every_seed;
        let report = campaign::run(
            selected,
            options,
            self.directory,
            Some(self.plain),
            Some(&self.tree).filter(|tree| !tree.is_empty()),
            &display,
            self.stop,
        );
        display.finish();
        let mut report = report?;
        self.compare_builds(&mut report);
        Ok(report)
    }

    /// Creates a display for the progress of these tests. It does not show a test as broken if a
    /// comparison of builds may still decide.
    fn display(&self, selected: &[SelectedTests<'_>], stage: Stage) -> Display<'_> {
        let mut display = Display::new(self.console, selection::running(selected));
        display.undecided = self.rebuilds.affected().cloned().collect();
        display.events = self.events.map(|events| (events, stage));
        display
    }

    /// Shows the new verdict on a test.
    fn show(&self, test: &TestReport) {
        if let Some(line) = progress::line_of(test, self.console) {
            self.console.folded(&format!("{line}\n"));
        }
    }

    /// Runs tests that fail alone and in every order, and for which `is_wanted` holds, in a plain
    /// build before they are called broken.
    pub(super) fn compare_with_plain(
        &self,
        report: &mut Report,
        is_wanted: impl Fn(&TestReport) -> bool,
    ) {
        if !report.tests.iter().any(|test| test.verdict == Verdict::Broken && is_wanted(test)) {
            return;
        }
        let display = self.display(self.in_order, Stage::Orders);
        let how = (self.plain as &dyn Builder, self.options, self.stop);
        comparison::compare_broken(report, self.in_order, how, is_wanted, |tests| {
            display.comparing(tests);
        });
        display.finish();
        for test in &report.tests {
            if test.plain.is_some() && test.verdict != Verdict::Broken {
                self.show(test);
            }
        }
    }

    /// Compares builds in which a program of the project generates something else.
    pub(super) fn compare_builds(&self, report: &mut Report) {
        let rebuilds = self.rebuilds;
        if rebuilds.variations.is_empty() {
            return;
        }
        let builds = Builds {
            rebuilds,
            timeout: self.options.timeout,
            tree: &self.tree,
            stop: self.stop,
            status: &|what| self.console.status("Rebuilding", what),
        };
        builds::compare(report, self.selected, &builds);
        let affected: Vec<&String> = rebuilds.affected().collect();
        for test in &report.tests {
            let is_open = test.verdict == Verdict::Broken || test.unjudged;
            let is_new = test.build.is_some() || is_open;
            if is_new && affected.contains(&&test.package) {
                self.show(test);
            }
        }
    }

    /// Runs the tests of each binary in other orders.
    pub(super) fn in_orders(&self, tried: &OrderOptions) -> Result<Report> {
        let running = selection::running(self.in_order);
        let strategies: Vec<&str> = tried.strategies.iter().map(|one| one.name()).collect();
        let what = format!(
            "{} alone, in pairs, and in orders: {}",
            plural(running, "test"),
            strategies.join(", ")
        );
        self.console.status("Running", &what);
        let display = self.display(self.in_order, Stage::Orders);
        let mut options = self.options.clone();
        // The time limit is that of the session's stop flag.
        options.max_time = None;
        // After other tests, a test may run other lines than alone. The history stores the lines
        // that it runs alone.
        options.cover = false;
        let (directory, stop) = (self.directory, self.stop);
        let report =
            orders::run(self.in_order, &options, tried, directory, &self.tree, &display, stop);
        display.finish();
        report
    }
}

//! The built and selected tests, and what a command may do with them.

mod announced;

use super::console::Console;
use super::coverage::Coverage;
use super::events::Events;
use super::past::Past;
use super::progress::Display;
use super::{outcome, progress, selection};
use crate::campaign::builds::{self, Builds};
use crate::campaign::comparison::{self, Builder};
use crate::campaign::tree::Tree;
use crate::campaign::{self, Progress, Selected, StopFlag, orders};
use crate::error::Result;
use crate::judge::Options;
use crate::judge::order::OrderOptions;
use crate::judge::world::World;
use crate::project::Rebuilds;
use crate::report::listing::plural;
use crate::report::stream::Stage;
use crate::report::{Report, RunDirectory, TestReport, Verdict};

/// What a command makes of the built tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stages {
    /// A campaign.
    Choices,
    /// A campaign, and other orders of tests.
    ChoicesAndOrders,
    /// Other orders of tests, which doctests do not have.
    Orders,
    /// One set of choices.
    World(World),
}

impl Stages {
    /// Whether the tests are run in other orders.
    pub(super) const fn have_orders(self) -> bool {
        matches!(self, Stages::ChoicesAndOrders | Stages::Orders)
    }

    /// Whether they are run alone, with other choices.
    pub(super) const fn have_choices(self) -> bool {
        !matches!(self, Stages::Orders)
    }

    /// The one set of choices that is made.
    pub(super) const fn world(self) -> Option<World> {
        match self {
            Stages::World(world) => Some(world),
            Stages::Choices | Stages::ChoicesAndOrders | Stages::Orders => None,
        }
    }

    /// The part of `--max-time` that a campaign may take.
    pub(super) const fn share(self) -> f64 {
        match self {
            Stages::ChoicesAndOrders => 0.6,
            Stages::Choices | Stages::Orders | Stages::World(_) => 1.0,
        }
    }
}

/// The built and selected tests, and how they are to be run.
pub(super) struct Session<'a> {
    /// Builds in which programs of the project make something else.
    pub(super) rebuilds: &'a Rebuilds,
    /// The tests.
    pub(super) selected: &'a [Selected<'a>],
    /// Those that are run in other orders: all of a binary, or none.
    pub(super) in_order: &'a [Selected<'a>],
    /// What the tests run, on request.
    pub(super) coverage: Option<&'a Coverage>,
    /// What became of the tests before.
    pub(super) past: &'a Past,
    /// How they are run.
    pub(super) options: &'a Options,
    /// Where the report will be.
    pub(super) directory: &'a RunDirectory,
    /// The build without this tool.
    pub(super) plain: &'a outcome::PlainBuilder,
    /// Whether to stop.
    pub(super) stop: &'a StopFlag,
    /// What a program reads along, if one does.
    pub(super) events: Option<&'a Events<'a>>,
    /// Whether a test fails the run.
    pub(super) is_failure: &'a (dyn Fn(&TestReport) -> bool + Sync),
    /// The files before any test ran, where orders are tried.
    pub(super) tree: Tree,
    pub(super) console: &'a Console,
}

impl Session<'_> {
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

    /// A display of the progress of these tests. Of those that a build may decide about, it does
    /// not show that they are broken.
    fn display(&self, selected: &[Selected<'_>], stage: Stage) -> Display<'_> {
        let mut display = Display::new(self.console, selection::running(selected));
        display.undecided = self.rebuilds.affected().cloned().collect();
        display.events = self.events.map(|events| (events, stage));
        display
    }

    /// Shows the new conclusion about a test.
    fn show(&self, test: &TestReport) {
        if let Some(line) = progress::line_of(test, self.console) {
            self.console.text(&format!("{line}\n"));
        }
    }

    /// Runs tests that fail alone and in every order in a plain build, before they are called
    /// broken.
    pub(super) fn compare_with_plain(&self, report: &mut Report) {
        let display = self.display(self.in_order, Stage::Orders);
        let how = (self.plain as &dyn Builder, self.options, self.stop);
        comparison::compare_broken(report, self.in_order, how, |tests| {
            display.comparing(tests);
        });
        display.finish();
        for test in &report.tests {
            if test.plain.is_some() && test.verdict != Verdict::Broken {
                self.show(test);
            }
        }
    }

    /// Compares builds where a program of the project makes something else in each.
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
    ///
    /// # Errors
    /// As [`orders::run`].
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
        // It is the session's.
        options.max_time = None;
        // What a test runs after others is not what it runs alone.
        options.cover = false;
        let (directory, stop) = (self.directory, self.stop);
        let report =
            orders::run(self.in_order, &options, tried, directory, &self.tree, &display, stop);
        display.finish();
        report
    }
}

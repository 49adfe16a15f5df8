//! Campaign of test orders: finds the tests of a binary that depend on earlier tests in their
//! process.

mod chance;
mod crossed;
mod found;
mod left;
mod search;
mod steps;
mod unexplained;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Instant;

use camino::Utf8PathBuf;

use self::found::{BinaryResult, Suspect};
use self::steps::Steps;
use super::across::Across;
use super::external_files::Changed;
use super::launch::Launcher;
use super::order::{ProcessContext, Processes};
use super::process;
use super::progress::Progress;
use super::race::{KnownAccesses, Races, UsedState};
use super::state::BinaryState;
use super::stop::StopFlag;
use super::tree::Tree;
use super::{SelectedTests, absolute, info};
use crate::error::{Error, Result};
use crate::judge::Options;
use crate::judge::order::{Experiments, OrderOptions};
use crate::locked::Locked;
use crate::project::{Harness, Suite, Symbols, TestCase};
use crate::report::judged::{self, order};
use crate::report::{Report, RunDirectory, RunInfo, TestReport, TriedOrder, Verdict, Workspace};

/// State that all binaries of the campaign share.
struct OrderCampaign<'a> {
    context: ProcessContext<'a>,
    order_options: &'a OrderOptions,
    /// Whether threads and time may be scheduled where a test runs alone.
    is_scheduled: bool,
    notes: RefCell<Vec<String>>,
    tried: RefCell<Vec<TriedOrder>>,
    steps: RefCell<Steps>,
    workspace: Workspace,
}

/// Runs the tests of each binary in many orders, and returns the report. The caller writes the
/// report. Each process finds the files of `tree`.
///
/// # Errors
/// Returns an error if none of the selected tests is to run.
pub fn run(
    selected: &[SelectedTests<'_>],
    options: &Options,
    order_options: &OrderOptions,
    run: &RunDirectory,
    tree: &Tree,
    progress: &dyn Progress,
    stop: &StopFlag,
) -> Result<Report> {
    let nothing_runs = selected.iter().flat_map(SelectedTests::running).next().is_none();
    if nothing_runs && !selected.is_empty() {
        return Err(Error::no_tests("no tests to run"));
    }
    let is_scheduled = !options.real_threads;
    // A schedule of several tests together is no evidence about one of them, so they run with real
    // threads, as with `cargo test`.
    let options = &options.with_real_threads();
    let stop = &stop.within(options.max_time);
    let records: Utf8PathBuf = absolute(&run.records())?;
    let notes: Vec<String> = process::without_randomisation().into_iter().collect();
    // Restore what tests left before this campaign.
    tree.begin_anew();
    let campaign = OrderCampaign {
        context: ProcessContext {
            launcher: Launcher::new(records, stop).noting(tree.written()),
            options,
            tree,
            progress,
            stop,
        },
        order_options,
        is_scheduled,
        notes: RefCell::new(notes),
        tried: RefCell::default(),
        steps: RefCell::default(),
        workspace: Workspace::new(absolute(&options.workspace_root)?),
    };
    let mut is_partial = false;
    let mut tests = Vec::new();
    for selected in selected {
        let judged = campaign.judge(selected);
        is_partial |= stop.is_set();
        for (case, _) in &selected.tests {
            let report = judged.iter().find(|report| report.name == case.name).cloned();
            tests.push(report.unwrap_or_else(|| judged::not_run(selected.suite, case)));
        }
    }
    if !is_partial {
        is_partial = campaign.across(selected, &mut tests).is_none();
    }
    tree.restore();
    if tree.is_left() {
        campaign.note(format!(
            "tests leave files in the source tree or in cargo's directory for test files; they \
             were restored before each process, and the files left are in `{}`",
            campaign.workspace.shown(&tree.kept().to_string_lossy())
        ));
    }
    if is_partial && stop.is_late() {
        campaign.note("`--max-time` was reached before all orders were tried".to_owned());
    }
    let info = RunInfo { clean_runs: 1, ..info(run, options) };
    Ok(Report {
        partial: is_partial,
        notes: campaign.notes.into_inner(),
        orders: campaign.tried.into_inner(),
        ..Report::new(info, tests, Vec::new())
    })
}

impl OrderCampaign<'_> {
    fn note(&self, note: String) {
        self.notes.borrow_mut().push(note);
    }

    /// Begins a step of the search in a binary.
    fn step(&self, step: &'static str) {
        self.steps.borrow_mut().begin(step);
        self.context.progress.step(step);
    }

    /// Notes, once, which results are missing where accesses to statics cannot be observed.
    fn note_unseen(&self, states: &BinaryState<'_>) {
        const UNSEEN: &str = "processes cannot trace each other on this machine: the lines that \
                              change and use statics are not known, and races on statics were not \
                              searched";
        let mut notes = self.notes.borrow_mut();
        if states.is_unseen() && !notes.iter().any(|note| note == UNSEEN) {
            notes.push(UNSEEN.to_owned());
        }
    }

    /// Returns the reports of the selected tests of one binary, with partial results if stopped.
    fn judge(&self, selected: &SelectedTests<'_>) -> Vec<TestReport> {
        let suite = selected.suite;
        let id = &suite.binary.id;
        if suite.binary.harness != Harness::Nondex {
            self.note(format!(
                "the tests of `{id}` were not tried in other orders: each test runs in a separate \
                 process"
            ));
            return Vec::new();
        }
        let tests = tests_of(selected);
        let names: Vec<&str> = tests.iter().map(|case| case.name.as_str()).collect();
        let requested: Vec<usize> =
            (0..tests.len()).filter(|test| is_run(selected, tests[*test])).collect();
        let is_shared = self.context.options.jobs.get() > 1;
        let symbols = symbols_of(suite);
        let mut experiments = Experiments::new(is_shared);
        let processes = self.processes(selected);
        let states = BinaryState::new(&processes, &symbols, &self.workspace);
        self.step("each test alone");
        let (mut found, uses) =
            self.search(&states, &processes, &names, &requested, &mut experiments);
        let changed: Changed = uses
            .iter()
            .flat_map(|used| {
                used.changed_files().map(|file| (file.to_owned(), names[used.test].to_owned()))
            })
            .collect();
        self.step("what tests leave to others");
        let mut reports = Vec::new();
        // The first test gets the runs of the common search, so that the sum of all runs is right.
        let mut counted = 0;
        for test in &requested {
            let suspect = found.suspects.iter().find(|suspect| suspect.test == *test);
            let mut report = found.report(&processes, *test, suspect, &names, &experiments);
            if let Some(dependence) = suspect.and_then(Suspect::dependence) {
                let (first, passes_alone) = (&dependence.sets[0], dependence.passes_alone);
                states.describe(first, *test, passes_alone, &mut report);
                self.note_unseen(&states);
            }
            let crossed = found.crossed.iter().find(|known| known.test == *test);
            if let Some(crossed) = crossed {
                let drawn = processes.with_choices(crossed.level, crossed.seed);
                let states = BinaryState::new(&drawn, &symbols, &self.workspace);
                let first = &crossed.dependence.sets[0];
                states.describe(first, *test, true, &mut report);
                self.note_unseen(&states);
            }
            report.leaves = found.left(*test, &uses, &states, &names);
            self.look_closer(&processes, *test, &changed, &mut report);
            report.runs += processes.started() - counted;
            counted = processes.started();
            reports.push(report);
        }
        self.add_races(&states, &processes, &found, &uses, (&requested, &mut reports));
        let took = self.steps.borrow_mut().finish(id);
        took.into_iter().for_each(|took| self.note(took));
        self.note_unstarted(&processes);
        if self.context.stop.is_set() {
            self.note(found.left_out(id, &requested, &names));
        }
        for report in &reports {
            self.context.progress.judged(report);
        }
        self.tried.borrow_mut().append(&mut found.tried);
        reports
    }

    /// Notes how many processes could not be started.
    fn note_unstarted(&self, processes: &Processes<'_>) {
        if let Some((why, count)) = &*processes.unstarted.locked() {
            self.note(format!(
                "{count} of the processes with several tests of `{}` gave no result: {why}",
                processes.suite.binary.id
            ));
        }
    }

    /// Returns the means to start processes with tests of one binary.
    fn processes<'p>(&'p self, selected: &'p SelectedTests<'_>) -> Processes<'p> {
        Processes::new(&self.context, selected.suite, tests_of(selected))
    }

    /// Finds tests that depend on a test of another binary, among those that depend on none of
    /// their own. Adds the dependence to their reports. Returns `None` when stopped.
    fn across(&self, selected: &[SelectedTests<'_>], tests: &mut [TestReport]) -> Option<()> {
        let ours = selected.iter().filter(|one| one.suite.binary.harness == Harness::Nondex);
        let binaries: Vec<Processes<'_>> = ours.map(|one| self.processes(one)).collect();
        let symbols = Symbols::default();
        let states: Vec<BinaryState<'_>> =
            binaries.iter().map(|one| BinaryState::new(one, &symbols, &self.workspace)).collect();
        let verdicts: BTreeMap<String, Verdict> =
            tests.iter().map(|test| (test.id.clone(), test.verdict)).collect();
        let alone = |binary: usize, test| match verdicts.get(&binaries[binary].id(test))? {
            Verdict::Stable | Verdict::Passed => Some(true),
            Verdict::Broken => Some(false),
            _ => None,
        };
        let across = Across {
            binaries: &binaries,
            states: &states,
            tree: self.context.tree,
            alone: &alone,
            reruns: self.order_options.reruns,
            questions: self.order_options.search_runs,
        };
        let found = across.find()?;
        let mut names: Vec<String> = Vec::new();
        let starts: Vec<usize> = binaries
            .iter()
            .map(|processes| {
                let start = names.len();
                names.extend((0..processes.tests.len()).map(|test| processes.id(test)));
                start
            })
            .collect();
        for found in found {
            let (binary, test) = found.test;
            let processes = &binaries[binary];
            let id = processes.id(test);
            let Some(report) = tests.iter_mut().find(|report| report.id == id) else { continue };
            let options = processes.options_of(test);
            let dependence = found.dependence(&starts);
            report.notes.clear();
            order::dependent(report, &dependence, &names, &options);
            if let Some(order) = &mut report.order {
                order.state = found.state;
            }
            let before = dependence.sets[0].iter().filter(|_| dependence.passes_alone);
            let names_before = before.map(|test| names[*test].clone()).collect();
            let spec = processes.spec(test).after(names_before);
            order::fail(report, processes.suite, &spec, Some(&found.run), &options);
        }
        if let Some(first) = tests.first_mut() {
            first.runs += binaries.iter().map(Processes::started).sum::<u64>();
        }
        Some(())
    }

    /// Adds to the reports of stable tests which of them race with another test.
    fn add_races(
        &self,
        states: &BinaryState<'_>,
        processes: &Processes<'_>,
        found: &BinaryResult,
        uses: &[UsedState<'_>],
        (requested, reports): (&[usize], &mut [TestReport]),
    ) {
        let is_polluter = |first: usize, then: usize| {
            let mut suspects = found.suspects.iter().filter(|suspect| suspect.test == then);
            let dependence = suspects.find_map(Suspect::dependence);
            dependence.is_some_and(|dependence| {
                dependence.sets.iter().flatten().any(|polluter| *polluter == first)
            })
        };
        let stable: Vec<usize> = requested
            .iter()
            .zip(&*reports)
            .filter(|(_, report)| report.verdict.passes())
            .map(|(test, _)| *test)
            .collect();
        let time = found.suite.and_then(|suite| self.time_for(suite));
        self.step("interleavings of two tests");
        let races = Races {
            processes,
            states,
            is_selected: &|test| stable.contains(&test),
            is_polluter: &is_polluter,
            known: KnownAccesses::default(),
            budget: self.order_options.interleavings(processes.tests.len(), time),
            before: processes.started(),
            start: Instant::now(),
            stop: self.context.stop.half(),
        };
        let tried = races.find(uses);
        self.note_unseen(states);
        let id = &processes.suite.binary.id;
        if tried.left > 0 {
            let option = if races.budget.is_late(races.start.elapsed()) {
                "--thorough"
            } else {
                "--interleavings"
            };
            self.note(format!(
                "{} interleavings of two tests of `{id}` that share state were not tried at every \
                 access: the limit was reached after {} processes, and `{option}` raises it",
                tried.left,
                races.made()
            ));
        }
        if !tried.waiting.is_empty() {
            let waiting: Vec<String> = tried
                .waiting
                .iter()
                .map(|test| format!("`{}`", processes.tests[*test].name))
                .collect();
            self.note(format!(
                "other tests of `{id}` were not run at every access of {}: one such run took \
                 seconds, typical of tests that wait for each other",
                waiting.join(", ")
            ));
        }
        if let Some(first) = reports.first_mut() {
            first.runs += races.made();
        }
        for race in tried.found {
            let Some(place) = requested.iter().position(|test| *test == race.test) else {
                continue;
            };
            let report = &mut reports[place];
            let options = processes.options_of(race.test);
            order::fail(report, processes.suite, &race.spec, Some(&race.run), &options);
            order::racing(report, race.race);
        }
    }
}

/// Returns the tests of a binary that may run before others, in their original order.
fn tests_of<'s>(selected: &SelectedTests<'s>) -> Vec<&'s TestCase> {
    let tests = selected.suite.tests.iter();
    let may_run = |case: &&TestCase| case.runs_with_others() || is_run(selected, case);
    tests.filter(may_run).collect()
}

/// Returns whether a test is requested.
fn is_run(selected: &SelectedTests<'_>, case: &TestCase) -> bool {
    selected.tests.iter().any(|(known, is_run)| *is_run && known.name == case.name)
}

/// Returns the symbols of an executable. Without symbols only statics are missing; the environment,
/// the working directory and files are still compared.
fn symbols_of(suite: &Suite) -> Symbols {
    let symbols = Symbols::of(&suite.binary.executable).unwrap_or_default();
    symbols.in_sources(suite.binary.moved.as_ref())
}

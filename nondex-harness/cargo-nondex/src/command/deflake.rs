//! `cargo nondex deflake`: decides which failures a change did not cause.
//!
//! A test that passed before and ran no changed code fails for another reason (Bell et al.,
//! "DeFlaker: automatically detecting flaky tests", ICSE 2018). What a test runs is recorded in a
//! separate build, in which the project's crates are instrumented. The instrumentation does not
//! slow down other runs.

mod base;
mod opened;
mod trials;

use std::collections::BTreeSet;

use self::base::Base;
use self::opened::Opened;
use self::trials::{TrialResult, Trials};
use super::configuration::Asked;
use super::console::Console;
use super::effects::{self, Effects};
use super::run;
use super::session::{Session, Stages};
use crate::cli::DeflakeArgs;
use crate::error::Result;
use crate::exit_code::ExitCode;
use crate::judge::change::{AtBase, Blame, Facts, Instability, Witness, blame};
use crate::project::{self, BuildPlan};
use crate::report::{ChangeReport, Line, Report, TestReport, Verdict};
use crate::repository::{self, Commit, Git, short};
use camino::Utf8Path;

/// Runs the tests, and decides whether the change is to blame for those that fail.
pub(super) fn deflake(args: &DeflakeArgs, asked: &Asked, console: &Console) -> Result<ExitCode> {
    // The base is resolved before the build, which may take long. Without a workspace, the build
    // itself reports an error.
    let root = asked.config.root.as_deref();
    let change = root.map(|root| Change::since(args.base.as_deref(), root)).transpose()?;
    run::within(&args.run, asked, console, Stages::Choices, |session| {
        let mut report = session.campaign()?;
        if let Some(change) = &change {
            change.blame(args.delayed, session, &mut report)?;
        }
        Ok(report)
    })
}

/// Change that may cause failures: the differences from a base commit.
pub(super) struct Change {
    git: Git,
    base: Commit,
}

impl Change {
    /// Returns the change of the workspace at `root` since `base`. The default base is `HEAD`, or
    /// its parent if nothing was changed since `HEAD`.
    ///
    /// # Errors
    /// When there is no repository, or the repository does not have this commit.
    pub(super) fn since(base: Option<&str>, root: &Utf8Path) -> Result<Self> {
        let git = Git::around(root)?;
        let base = repository::base(&git, base)?;
        Ok(Change { git, base })
    }

    /// Adds the relation to the change to each failing test of the report. With `delayed`, passing
    /// tests are not run again.
    pub(super) fn blame(
        &self,
        delayed: bool,
        session: &Session<'_>,
        report: &mut Report,
    ) -> Result<()> {
        // The instrumented build takes long.
        let is_needed = !delayed || report.tests.iter().any(is_failing);
        if is_needed && !session.stop.is_set() {
            self.judge(delayed, session, report)?;
        }
        Ok(())
    }

    /// Adds the relation to each failing test of the report. Without `delayed`, also reports
    /// changed lines that no test ran.
    fn judge(&self, delayed: bool, session: &Session<'_>, report: &mut Report) -> Result<()> {
        let Change { git, base } = self;
        let (plan, console) = (&session.plain.plan, session.console);
        let metadata = project::metadata(plan, true)?;
        let effects = Effects::of(git, &base.id, &metadata)?;
        console.status(
            "Comparing",
            &format!("with {} {}: {}", short(&base.id), base.subject, effects.summary()),
        );
        let covered = BuildPlan { covered: true, ..plan.clone() };
        let project = project::build(&covered, console.quiet)?;
        let new_notes: Vec<String> =
            project.notes.iter().filter(|note| !report.notes.contains(note)).cloned().collect();
        report.notes.extend(new_notes);
        let mut trials = Trials::new(&project, &effects.data, session);
        let before = if report.tests.iter().any(is_failing) {
            let is_whole = effects::outside(&metadata, git.root()).is_none();
            let of_base = (base.id.as_str(), is_whole);
            Some(Base::of(git, of_base, &project, session))
        } else {
            None
        };
        let mut ran = BTreeSet::new();
        for test in &mut report.tests {
            let is_failing = is_failing(test);
            if session.stop.is_set() {
                report.partial = true;
                break;
            }
            if test.verdict == Verdict::NotRun || !is_failing && delayed {
                continue;
            }
            let mut trial = trials.of(test, is_failing);
            trial.opened.unseen.retain(|file| {
                let packages = file.packages.as_ref();
                packages.is_none_or(|packages| effects.is_made_of_any(test, packages))
            });
            if is_failing {
                let before = before.as_ref().filter(|_| !test.is_sanitised());
                let met = effects.met_by(test, &trial.lines, trials.compiled());
                let may_have_met =
                    !met.is_empty() || !trial.opened.files.is_empty() || !trial.is_known;
                let names = effects.names_before(test);
                let tried = before.map(|before| before.of_test(test, &names, may_have_met));
                let at_base = tried.unwrap_or(Ok(AtBase::Untried))?;
                let again = trial.passed.then_some(Witness::Rerun);
                let judged = |again| change_of(test, again, &trial, at_base, &effects, met.clone());
                let mut change = judged(again);
                // A broken test that is still undecided gets two more runs, which may show that it
                // is flaky.
                if change.verdict == Blame::Unknown
                    && test.verdict == Verdict::Broken
                    && again.is_none()
                {
                    change = judged(trials.again(test)?);
                }
                // This note is the answer of the command, and only the first notes of a long list
                // are shown.
                test.notes.insert(0, message(&change, at_base, &trial.opened));
                test.change = Some(change);
            }
            ran.extend(trial.lines);
        }
        if !delayed && !report.partial {
            report.uncovered = effects.uncovered(trials.compiled(), &ran);
        }
        Ok(())
    }
}

/// Returns whether a test was run and did not pass.
fn is_failing(test: &TestReport) -> bool {
    !test.verdict.passes() && test.verdict != Verdict::NotRun
}

/// Returns the relation of a failing test to the change.
fn change_of(
    test: &TestReport,
    passed_again: Option<Witness>,
    trial: &TrialResult,
    at_base: AtBase,
    effects: &Effects,
    met: Vec<Line>,
) -> ChangeReport {
    let instability = match test.verdict {
        _ if test.is_sanitised() => Instability::Explained,
        Verdict::ImplementationDependent => Instability::Choice {
            is_unchanged: test.has_confirmed_culprits().then(|| {
                test.culprits.iter().all(|culprit| {
                    let (file, line, _) = culprit.place();
                    !effects.has_changed(file, line)
                })
            }),
        },
        Verdict::OrderDependentVictim | Verdict::OrderDependentBrittle => Instability::Order,
        Verdict::NonDeterministic | Verdict::Unknown => Instability::Chance,
        _ => Instability::Broken,
    };
    let (verdict, witness) = blame(&Facts {
        instability,
        at_base,
        ran_change: if met.is_empty() { trial.is_known.then_some(false) } else { Some(true) },
        passed_again,
        has_opened: !trial.opened.files.is_empty(),
        may_have_read: !trial.opened.unseen.is_empty() || effects.may_have_doctest(test),
    });
    let failure = test.failures.first();
    let place = failure.and_then(|failure| Some((failure.file.clone()?, failure.line?)));
    let (moved, mut lines): (Vec<Line>, Vec<Line>) =
        met.into_iter().partition(|Line { file, line }| effects.has_moved(file, *line));
    if lines.is_empty() {
        lines = moved;
    }
    lines.sort_by_key(|Line { file, line }| match &place {
        Some((at, near)) if at == file => (0, near.abs_diff(*line)),
        _ => (1, 0),
    });
    ChangeReport { verdict, witness, lines, files: trial.opened.files.iter().cloned().collect() }
}

/// Returns the relation as a sentence.
fn message(change: &ChangeReport, at_base: AtBase, opened: &Opened) -> String {
    match change.verdict {
        Blame::Regression => {
            let why = reached(change).map_or_else(String::new, |what| format!(": {what}"));
            format!("the change may be to blame{why}")
        }
        Blame::Flaky => {
            let why = match change.witness {
                Some(Witness::Coverage) => ": the test passes without it and runs no changed code",
                Some(Witness::History) => ": without it, the test passed before and fails now",
                Some(Witness::Culprit) => ": the responsible call was responsible before it",
                Some(Witness::Rerun) => {
                    ": the test also passes with the same code, and did so before or runs no \
                     changed code"
                }
                Some(Witness::SameProcess) => {
                    ": the test also passes when it runs again in the same process"
                }
                Some(Witness::CleanEnvironment) => {
                    ": the test also passes with an empty home and an empty temporary directory"
                }
                _ => "",
            };
            format!("the change is not to blame{why}")
        }
        Blame::Unknown if change.witness == Some(Witness::Base) => {
            "it fails without the change, too".to_owned()
        }
        Blame::Unknown => {
            let why = match (opened.unseen.first(), at_base) {
                (Some(file), _) => {
                    let name = &file.name;
                    format!(": it has files that the test may read, such as {name}")
                }
                (None, AtBase::Untried) => ": the code before it could not be tried".to_owned(),
                (None, _) => String::new(),
            };
            format!("whether the change is to blame is not known{why}")
        }
    }
}

/// Returns what of a change a test reaches, as a clause.
fn reached(change: &ChangeReport) -> Option<String> {
    if change.witness == Some(Witness::Culprit) {
        return Some("it touches the responsible call".to_owned());
    }
    if change.witness == Some(Witness::File) {
        return Some(format!("the test opens or queries {}", change.files.join(", ")));
    }
    let [Line { file, line }, others @ ..] = change.lines.as_slice() else { return None };
    let more = match others.len() {
        0 => String::new(),
        more => format!(" and {more} more changed lines"),
    };
    Some(format!("the test reaches {file}:{line}{more}"))
}

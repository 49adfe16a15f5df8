//! `cargo nondex confirm`: measures how often a test fails without this tool.

mod plain;

use std::num::NonZeroUsize;
use std::thread;

use anstyle::AnsiColor;
use serde::Serialize;

use self::plain::{EntropySeeds, PlainRuns};
use super::configuration::Asked;
use super::console::Console;
use super::{interrupt, selection};
use crate::campaign::{SelectedTests, process};
use crate::cli::{ConfirmArgs, MessageFormat, Seeds};
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::judge::options::DEFAULT_TIMEOUT;
use crate::project::{self, Mode, Project};
use crate::report::plural;
use crate::statistics::Rate;

/// Results of all tests, as JSON.
#[derive(Debug, Serialize)]
struct Confirmation {
    /// Whether the command was interrupted before all runs were made.
    partial: bool,
    tests: Vec<Confirmed>,
}

/// Result of one test.
#[derive(Debug, Serialize)]
struct Confirmed {
    id: String,
    /// Failure rate in the runs that count.
    #[serde(flatten)]
    rate: Rate,
    /// Failure rate in runs that were made at the same time, if some of them failed. The runs that
    /// count were then made one at a time.
    beside_itself: Option<Rate>,
    /// Seeds with which the test failed twice, if entropy was seeded. Only these failures count.
    failing_seeds: Option<Vec<u64>>,
    /// Seeds with which the test failed once and then passed, because something other than entropy
    /// decided.
    unrepeated_seeds: Option<Vec<u64>>,
    /// Message of the first failing run: of the runs that count, or else of the other runs.
    message: Option<String>,
    /// Output of that run.
    output: Option<String>,
}

impl Confirmed {
    /// Returns whether runs were made and none of them failed.
    fn passes(&self) -> bool {
        matches!(self.rate, Rate { failures: 0, runs: 1.., .. })
    }

    /// Returns the label of the result. A test that passed in any run is not broken, even if all
    /// runs that were made one at a time failed.
    fn label(&self) -> &'static str {
        let has_passed = |rate: &Rate| rate.failures < rate.runs;
        match self.rate {
            Rate { runs: 0, .. } => "Unknown",
            _ if self.passes() => "Passes",
            rate if has_passed(&rate) || self.beside_itself.iter().any(has_passed) => "Flaky",
            _ => "Broken",
        }
    }
}

/// Runs the selected tests many times in a plain build. The exit code is 100 if a run failed.
pub(super) fn confirm(args: &ConfirmArgs, asked: &Asked, console: &Console) -> Result<ExitCode> {
    let seeds = args.seeds.clone().map(Seeds::into_vec);
    if seeds.as_ref().is_some_and(Vec::is_empty) {
        return Err(Error::usage("`--seeds 0` leaves nothing to run"));
    }
    let named = &args.project.filter;
    if named.names.filters.is_empty() && named.libtest.is_empty() && named.filtersets.is_empty() {
        return Err(Error::usage("name the tests to confirm: each is run many times"));
    }
    let filter = named.parse()?;
    let mut plan = selection::plan(&args.project.build, &args.project.archive, console)?;
    let resolved = selection::resolve(&filter, &plan)?;
    let stop = interrupt::install()?;
    plan.mode = Mode::Plain;
    plan.doctests = filter.doctests();
    let project = project::build(&plan, console.quiet)?;
    let selected = selection::select(&project.suites, &resolved, selection::Divided::Tests);
    selection::expect_some(&project.suites, &selected, &resolved, console)?;
    let required = selection::required(asked, &plan, &project.suites)?;
    let seeded = match seeds {
        Some(seeds) => {
            Some(EntropySeeds::new(seeds, &project, args.project.build.target.as_deref())?)
        }
        None => None,
    };
    // Addresses are a source of randomness that no seed controls.
    if seeded.is_some()
        && let Some(note) = process::without_randomisation()
    {
        console.note(&note);
    }
    let build = &args.project.build;
    let jobs = build.jobs.or_else(|| thread::available_parallelism().ok());
    let mut confirmation = Confirmation { partial: false, tests: Vec::new() };
    for (suite, test) in selected.iter().flat_map(SelectedTests::running) {
        let id = suite.test_id(test);
        let what = match &seeded {
            Some(seeded) => plural(seeded.seeds.len(), "seed"),
            None => plural(args.runs.get(), "run"),
        };
        console.status("Confirming", &format!("{id}: {what} of the plain build"));
        let plain = PlainRuns {
            binary: &suite.binary,
            test,
            timeout: args.timeout.unwrap_or(DEFAULT_TIMEOUT),
            stop: &stop,
            seeded: seeded.as_ref(),
            required: required.get(&id).cloned().unwrap_or_default(),
        };
        let jobs = jobs.unwrap_or(NonZeroUsize::MIN);
        let confirmed = match &seeded {
            Some(seeded) => plain.confirm_seeds(id, &seeded.seeds, jobs)?,
            None => plain.confirm(id, args.runs.get().into(), jobs)?,
        };
        if console.format == MessageFormat::Human {
            show(&confirmed, console);
        }
        confirmation.tests.push(confirmed);
        if stop.is_set() {
            confirmation.partial = true;
            break;
        }
    }
    finish(&confirmation, &project, console)
}

/// Shows the results of all tests. The exit code is 100 if a run failed, or if fewer runs were made
/// than requested.
fn finish(confirmation: &Confirmation, project: &Project, console: &Console) -> Result<ExitCode> {
    if console.format == MessageFormat::Json {
        console.json(confirmation)?;
    }
    // One note for all tests: if many tests are confirmed, most of them pass.
    if confirmation.tests.iter().any(Confirmed::passes) {
        console.note(
            "all these runs share one machine, one version of std and one day: their passing does \
             not refute a finding that depends on these",
        );
    }
    if confirmation.partial {
        console.warning("interrupted: fewer runs were made than requested");
    }
    let failed = |confirmed: &Confirmed| confirmed.rate.failures > 0;
    Ok(if confirmation.partial || confirmation.tests.iter().any(failed) {
        ExitCode::Found
    } else {
        project.exit_code()
    })
}

/// Shows the result of one test to people.
fn show(confirmed: &Confirmed, console: &Console) {
    let label = confirmed.label();
    let color = match label {
        "Unknown" => AnsiColor::Yellow,
        "Passes" => AnsiColor::Green,
        _ => AnsiColor::Red,
    };
    console.result(color, label, &format!("{}: {}", confirmed.id, confirmed.rate.text()));
    let [low, high] = confirmed.rate.interval;
    if let Some(together) = confirmed.beside_itself
        && !(low..=high).contains(&(together.failures as f64 / together.runs.max(1) as f64))
    {
        console.note(&format!(
            "{} of {} concurrent runs failed; these runs were made one at a time, so that no run \
             disturbs another",
            together.failures, together.runs
        ));
    }
    for (seeds, what) in [
        (&confirmed.failing_seeds, "it fails every time with its entropy from"),
        (&confirmed.unrepeated_seeds, "the outcome varies even with its entropy from"),
    ] {
        if let Some(seeds) = seeds.as_ref().filter(|seeds| !seeds.is_empty()) {
            let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
            console.note(&format!("{what} seed {}", seeds.join(",")));
        }
    }
    if confirmed.rate.failures > 0
        && let Some(message) = &confirmed.message
    {
        console.note(&format!("the first failing run: {}", message.trim_end()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ever_passed_is_not_broken_and_what_fails_beside_itself_only_passes() {
        for (rate, beside_itself, label) in [
            ((0, 0), None, "Unknown"),
            ((0, 20), Some((3, 20)), "Passes"),
            ((7, 20), Some((20, 20)), "Flaky"),
            ((20, 20), Some((12, 20)), "Flaky"),
            ((20, 20), Some((20, 20)), "Broken"),
            ((20, 20), None, "Broken"),
        ] {
            let rate_of = |(failures, runs)| Rate::new(failures, runs);
            let confirmed = Confirmed {
                id: "a$b".to_owned(),
                rate: rate_of(rate),
                beside_itself: beside_itself.map(rate_of),
                failing_seeds: None,
                unrepeated_seeds: None,
                message: None,
                output: None,
            };
            assert_eq!(confirmed.label(), label, "{rate:?} {beside_itself:?}");
            assert_eq!(confirmed.passes(), label == "Passes");
        }
    }
}

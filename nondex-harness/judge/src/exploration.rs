//! Selects the seeds, schedules and orders of a test that are tried.
//!
//! Each level has all its seeds, and all schedules and orders if there are few. With a budget, the
//! first seeds of every level come before the other seeds of any level.

use nondex_core::{Level, Outcome, RunSpec};

use super::deadlock;
use super::exhaustive::{Exploration, explore};
use super::missing::{ExperimentPurpose, Missing};
use super::question::Question;
use super::run::Run;
use super::sampling::{self, seed_specs};
use super::{systematic, unseen};

/// Maximum number of hangs at one level, after which its other seeds are skipped: each takes the
/// whole time limit.
pub(super) const MAX_HANGS: usize = 2;

/// Maximum number of specs that are requested at a time. They are compared with each other, and a
/// run may answer for specs that were not requested yet.
pub(super) const MAX_REQUESTED: usize = 256;

/// Numbers of seeds that are tried at every level before any level has more.
const SURVEYS: [usize; 2] = [1, 3];

/// Tries the first seeds at every level, and returns whether the outcome changes under one of them.
/// So each level has some evidence when the budget is spent. A test whose outcome changes is then
/// run independent of the budget.
pub(super) fn survey(question: Question<'_>, passes_clean: bool) -> Result<bool, Missing> {
    let evidence = question.evidence;
    let levels = question.options.realistic_first();
    let rounds = SURVEYS.into_iter();
    for (seeds, &level) in rounds.flat_map(|seeds| levels.iter().map(move |level| (seeds, level))) {
        let mut specs = seed_specs(question, level);
        specs.truncate(seeds);
        if evidence.spent().exploring {
            specs.retain(|spec| evidence.has_answer(spec));
        }
        let mut answers = evidence
            .answers(&specs)
            .map_err(|missing| missing.serving(ExperimentPurpose::Explore))?
            .into_iter();
        // The run may be a hang, which takes long: the other levels need not be tried.
        if answers.any(|answer| answer.run.is_otherwise(passes_clean)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the specs of this level that were tried: all seeds, and all schedules and orders if
/// there are few. Skips the rest if the test hangs, or if nothing more is made for this `purpose`.
pub(super) fn answered_specs(
    question: Question<'_>,
    level: Level,
    purpose: ExperimentPurpose,
) -> Result<Vec<RunSpec>, Missing> {
    let (options, evidence) = (question.options, question.evidence);
    let mut specs = question.regressions(&[level]);
    if systematic::level(options) == Some(level) {
        specs.extend(systematic::explore(question)?.specs);
    }
    if !unseen::adds_nothing(question, level)
        && !sampling::is_as_at_others(question, level)
        && let Exploration::Complete(seeds) = explore(question, level)?
    {
        specs.extend(seeds.into_iter().map(|seed| question.seed_spec(level, seed)));
    }
    let mut seeds = seed_specs(question, level);
    seeds.retain(|spec| !specs.contains(spec));
    specs.append(&mut seeds);
    if evidence.spent().leaves_out(purpose) {
        specs.retain(|spec| evidence.has_answer(spec));
    }
    let mut hangs = 0;
    let mut answered = 0;
    while answered < specs.len() && hangs < MAX_HANGS {
        // Batches double while no run hangs. After a hang, specs run one by one.
        let chunk = match hangs {
            0 => answered.clamp(1, MAX_REQUESTED),
            _ => 1,
        };
        let end = specs.len().min(answered + chunk);
        hangs += evidence
            .answers(&specs[answered..end])
            .map_err(|missing| missing.serving(purpose))?
            .iter()
            .filter(|answer| is_long(answer.run))
            .count();
        answered = end;
    }
    specs.truncate(answered);
    Ok(specs)
}

/// Returns whether a run took as long as one that does not end.
pub(super) fn is_long(run: &Run) -> bool {
    run.outcome == Outcome::TimedOut || deadlock::waits_for_others(run)
}

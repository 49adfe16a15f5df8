//! Counts the runs of a test that were left out because the budget was spent.

use nondex_core::{Level, RunSpec};

use super::question::Question;
use super::{certainty, exhaustive, sampling};

/// Returns the minimum number of runs that a campaign without a budget would also make for a test
/// that always passed. Counts runs under seeds and runs for certainty. Schedules are not listed, so
/// they do not count.
pub fn runs(question: Question<'_>) -> u64 {
    if !question.evidence.spent().exploring {
        return 0;
    }
    seeds(question) + certainty::left_out(question) as u64
}

/// Returns the number of runs under seeds that were left out.
pub fn seeds(question: Question<'_>) -> u64 {
    if !question.evidence.spent().exploring {
        return 0;
    }
    let verified = exhaustive::verified(question);
    let levels = question.options.realistic_first().into_iter();
    let open = levels.filter(|level| !verified.contains(level));
    let seeds = |level: Level| sampling::seed_specs(question, level);
    let is_left_out = |spec: &RunSpec| !question.evidence.has_answer(spec);
    open.flat_map(seeds).filter(is_left_out).count() as u64
}

/// Returns whether the budget was spent so early that passing is little evidence. Either a test
/// that reached a choice did not run under a seed at each level. Or fewer than half of the runs
/// were made in which chance may show.
pub fn is_untried(question: Question<'_>) -> bool {
    let evidence = question.evidence;
    if !evidence.spent().exploring {
        return false;
    }
    let has_choice = evidence.all().any(|(_, run)| !run.points.is_empty());
    let tried = evidence.all().filter(|(spec, _)| !spec.is_clean()).count();
    let is_left_out = || tried == 0 || runs(question) > 0;
    certainty::is_left_to_chance(question)
        || has_choice && tried < question.options.levels.len() && is_left_out()
}

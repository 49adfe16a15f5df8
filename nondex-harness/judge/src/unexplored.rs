//! What of a test was left out once the budget was spent.

use nondex_core::{Level, RunSpec};

use super::evidence::Evidence;
use super::options::Options;
use super::{certainty, exhaustive, sampling, specs};

/// How many runs that a campaign without a budget makes of a `test` which passed in every run were
/// left out, at least: of seeds, and for certainty. Schedules are not listed, so they do not count.
pub fn runs(test: &str, options: &Options, evidence: &Evidence) -> u64 {
    if !evidence.spent().exploring {
        return 0;
    }
    let verified = exhaustive::verified(test, options, evidence);
    let levels = specs::levels(&options.levels).into_iter();
    let open = levels.filter(|level| !verified.contains(level));
    let seeds = |level: Level| sampling::seed_specs(test, level, options, evidence);
    let is_left_out = |spec: &RunSpec| !evidence.has_answer(spec);
    let seeds = open.flat_map(seeds).filter(is_left_out).count();
    (seeds + certainty::left_out(test, options, evidence)) as u64
}

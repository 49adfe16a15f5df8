//! Explanation of a seed that failed late: copies the cause that a second campaign finds into the
//! report of the first campaign.

use nondex_core::{Level, RunSpec};

use crate::judge::{Circumstance, Options};
use crate::report::TestReport;

/// Returns the options of a campaign that explains this failing run: only its seed, at its level.
pub fn options(usual: &Options, test_id: &str, spec: &RunSpec) -> Options {
    let mut own = usual.of(test_id).into_owned();
    own.levels = vec![spec.level()];
    own.seeds = vec![spec.seed()];
    own.schedule = spec.schedule();
    own.exhaustive = 0;
    own.regressions.clear();
    own.per_test.clear();
    // The session has one time limit for all its campaigns.
    own.max_time = None;
    own
}

/// Copies the cause that `explained` names into `report`. Does nothing if that seed did not fail
/// again.
pub fn adopt(report: &mut TestReport, explained: TestReport) {
    if !explained.is_dependent() {
        return;
    }
    let name = Circumstance::FurtherSeeds.name();
    let seeds = report
        .steps
        .iter()
        .find(|step| step.name == name)
        .map_or([0, 0], |step| [step.failures, step.runs]);
    report.rule_as(&explained);
    report.weakest_level = explained.weakest_level;
    report.delay_level = explained.delay_level;
    report.culprits = explained.culprits;
    report.failures = explained.failures;
    report.reproduce = explained.reproduce;
    report.replay = explained.replay;
    report.output = explained.output;
    report.difference = explained.difference;
    report.interleaving = explained.interleaving;
    report.scheduled = explained.scheduled;
    report.search_runs += explained.search_runs;
    report.runs += explained.runs;
    report.elapsed_ms += explained.elapsed_ms;
    for note in explained.notes {
        if !report.notes.contains(&note) {
            report.notes.push(note);
        }
    }
    report.steps.extend(explained.steps.into_iter().filter(|step| step.name == "search"));
    if report.reason.is_none() && report.weakest_level == Some(Level::Std) {
        let rate = report.failure_rate.entry(Level::Std).or_default();
        rate[0] += seeds[0];
        rate[1] += seeds[1];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Step, Verdict};

    #[test]
    fn seeds_that_were_tried_later_count_in_the_rate() {
        let mut report = TestReport::new("p", "p", "t");
        report.verdict = Verdict::NonDeterministic;
        report.failure_rate.insert(Level::Std, [0, 10]);
        report.steps.push(Step { name: "further-seeds".to_owned(), runs: 27, failures: 3 });
        let stable = TestReport { verdict: Verdict::Stable, ..report.clone() };
        adopt(&mut report, stable);
        assert_eq!(report.verdict, Verdict::NonDeterministic);
        let explained = TestReport {
            verdict: Verdict::ImplementationDependent,
            weakest_level: Some(Level::Std),
            ..TestReport::new("p", "p", "t")
        };
        adopt(&mut report, explained);
        assert_eq!(report.verdict, Verdict::ImplementationDependent);
        assert_eq!(report.failure_rate[&Level::Std], [3, 37]);
    }
}

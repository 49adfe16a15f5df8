//! Skips levels at which unobserved orders add nothing.
//!
//! The order in which a map drops its entries is only observed through their destructors. The first
//! level of the family changes that order as a future std may, and FULL as far as the specification
//! allows. The levels between them only decide which orders are equal, which matters only where
//! orders are observed. So these levels are skipped for a test as long as all its runs pass and
//! none reached an observed order.

use nondex_core::{Level, Model, Site};

use super::options::Options;
use super::question::Question;

/// Returns whether runs at `level` can show nothing that runs at other levels do not.
pub(super) fn adds_nothing(question: Question<'_>, level: Level) -> bool {
    let (options, evidence) = (question.options, question.evidence);
    if !options.prune || evidence.all().any(|(_, run)| !run.passed()) {
        return false;
    }
    let points = evidence.all().flat_map(|(_, run)| run.points.iter());
    let mut varying =
        points.map(|point| &point.site).filter(|site| site.family.varies(level)).peekable();
    varying.peek().is_some() && varying.all(|site| is_between(level, site, options))
}

/// Returns whether the order at `site` is unobserved and the requested levels vary it both below
/// and above `level`.
pub(super) fn is_between(level: Level, site: &Site, options: &Options) -> bool {
    let around = [site.family.varies_at()[0], Level::Full];
    Model::by_api(&site.api).is_some_and(Model::is_unseen)
        && !around.contains(&level)
        && around.iter().all(|level| options.levels.contains(level))
}

#[cfg(test)]
mod tests {
    use nondex_core::{Family, Outcome, RunSpec};

    use super::*;
    use crate::conclusion::Conclusion;
    use crate::run::Run;
    use crate::simulation::{options, point, run, runs_at, simulate, site};

    fn reached(sites: &[(&str, Family)]) -> Run {
        let points = sites.iter().zip(1..).map(|(&(method, family), line)| {
            point(Site {
                api: format!("std::collections::HashMap::{method}"),
                family,
                ..site(line)
            })
        });
        Run { points: points.collect(), ..run(true, []) }
    }

    /// Returns the levels at which a test that reaches these orders is run.
    fn levels(sites: &[(&str, Family)], options: &Options) -> Vec<Level> {
        let (conclusion, evidence) = simulate(options, |_: &RunSpec| reached(sites));
        assert_eq!(conclusion, Conclusion::Stable);
        let is_run = |level: &Level| runs_at(&evidence, *level) > 0;
        Level::ALL.into_iter().filter(is_run).collect()
    }

    #[test]
    fn orders_that_are_not_shown_are_varied_at_two_levels_unless_others_are_shown() {
        use Family::{FixedHasher, HashMap};
        let all = Level::ALL;
        for (sites, expected) in [
            (&[("drop", HashMap)][..], &[Level::Std, Level::Full][..]),
            (&[("drop", HashMap), ("eq", HashMap)], &[Level::Std, Level::Full]),
            (&[("clear", FixedHasher)], &[Level::One, Level::Full]),
            (&[("clone", FixedHasher), ("drop", HashMap)], &[Level::Std, Level::One, Level::Full]),
            (&[("drop", HashMap), ("iter", HashMap)], &all),
            (&[("iter", HashMap)], &all),
        ] {
            assert_eq!(levels(sites, &options()), expected, "{sites:?}");
            let long = Options { prune: false, ..options() };
            assert_eq!(levels(sites, &long), all, "{sites:?}");
        }
    }

    #[test]
    fn where_the_levels_around_are_not_asked_for_the_others_are_tried() {
        let with_levels = |levels: &[Level]| Options { levels: levels.to_vec(), ..options() };
        let drop = [("drop", Family::HashMap)];
        for expected in [&[Level::Id][..], &[Level::Std, Level::Eq], &[Level::One, Level::Full]] {
            assert_eq!(levels(&drop, &with_levels(expected)), expected);
        }
    }

    #[test]
    fn what_fails_at_any_level_is_judged_as_if_all_had_been_tried() {
        for from in Level::ALL {
            let fails = |spec: &RunSpec| Run {
                outcome: if spec.draws_all() && spec.level() >= from {
                    Outcome::Failed
                } else {
                    Outcome::Passed
                },
                ..reached(&[("drop", Family::HashMap)])
            };
            let conclusion = |prune| {
                let options = Options { prune, ..options() };
                match simulate(&options, fails).0 {
                    Conclusion::Dependent(found) => found.spec.level(),
                    other => panic!("{from}: {other:?}"),
                }
            };
            assert_eq!(conclusion(true), conclusion(false), "{from}");
        }
    }
}

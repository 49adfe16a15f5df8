//! Plans the reruns of a test that no choice and no test order makes fail. Without them it is not
//! called stable or flaky for an unknown reason.
//!
//! Figure 3 of Lam et al., "A large-scale longitudinal study of flaky tests" (OOPSLA 2020), runs
//! such a test a hundred times and gives up. Here the circumstances change, too: choices from
//! further seeds, random addresses, one processor, another time zone and locale, a busy machine, an
//! empty environment, and a build without this tool. The busy machine is from Silva et al., "The
//! effects of computational resources on flaky tests" (2023). The empty environment is from Bell et
//! al., "`DeFlaker`" (ICSE 2018), whose last tier is a clean machine. A step ends early when it has
//! shown enough.

use super::certainty::runs_without_failure;
use super::circumstance::Circumstance;

/// Sensitivity of a test: properties that decide which circumstances could change its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sensitivity {
    /// Whether it uses something that no choice controls: a clock, threads, programs.
    pub chance: bool,
    /// Whether it reaches choices of orders or values, such as random bytes.
    pub values: bool,
    /// Whether it reaches choices of threads and time.
    pub timing: bool,
}

/// Maximum number of runs of a test under each circumstance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RerunCounts {
    /// Runs under further seeds, and runs alone, each.
    pub alone: u64,
    /// Runs at random addresses, on one processor, under load, and in a clean environment, each.
    pub changed: u64,
    /// Runs in a plain build.
    pub natural: u64,
    /// Bit set of the circumstances that are unavailable.
    forgotten: u16,
    /// Whether these are [brief](Self::brief) reruns.
    is_brief: bool,
}

const _: () = assert!(Circumstance::ALL.len() <= u16::BITS as usize);

impl Default for RerunCounts {
    fn default() -> Self {
        RerunCounts { alone: 100, changed: 20, natural: 100, forgotten: 0, is_brief: false }
    }
}

impl RerunCounts {
    /// Sets the number of runs alone, under each changed circumstance, and in a plain build.
    pub const fn new(alone: u64, changed: u64, natural: u64) -> Self {
        RerunCounts { alone, changed, natural, forgotten: 0, is_brief: false }
    }

    /// Returns the maximum number of runs of all tests together.
    pub const fn together(&self) -> u64 {
        self.changed
    }

    /// Reduces the runs to those of a test that was not named and that chance cannot affect. These
    /// are further seeds, and one run in each environment, or a few if that one fails.
    #[must_use]
    pub const fn brief(self) -> Self {
        RerunCounts { is_brief: true, ..self }
    }

    /// Excludes runs under this circumstance.
    pub fn forget(&mut self, circumstance: Circumstance) {
        self.forgotten |= 1 << circumstance as u8;
    }

    /// Returns how often a test is run under `circumstance`. A test that chance cannot affect is
    /// run less often.
    pub fn of(&self, circumstance: Circumstance, sensitivity: Sensitivity) -> u64 {
        if self.forgotten & (1 << circumstance as u8) != 0 {
            return 0;
        }
        // Any test may depend on addresses, whatever it reaches.
        let is_kept = matches!(circumstance, Circumstance::FurtherSeeds | Circumstance::Addresses);
        if self.is_brief && !circumstance.is_certain() && !is_kept {
            return 0;
        }
        let most = match circumstance {
            Circumstance::FurtherSeeds => match (sensitivity.values, sensitivity.timing) {
                (true, _) => return self.alone.saturating_mul(VALUES),
                (false, true) => return self.alone,
                (false, false) => return 0,
            },
            Circumstance::Alone => self.alone,
            Circumstance::Natural => self.natural,
            // They do not change by chance.
            Circumstance::TimeZone | Circumstance::Locale => self.changed.min(SHOWN),
            _ if self.is_brief => self.changed.min(SHOWN),
            _ => self.changed,
        };
        if sensitivity.chance { most } else { most.min(CERTAIN) }
    }
}

/// Number of further seeds for orders and values for each one for threads and time. Their runs are
/// short. A failure in one run in a hundred is found with a probability of 95 percent.
const VALUES: u64 = 3;

/// Maximum number of further seeds, however rarely the plain build fails.
const MAX_SEEDS: u64 = 1000;

/// Maximum number of runs of a test that reads no clock, does not sleep, and starts no threads or
/// programs.
const CERTAIN: u64 = 10;

/// Number of failures after which a step has shown enough.
const SHOWN: u64 = 3;

/// Runs under one circumstance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RerunsUnder {
    /// Circumstance of these runs.
    pub circumstance: Circumstance,
    /// Number of runs.
    pub runs: u64,
    /// Number of failures among them.
    pub failures: u64,
}

impl RerunsUnder {
    /// Returns the runs of `tried` under `circumstance`; appends an empty entry if there are none.
    pub fn of(circumstance: Circumstance, tried: &mut Vec<RerunsUnder>) -> &mut RerunsUnder {
        let known = tried.iter().position(|tried| tried.circumstance == circumstance);
        let at = known.unwrap_or_else(|| {
            tried.push(RerunsUnder { circumstance, runs: 0, failures: 0 });
            tried.len() - 1
        });
        &mut tried[at]
    }
}

/// What follows from the runs until now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextRerun {
    /// Needs one more run under this circumstance.
    Run(Circumstance),
    /// Fails by chance, most often under this circumstance.
    NonDeterministic(Circumstance),
    /// Fails in a plain build, but nothing here makes it fail.
    Unknown,
    /// Fails in this environment only, every time.
    Environment(Circumstance),
    /// Never failed.
    Stable,
}

/// Returns what follows for a test that passed before, from the reruns in `tried`.
pub fn next(limits: &RerunCounts, sensitivity: Sensitivity, tried: &[RerunsUnder]) -> NextRerun {
    let of = |circumstance| {
        let known = tried.iter().find(|tried| tried.circumstance == circumstance);
        known.map_or((0, 0), |tried| (tried.runs, tried.failures))
    };
    for circumstance in Circumstance::ALL {
        let (runs, failures) = of(circumstance);
        let limit = limits.of(circumstance, sensitivity);
        let is_enough = limits.is_brief && circumstance.is_certain() && runs > failures;
        if failures < SHOWN && runs < limit && !is_enough {
            return NextRerun::Run(circumstance);
        }
        match circumstance {
            _ if failures == 0 => {}
            // Consecutive runs may fail for a common reason, such as high process ids. So the same
            // number must pass in the usual environment.
            _ if circumstance.is_certain() && failures == runs => {
                return match of(Circumstance::Alone) {
                    (runs, 0) if runs < SHOWN && runs < limits.alone => {
                        NextRerun::Run(Circumstance::Alone)
                    }
                    _ => NextRerun::Environment(circumstance),
                };
            }
            Circumstance::Natural => return unknown((runs, failures), of, limits, sensitivity),
            _ => return NextRerun::NonDeterministic(circumstance),
        }
    }
    NextRerun::Stable
}

/// Returns what follows for a test that failed only in a plain build. The reason is unknown, unless
/// more seeds are needed to expect a failure of this rate.
fn unknown(
    (runs, failures): (u64, u64),
    of: impl Fn(Circumstance) -> (u64, u64),
    limits: &RerunCounts,
    sensitivity: Sensitivity,
) -> NextRerun {
    let is_possible = limits.of(Circumstance::FurtherSeeds, sensitivity) > 0 && sensitivity.values;
    let runs_needed = runs_without_failure(failures as f64 / runs as f64);
    let needed = u64::try_from(runs_needed).unwrap_or(u64::MAX).min(MAX_SEEDS);
    let (seeds, _) = of(Circumstance::FurtherSeeds);
    if is_possible && seeds < needed {
        NextRerun::Run(Circumstance::FurtherSeeds)
    } else {
        NextRerun::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMED: Sensitivity = Sensitivity { chance: true, values: false, timing: true };

    const PLAIN: Sensitivity = Sensitivity { chance: false, values: false, timing: false };

    /// Returns the result for a test that fails in each n-th run under each circumstance (0:
    /// never), and the number of runs.
    fn classify(fails: impl Fn(Circumstance) -> u64, sensitivity: Sensitivity) -> (NextRerun, u64) {
        classify_with(RerunCounts::default(), fails, sensitivity)
    }

    fn classify_with(
        limits: RerunCounts,
        fails: impl Fn(Circumstance) -> u64,
        sensitivity: Sensitivity,
    ) -> (NextRerun, u64) {
        let mut tried: Vec<RerunsUnder> = Vec::new();
        loop {
            match next(&limits, sensitivity, &tried) {
                NextRerun::Run(circumstance) => {
                    let last = RerunsUnder::of(circumstance, &mut tried);
                    last.runs += 1;
                    let every = fails(circumstance);
                    last.failures += u64::from(every > 0 && last.runs.is_multiple_of(every));
                }
                done => return (done, tried.iter().map(|tried| tried.runs).sum()),
            }
        }
    }

    #[test]
    fn the_first_circumstance_that_shows_a_failure_is_the_one_that_is_named() {
        for (fails, expected) in [
            (Circumstance::FurtherSeeds, NextRerun::NonDeterministic(Circumstance::FurtherSeeds)),
            (Circumstance::Alone, NextRerun::NonDeterministic(Circumstance::Alone)),
            (Circumstance::Addresses, NextRerun::NonDeterministic(Circumstance::Addresses)),
            (Circumstance::Load, NextRerun::NonDeterministic(Circumstance::Load)),
            (Circumstance::Natural, NextRerun::Unknown),
        ] {
            for every in [1, 2, 7] {
                let (found, _) = classify(|tried| if tried == fails { every } else { 0 }, TIMED);
                assert_eq!(found, expected, "{fails:?} {every}");
            }
        }
    }

    #[test]
    fn an_environment_in_which_it_always_fails_is_no_chance() {
        for environment in [
            Circumstance::OneCore,
            Circumstance::CleanEnvironment,
            Circumstance::TimeZone,
            Circumstance::Locale,
        ] {
            let fails = |every| move |tried| if tried == environment { every } else { 0 };
            let always = NextRerun::Environment(environment);
            assert_eq!(classify(fails(1), TIMED).0, always);
            let sometimes = NextRerun::NonDeterministic(environment);
            assert_eq!(classify(fails(2), TIMED).0, sometimes);
        }
    }

    #[test]
    fn what_never_fails_is_stable_and_costs_less_where_nothing_is_left_to_chance() {
        assert_eq!(
            classify(|_| 0, TIMED),
            (NextRerun::Stable, 100 + 100 + 4 * 20 + 2 * SHOWN + 100)
        );
        assert_eq!(classify(|_| 0, PLAIN), (NextRerun::Stable, 6 * 10 + 2 * SHOWN));
    }

    #[test]
    fn a_test_that_nobody_has_named_has_a_run_in_each_environment_and_more_if_it_fails() {
        let brief = RerunCounts::default().brief();
        let at_addresses = SHOWN;
        assert_eq!(classify_with(brief, |_| 0, PLAIN), (NextRerun::Stable, at_addresses + 4));
        let on_one_core = |every| {
            move |tried| match tried {
                Circumstance::OneCore => every,
                _ => 0,
            }
        };
        let always = NextRerun::Environment(Circumstance::OneCore);
        let with_usual = at_addresses + 2 * SHOWN;
        assert_eq!(classify_with(brief, on_one_core(1), PLAIN), (always, with_usual));
        // But not if it then also fails in the usual environment.
        let both = |tried| match tried {
            Circumstance::OneCore | Circumstance::Alone => 1,
            _ => 0,
        };
        let by_chance = NextRerun::NonDeterministic(Circumstance::Alone);
        assert_eq!(classify_with(brief, both, PLAIN).0, by_chance);
        let values = Sensitivity { values: true, ..PLAIN };
        assert_eq!(
            classify_with(brief, |_| 0, values),
            (NextRerun::Stable, 300 + at_addresses + 4)
        );
    }

    #[test]
    fn a_failure_before_the_runs_were_stopped_is_no_less_a_failure() {
        let tried = |failures| {
            let tried = RerunsUnder { circumstance: Circumstance::Alone, runs: 2, failures };
            next(&RerunCounts::new(0, 0, 0), TIMED, &[tried])
        };
        assert_eq!(tried(0), NextRerun::Stable);
        assert_eq!(tried(1), NextRerun::NonDeterministic(Circumstance::Alone));
    }

    #[test]
    fn a_failure_in_a_step_ends_it_early() {
        assert_eq!(classify(|_| 1, TIMED).1, SHOWN);
    }

    #[test]
    fn seeds_of_values_are_many_and_more_where_the_plain_build_seldom_fails() {
        let values = Sensitivity { values: true, ..PLAIN };
        let seeds = |natural: u64, limits: RerunCounts| {
            let mut tried = vec![RerunsUnder {
                circumstance: Circumstance::Natural,
                runs: 100,
                failures: natural,
            }];
            for circumstance in Circumstance::ALL {
                if circumstance != Circumstance::Natural {
                    let runs = limits.of(circumstance, values);
                    RerunsUnder::of(circumstance, &mut tried).runs = runs;
                }
            }
            loop {
                match next(&limits, values, &tried) {
                    NextRerun::Run(one) => RerunsUnder::of(one, &mut tried).runs += 1,
                    done => {
                        let seeds = RerunsUnder::of(Circumstance::FurtherSeeds, &mut tried).runs;
                        return (done, seeds);
                    }
                }
            }
        };
        let usual = RerunCounts::default();
        assert_eq!(seeds(0, usual), (NextRerun::Stable, 300));
        assert_eq!(seeds(11, usual), (NextRerun::Unknown, 300));
        assert_eq!(seeds(1, usual), (NextRerun::Unknown, 459));
        assert_eq!(seeds(11, RerunCounts::new(1, 1, 100)), (NextRerun::Unknown, 40));
        let mut none = usual;
        none.forget(Circumstance::FurtherSeeds);
        assert_eq!(seeds(11, none), (NextRerun::Unknown, 0));
    }
}

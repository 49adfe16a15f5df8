//! What is tried of a test that no choice and no order makes fail, before it is called stable or of unknown cause.
//!
//! Figure 3 of Lam et al., "A large-scale longitudinal study of flaky tests" (OOPSLA 2020), runs such a test a hundred times and gives up. Here
//! the circumstances change, too: schedules from further seeds, one processor, another time zone and locale, a busy machine (Silva et al., "The effects of computational resources on flaky
//! tests", 2023), an empty environment (Bell et al., "`DeFlaker`", ICSE 2018, whose last tier is a clean machine), and a build without
//! this tool. A step ends early when it has shown enough.

use serde::{Deserialize, Serialize};

/// Under what circumstances a test is run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Circumstance {
    /// With threads and time from seeds that were not tried before.
    FurtherSeeds,
    /// As in a clean run, while no other test runs.
    Alone,
    /// All its threads on one processor.
    OneCore,
    /// Beside more busy threads than there are processors.
    Load,
    /// With an empty home and an empty folder for temporary files.
    CleanEnvironment,
    /// In another time zone.
    TimeZone,
    /// With another language and country.
    Locale,
    /// In an ordinary build, without this tool.
    Natural,
}

impl Circumstance {
    /// Every circumstance, in the order in which they are tried.
    pub const ALL: [Circumstance; 8] = [
        Circumstance::FurtherSeeds,
        Circumstance::Alone,
        Circumstance::OneCore,
        Circumstance::Load,
        Circumstance::CleanEnvironment,
        Circumstance::TimeZone,
        Circumstance::Locale,
        Circumstance::Natural,
    ];

    /// Its name, as serialised.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Circumstance::FurtherSeeds => "further-seeds",
            Circumstance::Alone => "alone",
            Circumstance::OneCore => "one-core",
            Circumstance::Load => "load",
            Circumstance::CleanEnvironment => "clean-environment",
            Circumstance::TimeZone => "time-zone",
            Circumstance::Locale => "locale",
            Circumstance::Natural => "natural",
        }
    }
}

/// How often a test is run under each circumstance, at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RerunCounts {
    /// Under further seeds, and alone, each.
    pub alone: u64,
    /// On one processor, under load, and in a clean environment, each.
    pub changed: u64,
    /// In an ordinary build.
    pub natural: u64,
    /// The bits of those that cannot be had.
    forgotten: u8,
}

impl Default for RerunCounts {
    fn default() -> Self {
        RerunCounts {
            alone: 100,
            changed: 20,
            natural: 100,
            forgotten: 0,
        }
    }
}

impl RerunCounts {
    /// So many runs alone, under each changed circumstance, and in an ordinary build.
    #[must_use]
    pub const fn new(alone: u64, changed: u64, natural: u64) -> Self {
        RerunCounts {
            alone,
            changed,
            natural,
            forgotten: 0,
        }
    }

    /// No runs under this circumstance.
    pub fn forget(&mut self, circumstance: Circumstance) {
        self.forgotten |= 1 << circumstance as u8;
    }

    /// How often a test is run under `circumstance`. One that uses nothing that chance could act on is not run a hundred times.
    #[must_use]
    pub fn of(&self, circumstance: Circumstance, uses_chance: bool) -> u64 {
        if self.forgotten & (1 << circumstance as u8) != 0 {
            return 0;
        }
        let most = match circumstance {
            Circumstance::FurtherSeeds | Circumstance::Alone => self.alone,
            Circumstance::Natural => self.natural,
            // They are no chance.
            Circumstance::TimeZone | Circumstance::Locale => self.changed.min(SHOWN),
            _ => self.changed,
        };
        match uses_chance {
            true => most,
            false => most.min(CERTAIN),
        }
    }
}

/// So many runs are enough of a test that reads no clock, does not sleep, and starts no threads or programs.
const CERTAIN: u64 = 10;

/// After so many failures a step has shown enough.
const SHOWN: u64 = 3;

/// The runs under one circumstance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tried {
    /// Which.
    pub circumstance: Circumstance,
    /// How many runs were made.
    pub runs: u64,
    /// How many of them failed.
    pub failures: u64,
}

/// What follows from the runs so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// One more run under this circumstance.
    Run(Circumstance),
    /// It fails by chance, most often under this circumstance.
    NonDeterministic(Circumstance),
    /// It fails in an ordinary build, and nothing here makes it fail.
    Unknown,
    /// It fails in this environment only, every time.
    Environment(Circumstance),
    /// It never failed.
    Stable,
}

/// What follows for a test that passed in every run before, from those that were `tried` since.
#[must_use]
pub fn next(limits: &RerunCounts, uses_chance: bool, tried: &[Tried]) -> Next {
    let of = |circumstance| {
        let mut tried = tried.iter();
        tried.find(|tried| tried.circumstance == circumstance)
    };
    for circumstance in Circumstance::ALL {
        let (runs, failures) =
            of(circumstance).map_or((0, 0), |tried| (tried.runs, tried.failures));
        if failures < SHOWN && runs < limits.of(circumstance, uses_chance) {
            return Next::Run(circumstance);
        }
        match circumstance {
            _ if failures == 0 => {}
            Circumstance::CleanEnvironment | Circumstance::TimeZone | Circumstance::Locale
                if failures == runs =>
            {
                return Next::Environment(circumstance);
            }
            Circumstance::Natural => return Next::Unknown,
            _ => return Next::NonDeterministic(circumstance),
        }
    }
    Next::Stable
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a test that fails in every so many runs under each circumstance (0: never), and how often it was run.
    fn classify(fails: impl Fn(Circumstance) -> u64, uses_chance: bool) -> (Next, u64) {
        let mut tried: Vec<Tried> = Vec::new();
        loop {
            match next(&RerunCounts::default(), uses_chance, &tried) {
                Next::Run(circumstance) => {
                    if tried
                        .last()
                        .is_none_or(|last| last.circumstance != circumstance)
                    {
                        tried.push(Tried {
                            circumstance,
                            runs: 0,
                            failures: 0,
                        });
                    }
                    let last = tried.last_mut().unwrap();
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
            (
                Circumstance::FurtherSeeds,
                Next::NonDeterministic(Circumstance::FurtherSeeds),
            ),
            (
                Circumstance::Alone,
                Next::NonDeterministic(Circumstance::Alone),
            ),
            (
                Circumstance::OneCore,
                Next::NonDeterministic(Circumstance::OneCore),
            ),
            (
                Circumstance::Load,
                Next::NonDeterministic(Circumstance::Load),
            ),
            (Circumstance::Natural, Next::Unknown),
        ] {
            for every in [1, 2, 7] {
                let (found, _) = classify(|tried| if tried == fails { every } else { 0 }, true);
                assert_eq!(found, expected, "{fails:?} {every}");
            }
        }
    }

    #[test]
    fn an_environment_in_which_it_always_fails_is_no_chance() {
        for environment in [
            Circumstance::CleanEnvironment,
            Circumstance::TimeZone,
            Circumstance::Locale,
        ] {
            let fails = |every| {
                move |tried| match tried == environment {
                    true => every,
                    false => 0,
                }
            };
            let always = Next::Environment(environment);
            assert_eq!(classify(fails(1), true).0, always);
            let sometimes = Next::NonDeterministic(environment);
            assert_eq!(classify(fails(2), true).0, sometimes);
        }
    }

    #[test]
    fn what_never_fails_is_stable_and_costs_less_where_nothing_is_left_to_chance() {
        assert_eq!(
            classify(|_| 0, true),
            (Next::Stable, 100 + 100 + 3 * 20 + 2 * SHOWN + 100)
        );
        assert_eq!(classify(|_| 0, false), (Next::Stable, 6 * 10 + 2 * SHOWN));
    }

    #[test]
    fn a_failure_before_the_runs_were_stopped_is_no_less_a_failure() {
        let tried = |failures| {
            let tried = Tried {
                circumstance: Circumstance::Alone,
                runs: 2,
                failures,
            };
            next(&RerunCounts::new(0, 0, 0), true, &[tried])
        };
        assert_eq!(tried(0), Next::Stable);
        assert_eq!(tried(1), Next::NonDeterministic(Circumstance::Alone));
    }

    #[test]
    fn a_failure_in_a_step_ends_it_early() {
        assert_eq!(classify(|_| 1, true).1, SHOWN);
    }
}

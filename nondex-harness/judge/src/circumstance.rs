//! Defines the circumstances under which a test is run again.

/// Circumstances of a rerun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Circumstance {
    /// Choices from seeds that were not tried before.
    FurtherSeeds,
    /// As in a clean run, while no other test runs.
    Alone,
    /// As in a clean run, but at random addresses, which are the system's default.
    Addresses,
    /// All threads on one processor.
    OneCore,
    /// Together with more busy threads than there are processors.
    Load,
    /// An empty home and an empty folder for temporary files.
    CleanEnvironment,
    /// Another time zone.
    TimeZone,
    /// Another language and country.
    Locale,
    /// A plain build, without this tool.
    Natural,
}

// The order is that in which they are tried.
nondex_core::words!(Circumstance {
    FurtherSeeds = "further-seeds",
    Alone = "alone",
    Addresses = "addresses",
    OneCore = "one-core",
    Load = "load",
    CleanEnvironment = "clean-environment",
    TimeZone = "time-zone",
    Locale = "locale",
    Natural = "natural",
});

/// Properties of a circumstance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Traits {
    /// Description after the number of runs: "6 of 20 runs … failed".
    under: &'static str,
    /// Part of the environment that it changes, if any: "depends on …".
    part: Option<&'static str>,
    /// Whether a test that fails in every run under it may still do so by chance.
    is_chance: bool,
}

impl Circumstance {
    const fn traits(self) -> Traits {
        let (under, part, is_chance) = match self {
            Circumstance::FurtherSeeds => ("with choices from further seeds", None, true),
            Circumstance::Alone => ("in canonical order, while no other test ran", None, true),
            Circumstance::Addresses => {
                ("at random addresses", Some("addresses, which are random in plain runs"), true)
            }
            Circumstance::OneCore => {
                ("with all its threads on one processor", Some("the number of processors"), false)
            }
            // A loaded machine only makes chance failures more likely.
            Circumstance::Load => (
                "together with busy threads on all processors",
                Some("the load of the machine"),
                true,
            ),
            Circumstance::CleanEnvironment => (
                "with an empty home and an empty temporary directory",
                Some("the contents of its home or the temporary directory"),
                false,
            ),
            Circumstance::TimeZone => (
                "in the time zone of the Chatham Islands (`TZ=CHADT-13:45`)",
                Some("the time zone"),
                false,
            ),
            Circumstance::Locale => {
                ("with `LANG`, `LC_ALL` and `LANGUAGE` for Turkish", Some("the locale"), false)
            }
            Circumstance::Natural => ("in a plain build", None, true),
        };
        Traits { under, part, is_chance }
    }

    /// Returns the description of runs under it, after their number: `together with busy threads`.
    pub const fn under(self) -> &'static str {
        self.traits().under
    }

    /// Returns the part of the environment that it changes, after "depends on"; `None` if there is
    /// none. Most parts are the same in every run on a machine.
    pub const fn part(self) -> Option<&'static str> {
        self.traits().part
    }

    /// Returns whether a test that fails in every run under it depends on it, not on chance.
    pub const fn is_certain(self) -> bool {
        self.part().is_some() && !self.traits().is_chance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_circumstance_is_named_as_it_is_serialised() {
        for one in Circumstance::ALL {
            let json = serde_json::to_value(one).unwrap();
            assert_eq!(json, one.name());
        }
    }
}

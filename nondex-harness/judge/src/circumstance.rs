//! Circumstances under which a test is run again, and what follows from one that changes its end.

use serde::{Deserialize, Serialize};

/// Under what circumstances a test is run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Circumstance {
    /// With choices from seeds that were not tried before.
    FurtherSeeds,
    /// As in a clean run, while no other test runs.
    Alone,
    /// The same at random addresses, as the system places a program where nobody forbids it.
    Addresses,
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
    /// In a plain build, without this tool.
    Natural,
}

/// What there is to know about one circumstance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Traits {
    /// As serialised.
    name: &'static str,
    /// "6 of 20 runs … failed".
    under: &'static str,
    /// The part of the environment that it changes, if it is one: "depends on …".
    part: Option<&'static str>,
    /// Whether a test that fails in every run under it may still do so by chance.
    is_chance: bool,
}

impl Circumstance {
    /// Every circumstance, in the order in which they are tried.
    pub const ALL: [Circumstance; 9] = [
        Circumstance::FurtherSeeds,
        Circumstance::Alone,
        Circumstance::Addresses,
        Circumstance::OneCore,
        Circumstance::Load,
        Circumstance::CleanEnvironment,
        Circumstance::TimeZone,
        Circumstance::Locale,
        Circumstance::Natural,
    ];

    const fn traits(self) -> Traits {
        let (name, under, part, is_chance) = match self {
            Circumstance::FurtherSeeds => (
                "further-seeds",
                "with choices from further seeds",
                None,
                true,
            ),
            Circumstance::Alone => (
                "alone",
                "in canonical order, while no other test ran",
                None,
                true,
            ),
            Circumstance::Addresses => (
                "addresses",
                "at random addresses",
                Some("addresses, which are random in plain runs"),
                true,
            ),
            Circumstance::OneCore => (
                "one-core",
                "with all its threads on one processor",
                Some("the number of processors"),
                false,
            ),
            // A loaded machine only makes chance more likely.
            Circumstance::Load => (
                "load",
                "together with busy threads on all processors",
                Some("what else the machine does"),
                true,
            ),
            Circumstance::CleanEnvironment => (
                "clean-environment",
                "with an empty home and an empty folder for temporary files",
                Some("what is in its home or in the temporary folder"),
                false,
            ),
            Circumstance::TimeZone => (
                "time-zone",
                "in the time zone of the Chatham Islands (`TZ=CHADT-13:45`)",
                Some("the time zone"),
                false,
            ),
            Circumstance::Locale => (
                "locale",
                "with `LANG`, `LC_ALL` and `LANGUAGE` for Turkish",
                Some("the locale"),
                false,
            ),
            Circumstance::Natural => ("natural", "in a plain build", None, true),
        };
        Traits {
            name,
            under,
            part,
            is_chance,
        }
    }

    /// Its name, as serialised.
    pub const fn name(self) -> &'static str {
        self.traits().name
    }

    /// How runs under it are made, after their number: `together with busy threads`.
    pub const fn under(self) -> &'static str {
        self.traits().under
    }

    /// The part of the environment that it changes, after "depends on"; `None` if it is none. Most
    /// parts are the same in every run on a machine.
    pub const fn part(self) -> Option<&'static str> {
        self.traits().part
    }

    /// Whether a test that fails in every run under it depends on it, and not on chance.
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

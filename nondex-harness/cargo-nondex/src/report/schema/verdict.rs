//! What is concluded about a test, in one word.

use serde::{Deserialize, Serialize};

/// Verdict on a test, the same in every output.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Verdict {
    /// Passed in every run, those under seeds included.
    #[serde(rename = "stable")]
    Stable,
    /// Passed in every run; no seed was tried.
    #[serde(rename = "passed")]
    Passed,
    /// Implementation-dependent: the outcome depends reproducibly on a choice, or on the
    /// [environment](super::TestReport::environment).
    #[serde(rename = "ID")]
    ImplementationDependent,
    /// Order-dependent: passes alone and fails after another test.
    #[serde(rename = "OD-victim")]
    OrderDependentVictim,
    /// Order-dependent: fails alone and passes after another test.
    #[serde(rename = "OD-brittle")]
    OrderDependentBrittle,
    /// Non-deterministic: two runs with the same choices had different outcomes, or threads and
    /// time decide. Then it has a [reason](super::TestReport::reason).
    #[serde(rename = "ND")]
    NonDeterministic,
    /// Flaky of unknown cause: fails now and then in a plain build.
    #[serde(rename = "UD")]
    Unknown,
    /// Failed because there is no network.
    #[serde(rename = "network")]
    Network,
    /// Fails in canonical order too, whatever is chosen.
    #[serde(rename = "broken")]
    Broken,
    /// Not executed, not often enough to be judged, or fails only with this tool.
    #[default]
    #[serde(rename = "not-run")]
    NotRun,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Verdict; 10] = [
        Verdict::Stable,
        Verdict::Passed,
        Verdict::ImplementationDependent,
        Verdict::OrderDependentVictim,
        Verdict::OrderDependentBrittle,
        Verdict::NonDeterministic,
        Verdict::Unknown,
        Verdict::Network,
        Verdict::Broken,
        Verdict::NotRun,
    ];

    /// The word, as serialised.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Stable => "stable",
            Verdict::Passed => "passed",
            Verdict::ImplementationDependent => "ID",
            Verdict::OrderDependentVictim => "OD-victim",
            Verdict::OrderDependentBrittle => "OD-brittle",
            Verdict::NonDeterministic => "ND",
            Verdict::Unknown => "UD",
            Verdict::Network => "network",
            Verdict::Broken => "broken",
            Verdict::NotRun => "not-run",
        }
    }
}

impl Verdict {
    /// Whether the test may pass and may fail.
    #[must_use]
    pub const fn is_flaky(self) -> bool {
        match self {
            Verdict::ImplementationDependent
            | Verdict::OrderDependentVictim
            | Verdict::OrderDependentBrittle
            | Verdict::NonDeterministic
            | Verdict::Unknown => true,
            Verdict::Stable
            | Verdict::Passed
            | Verdict::Network
            | Verdict::Broken
            | Verdict::NotRun => false,
        }
    }

    /// Whether the test passed in every run.
    #[must_use]
    pub const fn passes(self) -> bool {
        matches!(self, Verdict::Stable | Verdict::Passed)
    }

    /// Whether the tests that run before it make the difference.
    #[must_use]
    pub const fn is_of_order(self) -> bool {
        matches!(
            self,
            Verdict::OrderDependentVictim | Verdict::OrderDependentBrittle
        )
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

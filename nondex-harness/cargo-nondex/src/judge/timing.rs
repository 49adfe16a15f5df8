//! Choices of threads and time: how long one thread is delayed while others go on, and how late one
//! wakes.

use nondex_core::{Family, Site};
use serde::{Deserialize, Serialize};

use super::run::Run;

/// Cause of non-determinism by threads or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Timing {
    /// Order in which threads access what they share.
    Race,
    /// How late a thread wakes.
    Time,
}

impl Timing {
    /// The word, as serialised.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Timing::Race => "race",
            Timing::Time => "time",
        }
    }
}

/// Whether the choices of a family are those of threads or time.
#[must_use]
pub const fn is_of_timing(family: Family) -> bool {
    matches!(family, Family::Schedule | Family::Time)
}

/// Whether a choice at `site` is one of threads or time.
#[must_use]
pub const fn is_timing(site: &Site) -> bool {
    is_of_timing(site.family)
}

/// Whether a run reached a choice of threads or time.
#[must_use]
pub fn has_timing(run: &Run) -> bool {
    run.points.iter().any(|point| is_timing(&point.site))
}

/// How many choices of threads and time a run reached.
#[must_use]
pub(super) fn delays(run: &Run) -> u64 {
    let timing = run.points.iter().filter(|point| is_timing(&point.site));
    timing.map(|point| point.count).sum()
}

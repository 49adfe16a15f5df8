//! Classifies choices of threads and time: how long a thread is delayed while others continue, and
//! how late a thread wakes.

use nondex_core::{Family, Outcome, Site, Source, model};

use super::run::Run;

/// Cause of non-determinism by threads or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Timing {
    /// Order in which threads access what they share.
    Race,
    /// How late a thread wakes.
    Time,
}

nondex_core::words!(Timing { Race = "race", Time = "time" });

/// Returns whether the choices of a family are those of threads or time.
pub const fn is_of_timing(family: Family) -> bool {
    matches!(family, Family::Schedule | Family::Time)
}

/// Returns whether a choice at `site` is one of threads or time.
pub const fn is_timing(site: &Site) -> bool {
    is_of_timing(site.family)
}

/// Returns whether a source is threads or time, which are controlled if a test is scheduled.
pub const fn is_timing_source(source: Source) -> bool {
    matches!(source, Source::Clock | Source::Sleep | Source::Thread)
}

/// Returns whether a run reached a choice of threads or time.
pub fn has_timing(run: &Run) -> bool {
    run.points.iter().any(|point| is_timing(&point.site))
}

/// Returns whether a failing run may fail because it was scheduled. It has threads, or uses time,
/// or was killed before it could report this. A test that hangs has already reported its threads.
pub(super) fn may_be_of_schedule(run: &Run) -> bool {
    !run.sources.is_empty()
        || has_timing(run)
        || run.has_threads()
        || matches!(run.outcome, Outcome::Signalled(_))
}

/// Returns whether the choice at `site` is the age of a file's time. A run only reaches it if the
/// kernel ticked between two writes, so another run of the same spec may not.
pub(super) fn is_of_file_time(site: &Site) -> bool {
    site.api == model::METADATA_MODIFIED.api
}

/// Returns the number of choices of threads and time that a run reached, without those that the
/// kernel's tick decides.
pub(super) fn delays(run: &Run) -> u64 {
    let points = run.points.iter();
    let delays = points.filter(|point| is_timing(&point.site) && !is_of_file_time(&point.site));
    delays.map(|point| point.count).sum()
}

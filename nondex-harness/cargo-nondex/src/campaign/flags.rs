//! Coverage of processes that were killed before they could record it. Their flags are in files
//! next to the record.

use camino::Utf8Path;
use nondex_core::{CoveredRecord, Event, RunSpec};

/// Returns the coverage of such processes of a run, and removes their files. It counts for each of
/// the run's tests, because the test in progress is unknown.
pub(super) fn reported(record: &Utf8Path, spec: &RunSpec) -> Vec<Event> {
    let folder = record.parent().map(Utf8Path::read_dir_utf8);
    let name = record.file_stem().unwrap_or_default();
    let begin = format!("{name}.{}-", CoveredRecord::FLAGS);
    let entries = folder.into_iter().flatten().flatten().flatten();
    let mut reported = Vec::new();
    for file in entries.filter(|entry| entry.file_name().starts_with(&begin)) {
        let bytes = std::fs::read(file.path()).unwrap_or_default();
        let _ = std::fs::remove_file(file.path());
        let Some(covered) = CoveredRecord::from_flags(&bytes) else { continue };
        reported.extend(
            spec.tests()
                .map(|test| Event::Covered { test: test.to_owned(), covered: covered.clone() }),
        );
    }
    reported
}

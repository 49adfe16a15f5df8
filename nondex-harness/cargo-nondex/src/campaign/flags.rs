//! The coverage of processes that were killed before they could record it: their flags are in files
//! next to the record.

use camino::Utf8Path;
use nondex_core::{CoveredRecord, Event, RunSpec};

/// What such processes of a run say, for each of its tests: which of them was under way, nobody
/// knows. The files are removed.
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

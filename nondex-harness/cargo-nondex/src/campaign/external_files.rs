//! Notes about external files, which are not restored before each run, for tests that fail for no
//! known reason. A file that an earlier run left there may be the reason. This cannot be proven,
//! because nothing restores the file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::SystemTime;

use nondex_core::protocol::operation::Observed;
use nondex_core::{RunSpec, ScheduleEndKind, StateId, StateKind};

use crate::judge::Run;
use crate::report::{TestReport, Verdict, Workspace, first};

/// Maximum number of files that a note names.
const NAMED: usize = 3;

/// Folders of the system, whose entries do not keep data.
const OF_SYSTEM: [&str; 3] = ["/dev", "/proc", "/sys"];

/// Error when a test creates something at a path that exists.
const IS_THERE: &str = "EEXIST";

/// Returns whether a test needs this check: it fails for no known reason.
pub(super) fn is_wanted(report: &TestReport) -> bool {
    let end = report.scheduled.as_ref().and_then(|one| one.end.as_deref());
    let is_known = report.race.is_some()
        || report.reason.is_some()
        || report.sanitised_by.is_some()
        || end == Some(ScheduleEndKind::Deadlock.name());
    let fails = matches!(report.verdict, Verdict::Broken | Verdict::NonDeterministic);
    fails && !is_known
}

/// Returns the spec of the same run, with its operations on files recorded.
pub(super) fn spec(mut spec: RunSpec) -> RunSpec {
    let making = ["mkdir", "open"]
        .map(|operation| Observed { operation: operation.to_owned(), error: IS_THERE.to_owned() });
    spec.observe.extend(making);
    spec.watching(vec![StateId::every(StateKind::File)])
}

/// Files that other tests change, each with one of these tests.
pub(super) type Changed = BTreeMap<String, String>;

/// Returns a sentence about the files that may be why a test fails. `run` is a run of it under
/// [`spec`]. `varies` is whether the test also passes. `is_restored` returns whether a file is
/// restored before each run.
pub(super) fn note(
    varies: bool,
    run: &Run,
    changed: &Changed,
    is_restored: &dyn Fn(&Path) -> bool,
) -> Option<String> {
    let mut own: Vec<&str> = Vec::new();
    let mut of_others: Vec<(&str, &str)> = Vec::new();
    for used in used(run) {
        let (name, path) = (used.name, Path::new(used.name));
        if is_restored(path) || path.symlink_metadata().is_err() {
            continue;
        }
        // The old content has no effect on a test that writes the file first. It may have one if
        // the test also passes, or if the file prevented its creation.
        let may_matter = || !used.is_first || varies || prevented_creation(run, path);
        if used.writes && may_matter() && !own.contains(&name) {
            own.push(name);
        }
        if let Some(other) = changed.get(name).filter(|_| used.is_first && !used.writes) {
            of_others.push((name, other));
        }
    }
    of_others.retain(|(name, _)| !own.contains(name));
    let own: Vec<String> = own.iter().map(|name| format!("`{name}`")).collect();
    let text = match (own.is_empty(), of_others.first()) {
        (false, _) => format!("changes {}", first(&own, NAMED)),
        (true, Some((name, other))) => format!("uses `{name}`, which `{other}` changes"),
        (true, None) => return None,
    };
    Some(format!(
        "it {text}, and this tool does not restore such files: what an earlier run left there may \
         make it fail"
    ))
}

/// Returns a sentence about a run of a failing test that passed with an empty folder for temporary
/// files. `own` is this folder, and `shared` the one of its other runs. Chance may be why the run
/// passed.
pub(super) fn note_of_temporary(run: &Run, [own, shared]: [&Path; 2]) -> String {
    let mut left: Vec<String> = Vec::new();
    for used in used(run) {
        let Ok(within) = Path::new(used.name).strip_prefix(own) else { continue };
        let path = shared.join(within);
        let is_left = used.is_first && within != Path::new("") && path.symlink_metadata().is_ok();
        let named = format!("`{}`", path.display());
        if is_left && !left.contains(&named) {
            left.push(named);
        }
    }
    let left = match &left[..] {
        [] => "files left by earlier runs".to_owned(),
        left => format!("files left by earlier runs ({})", first(left, NAMED)),
    };
    if run.sources.is_empty() {
        format!(
            "it passes with an empty temporary directory: {left} or the directory's name makes it \
             fail"
        )
    } else {
        format!(
            "it passed with an empty temporary directory: it may fail because of {left}, the \
             directory's name or chance"
        )
    }
}

/// Returns a sentence about the first file that a passing test uses before it changes it, and that
/// changed since the runs began. Another test or an earlier run may have left this file, and may be
/// why the test passes.
pub(super) fn note_of_passing(
    run: &Run,
    begun: SystemTime,
    workspace: &Workspace,
) -> Option<String> {
    let is_since = |name: &str| {
        let found = Path::new(name).symlink_metadata();
        let changed = found.and_then(|found| found.modified());
        changed.is_ok_and(|changed| changed >= begun)
    };
    let mut looked_at = used(run).filter(|used| used.is_first && !used.writes);
    let name = workspace.shown(looked_at.find(|used| is_since(used.name))?.name);
    Some(format!(
        "it reads `{name}`, which changed after the runs began and may make it pass now; `cargo \
         nondex order` restores the file and shows this"
    ))
}

/// File at one of a run's accesses to it.
struct UsedFile<'r> {
    name: &'r str,
    writes: bool,
    /// Whether this is the run's first access to the file.
    is_first: bool,
}

/// Returns the file of each access of a run, without files of the system.
fn used(run: &Run) -> impl Iterator<Item = UsedFile<'_>> {
    let mut known: BTreeSet<&str> = BTreeSet::new();
    let accesses = run.accesses.iter().map(move |access| UsedFile {
        name: &access.state.name,
        writes: access.writes,
        is_first: known.insert(&access.state.name),
    });
    accesses.filter(|used| {
        let is_below = |folder: &&str| Path::new(used.name).starts_with(folder);
        !OF_SYSTEM.iter().any(is_below)
    })
}

/// Returns whether the test could not create a file because it existed.
fn prevented_creation(run: &Run, path: &Path) -> bool {
    let mut failed = run.failed_operations.iter();
    failed.any(|failed| failed.error == IS_THERE && path.ends_with(&failed.target))
}

#[cfg(test)]
mod tests {
    use nondex_core::{AccessRecord, Source};

    use super::*;
    use crate::judge::simulation;

    #[test]
    fn what_lies_in_the_shared_folder_under_the_name_that_a_test_looks_at_is_named() {
        let shared = std::env::temp_dir().join(format!("nondex-note-{}", std::process::id()));
        std::fs::create_dir_all(&shared).unwrap();
        std::fs::write(shared.join("old.log"), "").unwrap();
        let own = Path::new("/fresh");
        let access = |name: &str, writes| AccessRecord {
            state: StateId { kind: StateKind::File, name: format!("/fresh/{name}") },
            writes,
            stack: Vec::new(),
            unseen: false,
            own: true,
            interrupted: false,
        };
        let accesses = [access("made", true), access("old.log", false), access("old.log", true)];
        let mut run = Run { accesses: accesses.into(), ..simulation::run(true, [1]) };
        let note = note_of_temporary(&run, [own, &shared]);
        let old = format!("(`{}/old.log`) or the directory's name", shared.display());
        assert!(note.contains(&old), "{note}");
        run.sources = vec![Source::Clock];
        let note = note_of_temporary(&run, [own, &shared]);
        std::fs::remove_dir_all(&shared).unwrap();
        assert!(note.ends_with("or chance"), "{note}");
    }
}

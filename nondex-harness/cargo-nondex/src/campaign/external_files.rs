//! Files outside the folders that each run finds as they were before, of a test that fails for no
//! known reason. What an earlier run left there may be why it fails: nobody puts it back, so that
//! it is not known.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::SystemTime;

use nondex_core::protocol::operation::Observed;
use nondex_core::{RunSpec, ScheduleEndKind, StateId, StateKind};

use crate::judge::run::Run;
use crate::report::Verdict;
use crate::report::listing::first;
use crate::report::schema::TestReport;
use crate::report::workspace::Workspace;

/// Maximum number of files that are named.
const NAMED: usize = 3;

/// The system's own folders, whose files are no files.
const OF_SYSTEM: [&str; 3] = ["/dev", "/proc", "/sys"];

/// The error of what is made where something is.
const IS_THERE: &str = "EEXIST";

/// Whether it is to be looked at: a test fails, and it is not known why.
pub(super) fn is_wanted(report: &TestReport) -> bool {
    let end = report.scheduled.as_ref().and_then(|one| one.end.as_deref());
    let is_known = report.race.is_some()
        || report.reason.is_some()
        || report.sanitised_by.is_some()
        || end == Some(ScheduleEndKind::Deadlock.name());
    let fails = matches!(report.verdict, Verdict::Broken | Verdict::NonDeterministic);
    fails && !is_known
}

/// The same run, in which what it does with files is recorded.
pub(super) fn spec(mut spec: RunSpec) -> RunSpec {
    let making = ["mkdir", "open"]
        .map(|operation| Observed { operation: operation.to_owned(), error: IS_THERE.to_owned() });
    spec.observe.extend(making);
    spec.watching(vec![StateId::every(StateKind::File)])
}

/// The files that other tests change, each with one of these.
pub(super) type Changed = BTreeMap<String, String>;

/// The sentence about the files that may be why a test fails, of such a run of it, that `varies` if
/// it passes, too; `is_put_back` holds for those that each run finds as before.
pub(super) fn note(
    varies: bool,
    run: &Run,
    changed: &Changed,
    is_put_back: &dyn Fn(&Path) -> bool,
) -> Option<String> {
    let mut own: Vec<&str> = Vec::new();
    let mut of_others: Vec<(&str, &str)> = Vec::new();
    for used in used(run) {
        let (name, path) = (used.name, Path::new(used.name));
        if is_put_back(path) || path.symlink_metadata().is_err() {
            continue;
        }
        // One that is written to first is as good as new, unless it passed before it was there.
        let is_old = || !used.is_first || varies || was_in_the_way(run, path);
        if used.writes && is_old() && !own.contains(&name) {
            own.push(name);
        }
        if let Some(other) = changed.get(name).filter(|_| used.is_first && !used.writes) {
            of_others.push((name, other));
        }
    }
    of_others.retain(|(name, _)| !own.contains(name));
    let own: Vec<String> = own.iter().map(|name| format!("`{name}`")).collect();
    let said = match (own.is_empty(), of_others.first()) {
        (false, _) => format!("changes {}", first(&own, NAMED)),
        (true, Some((name, other))) => format!("uses `{name}`, which `{other}` changes"),
        (true, None) => return None,
    };
    Some(format!(
        "it {said}, outside of what is put back: what an earlier run left there may be why it fails"
    ))
}

/// The sentence about such a run of a failing test that passed, in an empty folder for temporary
/// files instead of the one that its runs share: its name is `own`. Chance may be why it passed.
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
        [] => "what earlier runs left there".to_owned(),
        left => format!("what earlier runs left there ({})", first(left, NAMED)),
    };
    if run.sources.is_empty() {
        format!(
            "it passes when the folder for temporary files is empty: {left} makes it fail, or the \
             folder's name"
        )
    } else {
        format!(
            "it passed when the folder for temporary files was empty: {left} may make it fail, the \
             folder's name, or chance"
        )
    }
}

/// The sentence about the first file that such a run of a passing test looks at before it changes
/// it, and that was made or changed since the runs began: what another test left there, or an
/// earlier run, may be why it passes.
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
        "it looks at `{name}`, which was changed since the runs began: what was left there may be \
         why it passes now, and `cargo nondex order` \
         shows it, as it puts the file back"
    ))
}

/// A file at one of a run's accesses to it.
struct UsedFile<'r> {
    name: &'r str,
    writes: bool,
    /// Whether none came before.
    is_first: bool,
}

/// The files that a run uses, at each access, without those of the system.
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

/// Whether the test could not make it, because it was there.
fn was_in_the_way(run: &Run, path: &Path) -> bool {
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
        let old = format!("(`{}/old.log`) makes it fail", shared.display());
        assert!(note.contains(&old), "{note}");
        run.sources = vec![Source::Clock];
        let note = note_of_temporary(&run, [own, &shared]);
        std::fs::remove_dir_all(&shared).unwrap();
        assert!(note.ends_with("or chance"), "{note}");
    }
}

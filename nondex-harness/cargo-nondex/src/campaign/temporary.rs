//! Folders for temporary files. Names of files in them begin with [`FOLDER`], so that they are the
//! same in every run.

use std::borrow::Cow;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use nondex_core::{StateChange, StateId, hash};

use crate::judge::Run;
use crate::project::{TestBinary, TestCase};

/// Beginning of the name of a file in the folder for temporary files.
pub const FOLDER: &str = "$TMPDIR";

/// Returns the name of this process's folders for temporary files. The name has the process id. It
/// differs from names that an earlier process with the same id may have left.
fn own_folder() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let own = format!("nondex-{}", std::process::id());
        let entries = std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let taken: Vec<String> = names.filter(|name| name.starts_with(&own)).collect();
        let is_free = |name: &String| !taken.iter().any(|taken| taken.starts_with(name.as_str()));
        let others = (0_u64..).map(|number| format!("{own}_{number}_"));
        [own.clone()].into_iter().chain(others).find(is_free).unwrap_or(own.clone())
    })
}

/// Returns the folder for temporary files with this number, below the system's folder for them. The
/// path is short, because the path of a socket has at most 108 bytes.
pub(super) fn fresh_folder(place: usize) -> PathBuf {
    let own = own_folder();
    std::env::temp_dir().join(match place {
        0 => own.to_owned(),
        place => format!("{own}-{place}"),
    })
}

/// Returns the folder for temporary files that only this test uses.
pub(super) fn private_folder(binary: &TestBinary, test: &TestCase) -> PathBuf {
    let of = format!("{}${}", binary.executable, test.name);
    let number = hash::of(&of);
    std::env::temp_dir().join(format!("nondex-{number:016x}"))
}

/// Creates a folder that only its owner can read. Returns `None` if it exists or cannot be created.
pub(super) fn create(folder: PathBuf) -> Option<PathBuf> {
    DirBuilder::new().mode(0o700).create(&folder).is_ok().then_some(folder)
}

/// Returns the name of a path in a process with this folder for temporary files.
pub(super) fn name<'p>(path: &'p str, folder: &Path) -> Cow<'p, str> {
    match path.strip_prefix(&*folder.to_string_lossy()) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{FOLDER}{rest}").into(),
        _ => path.into(),
    }
}

/// Gives a state the path that it has in a process with this folder for temporary files.
pub(super) fn place(state: &mut StateId, folder: &Path) {
    if let Some(rest) = state.name.strip_prefix(FOLDER) {
        state.name = format!("{}{rest}", folder.display());
    }
}

/// Replaces the paths of temporary files by their names, in a run with this folder.
pub(super) fn name_all(run: &mut Run, folder: &Path) {
    let rename = |text: &mut String| {
        if let Cow::Owned(named) = name(text, folder) {
            *text = named;
        }
    };
    for access in Arc::make_mut(&mut run.accesses) {
        rename(&mut access.state.name);
    }
    for change in Arc::make_mut(&mut run.states) {
        let StateChange { state, before, after } = change;
        rename(&mut state.name);
        [before, after].into_iter().flatten().for_each(rename);
    }
}

#[cfg(test)]
mod tests {
    use nondex_core::{AccessRecord, StateKind};

    use super::*;

    const AT: &str = "/tmp/nondex-7-1";

    #[test]
    fn a_temporary_file_has_the_same_name_in_every_run() {
        let folder = Path::new(AT);
        let named = |rest: &str| name(&format!("{AT}{rest}"), folder).into_owned();
        assert_eq!(named("/a/b"), "$TMPDIR/a/b");
        assert_eq!(named(""), "$TMPDIR");
        assert_eq!(named("-1/a"), format!("{AT}-1/a"));
        assert_eq!(name("/srv/a", folder), "/srv/a");
    }

    #[test]
    fn what_a_run_left_and_used_there_is_named_and_found_again_in_another_folder() {
        let file = StateId { kind: StateKind::File, name: format!("{AT}/a") };
        let mut run = Run {
            accesses: [AccessRecord {
                state: file.clone(),
                writes: true,
                stack: Vec::new(),
                unseen: false,
                own: true,
                interrupted: false,
            }]
            .into(),
            states: [StateChange { state: file, before: None, after: Some(AT.to_owned()) }].into(),
            ..Run::ended(nondex_core::Outcome::Passed)
        };
        name_all(&mut run, Path::new(AT));
        let mut state = run.accesses[0].state.clone();
        assert_eq!(state.name, "$TMPDIR/a");
        assert_eq!(run.states[0].state, state);
        assert_eq!(run.states[0].after.as_deref(), Some("$TMPDIR"));
        place(&mut state, Path::new("/tmp/other"));
        assert_eq!(state.name, "/tmp/other/a");
    }
}

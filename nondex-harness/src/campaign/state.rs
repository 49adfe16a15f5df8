//! What a test that depends on others shares with them: what they leave changed, proven by putting only that back.

use nondex_core::protocol::site::portable_path;
use nondex_core::{AccessRecord, RunSpec, StateChange, StateId, StateKind};

use super::launch::{IN_TEMPORARY, fresh_folder};
use super::order::Processes;
use crate::judge::run::Run;
use crate::project::symbols::{Static, Symbols};
use crate::report::schema::{Line, SharedState, WrittenLine};
use crate::report::workspace::Workspace;

/// So many parts of the state are put back one by one, of all that the tests leave changed.
const MAX_PARTS: usize = 24;

/// Where the temporary files of these processes are, which are made one after the other.
pub(super) const PLACE: usize = 0;

/// The panic hook, among std's statics.
const HOOK: &str = "std::panicking::HOOK";

/// Makes the process with its spec changed so.
type Make<'r> = dyn FnMut(&dyn Fn(RunSpec) -> RunSpec) -> Option<Vec<Run>> + 'r;

/// What is known of a binary's state.
pub(super) struct States<'a> {
    processes: &'a Processes<'a>,
    symbols: &'a Symbols,
    workspace: &'a Workspace,
}

/// A part of the state that is left changed.
pub(super) struct Part<'s> {
    pub(super) state: StateId,
    known: Option<&'s Static>,
    after: Option<String>,
}

impl Part<'_> {
    /// One that has no symbol.
    pub(super) const fn of(state: StateId) -> Self {
        Part {
            state,
            known: None,
            after: None,
        }
    }
}

impl<'a> States<'a> {
    /// Of the executable with these symbols.
    pub(super) const fn new(
        processes: &'a Processes<'a>,
        symbols: &'a Symbols,
        workspace: &'a Workspace,
    ) -> Self {
        States {
            processes,
            symbols,
            workspace,
        }
    }

    /// What `before` leave changed that makes `test` end otherwise than alone, where it passes or not; and how many processes that took.
    pub(super) fn shared(
        &self,
        before: &[usize],
        test: usize,
        passes_alone: bool,
    ) -> (Vec<SharedState>, u64) {
        let mut made = 0;
        let mut run = |change: &dyn Fn(RunSpec) -> RunSpec| {
            made += 1;
            self.run(before, test, change)
        };
        let shared = self.found(&mut run, before, passes_alone);
        (shared.unwrap_or_default(), made)
    }

    /// The same; `None` when it was stopped, or nothing was recorded.
    fn found(
        &self,
        run: &mut Make<'_>,
        before: &[usize],
        passes_alone: bool,
    ) -> Option<Vec<SharedState>> {
        let recorded = run(&|spec| RunSpec {
            states: true,
            ..spec
        })?;
        let (_, first) = recorded.split_last()?;
        let parts = self.parts(first.iter().flat_map(|run| run.states.iter()));
        let mut proven = Vec::new();
        for part in parts.iter().take(MAX_PARTS) {
            let restored = run(&|spec| RunSpec {
                restore: vec![part.state.clone()],
                ..spec
            })?;
            if restored.last()?.passed() == passes_alone {
                proven.push(part);
            }
        }
        if proven.is_empty() {
            return Some(parts.iter().map(|part| self.named(part)).collect());
        }
        let watched = run(&|spec| RunSpec {
            watch: proven.iter().map(|part| part.state.clone()).collect(),
            ..spec
        })?;
        let (last, first) = watched.split_last()?;
        let shared = proven.into_iter().map(|part| {
            let of_part = |access: &&AccessRecord| access.state == part.state;
            let writes = first.iter().zip(before).rev().find_map(|(run, test)| {
                let mut writes = run.accesses.iter().rev().filter(of_part);
                let write = writes.find(|access| access.writes)?;
                let Line { file, line } = self.line(write)?;
                let test = self.processes.tests[*test].name.clone();
                Some(WrittenLine { file, line, test })
            });
            let mut reads = last.accesses.iter().filter(of_part);
            SharedState {
                written: writes,
                read: reads.find_map(|access| self.line(access)),
                confirmed: true,
                ..self.named(part)
            }
        });
        Some(shared.collect())
    }

    /// What is left changed, each part once: whole statics, not those that are about how tests are run.
    pub(super) fn parts<'c>(
        &self,
        changes: impl Iterator<Item = &'c StateChange>,
    ) -> Vec<Part<'_>> {
        let mut parts: Vec<Part<'_>> = Vec::new();
        let mut add = |part: Part<'_>| {
            if !parts.iter().any(|known| known.state == part.state) {
                parts.push(Part {
                    known: self.symbols.at(&part.state).first().copied(),
                    ..part
                });
            }
        };
        for change in changes {
            let found = self.symbols.at(&change.state);
            if found.is_empty() && change.state.bytes().is_none() {
                add(Part {
                    state: change.state.clone(),
                    known: None,
                    after: change.after.clone(),
                });
            }
            for known in found.into_iter().filter(|known| !known.is_noise()) {
                add(Part {
                    state: known.state(change.state.kind),
                    known: None,
                    after: None,
                });
            }
        }
        parts
    }

    /// A part of the state in the words of a report.
    pub(super) fn named(&self, part: &Part<'_>) -> SharedState {
        let kind = match part.known {
            Some(known) if known.name == HOOK => "hook",
            _ => part.state.kind.name(),
        };
        let name = match (part.known, part.state.kind) {
            (Some(known), _) => known.name.clone(),
            (None, StateKind::Cwd) => part.after.clone().unwrap_or_default(),
            (None, StateKind::File) => in_temporary(&part.state.name),
            (None, _) => part.state.name.clone(),
        };
        let place = part.known.and_then(Static::place);
        SharedState {
            kind: kind.to_owned(),
            name,
            defined: place.map(|(file, line)| {
                let cwd = &self.processes.suite.binary.cwd;
                let of_user = self.workspace.user_file(&file, cwd);
                // That of a dependency is somewhere in cargo's own folder.
                let file = of_user.unwrap_or_else(|| portable_path(&file).to_owned());
                Line { file, line }
            }),
            ..SharedState::default()
        }
    }

    /// The user's line of an access.
    pub(super) fn line(&self, access: &AccessRecord) -> Option<Line> {
        let cwd = &self.processes.suite.binary.cwd;
        let (file, line) = self.workspace.nearest(&access.stack, cwd)?;
        Some(Line { file, line })
    }

    fn run(
        &self,
        before: &[usize],
        test: usize,
        change: &dyn Fn(RunSpec) -> RunSpec,
    ) -> Option<Vec<Run>> {
        let processes = self.processes;
        let order = [before, &[test]].concat();
        processes.run(PLACE, &order, &change(processes.spec(test)))
    }
}

/// A path without the name that the folder for temporary files has in this run only.
pub(super) fn in_temporary(path: &str) -> String {
    let folder = fresh_folder(PLACE);
    match path.strip_prefix(&*folder.to_string_lossy()) {
        Some(rest) if rest.starts_with('/') => format!("{IN_TEMPORARY}{rest}"),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_file_has_the_same_name_in_every_run() {
        let folder = fresh_folder(PLACE);
        let folder = folder.to_str().unwrap();
        let named = |rest: &str| in_temporary(&format!("{folder}{rest}"));
        assert_eq!(named("/a/b"), "$TMPDIR/a/b");
        assert_eq!(named("-1/a"), format!("{folder}-1/a"));
        assert_eq!(in_temporary("/srv/a"), "/srv/a");
    }
}

//! State through which a test depends on other tests. A part of the state is confirmed by restoring
//! only that part before the test.

mod numbers;

use std::cell::Cell;
use std::ops::Range;
use std::path::Path;

use nondex_core::protocol::site::portable_path;
use nondex_core::{AccessRecord, StateChange, StateId, StateKind, TestSequence};

use self::numbers::{LIMITS, SIGNALS, named_number};
use super::order::Processes;
use super::proof::ProvenParts;
use crate::judge::Run;
use crate::project::symbols::{Static, Symbols};
use crate::report::{Line, SharedState, TestReport, Workspace, WrittenLine};

/// Maximum number of changed parts of the state that are restored one by one.
const MAX_PARTS: usize = 24;

/// Index of the directory for temporary files of these processes, which run one after the other.
pub(super) const PLACE: usize = 0;

/// Value shown for a removed folder.
const REMOVED: &str = "(removed)";

/// Symbol of the panic hook among std's statics.
const HOOK: &str = "std::panicking::HOOK";

/// State of the tests of one binary.
pub(super) struct BinaryState<'a> {
    processes: &'a Processes<'a>,
    symbols: &'a Symbols,
    workspace: &'a Workspace,
    /// Whether an access to a static could not be observed.
    unseen: Cell<bool>,
}

/// Number of bytes that can be watched at the same time.
const WATCHED: usize = 32;

/// Maximum number of places in a large static that are watched, one after the other, to find lines.
const MAX_PLACES: usize = 4;

/// A part of the state that tests leave changed.
pub(super) struct StatePart<'s> {
    pub(super) state: StateId,
    known: Option<&'s Static>,
    after: Option<String>,
    /// The bytes of a static that changed.
    changed: Vec<StateId>,
    /// Whether restoring only this part, or all confirmed parts together, gives the test its
    /// outcome alone.
    confirmed: bool,
    /// Whether restoring the poison flag of its lock is enough.
    is_poisoned: bool,
}

impl StatePart<'_> {
    /// Creates a part that has no symbol.
    pub(super) const fn of(state: StateId) -> Self {
        StatePart {
            state,
            known: None,
            after: None,
            changed: Vec::new(),
            confirmed: false,
            is_poisoned: false,
        }
    }

    /// Returns whether this is a folder that contains the other part.
    fn is_folder_of(&self, other: &StatePart<'_>) -> bool {
        let kinds = [&self.state, &other.state].map(|state| state.kind);
        let [folder, file] = [&self.state, &other.state].map(|state| Path::new(&state.name));
        kinds == [StateKind::File; 2] && folder != file && file.starts_with(folder)
    }

    /// Returns the poison flags among the changed bytes.
    fn poison_flags(&self) -> Vec<StateId> {
        let Some(known) = self.known else { return Vec::new() };
        let flags = known.poison_flags.iter().map(|flag| known.bytes.start + flag);
        let is_changed = |flag: &usize| {
            let mut changed = self.changed.iter().filter_map(StateId::bytes);
            changed.any(|(start, length)| (start..start + length).contains(flag))
        };
        flags.filter(is_changed).map(|flag| self.of_bytes(flag, 1)).collect()
    }

    /// Returns the places to watch, one after the other, to find the lines that use this part. A
    /// static that is too large to watch is watched from its first changed bytes. In a small
    /// static, the changed bytes come first: a test that only reads data under a lock writes the
    /// lock's bytes.
    fn places(&self) -> Vec<StateId> {
        let Some(known) = self.known else { return vec![self.state.clone()] };
        if self.is_poisoned {
            return self.poison_flags();
        }
        if known.bytes.len() <= WATCHED {
            let mut places = Vec::from_iter(self.changed_within(&known.bytes));
            places.extend((!places.contains(&self.state)).then(|| self.state.clone()));
            return places;
        }
        let mut places = Vec::new();
        let mut end = known.bytes.start;
        for (start, length) in self.changed.iter().filter_map(StateId::bytes) {
            let changed = (start + length).min(known.bytes.end);
            let mut start = (start & !7).max(end);
            while start < changed && places.len() < MAX_PLACES {
                end = (start + WATCHED).min(known.bytes.end);
                places.push(self.of_bytes(start, end - start));
                start = end;
            }
        }
        places
    }

    /// Returns the bytes of a static from the first to the last that changed.
    fn changed_within(&self, bytes: &Range<usize>) -> Option<StateId> {
        let changed = || self.changed.iter().filter_map(StateId::bytes);
        let start = changed().map(|(start, _)| start).min()?.max(bytes.start);
        let end = changed().map(|(start, length)| start + length).max()?.min(bytes.end);
        (start < end).then(|| self.of_bytes(start, end - start))
    }

    fn of_bytes(&self, start: usize, length: usize) -> StateId {
        StateId { kind: self.state.kind, name: StateId::name_of_bytes(start, length) }
    }
}

impl<'a> BinaryState<'a> {
    /// Creates the states for the executable with these symbols.
    pub(super) const fn new(
        processes: &'a Processes<'a>,
        symbols: &'a Symbols,
        workspace: &'a Workspace,
    ) -> Self {
        BinaryState { processes, symbols, workspace, unseen: Cell::new(false) }
    }

    /// Returns whether accesses to statics were requested that this machine cannot observe.
    pub(super) const fn is_unseen(&self) -> bool {
        self.unseen.get()
    }

    /// Returns whether the accesses of a run could not be observed, and remembers it.
    pub(super) fn note_unseen(&self, run: &Run) -> bool {
        let is_unseen = run.accesses.iter().any(|access| access.unseen);
        self.unseen.set(self.unseen.get() || is_unseen);
        is_unseen
    }

    /// Writes to the report of `test` which state `before` leaves changed so that the outcome
    /// differs from the outcome alone, which `passes_alone` states. If that is unknown, writes why.
    pub(super) fn describe(
        &self,
        before: &[usize],
        test: usize,
        passes_alone: bool,
        report: &mut TestReport,
    ) {
        let found = self.shared(before, test, passes_alone).unwrap_or_default();
        if found.is_empty() && !self.processes.context.stop.is_set() {
            report.notes.push(self.why_unknown(before, test));
        }
        if let Some(order) = &mut report.order {
            order.state = found;
        }
    }

    /// Returns why no state is named. Either the tests change no state that is compared, or the
    /// process that compares state has a different outcome.
    fn why_unknown(&self, before: &[usize], test: usize) -> String {
        let usual = self.run(before, test, &|_| {});
        let comparing = self.run(before, test, &|tests| tests.changes = true);
        let outcomes = |runs: Option<Vec<Run>>| {
            runs.unwrap_or_default().into_iter().map(|run| run.outcome).collect::<Vec<_>>()
        };
        let why = if outcomes(usual) == outcomes(comparing) {
            "no static, variable, file or other compared state was left changed"
        } else {
            "the process that compares it has a different outcome, for example because an \
             allocator keeps its heap in a small static"
        };
        format!("the state they share is not known: {why}")
    }

    /// Returns the shared state; `None` when it was stopped, or nothing was recorded.
    fn shared(
        &self,
        before: &[usize],
        test: usize,
        passes_alone: bool,
    ) -> Option<Vec<SharedState>> {
        let recorded = self.run(before, test, &|tests| tests.changes = true)?;
        let (_, first) = recorded.split_last()?;
        let mut all = self.parts(first.iter().flat_map(|run| run.states.iter()));
        all.retain(|part| !self.is_of_others(&part.state));
        all.sort_by_key(|part| part.state.kind.is_held());
        all.truncate(MAX_PARTS);
        let first = all.partition_point(|part| !part.state.kind.is_held());
        let is_proven = |restored: Vec<StateId>| {
            let runs = self.run(before, test, &|tests| tests.put_back.clone_from(&restored))?;
            Some(runs.last()?.passed() == passes_alone)
        };
        let proof = ProvenParts::of(first, all.len(), |places| {
            is_proven(places.iter().map(|place| all[*place].state.clone()).collect())
        })?;
        if proof == ProvenParts::None {
            return Some(all.iter().map(|part| self.named(part)).collect());
        }
        for place in proof.places() {
            let part = &mut all[*place];
            part.confirmed = true;
            let flags: Vec<StateId> = part.poison_flags().iter().map(StateId::cleared).collect();
            part.is_poisoned = !proof.is_joint() && !flags.is_empty() && is_proven(flags)?;
        }
        // Restoring a folder restores its contents too, so the folder itself is not the cause.
        let has_inside = |part: &StatePart<'_>| {
            all.iter().filter(|other| other.confirmed).any(|other| part.is_folder_of(other))
        };
        let mut shared = Vec::new();
        for part in all.iter().filter(|part| part.confirmed) {
            if !proof.is_joint() && has_inside(part) {
                continue;
            }
            let mut found = self.named(part);
            found.joint = proof.is_joint();
            // The test may use this part only where the other parts are as in a run alone.
            let others: Vec<StateId> = all
                .iter()
                .filter(|other| other.confirmed && found.joint && other.state != part.state)
                .map(|other| other.state.clone())
                .collect();
            for place in part.places() {
                if found.written.is_some() && found.read.is_some() {
                    break;
                }
                self.add_lines((before, test), &place, &others, &mut found)?;
            }
            shared.push(found);
        }
        Some(shared)
    }

    /// Adds the lines that are still unknown: the last write by the tests before, and the first
    /// access by the test.
    fn add_lines(
        &self,
        (before, test): (&[usize], usize),
        place: &StateId,
        others: &[StateId],
        shared: &mut SharedState,
    ) -> Option<()> {
        let watched = self.run(before, test, &|tests| {
            tests.watch = vec![place.clone()];
            tests.put_back = others.to_vec();
            tests.lines = true;
        })?;
        let (last, first) = watched.split_last()?;
        self.note_unseen(last);
        if shared.written.is_none() {
            shared.written = first.iter().zip(before).rev().find_map(|(run, test)| {
                let mut writes = run.accesses.iter().rev().filter(|access| access.writes);
                let Line { file, line } = writes.find_map(|access| self.line(access))?;
                let test = self.processes.tests[*test].name.clone();
                Some(WrittenLine { file, line, test })
            });
        }
        if shared.read.is_none() {
            shared.read = last.accesses.iter().find_map(|access| self.line(access));
        }
        Some(())
    }

    /// Returns each part that was changed, once. A static is one part as a whole; statics of the
    /// test harness itself are left out.
    pub(super) fn parts<'c>(
        &self,
        changes: impl Iterator<Item = &'c StateChange>,
    ) -> Vec<StatePart<'_>> {
        let mut parts: Vec<StatePart<'_>> = Vec::new();
        for change in changes {
            let found = self.symbols.at(&change.state);
            if found.is_empty() && change.state.bytes().is_none() {
                let is_known = parts.iter().any(|known| known.state == change.state);
                parts.extend((!is_known).then(|| StatePart {
                    after: change.after.clone().or_else(|| Some(REMOVED.to_owned())),
                    ..StatePart::of(change.state.clone())
                }));
            }
            for known in found.into_iter().filter(|known| !known.is_noise()) {
                let state = known.state();
                let place =
                    parts.iter().position(|part| part.state == state).unwrap_or_else(|| {
                        parts.push(StatePart { known: Some(known), ..StatePart::of(state) });
                        parts.len() - 1
                    });
                parts[place].changed.push(change.state.clone());
            }
        }
        parts
    }

    /// Returns whether this is a file that processes outside of the campaign write.
    fn is_of_others(&self, state: &StateId) -> bool {
        let tree = self.processes.context.tree;
        state.kind == StateKind::File && tree.is_of_others(Path::new(&state.name))
    }

    /// Returns whether this is a static of a dependency.
    pub(super) fn is_foreign(&self, state: &StateId) -> bool {
        let found = self.symbols.at(state);
        let workspace = self.workspace.at(&self.processes.suite.binary.cwd);
        let is_own = |known: &&Static| {
            known.file.as_ref().is_some_and(|file| workspace.user_file(file).is_some())
        };
        !found.is_empty() && !found.iter().any(is_own)
    }

    /// Returns a part of the state as a report shows it.
    pub(super) fn named(&self, part: &StatePart<'_>) -> SharedState {
        let kind = match part.known {
            Some(known) if known.name == HOOK => "hook",
            _ if part.is_poisoned => "lock",
            _ => part.state.kind.name(),
        };
        let name = match (part.known, part.state.kind) {
            (Some(known), _) => known.name.clone(),
            (None, StateKind::Cwd) => {
                part.after.as_ref().map_or_else(String::new, |folder| self.path(folder))
            }
            (None, StateKind::File | StateKind::Descriptor) => self.path(&part.state.name),
            (None, StateKind::Signal) => named_number(&part.state.name, &SIGNALS),
            (None, StateKind::Limit) => named_number(&part.state.name, &LIMITS),
            (None, _) => part.state.name.clone(),
        };
        let place = part.known.and_then(Static::place);
        SharedState {
            kind: kind.to_owned(),
            name,
            confirmed: part.confirmed,
            defined: place.map(|(file, line)| {
                let workspace = self.workspace.at(&self.processes.suite.binary.cwd);
                let of_user = workspace.user_file(&file);
                // The file of a dependency is below cargo's own folder.
                let file = of_user.unwrap_or_else(|| portable_path(&file).to_owned());
                Line { file, line }
            }),
            ..SharedState::default()
        }
    }

    /// Returns a path as shown to people: relative to the workspace root if it is below that.
    pub(super) fn path(&self, path: &str) -> String {
        self.workspace.shown(path).to_owned()
    }

    /// Returns the nearest line of the user's code in the stack of an access.
    pub(super) fn line(&self, access: &AccessRecord) -> Option<Line> {
        let workspace = self.workspace.at(&self.processes.suite.binary.cwd);
        let (file, line) = workspace.nearest(&access.stack)?;
        Some(Line { file, line })
    }

    fn run(
        &self,
        before: &[usize],
        test: usize,
        change: &dyn Fn(&mut TestSequence),
    ) -> Option<Vec<Run>> {
        let processes = self.processes;
        let order = [before, &[test]].concat();
        processes.run(PLACE, &order, &processes.spec(test).in_order(change))
    }
}

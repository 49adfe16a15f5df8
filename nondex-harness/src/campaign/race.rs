//! Tests that fail when another one runs in the middle of them.
//!
//! Tests of one process run at the same time, as `cargo test` runs them. What one of them changes while another one uses it, is a race. So
//! the whole of one test is run at each access of the other to a part of the state that both use, on another thread, while the other
//! waits: the same in every run. Nothing is said unless that fails each time, and both tests pass one after the other, either way round.

use std::collections::BTreeSet;

use nondex_core::{AccessRecord, RunSpec, StateId, StateKind};

use super::order::Processes;
use super::state::{Part, States, in_temporary};
use crate::judge::run::Run;
use crate::report::schema::{Race, WrittenLine};

/// So many accesses of a test to one part of the state are tried.
const MAX_ACCESSES: u64 = 16;

/// So many of the tests that change a part of the state are tried in the middle of each that uses it.
const MAX_WITH: usize = 3;

/// How often a run must fail.
const REPETITIONS: usize = 3;

/// So many processes are made for each test that uses what others change.
const MAX_PROCESSES: u64 = 64;

/// What a test does with the state.
struct Use<'s> {
    test: usize,
    /// What it changes, or leaves changed.
    changes: Vec<Part<'s>>,
    /// What else it uses.
    reads: BTreeSet<StateId>,
    accesses: Vec<AccessRecord>,
}

/// A test that fails when another one runs in the middle of it.
pub(super) struct Found {
    pub(super) test: usize,
    pub(super) race: Race,
    /// The run in which it fails.
    pub(super) spec: RunSpec,
    pub(super) run: Run,
}

/// What is tried in one binary.
pub(super) struct Races<'a> {
    pub(super) processes: &'a Processes<'a>,
    pub(super) states: &'a States<'a>,
    /// Whether it is known that the second test fails behind the first one.
    pub(super) is_polluter: &'a dyn Fn(usize, usize) -> bool,
}

impl Races<'_> {
    /// The races among `tests`, which pass alone, in which one of `asked` fails; and how many processes that took. `None` when it was
    /// stopped.
    pub(super) fn find(&self, tests: &[usize], asked: &[usize]) -> Option<(Vec<Found>, u64)> {
        let mut made = 0;
        let mut uses = Vec::new();
        for test in tests {
            made += 1;
            uses.push(self.used(*test)?);
        }
        let mut found = Vec::new();
        for used in uses.iter().filter(|used| asked.contains(&used.test)) {
            found.extend(self.race(used, &uses, &mut made)?);
        }
        Some((found, made))
    }

    /// What a test uses when it runs alone.
    fn used(&self, test: usize) -> Option<Use<'_>> {
        let every = |kind| StateId {
            kind,
            name: String::new(),
        };
        let watch = [StateKind::Env, StateKind::Cwd, StateKind::File].map(every);
        let spec = RunSpec {
            states: true,
            watch: watch.to_vec(),
            ..self.processes.spec(test)
        };
        let run = self.run(&[test], &spec)?.pop()?;
        let mut changes = self.states.parts(run.states.iter());
        changes.retain(|part| part.state.kind == StateKind::Static);
        let mut reads = BTreeSet::new();
        for access in run.accesses.iter() {
            let is_known = changes.iter().any(|part| part.state == access.state);
            if access.writes && !is_known {
                changes.push(Part::of(access.state.clone()));
            } else if !access.writes {
                reads.insert(access.state.clone());
            }
        }
        Some(Use {
            test,
            changes,
            reads,
            accesses: run.accesses.to_vec(),
        })
    }

    /// The first race of a test with another one, over what that one changes and it uses.
    fn race(&self, used: &Use<'_>, all: &[Use<'_>], made: &mut u64) -> Option<Option<Found>> {
        let before = *made;
        let own = used.changes.iter().map(|part| &part.state);
        let own: BTreeSet<&StateId> = own.chain(&used.reads).collect();
        for state in own {
            let others = all.iter().filter_map(|other| {
                let part = other.changes.iter().find(|part| part.state == *state)?;
                Some((other, part))
            });
            let others = others.filter(|(other, _)| {
                other.test != used.test && !(self.is_polluter)(other.test, used.test)
            });
            for (other, part) in others.take(MAX_WITH) {
                for access in 0..MAX_ACCESSES {
                    if *made - before > MAX_PROCESSES {
                        return Some(None);
                    }
                    let spec = RunSpec {
                        watch: vec![StateId {
                            kind: state.kind,
                            name: in_temporary(&state.name),
                        }],
                        meet: Some(access),
                        ..self.processes.spec(used.test)
                    };
                    let order = [other.test, used.test];
                    *made += 1;
                    let run = self.run(&order, &spec)?.pop()?;
                    let met = run.accesses.get(usize::try_from(access).ok()?).cloned();
                    let has_ended = run.outcome == nondex_core::Outcome::Passed;
                    if met.is_none() && has_ended {
                        break;
                    }
                    if !self.fails(used.test, &run) {
                        continue;
                    }
                    if self.is_confirmed(order, &spec, made)? {
                        let race = self.described(used, other, part, access, met.as_ref());
                        return Some(Some(Found {
                            test: used.test,
                            race,
                            spec,
                            run,
                        }));
                    }
                    break;
                }
            }
        }
        Some(None)
    }

    /// Whether the run fails each time, and both tests pass one after the other, whichever is first.
    fn is_confirmed(&self, order: [usize; 2], spec: &RunSpec, made: &mut u64) -> Option<bool> {
        for _ in 1..REPETITIONS {
            *made += 1;
            let run = self.run(&order, spec)?.pop()?;
            if !self.fails(order[1], &run) {
                return Some(false);
            }
        }
        let [first, second] = order;
        for order in [[first, second], [second, first]] {
            *made += 1;
            let runs = self.run(&order, &self.processes.spec(order[1]))?;
            if !runs.iter().all(Run::passed) {
                return Some(false);
            }
        }
        Some(true)
    }

    fn fails(&self, test: usize, run: &Run) -> bool {
        let end = self.processes.end(test, run.clone(), false);
        end.passed() == Some(false)
    }

    /// A race in the words of a report.
    fn described(
        &self,
        used: &Use<'_>,
        other: &Use<'_>,
        part: &Part<'_>,
        access: u64,
        met: Option<&AccessRecord>,
    ) -> Race {
        let name = self.processes.tests[other.test].name.clone();
        let watched = || {
            let spec = RunSpec {
                watch: vec![part.state.clone()],
                ..self.processes.spec(other.test)
            };
            Some(self.run(&[other.test], &spec)?.pop()?.accesses.to_vec())
        };
        let of_other = match part.state.kind {
            StateKind::Static => watched().unwrap_or_default(),
            _ => other.accesses.clone(),
        };
        let mut writes = of_other
            .iter()
            .filter(|one| one.writes && one.state == part.state);
        let line = |access: &AccessRecord| self.states.line(access);
        let of_kind = |one: &&AccessRecord| one.state == part.state;
        let met = met.or_else(|| used.accesses.iter().filter(of_kind).nth(access as usize));
        let mut state = self.states.named(part);
        state.confirmed = true;
        state.read = met.and_then(line);
        state.written = writes.next_back().and_then(line).map(|line| WrittenLine {
            file: line.file,
            line: line.line,
            test: name.clone(),
        });
        Race {
            with: name,
            access,
            state,
        }
    }

    fn run(&self, order: &[usize], spec: &RunSpec) -> Option<Vec<Run>> {
        let processes = self.processes;
        let cases: Vec<_> = order.iter().map(|test| processes.tests[*test]).collect();
        let limits = processes.limits(order);
        let binary = &processes.suite.binary;
        processes
            .launcher
            .experiment_fresh(0, &limits, binary, &cases, spec)
    }
}

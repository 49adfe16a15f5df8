//! Tests of the enumeration of schedules, against a brute-force search.

use crate::evidence::Evidence;
use std::collections::BTreeSet;

use nondex_core::{Outcome, ScheduleRecord};

use super::*;
use crate::conclusion::Conclusion;
use crate::simulation::{options, settle, simulate};
use crate::timing::has_timing;

/// Operation of a simulated program.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Load,
    Add,
    Store,
    Lock,
    Unlock,
}
use Op::{Add, Load, Lock, Store, Unlock};

type Program = &'static [&'static [Op]];

/// State of threads that start together. Each has a register, and all share a variable and a lock.
#[derive(Clone)]
struct State {
    program: Program,
    at: Vec<usize>,
    registers: Vec<u64>,
    variable: u64,
    owner: Option<usize>,
    /// Threads of the operations, in order.
    done: Vec<usize>,
}

impl State {
    fn new(program: Program) -> Self {
        State {
            program,
            at: vec![0; program.len()],
            registers: vec![0; program.len()],
            variable: 0,
            owner: None,
            done: Vec::new(),
        }
    }

    fn next(&self, thread: usize) -> Option<Op> {
        self.program[thread].get(self.at[thread]).copied()
    }

    fn can_continue(&self, thread: usize) -> bool {
        match self.next(thread) {
            None => false,
            Some(Lock) => self.owner.is_none(),
            Some(_) => true,
        }
    }

    fn step(&mut self, thread: usize) {
        match self.next(thread).unwrap() {
            Load => self.registers[thread] = self.variable,
            Add => self.registers[thread] += thread as u64 + 1,
            Store => self.variable = self.registers[thread],
            Lock => self.owner = Some(thread),
            Unlock => self.owner = None,
        }
        self.at[thread] += 1;
        self.done.push(thread);
    }
}

/// Returns all sequences with at most this number of preemptions, with the final value of the
/// variable. Enumerates them by brute force.
fn all(program: Program, preemptions: u32) -> BTreeSet<(Vec<usize>, u64)> {
    fn go(state: &State, left: u32, found: &mut BTreeSet<(Vec<usize>, u64)>) {
        let able: Vec<usize> =
            (0..state.at.len()).filter(|&thread| state.can_continue(thread)).collect();
        if able.is_empty() {
            found.insert((state.done.clone(), state.variable));
        }
        let last = state.done.last().filter(|last| able.contains(last));
        for thread in able.iter().copied() {
            let is_preemption = last.is_some_and(|last| *last != thread);
            if let Some(left) = left.checked_sub(is_preemption.into()) {
                let mut state = state.clone();
                state.step(thread);
                go(&state, left, found);
            }
        }
    }
    let mut found = BTreeSet::new();
    go(&State::new(program), preemptions, &mut found);
    found
}

/// Runs a program like the scheduler: each thread in turn until it waits or ends, except for the
/// stops of the seed.
fn run(program: Program, spec: &RunSpec) -> (State, Course) {
    let seed = spec.drawn().map(|drawn| drawn.seed);
    let stops: Vec<Stop> = seed.into_iter().flat_map(stops::of_seed).collect();
    let mut state = State::new(program);
    let mut ready: Vec<usize> = (0..program.len()).collect();
    // Delayed threads, and when each was delayed last.
    let mut delayed: Vec<usize> = Vec::new();
    let mut delayed_at = vec![usize::MAX; program.len()];
    let mut numbers = vec![0; program.len()];
    let mut decisions = Vec::new();
    loop {
        let able = ready.iter().position(|&thread| state.can_continue(thread));
        let (from, at) = match able {
            Some(at) => (&mut ready, at),
            None => match delayed.iter().position(|&thread| state.can_continue(thread)) {
                Some(at) => (&mut delayed, at),
                None => break,
            },
        };
        let thread = from.remove(at);
        let mut is_preemption = false;
        while state.can_continue(thread) {
            let now = state.done.len();
            let mut others = ready.iter().chain(&delayed);
            if others.any(|&other| state.can_continue(other) && delayed_at[other] != now) {
                let stop = Stop { thread: thread as u32, number: numbers[thread] };
                numbers[thread] += 1;
                let decision = Decision { thread: stop.thread, is_preemption };
                decisions.push(decision.into());
                if stops.contains(&stop) {
                    delayed_at[thread] = now;
                    delayed.push(thread);
                    break;
                }
            }
            // Before its first operation, a thread with the run token may be stopped like before
            // any other.
            if std::mem::replace(&mut is_preemption, true) {
                state.step(thread);
            }
        }
        if state.next(thread).is_some() && !delayed.contains(&thread) {
            ready.push(thread);
        }
    }
    let course = Course { decisions, is_whole: true };
    (state, course)
}

/// Returns whether all threads have ended.
fn has_ended(state: &State) -> bool {
    (0..state.at.len()).all(|thread| state.next(thread).is_none())
}

/// Returns the run of a test that fails unless it ends with a value for which `right` holds.
fn simulated(program: Program, spec: &RunSpec, right: &dyn Fn(u64) -> bool) -> Run {
    let (state, course) = run(program, spec);
    let outcome =
        if has_ended(&state) && right(state.variable) { Outcome::Passed } else { Outcome::Failed };
    Run {
        schedule: Some(ScheduleRecord {
            threads: program.len() as u64,
            steps: course.decisions.len() as u64,
            course: (spec.schedule() == Schedule::Systematic).then_some(course),
            ..ScheduleRecord::default()
        }),
        points: [nondex_core::PointRecord {
            site: nondex_core::Site {
                api: "std::thread::spawn".into(),
                family: Family::Schedule,
                file: "src/lib.rs".into(),
                line: 1,
                column: 1,
            },
            thread: "0".into(),
            count: 1,
            max_len: 1,
            keys: 0,
            stack: Vec::new(),
        }]
        .into(),
        ..Run::ended(outcome)
    }
}

/// Returns the result of the exploration of a program, with the runs.
fn explored(program: Program, exhaustive: u64) -> (Explored, Evidence) {
    let mut options = options();
    options.exhaustive = exhaustive;
    let mut evidence = Evidence::new(true);
    let clean = options.clean_spec("t");
    evidence.add(clean.clone(), simulated(program, &clean, &|_| true));
    let ask = |evidence: &Evidence| explore(Question::new("t", &options, evidence));
    let explored = settle(&mut evidence, ask, |evidence, spec: RunSpec, _| {
        let run = simulated(program, &spec, &|_| true);
        evidence.add(spec, run);
    });
    (explored, evidence)
}

const PROGRAMS: [Program; 6] = [
    &[&[Load, Add, Store], &[Load, Add, Store]],
    &[&[Load, Add, Store, Load, Add, Store], &[Load, Store]],
    &[&[Load, Store], &[Load, Add], &[Add, Store]],
    &[&[Lock, Load, Add, Store, Unlock], &[Lock, Load, Add, Store, Unlock]],
    &[&[Lock, Load, Unlock, Store], &[Lock, Load, Unlock, Store], &[Lock, Unlock]],
    &[&[Load], &[Add], &[Store], &[Load, Store]],
];

#[test]
fn the_schedules_that_are_run_are_all_that_there_are_with_so_many_preemptions() {
    for program in PROGRAMS {
        let (explored, evidence) = explored(program, 10_000);
        assert_eq!(explored.beyond, None);
        let all_of_them = explored.all.unwrap();
        assert_eq!(all_of_them.preemptions, MAX_PREEMPTIONS);
        assert_eq!(all_of_them.schedules, explored.specs.len() as u64);
        assert_eq!(evidence.count(), 1 + explored.specs.len());
        let found: BTreeSet<(Vec<usize>, u64)> = explored
            .specs
            .iter()
            .map(|spec| run(program, spec).0)
            .map(|state| (state.done, state.variable))
            .collect();
        assert_eq!(found, all(program, MAX_PREEMPTIONS), "{program:?}");
    }
}

#[test]
fn what_does_not_fit_is_said_with_how_many_there_are_at_least() {
    let program: Program =
        &[&[Load, Add, Store, Load, Add, Store], &[Load, Add, Store, Load, Add, Store]];
    let (whole, _) = explored(program, 10_000);
    let whole = whole.all.unwrap().schedules;
    // All that are allowed: there are ten seeds at each of five levels.
    let (partly, _) = explored(program, 0);
    let (all, beyond) = (partly.all.unwrap(), partly.beyond.unwrap());
    assert_eq!((all.preemptions, beyond.preemptions), (1, 2));
    assert!(all.schedules <= 50 && 50 < beyond.schedules && beyond.schedules <= whole);
    let least = self::all(program, 1).len() as u64;
    assert!(all.schedules >= least);
}

/// Returns the conclusion about a test that fails unless `right` holds for its final value.
fn concluded(program: Program, right: &dyn Fn(u64) -> bool) -> (Conclusion, Evidence) {
    let mut options = options();
    options.exhaustive = 1_000;
    simulate(&options, |spec| match spec.schedule() {
        Schedule::Systematic => simulated(program, spec, right),
        // No seed shows anything.
        _ => simulated(program, &RunSpec::clean("t"), right),
    })
}

#[test]
fn a_failure_that_needs_one_preemption_is_found_and_so_is_one_that_needs_two() {
    let one: (Program, u64) = (&[&[Load, Add, Store], &[Load, Add, Store]], 1);
    let two: (Program, u64) = (&[&[Load, Store], &[Load, Add, Store, Load, Add, Store]], 2);
    for ((program, wrong), preemptions) in [(one, 1), (two, 2)] {
        let is_wrong = |(_, end): &(Vec<usize>, u64)| *end == wrong;
        assert!(!all(program, preemptions - 1).iter().any(is_wrong));
        assert!(all(program, preemptions).iter().any(is_wrong));
        let (conclusion, evidence) = concluded(program, &|end| end != wrong);
        let failing = evidence.specs().find(|(_, runs)| !runs[0].passed());
        let (spec, _) = failing.unwrap();
        assert_eq!(spec.schedule(), Schedule::Systematic);
        assert!(stops::of_seed(spec.seed()).count() >= preemptions as usize);
        assert_ne!(conclusion, Conclusion::Stable);
    }
}

#[test]
fn a_test_that_passes_under_all_of_them_is_tried_at_longer_delays_all_the_same() {
    let program: Program = &[&[Lock, Load, Add, Store, Unlock], &[Lock, Load, Add, Store, Unlock]];
    let (conclusion, evidence) = concluded(program, &|end| end == 3);
    assert_eq!(conclusion, Conclusion::Stable);
    let levels: BTreeSet<Level> = evidence.specs().map(|(spec, _)| spec.level()).collect();
    assert_eq!(levels, Level::ALL.into());
    assert!(evidence.all().all(|(_, run)| has_timing(run)));
}

#[test]
fn of_a_run_that_is_not_certain_to_repeat_and_of_time_nothing_is_claimed() {
    let program = PROGRAMS[0];
    let cases: [fn(&mut Run); 4] = [
        |run| run.schedule.as_mut().unwrap().leaks = 1,
        |run| {
            if let Some(course) = &mut run.schedule.as_mut().unwrap().course {
                course.is_whole = false;
            }
        },
        |run| {
            let mut points = run.points.to_vec();
            points[0].site.family = Family::Time;
            run.points = points.into();
        },
        |run| run.complete = false,
    ];
    for spoil in cases {
        let options = options();
        let mut evidence = Evidence::new(true);
        let clean = options.clean_spec("t");
        evidence.add(clean.clone(), simulated(program, &clean, &|_| true));
        let ask = |evidence: &Evidence| explore(Question::new("t", &options, evidence));
        let explored = settle(&mut evidence, ask, |evidence, spec: RunSpec, _| {
            let mut run = simulated(program, &spec, &|_| true);
            spoil(&mut run);
            evidence.add(spec, run);
        });
        assert_eq!((explored.all, explored.beyond), (None, None));
    }
}

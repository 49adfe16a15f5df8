//! Tests of the search for culprits, over simulated tests.

use nondex_core::choice::between::between;
use nondex_core::choice::draw;
use nondex_core::context::place;
use nondex_core::{Choice, ChoiceRecord, ElementRecord, GivenChoice, Level, NumberRecord, Scale};

use super::*;
use crate::culprit::Position;
use crate::options::DEFAULT_SEARCH_RUNS;
use crate::run::Run;
use crate::simulation::{run, settle, site};

/// Simulated test: line, number of calls and number of elements for each site.
#[derive(Clone)]
struct Program(Vec<(u32, u64, usize)>);

/// Orders of a run, by line and index of the call.
type Orders<'a> = &'a dyn Fn(u32, u64) -> Vec<usize>;

impl Program {
    /// Returns a program with `n` sites of one call with five elements each.
    fn sites(n: u32) -> Self {
        Program((0..n).map(|line| (line, 1, 5)).collect())
    }

    fn choice(&self, line: u32, ordinal: u64) -> ChoiceRecord {
        let (_, _, len) = self.0.iter().find(|(other, ..)| *other == line).unwrap();
        ChoiceRecord {
            place: place("t", "0", &site(line)),
            ordinal,
            len: *len as u64,
            aspect: None,
            reading: None,
            own: 0,
        }
    }

    /// Returns the order that the runtime chooses under `spec`, and its record of steps.
    fn order(&self, spec: &RunSpec, line: u32, ordinal: u64) -> (Vec<usize>, Option<StepRecord>) {
        let choice = self.choice(line, ordinal);
        let drawn = || {
            draw(spec.schedule(), spec.level(), spec.seed(), &choice).unwrap().collect::<Vec<_>>()
        };
        let is_here = |given: &&Given| given.site == site(line) && given.ordinal == ordinal;
        match spec.given().iter().find(is_here).map(|given| &given.choice) {
            Some(GivenChoice::Ranks(ranks)) => {
                (ranks.iter().map(|&rank| rank as usize).collect(), None)
            }
            Some(&GivenChoice::Steps(steps)) => {
                let found = between(&drawn(), steps);
                let element =
                    |rank: usize| ElementRecord { rank: rank as u64, ..ElementRecord::default() };
                let step = StepRecord {
                    site: site(line),
                    thread: "0".into(),
                    ordinal,
                    len: choice.len,
                    steps: found.steps,
                    position: found.last.map_or(0, |step| step.position as u64),
                    exchanged: found.last.map_or_else(Vec::new, |step| {
                        vec![element(step.first), element(step.second)]
                    }),
                    created: Vec::new(),
                    number: None,
                };
                (found.ranks.to_vec(), Some(step))
            }
            Some(GivenChoice::Number(_)) => unreachable!("these are orders"),
            None if spec.selected(&site(line), "0").contains(ordinal) => (drawn(), None),
            None => ((0..choice.len as usize).collect(), None),
        }
    }

    fn run(&self, spec: &RunSpec, passes: impl Fn(Orders<'_>) -> bool) -> Run {
        let passed = passes(&|line, ordinal| self.order(spec, line, ordinal).0);
        let mut run = run(passed, self.0.iter().map(|(line, ..)| *line));
        run.points = run
            .points
            .iter()
            .zip(&self.0)
            .map(|(point, (_, count, len))| PointRecord {
                count: *count,
                max_len: *len as u64,
                ..point.clone()
            })
            .collect();
        run.steps = spec
            .given()
            .iter()
            .filter_map(|given| self.order(spec, given.site.line, given.ordinal).1)
            .collect();
        run
    }
}

/// Returns whether a seed decided at a site, so that the order is not the canonical one.
fn is_made(orders: Orders<'_>, line: u32) -> bool {
    !orders(line, 0).is_sorted()
}

/// Searches the culprits of a simulated test that fails under some seed. Counts the runs that
/// finding and confirming the calls took, beyond two clean and two failing runs. Runs that search
/// for elements are not counted.
fn searched(program: &Program, passes: impl Fn(Orders<'_>) -> bool) -> (Culprits, usize) {
    let passes_clean = program.run(&RunSpec::clean("t"), &passes).passed();
    let all = (0..1000)
        .map(|seed| RunSpec::new("t", Level::Full, seed))
        .find(|spec| program.run(spec, &passes).passed() != passes_clean)
        .unwrap_or_else(|| RunSpec::new("t", Level::Full, 3));
    let mut evidence = Evidence::new(true);
    for spec in [RunSpec::clean("t"), all.clone()] {
        for _ in 0..2 {
            evidence.add(spec.clone(), program.run(&spec, &passes));
        }
    }
    let ask = |evidence: &Evidence| search(evidence, &all, passes_clean, DEFAULT_SEARCH_RUNS);
    let culprits = settle(&mut evidence, ask, |evidence, spec: RunSpec, _| {
        let run = program.run(&spec, &passes);
        evidence.add(spec, run);
    });
    let of_calls = evidence.all().filter(|(spec, _)| spec.given().is_empty());
    (culprits, of_calls.count() - 4)
}

fn sites(culprits: &Culprits) -> Vec<Site> {
    culprits.sites().cloned().collect()
}

/// Returns the only turn.
fn turn(culprits: &Culprits) -> &TurningPoint {
    let [Group { calls, .. }] = &culprits.groups[..] else {
        panic!("{culprits:?}");
    };
    let [Call { turn: Some(turn), .. }] = &calls[..] else {
        panic!("{calls:?}");
    };
    turn
}

/// Returns the elements of the only turn, and the position.
fn elements(culprits: &Culprits) -> ([u64; 2], Option<Position>) {
    match turn(culprits).decisive {
        Decisive::Elements { ranks, position } => (ranks, position),
        Decisive::Number(_) => panic!("{culprits:?}"),
    }
}

/// Returns the bound on runs for one culprit among this number of choice points.
fn bound(points: u64) -> f64 {
    3.0 * (points as f64).log2() + 10.0
}

#[test]
fn one_site_is_found_and_confirmed_within_the_bound_on_runs() {
    for n in [1_u32, 2, 3, 5, 16, 100, 500] {
        for guilty in [0, n / 2, n - 1] {
            let (culprits, runs) = searched(&Program::sites(n), |orders| !is_made(orders, guilty));
            assert_eq!((sites(&culprits), culprits.confirmed), (vec![site(guilty)], true));
            assert!(runs as f64 <= bound(n.into()), "{runs} runs for one of {n}");
        }
    }
}

#[test]
fn one_call_among_up_to_a_hundred_thousand_is_found_within_the_bound_on_runs() {
    for (lines, calls) in [(1_u32, 1_u64), (1, 1000), (10, 100), (100, 1000), (1, 100_000)] {
        let program = Program((0..lines).map(|line| (line, calls, 2)).collect());
        let points = u64::from(lines) * calls;
        for (line, ordinal) in [(0, 0), (lines / 2, calls / 3), (lines - 1, calls - 1)] {
            let passes = |orders: Orders<'_>| orders(line, ordinal) == [0, 1];
            let (culprits, runs) = searched(&program, passes);
            let [Group { calls, .. }] = &culprits.groups[..] else {
                panic!("{culprits:?}");
            };
            let found: Vec<_> = calls.iter().map(|call| (call.site.line, call.ordinal)).collect();
            assert_eq!((found, culprits.confirmed), (vec![(line, ordinal)], true));
            assert_eq!(elements(&culprits).0, [0, 1]);
            assert!(runs as f64 <= bound(points), "{runs} runs for one of {points}");
        }
    }
}

#[test]
fn the_two_elements_whose_order_matters_are_found() {
    let program = Program(vec![(1, 3, 4), (2, 5, 40)]);
    for [a, b] in [[0, 1], [3, 30], [38, 39], [0, 39], [17, 20]] {
        let (culprits, runs) = searched(&program, |orders| {
            let order = orders(2, 3);
            let at = |element| order.iter().position(|&other| other == element);
            at(a) < at(b)
        });
        assert_eq!(elements(&culprits), ([a as u64, b as u64], None));
        assert!(runs as f64 <= bound(8), "{runs} runs");
    }
}

#[test]
fn a_position_that_matters_is_told_from_a_pair() {
    let program = Program(vec![(2, 2, 12)]);
    for (at, position) in [(0, Position::First), (11, Position::Last), (4, Position::Nth(4))] {
        let (culprits, _) = searched(&program, |orders| orders(2, 1)[at] == at);
        assert_eq!(elements(&culprits).1, Some(position));
    }
}

#[test]
fn calls_that_fail_only_together_are_all_named() {
    for n in [2, 8, 33] {
        let (culprits, _) =
            searched(&Program::sites(n), |orders| !(is_made(orders, 0) && is_made(orders, n - 1)));
        assert_eq!(sites(&culprits), [site(0), site(n - 1)]);
        assert!(culprits.confirmed);
        assert_eq!((culprits.groups.len(), culprits.notes.len()), (1, 1));
        assert_eq!(culprits.groups[0].calls.len(), 2);
    }
    let program = Program(vec![(1, 50, 3)]);
    let (culprits, _) = searched(&program, |orders| {
        let mut orders = [4, 20, 44].into_iter().map(|ordinal| orders(1, ordinal));
        orders.any(|order| order.is_sorted())
    });
    let calls = culprits.groups[0].calls.iter();
    assert_eq!(calls.map(|call| call.ordinal).collect::<Vec<_>>(), [4, 20, 44]);
}

#[test]
fn two_calls_each_of_which_fails_alone_are_both_named() {
    let (culprits, _) =
        searched(&Program::sites(20), |orders| !is_made(orders, 4) && !is_made(orders, 15));
    assert_eq!(sites(&culprits), [site(4), site(15)]);
    assert_eq!(culprits.groups.len(), 2);
    assert!(culprits.confirmed && culprits.notes.is_empty());
}

#[test]
fn a_call_that_makes_a_failing_test_pass_is_found_in_the_same_way() {
    let (culprits, _) = searched(&Program::sites(20), |orders| is_made(orders, 7));
    assert_eq!((sites(&culprits), culprits.confirmed), (vec![site(7)], true));
}

#[test]
fn where_every_call_is_guilty_the_search_ends_all_the_same() {
    let (culprits, runs) =
        searched(&Program::sites(40), |orders| !(0..40).any(|line| is_made(orders, line)));
    assert_eq!(culprits.groups.len(), MAX_GROUPS);
    assert!(!culprits.confirmed);
    assert!(runs < DEFAULT_SEARCH_RUNS);
}

#[test]
fn a_failure_that_needs_most_calls_at_once_is_suspected_within_the_budget() {
    let (culprits, runs) = searched(&Program::sites(64), |orders| {
        (0..64).filter(|&line| is_made(orders, line)).count() < 60
    });
    assert!(sites(&culprits).len() >= 60);
    assert!(!culprits.confirmed);
    assert!(runs <= DEFAULT_SEARCH_RUNS + 10, "{runs}");
    assert!(culprits.notes.iter().any(|note| note.contains("cargo nondex explain t")));
}

#[test]
fn a_failure_without_any_choice_has_no_culprit() {
    let (culprits, runs) = searched(&Program::sites(0), |_| true);
    assert_eq!((culprits, runs), (Culprits::default(), 0));
}

#[test]
fn more_sites_than_a_spec_can_name_are_not_searched() {
    let (culprits, runs) = searched(&Program::sites(5000), |orders| !is_made(orders, 1));
    assert!(culprits.groups.is_empty() && culprits.notes.len() == 1);
    assert_eq!(runs, 0);
}

/// Runs a simulated test that reads a number of bytes. Only the last of three calls matters: it
/// returns 4,096 in a clean run and 90 where the seed decides.
fn reads(spec: &RunSpec, passes: impl Fn(u64) -> bool) -> Run {
    let choice = Choice::Number { range: 1..=4096, base: 4096, scale: Scale::Metric };
    let mut step = None;
    let number = match spec.given().iter().find(|given| given.ordinal == 2) {
        None if spec.selected(&site(1), "0").contains(2) => 90,
        None => 4096,
        Some(given) => {
            let GivenChoice::Steps(steps) = given.choice else { unreachable!("it is no order") };
            let (value, all) = choice.between(90, steps);
            step = Some(StepRecord {
                site: site(1),
                thread: "0".into(),
                ordinal: 2,
                len: choice.size(),
                steps: all,
                position: 0,
                exchanged: Vec::new(),
                created: Vec::new(),
                number: Some(NumberRecord { base: 4096, value }),
            });
            value
        }
    };
    let mut run = run(passes(number), [1]);
    let point = PointRecord { count: 3, max_len: choice.size(), ..run.points[0].clone() };
    run.points = [point].into();
    run.steps = step.into_iter().collect();
    run
}

#[test]
fn of_a_number_it_is_found_from_where_on_it_decides() {
    for most in [4095, 4000, 100, 90] {
        let passes = |number: u64| number > most;
        let spec = RunSpec::new("t", Level::Full, 3);
        let mut evidence = Evidence::new(true);
        for spec in [RunSpec::clean("t"), spec.clone()] {
            evidence.add(spec.clone(), reads(&spec, passes));
        }
        let ask = |evidence: &Evidence| search(evidence, &spec, true, DEFAULT_SEARCH_RUNS);
        let culprits = settle(&mut evidence, ask, |evidence, spec: RunSpec, _| {
            let run = reads(&spec, passes);
            evidence.add(spec, run);
        });
        assert!(culprits.confirmed);
        assert_eq!(
            turn(&culprits).decisive,
            Decisive::Number(NumberRecord { base: 4096, value: most })
        );
        assert_eq!(culprits.groups[0].calls[0].ordinal, 2);
        let confirming = CONFIRMATIONS_OF_TURN * 2 + CONFIRMATIONS * 3;
        assert!(evidence.count() < confirming + 4 + 2 + 12 + 4, "{}", evidence.count());
    }
}

/// Runs a simulated test in whose two threads the seed draws these numbers, of at most `len`.
fn threads(spec: &RunSpec, len: u64, drawn: [u64; 2], passes: impl Fn([u64; 2]) -> bool) -> Run {
    let at = [(1, "0.1"), (2, "0.0")].map(|(line, thread)| PointRecord {
        site: Site { family: Family::Schedule, ..site(line) },
        thread: thread.into(),
        count: 1,
        max_len: len,
        keys: 0,
        stack: Vec::new(),
    });
    let mut steps = Vec::new();
    let mut number = |point: &PointRecord, drawn: u64| {
        let mut given = spec.given().iter();
        let value = match given.find(|given| given.site == point.site) {
            None if spec.selected(&point.site, &point.thread).contains(0) => return drawn,
            None => return 0,
            Some(given) => match given.choice {
                GivenChoice::Steps(most) => drawn.min(most),
                _ => unreachable!("it is no order"),
            },
        };
        steps.push(StepRecord {
            site: point.site.clone(),
            thread: point.thread.clone(),
            ordinal: 0,
            len: point.max_len,
            steps: value,
            position: 0,
            exchanged: Vec::new(),
            created: Vec::new(),
            number: Some(NumberRecord { base: 0, value }),
        });
        value
    };
    let numbers = [number(&at[0], drawn[0]), number(&at[1], drawn[1])];
    let mut run = run(passes(numbers), []);
    run.points = at.into();
    run.steps = steps.into_iter().collect();
    run
}

/// Returns the culprits of such a test if a seed that makes all choices fails.
fn culprits_of_threads(len: u64, drawn: [u64; 2], passes: impl Fn([u64; 2]) -> bool) -> Culprits {
    let spec = RunSpec::new("t", Level::Std, 3);
    let mut evidence = Evidence::new(true);
    for spec in [RunSpec::clean("t"), spec.clone()] {
        evidence.add(spec.clone(), threads(&spec, len, drawn, &passes));
    }
    let ask = |evidence: &Evidence| search(evidence, &spec, true, DEFAULT_SEARCH_RUNS);
    settle(&mut evidence, ask, |evidence, spec: RunSpec, _| {
        let run = threads(&spec, len, drawn, &passes);
        evidence.add(spec, run);
    })
}

#[test]
fn two_delays_against_each_other_are_as_short_as_they_may_be_together() {
    const MOMENT: u64 = 10_000;
    // The first must come a moment after the second, and the second a moment late itself.
    let passes = |[first, second]: [u64; 2]| first < second + MOMENT || second < MOMENT;
    for drawn in [[15_000_000, 14_000_000], [15_000_000, 20_000]] {
        let culprits = culprits_of_threads(20_000_000, drawn, passes);
        let calls = culprits.groups[0].calls.iter();
        let delays: Vec<u64> = calls.map(|call| call.turn.as_ref().unwrap().steps).collect();
        let near = |delay: u64, needed: u64| (needed..=needed + needed / 20).contains(&delay);
        assert!(near(delays[0], 2 * MOMENT), "{delays:?}");
        assert!(near(delays[1], MOMENT), "{delays:?}");
        assert!(culprits.confirmed);
    }
}

#[test]
fn a_choice_of_threads_between_two_is_confirmed_as_a_delay_is() {
    // For instance a spurious wake-up, or the other one of two waiting threads.
    let culprits = culprits_of_threads(1, [1, 1], |[first, _]| first == 0);
    let calls: Vec<u32> = culprits.groups[0].calls.iter().map(|call| call.site.line).collect();
    assert_eq!((calls, culprits.confirmed), (vec![1], true));
}

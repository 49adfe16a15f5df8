//! The scheduler over a simulated kernel: properties of the courses of small random programs.

mod choices;
mod courses;
mod kernel;
mod outside;
mod program;
mod real_time;
mod steps;
mod turns;
mod wakes;

use nondex_core::ScheduleEndKind;
use nondex_core::scheduler::{Lease, SLICE};
use proptest::prelude::*;

use choices::Choices;
use kernel::{Course, Kernel};
use program::{Kinds, Op, Program, programs, tiny_programs};

/// Maximum number of steps of a run. A child that nobody waits for would let it go on forever.
const STEPS: usize = 8_000;

/// Runs a program. An operation takes the real time `cost`, which may be less than its virtual
/// time. If the cost is odd, another process could write to the descriptors.
fn run(program: &Program, choices: Choices, cost: u64) -> Course {
    let lease = Lease::new();
    Kernel::new(&lease, program, choices, cost, cost % 2 == 1).run(STEPS)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_thread_runs_when_the_model_allows_it_and_a_run_ends_when_none_can(
        program in programs(Kinds::ALL), seed in any::<u64>(),
        cost in prop_oneof![1..100_u64, 100..2_000_u64],
    ) {
        run(&program, Choices::Canonical, cost);
        run(&program, Choices::Seed(seed, None), cost);
    }

    #[test]
    fn equal_seeds_give_equal_courses(
        program in programs(Kinds { outside: false, ..Kinds::ALL }), seed in any::<u64>(),
    ) {
        let course = run(&program, Choices::Seed(seed, None), 100);
        prop_assert_eq!(&course, &run(&program, Choices::Seed(seed, None), 100));
        // However fast the machine is.
        prop_assert_eq!(&course.steps, &run(&program, Choices::Seed(seed, None), 1_000).steps);
    }

    #[test]
    fn a_choice_that_is_off_leaves_all_other_draws(
        program in programs(Kinds { outside: false, ..Kinds::ALL }), seed in any::<u64>(),
        which in any::<prop::sample::Index>(),
    ) {
        let course = run(&program, Choices::Seed(seed, None), 100);
        if course.draws.is_empty() {
            return Ok(());
        }
        let off = course.draws[which.index(course.draws.len())];
        let other = run(&program, Choices::Seed(seed, Some((off.0, off.1))), 100);
        prop_assert!(other.draws.contains(&off), "it is drawn, too");
        let draw = |draws: &[choices::Draw], (thread, number, _): choices::Draw| {
            draws.iter().find(|draw| (draw.0, draw.1) == (thread, number)).copied()
        };
        for &drawn in &course.draws {
            let again = draw(&other.draws, drawn);
            prop_assert!(again.is_none_or(|again| again == drawn));
        }
    }

    #[test]
    fn without_choices_no_ready_thread_is_passed_over_by_more_than_all_others(
        program in programs(Kinds { outside: false, ..Kinds::ALL }),
    ) {
        let course = run(&program, Choices::Canonical, 100);
        // A thread that was woken and had to wait again may run out of turn.
        let most = course.threads + course.impatient;
        prop_assert!(course.passed_over <= most, "{} {}", course.passed_over, most);
    }

    #[test]
    fn while_nobody_sleeps_a_delay_takes_no_time(
        program in programs(Kinds::default()), seed in any::<u64>(),
    ) {
        // Each jump is checked by the outside.
        let course = run(&program, Choices::Seed(seed, None), 100);
        let reads = program.concat().contains(&Op::Clock);
        prop_assert!(reads || course.jumps == 0);
        let canonical = run(&program, Choices::Canonical, 100);
        prop_assert_eq!(canonical.jumps, 0);
    }

    #[test]
    fn a_run_can_be_stopped_at_any_step(
        program in programs(Kinds::ALL), seed in any::<u64>(), most in 0..200_usize,
    ) {
        let lease = Lease::new();
        Kernel::new(&lease, &program, Choices::Seed(seed, None), 100, false).run(most);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 12,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn systematic_runs_have_the_outcomes_of_all_interleavings(program in tiny_programs()) {
        let expected = courses::by_model(&program);
        prop_assert_eq!(courses::by_systematic_runs(&program), expected);
    }
}

#[test]
fn many_threads_are_scheduled_in_the_order_of_their_starts() {
    let mut first: Vec<Op> = (0..1_000).map(|_| Op::Spawn(1)).collect();
    first.extend((0..1_000).map(Op::Join));
    let course = run(&vec![first, vec![Op::Add(0)]], Choices::Canonical, 100);
    assert_eq!((course.end, course.memory[0], course.threads), (None, 1_000, 1_001));
    assert!(course.passed_over <= course.threads);
}

#[test]
fn two_threads_that_wait_for_each_others_locks_are_a_deadlock() {
    let body = |first, second| vec![Op::Lock(first), Op::Yield, Op::Lock(second)];
    let program = vec![vec![Op::Spawn(1), Op::Spawn(2)], body(0, 1), body(1, 0)];
    let course = run(&program, Choices::Canonical, 100);
    assert_eq!(course.end, Some(ScheduleEndKind::Deadlock));
}

#[test]
fn a_thread_that_sleeps_for_more_than_an_hour_ends_the_run() {
    let hour = 3_600_000_000_000;
    let program = vec![vec![Op::Spawn(1), Op::Sleep(hour / 2), Op::Sleep(hour)], vec![]];
    assert_eq!(run(&program, Choices::Canonical, 100).end, Some(ScheduleEndKind::Time));
    let program = vec![vec![Op::Spawn(1), Op::Sleep(hour / 2), Op::Sleep(hour / 4)], vec![]];
    assert_eq!(run(&program, Choices::Canonical, 100).end, None);
}

#[test]
fn threads_that_spin_forever_end_at_the_limit_on_operations() {
    let program = vec![vec![Op::Spawn(1), Op::Spin(0)], vec![Op::Spin(1)]];
    let lease = Lease::new();
    let course = Kernel::new(&lease, &program, Choices::Canonical, 100, false).run(100_000);
    assert_eq!(course.end, Some(ScheduleEndKind::Steps));
}

#[test]
fn a_descriptor_that_another_process_may_write_to_is_waited_for_in_real_time() {
    let program = vec![vec![Op::Read(0, None)]];
    assert_eq!(run(&program, Choices::Canonical, 101).end, Some(ScheduleEndKind::Outside));
    assert_eq!(run(&program, Choices::Canonical, 100).end, Some(ScheduleEndKind::Deadlock));
}

#[test]
fn a_child_that_is_waited_for_takes_its_real_time() {
    let time = 3_000_000;
    let program =
        vec![vec![Op::Clock, Op::Child(time, 0), Op::Clock, Op::WaitForChildren, Op::Clock]];
    let course = run(&program, Choices::Canonical, 100);
    assert!(course.now >= time && course.jumps == 0);
}

#[test]
fn a_thread_that_never_waits_runs_for_a_time_slice_while_another_one_is_ready() {
    let program = vec![vec![Op::Spawn(1), Op::Spawn(1)], vec![Op::Add(0); 15_000]];
    let lease = Lease::new();
    let mut kernel = Kernel::new(&lease, &program, Choices::Canonical, 100, false);
    kernel.machine.begin(20_000, false);
    let course = kernel.run(100_000);
    let begun = course.steps.iter().find(|(thread, ..)| *thread == 2).map(|(.., time)| *time);
    assert!(begun.is_some_and(|time| (SLICE..SLICE + 1_000).contains(&time)), "{begun:?}");
    assert_eq!(course.end, Some(ScheduleEndKind::Steps));
}

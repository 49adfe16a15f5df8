//! Small programs of several threads, and strategies that generate them.

use nondex_core::scheduler::STEP;
use proptest::collection::vec;
use proptest::prelude::*;

/// Number of locks, condition variables, semaphores, flags and descriptors of a program.
pub(super) const OBJECTS: usize = 2;

/// Operation of a simulated thread. Durations are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Lock(usize),
    /// Does nothing if the thread does not hold the lock.
    Unlock(usize),
    /// Waits for a condition, with the lock of the same number, until a notification or for at most
    /// a time.
    Wait(usize, Option<u64>),
    NotifyOne(usize),
    NotifyAll(usize),
    /// Wakes one thread, and moves the others to the lock of the same number.
    Requeue(usize),
    Acquire(usize),
    Release(usize),
    Sleep(u64),
    Yield,
    /// Adds one to a variable.
    Add(usize),
    /// Reads a variable.
    Load(usize),
    SetFlag(usize),
    Spin(usize),
    /// Starts a thread with this body.
    Spawn(usize),
    /// Waits for the end of the thread that this one started with this number.
    Join(usize),
    /// Reads a clock.
    Clock,
    /// Starts a child process that lives for some real time, and then writes to a descriptor.
    Child(u64, usize),
    /// Waits for all children.
    WaitForChildren,
    /// Makes a call that takes real time outside.
    Call(u64),
    /// Sleeps in a call that the machine does not see.
    Unseen(u64),
    /// Waits until a descriptor is readable and reads from it, for at most a time.
    Read(usize, Option<u64>),
    Write(usize),
}

/// Bodies of threads. The first one is that of the thread that starts.
pub(super) type Program = Vec<Vec<Op>>;

/// Kinds of operations that a strategy may use.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kinds {
    /// Sleeps and time limits.
    pub(super) sleeps: bool,
    /// Children and anything else that lives in real time.
    pub(super) outside: bool,
    /// Spin loops.
    pub(super) spins: bool,
}

impl Kinds {
    pub(super) const ALL: Kinds = Kinds { sleeps: true, outside: true, spins: true };
}

/// Returns short times that end at an operation, or just after or before one, and others.
fn times() -> impl Strategy<Value = u64> {
    let near = (1..60_u64, -1..=1_i64)
        .prop_map(|(operations, more)| (operations * STEP).saturating_add_signed(more));
    prop_oneof![3 => near, 1 => 1..3_000_000_u64]
}

fn limit(kinds: Kinds) -> BoxedStrategy<Option<u64>> {
    if kinds.sleeps {
        prop_oneof![Just(None), times().prop_map(Some)].boxed()
    } else {
        Just(None).boxed()
    }
}

/// Returns operations that do not belong to others.
fn single(kinds: Kinds) -> BoxedStrategy<Op> {
    let object = 0..OBJECTS;
    let mut all = vec![
        object.clone().prop_map(Op::NotifyOne).boxed(),
        object.clone().prop_map(Op::NotifyAll).boxed(),
        object.clone().prop_map(Op::Requeue).boxed(),
        object.clone().prop_map(Op::Acquire).boxed(),
        object.clone().prop_map(Op::Release).boxed(),
        object.clone().prop_map(Op::Release).boxed(),
        object.clone().prop_map(Op::Add).boxed(),
        object.clone().prop_map(Op::Write).boxed(),
        (object.clone(), limit(kinds)).prop_map(|(fd, limit)| Op::Read(fd, limit)).boxed(),
        Just(Op::Yield).boxed(),
        Just(Op::Clock).boxed(),
    ];
    if kinds.sleeps {
        all.push(times().prop_map(Op::Sleep).boxed());
    }
    if kinds.spins {
        all.push(object.clone().prop_map(Op::SetFlag).boxed());
        all.push(object.clone().prop_map(Op::SetFlag).boxed());
        all.push(object.clone().prop_map(Op::Spin).boxed());
    }
    if kinds.outside {
        let time = 1..4_000_000_u64;
        all.push((time.clone(), object).prop_map(|(time, fd)| Op::Child(time, fd)).boxed());
        all.push(Just(Op::WaitForChildren).boxed());
        all.push(time.clone().prop_map(Op::Call).boxed());
        all.push((1..200_000_000_u64).prop_map(Op::Unseen).boxed());
    }
    proptest::strategy::Union::new(all).boxed()
}

/// Returns sequences of operations that belong together.
fn group(kinds: Kinds) -> BoxedStrategy<Vec<Op>> {
    let locked = (0..OBJECTS, vec(single(kinds), 0..3)).prop_map(|(lock, inner)| {
        let begin = std::iter::once(Op::Lock(lock));
        begin.chain(inner).chain([Op::Unlock(lock)]).collect()
    });
    let waiting = (0..OBJECTS, limit(kinds)).prop_map(|(number, limit)| {
        vec![Op::Lock(number), Op::Wait(number, limit), Op::Unlock(number)]
    });
    prop_oneof![
        4 => single(kinds).prop_map(|op| vec![op]),
        2 => locked,
        2 => waiting,
    ]
    .boxed()
}

fn body(kinds: Kinds) -> impl Strategy<Value = Vec<Op>> {
    vec(group(kinds), 0..5).prop_map(|groups| groups.concat())
}

/// Returns operations that let others go on that wait for this thread.
fn release_of_all() -> Vec<Op> {
    (0..OBJECTS).flat_map(|number| [Op::NotifyAll(number), Op::Release(number)]).collect()
}

/// Returns programs in which the first thread starts all others and, often, wakes and joins them.
/// Some of the others have the same body.
pub(super) fn programs(kinds: Kinds) -> impl Strategy<Value = Program> {
    let bodies = (body(kinds), vec(body(kinds), 1..4), vec(0..3_usize, 0..3));
    (bodies, any::<(bool, bool)>()).prop_map(|((main, others, again), (wakes, joins))| {
        let again = again.into_iter().map(|body| 1 + body % others.len());
        let mut first: Vec<Op> = (1..=others.len()).chain(again).map(Op::Spawn).collect();
        let count = first.len();
        first.extend(main);
        if wakes {
            first.extend([Op::Yield, Op::Yield]);
            first.extend(release_of_all());
        }
        if joins {
            first.extend((0..count).map(Op::Join));
        }
        std::iter::once(first).chain(others).collect()
    })
}

/// Returns tiny programs of two or three threads that change shared variables, under a lock or not.
pub(super) fn tiny_programs() -> impl Strategy<Value = Program> {
    let step = (0..OBJECTS, 0..OBJECTS, any::<bool>()).prop_map(|(object, other, locks)| {
        let ops = vec![Op::Load(object), Op::Add(other)];
        if locks { [vec![Op::Lock(0)], ops, vec![Op::Unlock(0)]].concat() } else { ops }
    });
    let access = prop_oneof![(0..OBJECTS).prop_map(Op::Load), (0..OBJECTS).prop_map(Op::Add)];
    let others = prop_oneof![
        (step.clone(), step).prop_map(|(a, b)| vec![a, b]),
        vec(access.prop_map(|op| vec![op]), 3),
    ];
    others.prop_map(|others| {
        let first = (1..=others.len()).map(Op::Spawn).collect();
        std::iter::once(first).chain(others).collect()
    })
}

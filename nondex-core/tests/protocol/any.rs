//! Arbitrary values of each type of the protocol.

use nondex_core::{
    AccessRecord, Calls, ChoiceRecord, Choices, Course, CoveredRecord, DrawnChoices, ElementRecord,
    Event, Execution, Failure, Family, ForkRecord, Forks, Frame, Given, GivenChoice, Interleaving,
    Level, NetworkOutcome, NetworkRecord, NumberRecord, OperationRecord, Outcome, PointRecord,
    Reading, Schedule, ScheduleEnd, ScheduleEndKind, ScheduleRecord, ScheduledTest, Scope,
    Selection, Site, SleepRecord, Source, StateChange, StateId, StateKind, StepRecord,
    TestSequence, Trace, TracedOperation, TracedStack, TracedThread, WaitRecord,
};
use proptest::prelude::*;

pub(super) fn site() -> impl Strategy<Value = Site> {
    (".{0,12}", 0..Family::ALL.len(), "[ -~é\\\\\"\n]{0,12}", any::<u32>(), any::<u32>()).prop_map(
        |(api, family, file, line, column)| Site {
            api,
            family: Family::ALL[family],
            file,
            line,
            column,
        },
    )
}

pub(super) fn point() -> impl Strategy<Value = PointRecord> {
    let frame = (".{0,8}", ".{0,8}", any::<u32>()).prop_map(|(function, file, line)| Frame {
        function,
        file,
        line,
    });
    let stack = prop::collection::vec(frame, 0..3);
    (site(), "[0-9.]{1,6}", any::<[u64; 3]>(), stack).prop_map(
        |(site, thread, [count, max_len, keys], stack)| PointRecord {
            site,
            thread,
            count,
            max_len,
            keys,
            stack,
        },
    )
}

pub(super) fn operation() -> impl Strategy<Value = OperationRecord> {
    (".{0,8}", ".{0,8}", "E[A-Z]{1,6}", "[0-9.]{1,6}").prop_map(
        |(operation, target, error, thread)| OperationRecord {
            operation,
            target,
            error,
            thread,
            site: "stack:1".to_owned(),
            stack: Vec::new(),
        },
    )
}

pub(super) fn choices() -> impl Strategy<Value = Choices> {
    let schedule = prop::sample::select(&Schedule::ALL);
    let given = prop::collection::vec(given(), 0..3);
    let drawn = (0..5_usize, any::<u64>(), schedule, selection(), given);
    let drawn = drawn.prop_map(|(level, seed, schedule, selection, given)| DrawnChoices {
        level: Level::ALL[level],
        seed,
        schedule,
        selection,
        given,
    });
    prop_oneof![Just(Choices::Canonical), drawn.prop_map(Choices::Drawn),]
}

pub(super) fn execution() -> impl Strategy<Value = Execution> {
    let scheduled = (any::<u64>(), any::<u64>(), any::<u64>());
    let scheduled = scheduled.prop_map(|(max_steps, operations, skipped)| ScheduledTest {
        max_steps,
        operations,
        skipped,
    });
    let names = || prop::collection::vec(".{0,8}", 0..3);
    let states = || prop::collection::vec(state(), 0..2);
    let forks = (names(), prop::collection::vec(any::<u64>(), 0..3));
    let forks = forks.prop_map(|(tests, limits_ms)| Forks { tests, limits_ms });
    let forks = prop::option::of(forks);
    let flags = || (any::<bool>(), any::<bool>(), any::<bool>());
    let in_order = (names(), forks, flags(), states(), states());
    let in_order = in_order.prop_map(|(before, forks, flags, watch, put_back)| TestSequence {
        before,
        forks,
        changes: flags.0,
        without_files: flags.2,
        watch,
        lines: flags.1,
        put_back,
    });
    let numbers = (any::<u64>(), prop::option::of(any::<u64>()), any::<u64>());
    let interleaved = (".{0,8}", state(), numbers, flags());
    let interleaved = interleaved.prop_map(|(with, state, numbers, flags)| Interleaving {
        with,
        is_inner: flags.0,
        state,
        interrupt_at: numbers.0,
        pause_at: numbers.1,
        lines: flags.1,
        put_back: flags.2,
        waits_ms: numbers.2,
    });
    prop_oneof![
        scheduled.prop_map(Execution::Scheduled),
        in_order.prop_map(Execution::InOrder),
        interleaved.prop_map(Execution::Interleaved),
    ]
}

fn selection() -> impl Strategy<Value = Selection> {
    prop_oneof![
        Just(Selection::All),
        prop::collection::vec(scope(), 0..3).prop_map(Selection::Only),
        prop::collection::vec(scope(), 0..3).prop_map(Selection::Except),
    ]
}

fn scope() -> impl Strategy<Value = Scope> {
    let calls = ("[0-9.]{1,6}", any::<u64>(), any::<u64>());
    let calls = calls.prop_map(|(thread, from, to)| Calls { thread, from, to });
    (site(), prop::option::of(calls)).prop_map(|(site, calls)| Scope { site, calls })
}

fn given() -> impl Strategy<Value = Given> {
    let choice = prop_oneof![
        any::<u64>().prop_map(GivenChoice::Steps),
        any::<u64>().prop_map(GivenChoice::Number),
        prop::collection::vec(any::<u32>(), 0..4).prop_map(GivenChoice::Ranks),
    ];
    (site(), "[0-9.]{1,6}", any::<u64>(), choice)
        .prop_map(|(site, thread, ordinal, choice)| Given { site, thread, ordinal, choice })
}

pub(super) fn choice() -> impl Strategy<Value = ChoiceRecord> {
    let aspect = prop::option::of(any::<u64>());
    let reading = prop::option::of(prop::sample::select(&Reading::ALL[..]));
    let choice = (any::<u64>(), any::<u64>(), any::<u64>(), aspect, reading, 0..9_u64);
    choice.prop_map(|(place, ordinal, len, aspect, reading, own)| ChoiceRecord {
        place,
        ordinal,
        len,
        aspect,
        reading,
        own,
    })
}

pub(super) fn step() -> impl Strategy<Value = StepRecord> {
    let index = prop::option::of(any::<u64>());
    let element = (any::<u64>(), index, prop::option::of(".{0,8}"), point());
    let element = element.prop_map(|(rank, index, name, point)| ElementRecord {
        rank,
        index,
        name,
        stack: point.stack,
    });
    (point(), any::<u64>(), any::<u64>(), prop::collection::vec(element, 0..3)).prop_map(
        |(point, ordinal, steps, exchanged)| StepRecord {
            site: point.site,
            thread: point.thread,
            ordinal,
            len: point.max_len,
            steps,
            position: point.count,
            exchanged,
            created: point.stack,
            number: (ordinal % 2 == 0).then_some(NumberRecord { base: steps, value: ordinal }),
        },
    )
}

pub(super) fn failure() -> impl Strategy<Value = Failure> {
    (".{0,20}", prop::option::of(".{0,8}"), prop::option::of(any::<u32>()))
        .prop_map(|(message, file, line)| Failure { message, file, line })
}

pub(super) fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::Passed),
        Just(Outcome::Failed),
        Just(Outcome::TimedOut),
        any::<i32>().prop_map(Outcome::Exited),
        any::<i32>().prop_map(Outcome::Signalled),
    ]
}

pub(super) fn network() -> impl Strategy<Value = NetworkRecord> {
    let outcome = prop_oneof![
        Just(NetworkOutcome::Pending),
        Just(NetworkOutcome::Awaited),
        Just(NetworkOutcome::Unawaited),
        Just(NetworkOutcome::Answered),
        "[A-Z]{1,8}".prop_map(NetworkOutcome::Failed),
    ];
    ("[a-z]{1,8}", ".{0,8}", prop::option::of(".{0,8}"), outcome, any::<u64>()).prop_map(
        |(operation, target, host, outcome, count)| NetworkRecord {
            operation,
            target,
            host,
            outcome,
            thread: "0".to_owned(),
            site: "stack:1".to_owned(),
            count,
            elapsed_ms: count / 3,
            stack: Vec::new(),
        },
    )
}

pub(super) fn sources() -> impl Strategy<Value = Vec<Source>> {
    prop::sample::subsequence(Source::ALL.to_vec(), 0..=Source::ALL.len())
}

fn state() -> impl Strategy<Value = StateId> {
    (prop::sample::select(&StateKind::ALL), ".{0,12}")
        .prop_map(|(kind, name)| StateId { kind, name })
}

pub(super) fn change() -> impl Strategy<Value = StateChange> {
    let value = || prop::option::of(".{0,12}");
    (state(), value(), value()).prop_map(|(state, before, after)| StateChange {
        state,
        before,
        after,
    })
}

pub(super) fn covered() -> impl Strategy<Value = CoveredRecord> {
    let blocks = prop::collection::vec(any::<u64>(), 0..3);
    (".{0,9}", blocks, any::<bool>()).prop_map(|(program, blocks, is_lost)| CoveredRecord {
        program,
        blocks,
        is_lost,
    })
}

pub(super) fn access() -> impl Strategy<Value = AccessRecord> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (state(), flags).prop_map(|(state, (writes, unseen, own, interrupted))| AccessRecord {
        state,
        writes,
        stack: Vec::new(),
        unseen,
        own,
        interrupted,
    })
}

pub(super) fn schedule() -> impl Strategy<Value = ScheduleRecord> {
    let counts = (0..9_u64, any::<u64>(), any::<u64>(), 0..2_u64);
    let wait = (".{0,8}", prop::option::of(".{0,8}"), any::<bool>(), point());
    let wait = wait.prop_map(|(thread, name, is_on_lock, point)| WaitRecord {
        thread,
        name,
        operation: "join".to_owned(),
        on: is_on_lock.then_some(point.count),
        stack: point.stack,
    });
    let kind = prop::sample::select(&ScheduleEndKind::ALL[..]);
    let end = (kind, prop::collection::vec(wait, 0..3))
        .prop_map(|(kind, waits)| ScheduleEnd { kind, waits });
    let trace = prop::option::of(trace());
    let course = (prop::collection::vec(any::<u64>(), 0..4), any::<bool>());
    let course = course.prop_map(|(decisions, is_whole)| Course { decisions, is_whole });
    let course = prop::option::of(course);
    (counts, prop::option::of(end), course, trace).prop_map(
        |((threads, steps, time_us, leaks), end, course, trace)| ScheduleRecord {
            threads,
            steps,
            operations: steps / 7,
            switches: steps / 2,
            holds: steps / 3,
            longest_delay: steps / 5,
            time_us,
            delayed_us: time_us / 2,
            longest_sleep: trace
                .as_ref()
                .map(|_| SleepRecord { us: time_us, stack: TracedStack::default() }),
            visible_lead_us: time_us / 3,
            leaks,
            outside: threads,
            asynchronous: 0,
            end,
            course,
            trace,
        },
    )
}

fn trace() -> impl Strategy<Value = Trace> {
    let number = || prop::option::of(any::<u64>());
    let operation = (number(), number(), number(), any::<bool>(), any::<u64>());
    let operation = operation.prop_map(|(address, found, left, writes, time)| TracedOperation {
        thread: time % 3,
        operation: "store".to_owned(),
        writes,
        address,
        name: found,
        other: left,
        found,
        left,
        length: address,
        time,
        unwinds: writes && time % 2 == 0,
        stack: time / 2,
    });
    let operations = prop::collection::vec(operation, 0..3);
    let names = prop::collection::vec(".{0,8}", 0..2);
    (operations, names, point(), any::<u64>()).prop_map(|(operations, names, point, skipped)| {
        Trace {
            threads: vec![TracedThread { path: point.thread, name: names.first().cloned() }],
            stacks: vec![TracedStack {
                addresses: vec![point.count, skipped],
                frames: point.stack,
            }],
            names,
            operations,
            skipped,
        }
    })
}

fn fork() -> impl Strategy<Value = ForkRecord> {
    (".{0,8}", outcome(), any::<u64>(), any::<bool>())
        .prop_map(|(test, end, micros, left_child)| ForkRecord { test, end, micros, left_child })
}

pub(super) fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (".{0,8}", point()).prop_map(|(test, point)| Event::Site { test, point }),
        (".{0,8}", prop::collection::vec(point(), 0..3), prop::collection::vec(choice(), 0..3))
            .prop_map(|(test, points, choices)| Event::Points { test, points, choices }),
        (".{0,8}", step()).prop_map(|(test, step)| Event::Step { test, step }),
        (".{0,8}", failure()).prop_map(|(test, failure)| Event::Panic { test, failure }),
        (".{0,8}", any::<u64>(), prop::option::of(any::<u64>()), network())
            .prop_map(|(test, id, socket, network)| Event::Network { test, id, socket, network }),
        (".{0,8}", any::<u64>()).prop_map(|(test, socket)| Event::Received { test, socket }),
        (".{0,8}", operation()).prop_map(|(test, operation)| Event::Operation { test, operation }),
        (".{0,8}", sources()).prop_map(|(test, sources)| Event::Sources { test, sources }),
        (".{0,8}", schedule()).prop_map(|(test, schedule)| Event::Schedule { test, schedule }),
        (".{0,8}", any::<bool>(), prop::option::of(failure()))
            .prop_map(|(test, passed, failure)| Event::End { test, passed, failure }),
        (".{0,8}", prop::collection::vec(change(), 0..3))
            .prop_map(|(test, changes)| Event::States { test, changes }),
        (".{0,8}", access()).prop_map(|(test, access)| Event::Access { test, access }),
        (".{0,8}", prop::option::of(".{0,8}"))
            .prop_map(|(test, path)| Event::Written { test, path }),
        (".{0,8}", covered()).prop_map(|(test, covered)| Event::Covered { test, covered }),
        (".{0,8}", fork()).prop_map(|(test, fork)| Event::Forked { test, fork }),
        (".{0,8}", any::<u64>(), any::<bool>()).prop_map(|(test, threads, has_children)| {
            Event::Unforked { test, threads, has_children }
        }),
    ]
}

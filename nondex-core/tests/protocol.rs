//! The protocol between the driver and a test process: what is written can be read, and nothing else.

use nondex_core::{
    AccessRecord, Calls, ChoiceRecord, Course, CoveredRecord, ElementRecord, Event, Failure,
    Family, ForkRecord, Forks, Frame, Given, GivenChoice, Level, NetworkOutcome, NetworkRecord,
    NumberRecord, OperationRecord, Outcome, PROTOCOL, PointRecord, Reading, RunRecord, RunSpec,
    Schedule, ScheduleEnd, ScheduleEndKind, ScheduleRecord, Scope, Selection, Site, Source,
    StateChange, StateId, StateKind, StepRecord, Threads, Trace, TracedOperation, TracedStack,
    TracedThread, WaitRecord, json,
};
use proptest::prelude::*;

fn site() -> impl Strategy<Value = Site> {
    (
        ".{0,12}",
        0..Family::ALL.len(),
        "[ -~é\\\\\"\n]{0,12}",
        any::<u32>(),
        any::<u32>(),
    )
        .prop_map(|(api, family, file, line, column)| Site {
            api,
            family: Family::ALL[family],
            file,
            line,
            column,
        })
}

fn point() -> impl Strategy<Value = PointRecord> {
    let frame = (".{0,8}", ".{0,8}", any::<u32>()).prop_map(|(function, file, line)| Frame {
        function,
        file,
        line,
    });
    (
        site(),
        "[0-9.]{1,6}",
        any::<u64>(),
        any::<u64>(),
        prop::collection::vec(frame, 0..3),
    )
        .prop_map(|(site, thread, count, max_len, stack)| PointRecord {
            site,
            thread,
            count,
            max_len,
            stack,
        })
}

fn operation() -> impl Strategy<Value = OperationRecord> {
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

fn selection() -> impl Strategy<Value = Selection> {
    prop_oneof![
        Just(Selection::None),
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
    (site(), "[0-9.]{1,6}", any::<u64>(), choice).prop_map(|(site, thread, ordinal, choice)| {
        Given {
            site,
            thread,
            ordinal,
            choice,
        }
    })
}

fn choice() -> impl Strategy<Value = ChoiceRecord> {
    let aspect = prop::option::of(any::<u64>());
    let reading = prop::option::of(prop::sample::select(&Reading::ALL[..]));
    let choice = (
        any::<u64>(),
        any::<u64>(),
        any::<u64>(),
        aspect,
        reading,
        0..9_u64,
    );
    choice.prop_map(|(place, ordinal, len, aspect, reading, own)| ChoiceRecord {
        place,
        ordinal,
        len,
        aspect,
        reading,
        own,
    })
}

fn step() -> impl Strategy<Value = StepRecord> {
    let index = prop::option::of(any::<u64>());
    let element = (any::<u64>(), index, prop::option::of(".{0,8}"), point());
    let element = element.prop_map(|(rank, index, name, point)| ElementRecord {
        rank,
        index,
        name,
        stack: point.stack,
    });
    (
        point(),
        any::<u64>(),
        any::<u64>(),
        prop::collection::vec(element, 0..3),
    )
        .prop_map(|(point, ordinal, steps, exchanged)| StepRecord {
            site: point.site,
            thread: point.thread,
            ordinal,
            len: point.max_len,
            steps,
            position: point.count,
            exchanged,
            created: point.stack,
            number: (ordinal % 2 == 0).then_some(NumberRecord {
                base: steps,
                value: ordinal,
            }),
        })
}

fn failure() -> impl Strategy<Value = Failure> {
    (
        ".{0,20}",
        prop::option::of(".{0,8}"),
        prop::option::of(any::<u32>()),
    )
        .prop_map(|(message, file, line)| Failure {
            message,
            file,
            line,
        })
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::Passed),
        Just(Outcome::Failed),
        Just(Outcome::TimedOut),
        any::<i32>().prop_map(Outcome::Exited),
        any::<i32>().prop_map(Outcome::Signalled),
    ]
}

fn network() -> impl Strategy<Value = NetworkRecord> {
    let outcome = prop_oneof![
        Just(NetworkOutcome::Pending),
        Just(NetworkOutcome::Awaited),
        Just(NetworkOutcome::Unawaited),
        Just(NetworkOutcome::Answered),
        "[A-Z]{1,8}".prop_map(NetworkOutcome::Failed),
    ];
    (
        "[a-z]{1,8}",
        ".{0,8}",
        prop::option::of(".{0,8}"),
        outcome,
        any::<u64>(),
    )
        .prop_map(|(operation, target, host, outcome, count)| NetworkRecord {
            operation,
            target,
            host,
            outcome,
            thread: "0".to_owned(),
            site: "stack:1".to_owned(),
            count,
            elapsed_ms: count / 3,
            stack: Vec::new(),
        })
}

fn sources() -> impl Strategy<Value = Vec<Source>> {
    prop::sample::subsequence(Source::ALL.to_vec(), 0..=Source::ALL.len())
}

fn state() -> impl Strategy<Value = StateId> {
    (prop::sample::select(&StateKind::ALL), ".{0,12}")
        .prop_map(|(kind, name)| StateId { kind, name })
}

fn change() -> impl Strategy<Value = StateChange> {
    let value = || prop::option::of(".{0,12}");
    (state(), value(), value()).prop_map(|(state, before, after)| StateChange {
        state,
        before,
        after,
    })
}

fn covered() -> impl Strategy<Value = CoveredRecord> {
    let blocks = prop::collection::vec(any::<u64>(), 0..3);
    (".{0,9}", blocks, any::<bool>()).prop_map(|(program, blocks, is_lost)| CoveredRecord {
        program,
        blocks,
        is_lost,
    })
}

fn access() -> impl Strategy<Value = AccessRecord> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (state(), flags).prop_map(|(state, (writes, unseen, own, met))| AccessRecord {
        state,
        writes,
        stack: Vec::new(),
        unseen,
        own,
        met,
    })
}

fn schedule() -> impl Strategy<Value = ScheduleRecord> {
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
    let course = course.prop_map(|(decisions, is_whole)| Course {
        decisions,
        is_whole,
    });
    let course = prop::option::of(course);
    (counts, prop::option::of(end), course, trace).prop_map(
        |((threads, steps, time_us, leaks), end, course, trace)| ScheduleRecord {
            threads,
            steps,
            switches: steps / 2,
            holds: steps / 3,
            longest_delay: steps / 5,
            time_us,
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
        stack: time / 2,
    });
    let operations = prop::collection::vec(operation, 0..3);
    let names = prop::collection::vec(".{0,8}", 0..2);
    (operations, names, point(), any::<u64>()).prop_map(|(operations, names, point, skipped)| {
        Trace {
            threads: vec![TracedThread {
                path: point.thread,
                name: names.first().cloned(),
            }],
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
    (".{0,8}", outcome(), any::<u64>(), any::<bool>()).prop_map(
        |(test, end, micros, left_child)| ForkRecord {
            test,
            end,
            micros,
            left_child,
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (".{0,8}", point()).prop_map(|(test, point)| Event::Site { test, point }),
        (
            ".{0,8}",
            prop::collection::vec(point(), 0..3),
            prop::collection::vec(choice(), 0..3)
        )
            .prop_map(|(test, points, choices)| Event::Points {
                test,
                points,
                choices
            }),
        (".{0,8}", step()).prop_map(|(test, step)| Event::Step { test, step }),
        (".{0,8}", failure()).prop_map(|(test, failure)| Event::Panic { test, failure }),
        (
            ".{0,8}",
            any::<u64>(),
            prop::option::of(any::<u64>()),
            network()
        )
            .prop_map(|(test, id, socket, network)| Event::Network {
                test,
                id,
                socket,
                network
            }),
        (".{0,8}", any::<u64>()).prop_map(|(test, socket)| Event::Received { test, socket }),
        (".{0,8}", operation()).prop_map(|(test, operation)| Event::Operation { test, operation }),
        (".{0,8}", sources()).prop_map(|(test, sources)| Event::Sources { test, sources }),
        (".{0,8}", schedule()).prop_map(|(test, schedule)| Event::Schedule { test, schedule }),
        (".{0,8}", any::<bool>(), prop::option::of(failure())).prop_map(
            |(test, passed, failure)| Event::End {
                test,
                passed,
                failure
            }
        ),
        (".{0,8}", prop::collection::vec(change(), 0..3))
            .prop_map(|(test, changes)| Event::States { test, changes }),
        (".{0,8}", access()).prop_map(|(test, access)| Event::Access { test, access }),
        (".{0,8}", covered()).prop_map(|(test, covered)| Event::Covered { test, covered }),
        (".{0,8}", fork()).prop_map(|(test, fork)| Event::Forked { test, fork }),
        (".{0,8}", any::<u64>(), any::<bool>()).prop_map(|(test, threads, has_children)| {
            Event::Unforked {
                test,
                threads,
                has_children,
            }
        }),
    ]
}

proptest! {
    #[test]
    fn a_spec_survives_the_round_trip(
        test in ".{0,20}", level in 0..5_usize, seed in any::<u64>(), choices in selection(),
        models_off in prop::collection::vec(".{0,8}", 0..3), record in prop::option::of("[a-z/]{1,8}"),
        trace in prop::collection::vec(site(), 0..2), given in prop::collection::vec(given(), 0..3),
        schedule in prop::sample::select(&Schedule::ALL), threads in prop::sample::select(&Threads::ALL),
        forks in prop::option::of((prop::collection::vec(".{0,8}", 0..3), prop::collection::vec(any::<u64>(), 0..3))), states in any::<bool>(),
        restore in prop::collection::vec(state(), 0..2), watch in prop::collection::vec(state(), 0..2),
        meet in prop::option::of(any::<u64>()), until in prop::option::of(any::<u64>()), within in any::<bool>(),
        lines in any::<bool>(),
    ) {
        let record = record.map(Into::into);
        let forks = forks.map(|(tests, limits_ms)| Forks { tests, limits_ms });
        let spec = RunSpec {
            choices, models_off, record, trace, given, schedule, threads, forks, states, restore, watch, lines, meet, until, within,
            ..RunSpec::new(test, Level::ALL[level], seed)
        };
        prop_assert_eq!(&RunSpec::from_json(&spec.to_json()).unwrap(), &spec);
        prop_assert_eq!(spec.to_json(), serde_json::to_string(&spec).unwrap());
        let pretty = serde_json::to_string_pretty(&spec).unwrap();
        prop_assert_eq!(&RunSpec::from_json(&pretty).unwrap(), &spec);
        prop_assert_eq!(serde_json::from_str::<RunSpec>(&pretty).unwrap(), spec);
    }

    #[test]
    fn a_record_survives_the_round_trip(
        test in ".{0,20}", outcome in outcome(), failure in prop::option::of(failure()),
        points in prop::collection::vec(point(), 0..4), network in prop::collection::vec(network(), 0..3),
        choices in prop::collection::vec(choice(), 0..3), steps in prop::collection::vec(step(), 0..2),
        failed_operations in prop::collection::vec(operation(), 0..2),
        sources in sources(), schedule in prop::option::of(schedule()), states in prop::collection::vec(change(), 0..2), accesses in prop::collection::vec(access(), 0..2), covered in prop::collection::vec(covered(), 0..2),
    ) {
        let record = RunRecord {
            protocol: PROTOCOL, algorithm: 1, test, outcome, failure, points, choices, steps, network,
            failed_operations, sources, schedule, states, accesses, covered,
        };
        let text = json::to_string(&record);
        prop_assert_eq!(&text, &serde_json::to_string(&record).unwrap());
        prop_assert_eq!(&json::from_str::<RunRecord>(&text).unwrap(), &record);
        prop_assert_eq!(serde_json::from_str::<RunRecord>(&text).unwrap(), record);
    }

    #[test]
    fn events_survive_the_round_trip_and_a_cut_last_line(
        events in prop::collection::vec(event(), 0..5), cut in 1..40_usize,
    ) {
        let lines: String = events.iter().map(|event| json::to_string(event) + "\n").collect();
        prop_assert_eq!(&RunRecord::parse_events(&lines).unwrap(), &events);
        for (line, event) in lines.lines().zip(&events) {
            prop_assert_eq!(line, serde_json::to_string(event).unwrap());
            prop_assert_eq!(&serde_json::from_str::<Event>(line).unwrap(), event);
        }
        let mut last = String::from(r#"{"event":"end","test":"t","passed":true}"#);
        last.truncate(cut.min(last.len()));
        prop_assert_eq!(&RunRecord::parse_events(&(lines + &last)).unwrap(), &events);
    }
}

#[test]
fn a_spec_of_another_protocol_or_with_an_unknown_field_is_refused_by_name() {
    let text = RunSpec::clean("t").to_json();
    let newer = text.replace("\"protocol\":1", "\"protocol\":9");
    assert_eq!(
        RunSpec::from_json(&newer).unwrap_err(),
        "the run spec has protocol 9, this runtime speaks 1"
    );
    let unknown = text.replace("\"seed\"", "\"sede\":1,\"seed\"");
    assert!(
        RunSpec::from_json(&unknown)
            .unwrap_err()
            .contains("unknown field `sede`")
    );
}

proptest! {
    #[test]
    fn any_text_is_read_as_serde_json_reads_it_or_refused(text in "[\\[\\]{}\",:0-9a\\\\u \\-]{0,24}") {
        if let Ok(ours) = json::from_str::<Vec<Option<String>>>(&text) {
            prop_assert_eq!(ours, serde_json::from_str::<Vec<Option<String>>>(&text).unwrap());
        }
    }
}

#[test]
fn escapes_and_surrogates_are_read_and_halves_of_them_refused() {
    let read = |text: &str| json::from_str::<String>(text);
    assert_eq!(read(r#""\u00e9\ud83d\ude00\n\/""#).as_deref(), Ok("é😀\n/"));
    for bad in [
        r#""\ud83d""#,
        r#""\ud83d\u0041""#,
        r#""\x""#,
        r#""\u12"#,
        r#""a"#,
        "\"a\" b",
        "",
    ] {
        assert!(read(bad).is_err(), "{bad}");
    }
}

/// What an older driver wrote is read by a newer one, so a name never changes.
#[test]
fn the_names_of_the_protocol_are_these() {
    let site = r#"{"api":"a","family":"hash_map","file":"f","line":1,"column":2}"#;
    let spec = format!(
        r#"{{"protocol":1,"test":"t","level":"EQ","seed":3,"schedule":"random","choices":{{"only":[{{"site":{site},"calls":{{"thread":"0","from":1,"to":2}}}}]}},"models_off":["m"],"record":"r","given":[{{"site":{site},"thread":"0","ordinal":0,"order":{{"steps":4}}}},{{"site":{site},"thread":"0","ordinal":1,"order":{{"ranks":[1,0]}}}}],"trace":[{site}],"network":"block","network_allow":["h"],"preload":"p","observe":[{{"operation":"bind","error":"EACCES"}}]}}"#
    );
    assert_eq!(RunSpec::from_json(&spec).unwrap().to_json(), spec);

    let frame = r#"{"function":"f","file":"g","line":1}"#;
    let record = format!(
        r#"{{"protocol":1,"algorithm":1,"test":"t","outcome":{{"exited":-3}},"failure":{{"message":"m","file":"f","line":1}},"points":[{{"site":{site},"thread":"0","count":1,"max_len":2,"stack":[{frame}]}}],"choices":[{{"p":1,"o":2,"n":3,"a":4}},{{"p":1,"n":3}}],"steps":[{{"site":{site},"thread":"0","ordinal":0,"len":2,"steps":1,"position":0,"exchanged":[{{"rank":0,"index":1,"name":"n","stack":[{frame}]}}],"created":[{frame}]}}],"network":[{{"operation":"connect","target":"t","host":"h","outcome":{{"failed":"E"}},"thread":"0","site":"s","count":1,"elapsed_ms":0,"stack":[{frame}]}}],"failed_operations":[{{"operation":"bind","target":"t","error":"E","thread":"0","site":"s","stack":[{frame}]}}]}}"#
    );
    let read: RunRecord = json::from_str(&record).unwrap();
    assert_eq!(json::to_string(&read), record);

    for (name, value) in [
        (r#""passed""#, Outcome::Passed),
        (r#""failed""#, Outcome::Failed),
        (r#"{"signalled":6}"#, Outcome::Signalled(6)),
        (r#""timed_out""#, Outcome::TimedOut),
    ] {
        assert_eq!(json::to_string(&value), name);
    }
    for (name, value) in [
        (r#""pending""#, NetworkOutcome::Pending),
        (r#""answered""#, NetworkOutcome::Answered),
    ] {
        assert_eq!(json::to_string(&value), name);
    }
    for (name, value) in [
        (r#""none""#, Selection::None),
        (r#""all""#, Selection::All),
        (r#"{"except":[]}"#, Selection::Except(Vec::new())),
    ] {
        assert_eq!(json::to_string(&value), name);
    }
}

#[test]
fn what_is_not_of_the_type_is_refused_with_what_was_expected() {
    for (text, message) in [
        (
            r#""STOPPED""#,
            "unknown variant `STOPPED`, expected one of `passed`, `failed`, `exited`, `signalled`, `timed_out`",
        ),
        (
            r#"{"exited":"x"}"#,
            "expected a number of 32 bits, found a string",
        ),
        (r#"{"passed":1}"#, "unknown variant `passed`"),
        (
            r#"3"#,
            "invalid type: a number, expected a variant of Outcome",
        ),
    ] {
        let error = json::from_str::<Outcome>(text).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    for (text, message) in [
        (r#"{"function":"f","file":"g"}"#, "missing field `line`"),
        (
            r#"{"function":"f","file":"g","line":4294967296}"#,
            "`line` of Frame: expected a number of 32 bits",
        ),
        (
            r#"{"function":"f","file":"g","line":1,"line":2}"#,
            "duplicate field `line` of Frame",
        ),
        ("[]", "invalid type: a list, expected Frame"),
    ] {
        let error = json::from_str::<Frame>(text).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    assert!(json::from_str::<json::Value>(&"[".repeat(100_000)).is_err());
}

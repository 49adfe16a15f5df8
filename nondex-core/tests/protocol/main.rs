//! The protocol between the driver and a test process: everything that is written can be read, and
//! nothing else.

mod any;

use nondex_core::{
    Event, Files, Frame, NetworkOutcome, Outcome, PROTOCOL, RunRecord, RunSpec, Selection, json,
};
use proptest::prelude::*;

use any::{
    access, change, choice, choices, covered, event, execution, failure, network, operation,
    outcome, point, schedule, site, sources, step,
};

proptest! {
    #[test]
    fn a_spec_survives_the_round_trip(
        test in ".{0,20}", choices in choices(),
        models_off in prop::collection::vec(".{0,8}", 0..3),
            record in prop::option::of("[a-z/]{1,8}"),
        trace in prop::collection::vec(site(), 0..2), execution in execution(),
        only in prop::collection::vec("[a-z/]{1,8}", 0..2),
        skip in prop::collection::vec("[a-z/]{1,8}", 0..2),
    ) {
        let record = record.map(Into::into);
        let spec = RunSpec {
            choices, models_off, record, trace, execution, files: Files { only, skip },
            ..RunSpec::clean(test)
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
        points in prop::collection::vec(point(), 0..4), network in prop::collection::vec(network(),
            0..3),
        choices in prop::collection::vec(choice(), 0..3), steps in prop::collection::vec(step(),
            0..2),
        failed_operations in prop::collection::vec(operation(), 0..2),
        sources in sources(), schedule in prop::option::of(schedule()),
            states in prop::collection::vec(change(), 0..2),
                accesses in prop::collection::vec(access(), 0..2),
                    covered in prop::collection::vec(covered(), 0..2),
    ) {
        let record = RunRecord {
            protocol: PROTOCOL, algorithm: 1, test, outcome, failure, points, choices, steps,
            network,
            failed_operations, sources, schedule, states, accesses, covered,
        };
        let text = json::to_string(&record);
        prop_assert_eq!(&text, &serde_json::to_string(&record).unwrap());
        prop_assert_eq!(&json::from_str::<RunRecord>(&text).unwrap(), &record);
        prop_assert_eq!(serde_json::from_str::<RunRecord>(&text).unwrap(), record);
    }

    #[test]
    fn events_survive_the_round_trip(events in prop::collection::vec(event(), 0..5)) {
        let texts: Vec<String> = events.iter().map(json::to_string).collect();
        prop_assert_eq!(&RunRecord::parse_events(&texts).unwrap(), &events);
        for (text, event) in texts.iter().zip(&events) {
            prop_assert_eq!(text, &serde_json::to_string(event).unwrap());
            prop_assert_eq!(&serde_json::from_str::<Event>(text).unwrap(), event);
        }
    }
}

#[test]
fn a_spec_of_another_protocol_or_with_an_unknown_field_is_refused_by_name() {
    let text = RunSpec::clean("t").to_json();
    let newer = text.replace("\"protocol\":3", "\"protocol\":9");
    assert_eq!(
        RunSpec::from_json(&newer).unwrap_err(),
        "the run spec has protocol 9, this runtime speaks 3"
    );
    let unknown = text.replace("\"choices\"", "\"choise\":1,\"choices\"");
    assert!(RunSpec::from_json(&unknown).unwrap_err().contains("unknown field `choise`"));
}

proptest! {
    #[test]
    fn any_text_is_read_as_serde_json_reads_it_or_refused(text in
        "[\\[\\]{}\",:0-9a\\\\u \\-]{0,24}") {
        if let Ok(ours) = json::from_str::<Vec<Option<String>>>(&text) {
            prop_assert_eq!(ours, serde_json::from_str::<Vec<Option<String>>>(&text).unwrap());
        }
    }
}

#[test]
fn escapes_and_surrogates_are_read_and_halves_of_them_refused() {
    let read = |text: &str| json::from_str::<String>(text);
    assert_eq!(read(r#""\u00e9\ud83d\ude00\n\/""#).as_deref(), Ok("é😀\n/"));
    for bad in [r#""\ud83d""#, r#""\ud83d\u0041""#, r#""\x""#, r#""\u12"#, r#""a"#, "\"a\" b", ""] {
        assert!(read(bad).is_err(), "{bad}");
    }
}

/// A newer driver reads what an older driver of this protocol wrote, so names never change.
#[test]
fn the_names_of_the_protocol_are_these() {
    let site = r#"{"api":"a","family":"hash_map","file":"f","line":1,"column":2}"#;
    let spec = concat!(
        r#"{"protocol":3,"test":"t","choices":{"drawn":{"level":"EQ","seed":3,"#,
        r#""schedule":"random","selection":{"only":[{"site":$site,"calls":"#,
        r#"{"thread":"0","from":1,"to":2}}]},"given":[{"site":$site,"#,
        r#""thread":"0","ordinal":0,"choice":{"steps":4}},{"site":$site,"#,
        r#""thread":"0","ordinal":1,"choice":{"ranks":[1,0]}}]}},"#,
        r#""models_off":["m"],"record":"r","trace":[$site],"#,
        r#""network":{"block":["h"]},"preload":"p","#,
        r#""observe":[{"operation":"bind","error":"EACCES"}],"start":"process"}"#,
    )
    .replace("$site", site);
    assert_eq!(RunSpec::from_json(&spec).unwrap().to_json(), spec);
    for execution in [
        r#"{"scheduled":{"max_steps":1,"operations":2}}"#,
        concat!(
            r#"{"in_order":{"before":["a"],"forks":{"tests":["b"],"limits_ms":[3]},"#,
            r#""changes":true,"watch":[{"kind":"env","name":"V"}],"lines":true,"#,
            r#""put_back":[{"kind":"cwd","name":""}]}}"#,
        ),
        concat!(
            r#"{"interleaved":{"with":"a","inner":true,"state":{"kind":"env","name":"V"},"#,
            r#""interrupt_at":1,"pause_at":2,"lines":true,"put_back":true}}"#,
        ),
    ] {
        let spec =
            format!(r#"{{"protocol":3,"test":"t","execution":{execution},"choices":"canonical"}}"#);
        assert_eq!(RunSpec::from_json(&spec).unwrap().to_json(), spec);
    }

    let frame = r#"{"function":"f","file":"g","line":1}"#;
    let record = concat!(
        r#"{"protocol":3,"algorithm":1,"test":"t","outcome":{"exited":-3},"#,
        r#""failure":{"message":"m","file":"f","line":1},"#,
        r#""points":[{"site":$site,"thread":"0","count":1,"max_len":2,"#,
        r#""stack":[$frame]}],"choices":[{"p":1,"o":2,"n":3,"a":4},{"p":1,"#,
        r#""n":3}],"steps":[{"site":$site,"thread":"0","ordinal":0,"len":2,"#,
        r#""steps":1,"position":0,"exchanged":[{"rank":0,"index":1,"name":"n","#,
        r#""stack":[$frame]}],"created":[$frame]}],"#,
        r#""network":[{"operation":"connect","target":"t","host":"h","#,
        r#""outcome":{"failed":"E"},"thread":"0","site":"s","count":1,"#,
        r#""elapsed_ms":0,"stack":[$frame]}],"#,
        r#""failed_operations":[{"operation":"bind","target":"t","error":"E","#,
        r#""thread":"0","site":"s","stack":[$frame]}]}"#,
    )
    .replace("$frame", frame)
    .replace("$site", site);
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
    for (name, value) in
        [(r#""pending""#, NetworkOutcome::Pending), (r#""answered""#, NetworkOutcome::Answered)]
    {
        assert_eq!(json::to_string(&value), name);
    }
    for (name, value) in
        [(r#""all""#, Selection::All), (r#"{"except":[]}"#, Selection::Except(Vec::new()))]
    {
        assert_eq!(json::to_string(&value), name);
    }
}

#[test]
fn what_is_not_of_the_type_is_refused_with_what_was_expected() {
    for (text, message) in [
        (
            r#""STOPPED""#,
            "unknown variant `STOPPED`, expected one of `passed`, `failed`, `exited`, \
             `signalled`, `timed_out`",
        ),
        (r#"{"exited":"x"}"#, "expected a number of 32 bits, found a string"),
        (r#"{"passed":1}"#, "unknown variant `passed`"),
        (r#"3"#, "invalid type: a number, expected a variant of Outcome"),
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
        (r#"{"function":"f","file":"g","line":1,"line":2}"#, "duplicate field `line` of Frame"),
        ("[]", "invalid type: a list, expected Frame"),
    ] {
        let error = json::from_str::<Frame>(text).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    assert!(json::from_str::<json::Value>(&"[".repeat(100_000)).is_err());
}

//! Tests that disturb each other when they run at the same time.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Report;
use cargo_nondex::report::schema::Race;
use serde_json::Value;

use super::{reported, reproduced};
use crate::support::{Fixture, test};

#[test]
fn tests_that_disturb_each_other_only_at_the_same_time_are_races_over_what_they_share() {
    let fixture = Fixture::new("order-races");
    let source = fs::read_to_string(fixture.path("src/lib.rs")).unwrap();
    let truth = fs::read_to_string(fixture.path("truth.json")).unwrap();
    let truth: BTreeMap<String, Value> = serde_json::from_str(&truth).unwrap();
    let output = reported(&fixture, "order", &[]);
    let report = output.expect(ExitCode::Found).report();
    assert_eq!(report.tests.len(), truth.len());
    for test in &report.tests {
        let expected = &truth[&test.name];
        assert_eq!(test.verdict.name(), expected["verdict"], "{test:#?}");
        let Some(race) = &test.race else {
            assert_eq!(expected["with"], Value::Null, "{test:#?}");
            continue;
        };
        assert_eq!(*race.with, expected["with"][0], "{race:?}");
        let with = &race.with;
        let how = match (race.pause_at, race.inner) {
            (None, false) => format!("fails when `{with}` runs in the middle of it"),
            (None, true) => format!("fails when it runs in the middle of `{with}`"),
            (Some(_), _) => format!("fails when it is interleaved with `{with}`"),
        };
        output.prints(&[&format!("error[ND]: `{}` {how}", test.id)]);
        assert_eq!(race.state.kind, expected["state"][0], "{race:?}");
        let name = expected["state"][1].as_str().unwrap();
        assert!(race.state.name.ends_with(name), "{race:?}");
        assert!(race.state.confirmed, "{race:?}");
        let read = race.state.read.as_ref().expect("where it is met");
        let written = race.state.written.as_ref().expect("where it is changed");
        assert_eq!((&*read.file, &*written.file), ("src/lib.rs", "src/lib.rs"));
        for (side, line) in [("read", read.line), ("written", written.line)] {
            let text = source.lines().nth(line as usize - 1).unwrap();
            let expected = expected[side].as_str().unwrap_or_default();
            assert!(text.contains(expected), "{side} is `{text}`: {race:?}");
        }
        output.prints(&[&format!("`{}` changes the ", written.test)]);
        output.prints(&[&format!("`{}` uses it here", test.name)]);
        reproduced(&fixture, test).expect(ExitCode::Found);
    }
    // The budget is a limit, and the report names what it leaves out.
    let within = |processes: &str| {
        let output = reported(&fixture, "order", &["--interleavings", processes, "variable::"]);
        let races = races(&output.report());
        let left = format!("after {processes} processes, and `--interleavings` raises it");
        let notes = output.report().notes;
        let is_noted = notes.iter().any(|note| note.contains(&left));
        (races.iter().flatten().count(), is_noted)
    };
    assert_eq!(within("0"), (0, true));
    assert_eq!(within("400"), (2, false));
}

/// Returns the race of each test.
fn races(report: &Report) -> Vec<Option<Race>> {
    let races = report.tests.iter().map(|test| test.race.clone());
    races.collect()
}

#[test]
#[ignore = "second tier: the same search several times"]
fn races_are_the_same_in_every_run_and_whatever_is_left_out() {
    let fixture = Fixture::new("order-races");
    let report = reported(&fixture, "order", &[]).report();
    let again = reported(&fixture, "order", &[]).report();
    assert_eq!(races(&again), races(&report));
    // The result does not depend on whether several interleavings run at a time.
    let one_by_one = reported(&fixture, "order", &["--jobs", "1"]).report();
    assert_eq!(races(&one_by_one), races(&report));
    // Some runs are left out: for tests that are not selected, and for tests whose race is known.
    // They would change nothing.
    for name in ["variable::is_one", "several::finds_one", "counter::adds"] {
        let alone = reported(&fixture, "order", &[name]).report();
        let (alone, known) = (test(&alone, name), test(&report, name));
        assert_eq!((alone.verdict, &alone.race), (known.verdict, &known.race));
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn tests_that_wait_for_each_other_in_a_loop_are_left_alone_after_one_meeting() {
    let fixture = Fixture::new("order-races");
    let suite = "
        #![cfg(test)]
        use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

        static IS_TAKEN: AtomicBool = AtomicBool::new(false);
        static COUNTER: AtomicUsize = AtomicUsize::new(0);

        fn counts() {
            while IS_TAKEN.swap(true, SeqCst) {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            let before = COUNTER.load(SeqCst);
            COUNTER.fetch_add(1, SeqCst);
            assert_eq!(COUNTER.load(SeqCst), before + 1);
            IS_TAKEN.store(false, SeqCst);
        }

        #[test]
        fn is_first() {
            counts();
        }

        #[test]
        fn is_second() {
            counts();
        }
    ";
    fs::write(fixture.path("src/lib.rs"), suite).unwrap();
    let report = reported(&fixture, "order", &["is_first"]).expect(ExitCode::Ok).report();
    let reason = "at every access of `is_first`, `is_second`: one such run took seconds";
    let is_noted = report.notes.iter().any(|note| note.contains(reason));
    assert!(is_noted, "{:?}", report.notes);
}

#[test]
fn a_test_that_is_stopped_for_longer_than_its_own_time_limit_does_not_race() {
    let fixture = Fixture::new("order-races");
    let suite = r#"
        #![cfg(test)]
        use std::process::Command;
        use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
        use std::time::{Duration, Instant};

        static USES: AtomicUsize = AtomicUsize::new(0);

        #[test]
        fn lasts() {
            USES.fetch_add(1, SeqCst);
            Command::new("sleep").arg("0.6").status().unwrap();
        }

        #[test]
        fn has_a_limit() {
            let begin = Instant::now();
            USES.fetch_add(1, SeqCst);
            assert!(begin.elapsed() < Duration::from_millis(500));
        }
    "#;
    fs::write(fixture.path("src/lib.rs"), suite).unwrap();
    let report = reported(&fixture, "order", &[]).expect(ExitCode::Ok).report();
    assert_eq!(races(&report), [None, None]);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_test_that_is_stopped_for_long_races_unless_it_fails_when_it_only_waits() {
    let fixture = Fixture::new("order-races");
    let suite = r#"
        #![cfg(test)]
        use std::process::Command;
        use std::sync::Mutex;

        // What the list owns is not put back, so that it is not proven.
        static LIST: Mutex<Vec<&str>> = Mutex::new(Vec::new());

        fn adds(name: &'static str) {
            LIST.lock().unwrap().clear();
            Command::new("sleep").arg("0.21").status().unwrap();
            LIST.lock().unwrap().push(name);
            assert_eq!(*LIST.lock().unwrap(), [name]);
        }

        #[test]
        fn adds_one() {
            adds("one");
        }

        #[test]
        fn adds_another() {
            adds("another");
        }
    "#;
    fs::write(fixture.path("src/lib.rs"), suite).unwrap();
    let report = reported(&fixture, "order", &["adds_one"]).expect(ExitCode::Found).report();
    let race = test(&report, "adds_one").race.as_ref().expect("it is no time limit that decides");
    assert!(race.state.name.ends_with("LIST"), "{race:?}");
}

#[test]
fn tests_that_need_the_same_port_race_over_it() {
    let fixture = Fixture::new("order-races");
    let suite = r#"
        #![cfg(test)]
        use std::net::{TcpListener, UdpSocket};

        fn listens(port: u16) {
            let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
            assert!(listener.local_addr().unwrap().port() > 0);
        }

        #[test]
        fn listens_on_it() {
            listens(PORT);
        }

        #[test]
        fn listens_on_it_too() {
            listens(PORT);
        }

        #[test]
        fn receives_on_it() {
            UdpSocket::bind(("127.0.0.1", PORT)).unwrap();
        }

        #[test]
        fn receives_on_it_too() {
            UdpSocket::bind(("127.0.0.1", PORT)).unwrap();
        }

        #[test]
        fn takes_what_is_free() {
            listens(0);
        }

        #[test]
        fn takes_what_is_free_too() {
            listens(0);
        }
    "#;
    // The system never assigns a port below 32,768 to other processes.
    let first = 20_000 + u16::try_from(std::process::id() % 10_000).unwrap();
    let mut ports = first..32_000;
    let port = ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    let suite = suite.replace("PORT", &port.expect("a free port").to_string());
    fs::write(fixture.path("src/lib.rs"), suite).unwrap();
    let report = reported(&fixture, "order", &[]).report();
    for (name, with) in [
        ("listens_on_it", Some("listens_on_it_too")),
        ("listens_on_it_too", Some("listens_on_it")),
        ("receives_on_it", Some("receives_on_it_too")),
        ("receives_on_it_too", Some("receives_on_it")),
        ("takes_what_is_free", None),
        ("takes_what_is_free_too", None),
    ] {
        let found = test(&report, name);
        let race = found.race.as_ref();
        assert_eq!(race.map(|race| &*race.with), with, "{found:#?}");
        if let Some(race) = race {
            let state = (&*race.state.kind, race.state.confirmed);
            assert_eq!(state, ("port", true), "{race:?}");
            reproduced(&fixture, found).expect(ExitCode::Found);
        }
    }
}

#[test]
fn of_several_variables_that_two_tests_set_the_one_that_decides_is_named_though_it_is_the_last() {
    let fixture = Fixture::new("order-races");
    let suite = r#"
        #![cfg(test)]

        fn last_of(value: &str) -> Option<String> {
            for name in ["A", "B", "C"] {
                unsafe { std::env::set_var(format!("ORDER_RACES_{name}"), "1") };
            }
            unsafe { std::env::set_var("ORDER_RACES_D", value) };
            std::env::vars().find(|(name, _)| name == "ORDER_RACES_D").map(|(_, value)| value)
        }

        #[test]
        fn sets_it_empty() {
            assert!(last_of("").is_some());
        }

        #[test]
        fn sets_it_to_a_list() {
            assert_eq!(last_of("a,b").as_deref(), Some("a,b"));
        }
    "#;
    fs::write(fixture.path("src/lib.rs"), suite).unwrap();
    let report = reported(&fixture, "order", &["sets_it_to_a_list"]).report();
    let race = test(&report, "sets_it_to_a_list").race.as_ref();
    let state = race.map(|race| (&*race.state.name, race.state.confirmed));
    assert_eq!(state, Some(("ORDER_RACES_D", true)));
}

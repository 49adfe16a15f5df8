//! Tests that depend on those before them in their process. What the fixture's tests come to is in its `truth.json`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use nondex_core::{Outcome, Threads};
use nondex_harness::exit_code::ExitCode;
use nondex_harness::report::schema::SharedState;
use nondex_harness::report::{Report, TestReport, Verdict};
use serde_json::Value;

use crate::support::{Fixture, Nondex, Output, test};

/// A call with a folder for temporary files that nothing was left in.
fn nondex(fixture: &Fixture, command: &str, args: &[&str]) -> Output {
    called(
        fixture,
        Nondex::command(&fixture.path(""), command).args(args),
    )
}

/// The same, whose report is read.
fn reported(fixture: &Fixture, command: &str, args: &[&str]) -> Output {
    let shown = ["--offline", "--message-format", "json"];
    nondex(fixture, command, &[&shown, args].concat())
}

fn called(fixture: &Fixture, call: Nondex) -> Output {
    let folder = fixture.path("target/temporary");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    call.env("TMPDIR", folder).run()
}

/// The output of the command that reproduces a test's failure.
fn reproduced(fixture: &Fixture, test: &TestReport) -> Output {
    let command = test.reproduce.as_deref().expect("it can be reproduced");
    called(fixture, Nondex::pasted(&fixture.path(""), command))
}

#[test]
fn a_test_that_needs_another_before_it_is_brittle_not_broken() {
    let fixture = Fixture::new("order");
    let output = reported(&fixture, "run", &["--seeds", "1"]);
    let report = output.expect(ExitCode::Found).report();
    for (name, setters) in [
        ("chain::b_writes", ["chain::a_opens"]),
        ("user::finds_it_filled", ["registry::fills"]),
    ] {
        let test = test(&report, name);
        assert_eq!(test.verdict, Verdict::OrderDependentBrittle, "{test:#?}");
        let order = test.order.as_ref().expect("its order is known");
        assert_eq!(order.setters, setters);
        assert!(order.polluters.is_empty() && order.complete);
        assert_eq!(
            test.ordinary, None,
            "cargo test passes: there is nothing to compare"
        );
        output.says(&[
            &format!("error[OD-brittle]: `{}`", test.id),
            &format!("setter: `{}`", setters[0]),
        ]);
        reproduced(&fixture, test).expect(ExitCode::Found);
        let behind = [&test.id, "--after", setters[0]];
        nondex(&fixture, "replay", &behind).expect(ExitCode::Ok);
    }
    assert_eq!(test(&report, "plain::is_broken").verdict, Verdict::Broken);
    // The setter need not be selected.
    let output = reported(&fixture, "run", &["--seeds", "0", "finds_it_filled"]);
    let report = output.expect(ExitCode::Found).report();
    let order = test(&report, "user::finds_it_filled").order.clone();
    assert_eq!(order.unwrap().setters, ["registry::fills"]);
}

#[test]
fn an_order_that_cannot_be_is_refused() {
    let fixture = Fixture::new("order");
    let id = "order::states$counter::is_zero";
    for (after, expected) in [
        (
            &["counter::no_such"][..],
            "there is no test `counter::no_such` in `order::states`",
        ),
        (
            &["counter::adds", "counter::adds"],
            "`counter::adds` is to run twice",
        ),
        (&["counter::is_zero"], "`counter::is_zero` is to run twice"),
    ] {
        let mut args = vec![id];
        after.iter().for_each(|test| args.extend(["--after", test]));
        nondex(&fixture, "replay", &args)
            .expect(ExitCode::Usage)
            .says(&[expected]);
    }
}

/// Asserts that the report says of each test what the fixture's truth does.
fn expect_truth(fixture: &Fixture, report: &Report) {
    let truth = fs::read_to_string(fixture.path("truth.json")).unwrap();
    let truth: BTreeMap<String, Value> = serde_json::from_str(&truth).unwrap();
    assert_eq!(report.tests.len(), truth.len());
    for test in &report.tests {
        let expected = &truth[&test.name];
        assert_eq!(test.verdict.name(), expected["verdict"], "{test:#?}");
        if let Some(idempotent) = test.idempotent {
            let expected = expected["idempotent"].as_bool().unwrap_or(true);
            assert_eq!(idempotent, expected, "{test:#?}");
        }
        let order = test.order.clone().unwrap_or_default();
        let only_each = test.notes.iter().any(|note| note.contains("on one thread"));
        let only = match order.threads {
            Threads::One => "one",
            Threads::Each if only_each => "each",
            Threads::Each => "any",
        };
        assert_eq!(
            only,
            expected["only"].as_str().unwrap_or("any"),
            "{test:#?}"
        );
        expect_state(fixture, &order.state, expected, &test.name);
        for (role, names) in [
            ("polluters", order.polluters),
            ("setters", order.setters),
            ("cleaners", order.cleaners),
        ] {
            let expected = expected[role].as_array().into_iter().flatten();
            let expected: BTreeSet<&str> = expected.filter_map(Value::as_str).collect();
            let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
            assert_eq!(names, expected, "the {role} of {}", test.name);
        }
    }
}

/// Asserts that these are the parts of the state that the tests share, and that the lines are named that change and meet it, where there
/// is a line.
fn expect_state(fixture: &Fixture, found: &[SharedState], truth: &Value, test: &str) {
    let Some(expected) = truth["state"].as_array() else {
        assert!(found.is_empty(), "{test}: {found:?}");
        return;
    };
    assert_eq!(found.len(), expected.len() - 1, "{test}: {found:?}");
    let says = |what: &str, usually: bool| truth[what].as_bool().unwrap_or(usually);
    for (found, name) in found.iter().zip(&expected[1..]) {
        assert_eq!(
            found.confirmed,
            says("confirmed", true),
            "{test}: {found:?}"
        );
        assert_eq!(found.joint, says("joint", false), "{test}: {found:?}");
        let name = name.as_str().unwrap();
        let kind = expected[0].as_str().unwrap();
        let (kind, name) = match name.split_once(':') {
            Some((kind, name)) if kind == "env" => (kind, name),
            _ => (kind, name),
        };
        assert_eq!(found.kind, kind, "{test}");
        assert!(found.name.ends_with(name), "{test}: {found:?}");
        let is_without = |side: &str| truth.get(side).is_some_and(Value::is_null);
        if is_without("read") {
            assert_eq!(found.read, None, "{test}");
            let written = found.written.is_none();
            assert_eq!(written, is_without("written"), "{test}: {found:?}");
        } else {
            expect_lines(fixture, found, test);
        }
    }
}

fn expect_lines(fixture: &Fixture, found: &SharedState, test: &str) {
    let line = |file: &str, line: u32| {
        let text = fs::read_to_string(fixture.path(file)).unwrap();
        text.lines().nth(line as usize - 1).unwrap().to_owned()
    };
    let is_static = ["static", "thread_local", "lock"].contains(&found.kind.as_str());
    let symbol = match is_static {
        true => found.name.rsplit("::").next().unwrap(),
        false => "",
    };
    if is_static {
        let defined = found.defined.as_ref().expect(test);
        let text = line(&defined.file, defined.line);
        assert!(
            text.contains("static") && text.contains(symbol),
            "{test}: {text}"
        );
    }
    // The registers that watch it are not everywhere to be had.
    if cfg!(not(target_arch = "x86_64")) && (is_static || found.kind == "hook") {
        return;
    }
    let read = found.read.as_ref().expect(test);
    let text = line(&read.file, read.line);
    assert!(text.contains(symbol), "{test} reads: {text}");
    // The end of a thread comes after its test.
    if symbol == "ENDED" {
        return;
    }
    let written = found.written.as_ref().expect(test);
    let text = line(&written.file, written.line);
    // A guard poisons its lock where it is dropped.
    assert!(
        text.contains(symbol) || found.kind == "lock",
        "{test}: {text}"
    );
}

#[test]
fn polluters_setters_and_cleaners_are_those_of_the_truth_whatever_the_seed() {
    let fixture = Fixture::new("order");
    let output = reported(&fixture, "order", &["--seed", "0"]);
    expect_truth(&fixture, &output.expect(ExitCode::Found).report());
    // One process at a time, and without pairs, it is the same.
    let others =
        |args: &[&str]| reported(&fixture, "order", &[&["--meetings", "0"], args].concat());
    let alone = others(&["--seed", "3", "--jobs", "1"]);
    expect_truth(&fixture, &alone.report());
    let without_pairs = others(&["--pairs", "0", "--orders", "20"]);
    let report = without_pairs.report();
    expect_truth(&fixture, &report);
    assert!(
        report
            .notes
            .iter()
            .any(|note| note.contains("`--pairs 1122`")),
        "{:?}",
        report.notes
    );
    for test in report.tests.iter().filter(|test| test.order.is_some()) {
        reproduced(&fixture, test).expect(ExitCode::Found);
    }
}

#[test]
fn two_polluters_that_are_needed_together_are_one_set_and_others_are_several() {
    let fixture = Fixture::new("order");
    let output = reported(
        &fixture,
        "order",
        &["is_not_full", "is_default", "c_is_clean"],
    );
    let report = output.expect(ExitCode::Found).report();
    assert_eq!(report.tests.len(), 3);
    let sets = |name| test(&report, name).order.clone().unwrap().sets;
    assert_eq!(sets("list::is_not_full")[0].len(), 2);
    assert_eq!(sets("list::is_not_full").len(), 1);
    assert_eq!(
        sets("name::is_default"),
        [["name::from_config"], ["name::from_flag"]]
    );
    assert_eq!(
        sets("chain::c_is_clean"),
        [["chain::a_opens", "chain::b_writes"]]
    );
    output.says(&[
        "error[OD-victim]: `order::states$name::is_default` fails after `name::from_config`",
        "fails after `chain::a_opens` and then `chain::b_writes`",
        "--after chain::a_opens --after chain::b_writes",
    ]);
}

#[test]
fn what_the_system_keeps_for_a_process_is_named_with_the_lines_that_change_and_meet_it() {
    let fixture = Fixture::new("order-system");
    let output = reported(&fixture, "order", &[]);
    expect_truth(&fixture, &output.expect(ExitCode::Found).report());
}

#[test]
fn the_shapes_of_real_suites_are_told_by_order_and_by_check() {
    let fixture = Fixture::new("order-shapes");
    let output = reported(&fixture, "order", &[]);
    let report = output.expect(ExitCode::Found).report();
    expect_truth(&fixture, &report);
    for test in report.tests.iter().filter(|test| test.order.is_some()) {
        reproduced(&fixture, test).expect(ExitCode::Found);
    }
    let checked = reported(&fixture, "check", &["--seeds", "0"]);
    expect_truth(&fixture, &checked.expect(ExitCode::Found).report());
    // What fails alone and in libtest's order is run in the reverse of it, too, and then right behind each other test.
    let brittle = [
        "brittle::acts_as_a_user",
        "several::both_steps_are_done",
        "several::door_m_is_open",
        "several::gate_m_is_open",
    ];
    let run = reported(&fixture, "run", &[&["--seeds", "0"], &brittle[..]].concat());
    for name in brittle {
        let test = test(&run.report(), name).clone();
        assert_eq!(test.verdict, Verdict::OrderDependentBrittle, "{test:#?}");
    }
}

#[test]
fn tests_of_other_binaries_are_found_by_what_they_leave_and_every_process_finds_the_first_files() {
    let fixture = Fixture::new("order-package");
    let output = reported(&fixture, "order", &[]);
    let report = output.expect(ExitCode::Found).report();
    expect_truth(&fixture, &report);
    let settings = || fs::read_to_string(fixture.path("settings.txt")).unwrap();
    assert_eq!(settings(), "first\n");
    for left in ["generated.txt", "data", "target/mark"] {
        assert!(!fixture.path(left).exists(), "{left}");
    }
    output.says(&["tests leave files in the source tree"]);
    for test in report.tests.iter().filter(|test| test.order.is_some()) {
        reproduced(&fixture, test).expect(ExitCode::Found);
    }
    assert_eq!(settings(), "first\n");
    // The clean runs of a check leave their files before the orders are tried.
    let checked = reported(&fixture, "check", &["--seeds", "0"]);
    expect_truth(&fixture, &checked.expect(ExitCode::Found).report());
    assert_eq!(settings(), "first\n");
    let id = "order-package::a_needs$data_are_there";
    let behind = [id, "--after", "order-package::b_leaves$data"];
    nondex(&fixture, "replay", &behind).expect(ExitCode::Ok);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn where_no_process_may_be_traced_the_state_is_proven_without_its_lines_and_that_is_said() {
    let fixture = Fixture::new("order-unseen");
    let output = reported(&fixture, "order", &[]);
    let report = output.expect(ExitCode::Found).report();
    let order = test(&report, "is_zero").order.clone().unwrap();
    assert_eq!(order.polluters, ["adds"]);
    let [state] = &order.state[..] else {
        panic!("{order:?}");
    };
    assert!(state.confirmed && state.name == "order_unseen::COUNTER");
    assert!(state.read.is_none() && state.written.is_none());
    output.says(&["does not let a process trace another one"]);
}

#[test]
fn a_check_finds_in_one_report_what_a_run_and_an_order_find() {
    let fixture = Fixture::new("order");
    let output = reported(&fixture, "check", &["--seeds", "1", "--levels", "STD"]);
    let report = output.expect(ExitCode::Found).report();
    expect_truth(&fixture, &report);
    for test in &report.tests {
        let notes: BTreeSet<&String> = test.notes.iter().collect();
        assert_eq!(notes.len(), test.notes.len(), "{:?}", test.notes);
    }
    let step = |name: &str| {
        let steps = report.tests.iter().flat_map(|test| &test.steps);
        steps
            .filter(|step| step.name == name)
            .map(|step| step.runs)
            .sum::<u64>()
    };
    assert!(step("clean") >= 2 * report.tests.len() as u64 && step("order") > 0);
}

#[test]
fn a_check_whose_time_is_over_says_what_it_left_out() {
    let fixture = Fixture::new("order");
    let output = reported(&fixture, "check", &["--max-time", "0.001"]);
    let report = output.report();
    assert!(report.partial);
    output.says(&["--max-time"]);
}

#[test]
fn what_tells_most_in_the_least_time_comes_first_where_there_is_no_time_for_all_pairs() {
    let fixture = Fixture::new("order-slow");
    let output = reported(&fixture, "order", &["--max-time", "20"]);
    let report = output.report();
    output.says(&["the 90 pairs of tests of `order-slow` were not tried"]);
    for test in &report.tests {
        let is_judged = test.verdict != Verdict::NotRun;
        assert!(is_judged || !test.notes.is_empty(), "{test:#?}");
    }
    let victim = test(&report, "is_zero");
    let is_seen = |note: &String| note.contains("ended differently after other tests");
    let is_told = victim.verdict == Verdict::OrderDependentVictim;
    assert!(is_told || victim.notes.iter().any(is_seen), "{victim:#?}");
}

#[test]
fn tests_that_end_their_process_hide_no_other_and_a_polluter_of_several_is_one_cause() {
    let fixture = Fixture::new("order-ends");
    let output = reported(&fixture, "order", &["--lib"]);
    let report = output.expect(ExitCode::Found).report();
    for (name, verdict) in [
        ("tests::a_pollutes", Verdict::Stable),
        ("tests::b_exits_behind_it", Verdict::OrderDependentVictim),
        ("tests::c_always_exits", Verdict::Broken),
        ("tests::d_leaves_a_thread", Verdict::Stable),
        ("tests::e_is_a_victim", Verdict::OrderDependentVictim),
        ("tests::f_is_a_victim", Verdict::OrderDependentVictim),
        ("tests::g_is_ignored", Verdict::NotRun),
    ] {
        let test = test(&report, name);
        assert_eq!(test.verdict, verdict, "{test:#?}");
        if verdict == Verdict::OrderDependentVictim {
            let order = test.order.as_ref().expect("its order is known");
            assert_eq!(order.sets, [["tests::a_pollutes"]], "{name}");
            assert!(order.state[0].name.ends_with("DIRTY"), "{order:?}");
            expect_lines(&fixture, &order.state[0], name);
            reproduced(&fixture, test).expect(ExitCode::Found);
        }
    }
    let ends = |name: &str| format!("`order-ends$tests::{name}` ends the process");
    for name in ["b_exits_behind_it", "c_always_exits"] {
        let is_said = report.notes.iter().any(|note| note.contains(&ends(name)));
        assert!(is_said, "{:?}", report.notes);
    }
    output.says(&["3 OD (1 cause)", "also: tests::e_is_a_victim"]);
}

#[test]
fn tests_that_hang_or_abort_are_known_by_the_limits_that_are_set_for_them() {
    let fixture = Fixture::new("order-ends");
    let output = reported(&fixture, "order", &["--test", "limits"]);
    let report = output.expect(ExitCode::Found).report();
    for (name, verdict, outcome) in [
        ("a_pollutes", Verdict::Stable, None),
        (
            "b_hangs_behind_it",
            Verdict::OrderDependentVictim,
            Some(Outcome::TimedOut),
        ),
        (
            "c_aborts_behind_it",
            Verdict::OrderDependentVictim,
            Some(Outcome::Signalled(6)),
        ),
        ("d_always_hangs", Verdict::Broken, Some(Outcome::TimedOut)),
        (
            "e_always_aborts",
            Verdict::Broken,
            Some(Outcome::Signalled(6)),
        ),
        (
            "f_is_a_victim",
            Verdict::OrderDependentVictim,
            Some(Outcome::Failed),
        ),
    ] {
        let test = test(&report, name);
        assert_eq!(test.verdict, verdict, "{test:#?}");
        let failure = test.failures.first();
        assert_eq!(failure.map(|failure| failure.outcome.clone()), outcome);
        if verdict == Verdict::OrderDependentVictim {
            let order = test.order.as_ref().expect("its order is known");
            assert_eq!(order.sets, [["a_pollutes"]], "{name}");
            assert!(order.state[0].name.ends_with("DIRTY"), "{order:?}");
            expect_lines(&fixture, &order.state[0], name);
        }
        if outcome == Some(Outcome::TimedOut) {
            let command = test.reproduce.as_ref().expect("it can be reproduced");
            assert!(command.contains("--timeout 0.4"), "{command}");
        }
    }
}

#[test]
fn an_order_whose_names_do_not_fit_into_a_variable_is_run_all_the_same() {
    let fixture = Fixture::new("order-ends");
    let mut suite = "use order_ends::DIRTY;\nuse std::sync::atomic::Ordering::SeqCst;\n".to_owned();
    let tests = 400;
    for number in 0..tests {
        let name = format!(
            "case_{number:03}_{}",
            "of_many_with_a_long_name_".repeat(16)
        );
        let body = match number {
            10 => "assert_eq!(DIRTY.load(SeqCst), 0)",
            300 => "DIRTY.store(1, SeqCst)",
            _ => "",
        };
        suite += &format!("#[test]\nfn {name}() {{ {body} }}\n");
    }
    assert!(suite.len() > 128 << 10);
    fs::write(fixture.path("tests/long.rs"), suite).unwrap();
    let orders = ["--test", "long", "--pairs", "0", "--strategies", "reverse"];
    let output = reported(&fixture, "order", &orders);
    let report = output.expect(ExitCode::Found).report();
    let victims = report.tests.iter().filter(|test| test.order.is_some());
    let victims: Vec<&TestReport> = victims.collect();
    let [victim] = &victims[..] else {
        panic!("{victims:#?}");
    };
    assert!(victim.name.starts_with("case_010"), "{}", victim.name);
    let polluters = &victim.order.as_ref().unwrap().polluters;
    assert_eq!(polluters.len(), 1);
    assert!(polluters[0].starts_with("case_300"), "{polluters:?}");
    assert!(
        !report
            .notes
            .iter()
            .any(|note| note.contains("told nothing")),
        "{:?}",
        report.notes
    );
}

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
        let how = match (race.until, race.within) {
            (None, false) => format!("fails when `{with}` runs in the middle of it"),
            (None, true) => format!("fails in the middle of `{with}`"),
            (Some(_), _) => format!("fails when parts of `{with}` run before and after its own"),
        };
        output.says(&[&format!("error[ND]: `{}` {how}", test.id)]);
        assert_eq!(race.state.kind, expected["state"][0], "{race:?}");
        let name = expected["state"][1].as_str().unwrap();
        assert!(race.state.name.ends_with(name), "{race:?}");
        // What a list owns elsewhere is not put back with it.
        let is_proven = expected["confirmed"].as_bool().unwrap_or(true);
        assert_eq!(race.state.confirmed, is_proven, "{race:?}");
        let read = race.state.read.as_ref().expect("where it is met");
        let written = race.state.written.as_ref().expect("where it is changed");
        assert_eq!((&*read.file, &*written.file), ("src/lib.rs", "src/lib.rs"));
        for (side, line) in [("read", read.line), ("written", written.line)] {
            let text = source.lines().nth(line as usize - 1).unwrap();
            let expected = expected[side].as_str().unwrap_or_default();
            assert!(text.contains(expected), "{side} is `{text}`: {race:?}");
        }
        output.says(&[&format!("`{}` changes the ", written.test)]);
        output.says(&[&format!("`{}` meets it here", test.name)]);
        reproduced(&fixture, test).expect(ExitCode::Found);
    }
    // The same in every run.
    let again = reported(&fixture, "order", &[]).report();
    let races = |report: &Report| -> Vec<_> {
        let races = report.tests.iter().map(|test| test.race.clone());
        races.collect()
    };
    assert_eq!(races(&again), races(&report));
    // What is left out because nobody asks for it, or because a race of the test is known, would have changed nothing.
    for asked in ["variable::is_one", "several::finds_one", "counter::adds"] {
        let alone = reported(&fixture, "order", &[asked]).report();
        let (alone, known) = (test(&alone, asked), test(&report, asked));
        assert_eq!((alone.verdict, &alone.race), (known.verdict, &known.race));
    }
    // A budget is kept, and what it leaves out is said.
    let within = |meetings: &str| {
        let output = reported(&fixture, "order", &["--meetings", meetings, "variable::"]);
        let races = races(&output.report());
        let left = format!("{meetings} processes were made, and `--meetings` allows more");
        let notes = output.report().notes;
        let is_said = notes.iter().any(|note| note.contains(&left));
        (races.iter().flatten().count(), is_said)
    };
    assert_eq!(within("0"), (0, true));
    assert_eq!(within("400"), (2, false));
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
    let report = reported(&fixture, "order", &["is_first"])
        .expect(ExitCode::Ok)
        .report();
    let said = "at all accesses of `is_first`, `is_second`: one such run took seconds";
    let is_said = report.notes.iter().any(|note| note.contains(said));
    assert!(is_said, "{:?}", report.notes);
}

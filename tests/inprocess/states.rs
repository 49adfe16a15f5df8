//! State that tests change: every kind is named and can be restored.

use std::time::Duration;

use camino::Utf8Path;
use cargo_nondex::campaign::StopFlag;
use cargo_nondex::campaign::launch::Launcher;
use cargo_nondex::judge::run::Run;
use cargo_nondex::project::symbols::Symbols;
use cargo_nondex::project::{TestBinary, TestCase};
use nondex_core::{Outcome, RunSpec, StateChange, StateId, StateKind};

use crate::compile::{Harness, binary, compile, fixture};
use crate::pairs::records;

const LIMIT: Duration = Duration::from_secs(20);

/// Returns the executable of `tests/fixtures/libtest/states.rs`, with a separate temporary
/// directory.
pub(crate) fn compiled() -> TestBinary {
    let mut binary = binary(&compile("states.rs", "2021", Harness::Interposed));
    let temporary = binary.cwd.join("temporary");
    let _ = std::fs::remove_dir_all(&temporary);
    std::fs::create_dir_all(&temporary).unwrap();
    binary.env.insert("TMPDIR".into(), temporary.into());
    binary.env.insert("STATES_GIVEN".into(), "given".into());
    binary
}

pub(crate) fn run(binary: &TestBinary, tests: &[&str], spec: &RunSpec) -> Vec<Run> {
    let stop = StopFlag::new();
    let launcher = Launcher::new(records(&binary.cwd), &stop);
    let cases: Vec<TestCase> = tests.iter().copied().map(TestCase::new).collect();
    let cases: Vec<&TestCase> = cases.iter().collect();
    let spec = RunSpec { test: tests.last().unwrap().to_string(), ..spec.clone() };
    let _ = std::fs::remove_file(file(binary));
    launcher.experiment(None, &[LIMIT], binary, &cases, &spec).unwrap()
}

fn file(binary: &TestBinary) -> camino::Utf8PathBuf {
    binary.cwd.join("temporary/states-")
}

/// Returns the states that a run changed, without noise: kind, name in reports, and id.
fn named(symbols: &Symbols, changes: &[StateChange]) -> Vec<(StateKind, String, StateId)> {
    let mut named = Vec::new();
    for change in changes {
        let kind = change.state.kind;
        if change.state.bytes().is_none() {
            named.push((kind, change.state.name.clone(), change.state.clone()));
        }
        for found in symbols.at(&change.state) {
            if !found.is_noise() {
                named.push((kind, found.name.clone(), found.state()));
            }
        }
    }
    named.dedup();
    named
}

#[test]
fn each_kind_of_state_is_named_and_restoring_it_and_no_other_saves_the_victim() {
    let binary = compiled();
    let symbols = Symbols::of(&binary.executable).unwrap();
    let source = std::fs::read_to_string(fixture("states.rs")).unwrap();
    let file = file(&binary);
    use StateKind::{Cwd, Env, File, Signal, Static, Umask};
    for (polluted, kind, name) in [
        ("atomic", Static, "states::ATOMIC"),
        ("neighbour", Static, "states::NEIGHBOUR"),
        ("list", Static, "states::LIST"),
        ("once", Static, "states::ONCE"),
        ("lazy", Static, "states::LAZY"),
        ("poisoned", Static, "states::POISONED"),
        ("mutable", Static, "states::MUTABLE"),
        ("within", Static, "states::module::count::WITHIN"),
        ("hook", Static, "std::panicking::HOOK"),
        ("env", Env, "STATES_VARIABLE"),
        ("env_by_removing", Env, "STATES_GIVEN"),
        ("cwd", Cwd, ""),
        ("file", File, file.as_str()),
        ("umask", Umask, ""),
        ("signal", Signal, "10"),
    ] {
        let tests = [&*format!("pollutes_{polluted}"), &format!("victim_of_{polluted}")];
        let spec = RunSpec::clean("").in_order(|tests| tests.changes = true);
        let alone = run(&binary, &tests[1..], &spec);
        assert_eq!(alone[0].outcome, Outcome::Passed, "{polluted}");
        let runs = run(&binary, &tests, &spec);
        assert_eq!(runs[0].outcome, Outcome::Passed, "{polluted}");
        assert_eq!(runs[1].outcome, Outcome::Failed, "{polluted}");
        let changes = named(&symbols, &runs[0].states);
        let names: Vec<(StateKind, &str)> =
            changes.iter().map(|(kind, name, _)| (*kind, name.as_str())).collect();
        assert_eq!(names, [(kind, name)], "{polluted}: {:?}", runs[0].states);
        let state = changes[0].2.clone();
        if name.starts_with("states::") {
            // The report names the line that defines the static.
            let found = symbols.at(&state);
            assert_eq!(found.len(), 1);
            let (place, line) = found[0].place().unwrap();
            let definition = format!("static {}", name.rsplit("::").next().unwrap())
                .replace("MUTABLE", "mut MUTABLE");
            let text = source.lines().nth(line as usize - 1).unwrap();
            assert!(text.contains(&definition), "{name} is reported in line {line}: {text}");
            assert!(place.ends_with("libtest/states.rs"), "{place}");
        }
        let other = symbols.named("states::NEIGHBOUR").unwrap().state();
        let other =
            if other == state { symbols.named("states::ATOMIC").unwrap().state() } else { other };
        for (restored, expected) in [(other, Outcome::Failed), (state, Outcome::Passed)] {
            let spec = RunSpec::clean("").in_order(|tests| tests.put_back = vec![restored.clone()]);
            let runs = run(&binary, &tests, &spec);
            assert_eq!(runs[1].outcome, expected, "{polluted}, with {restored:?} put back");
            // A fork has the same result.
            let stop = StopFlag::new();
            let launcher = Launcher::new(records(&binary.cwd), &stop);
            let _ = std::fs::remove_file(&file);
            let (first, then) = (TestCase::new(tests[0]), TestCase::new(tests[1]));
            let pairs =
                launcher.pairs(None, LIMIT, &binary, &[&first], &[(&then, LIMIT)], &spec).unwrap();
            let forked = pairs.then[0].as_ref().unwrap();
            assert_eq!(
                forked.outcome, expected,
                "{polluted} in a fork, with {restored:?} put back"
            );
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_line_that_writes_and_the_line_that_reads_are_named() {
    let binary = compiled();
    let symbols = Symbols::of(&binary.executable).unwrap();
    let source = std::fs::read_to_string(fixture("states.rs")).unwrap();
    for (polluted, name, writes, reads) in [
        ("atomic", "states::ATOMIC", "ATOMIC.store(3", "ATOMIC.load(Ordering::Relaxed), 0"),
        (
            "neighbour",
            "states::NEIGHBOUR",
            "NEIGHBOUR.store(3",
            "NEIGHBOUR.load(Ordering::Relaxed), 0",
        ),
        ("list", "states::LIST", "LIST.lock().unwrap().push(4)", "LIST.lock().unwrap().len()"),
        ("mutable", "states::MUTABLE", "MUTABLE[2] = 9", "MUTABLE.iter()"),
        ("within", "states::module::count::WITHIN", "WITHIN.fetch_add", "WITHIN.fetch_add"),
    ] {
        let state = symbols.named(name).unwrap().state();
        let spec = RunSpec::clean("").in_order(|tests| {
            tests.watch = vec![state.clone()];
            tests.lines = true;
        });
        let (first, then) = (format!("pollutes_{polluted}"), format!("victim_of_{polluted}"));
        let runs = run(&binary, &[&first, &then], &spec);
        let stop = StopFlag::new();
        let launcher = Launcher::new(records(&binary.cwd), &stop);
        let pairs = launcher
            .pairs(
                None,
                LIMIT,
                &binary,
                &[&TestCase::new(&first)],
                &[(&TestCase::new(&then), LIMIT)],
                &spec,
            )
            .unwrap();
        let forked = pairs.then[0].clone().unwrap();
        for (run, line, test, is_written) in [
            (&runs[0], writes, &first, true),
            (&runs[1], reads, &then, false),
            (&pairs.first[0], writes, &first, true),
            (&forked, reads, &then, false),
        ] {
            let lines: Vec<(bool, &str)> = run
                .accesses
                .iter()
                .filter_map(|access| {
                    assert_eq!(access.state, state);
                    let ours =
                        |frame: &&nondex_core::Frame| frame.file.ends_with("libtest/states.rs");
                    let frame = access.stack.iter().find(ours)?;
                    Some((access.writes, source.lines().nth(frame.line as usize - 1)?))
                })
                .collect();
            let is_it =
                |(writes, text): &(bool, &str)| text.contains(line) && (*writes || !is_written);
            assert!(lines.iter().any(is_it), "{test}: {lines:?}, {:?}", run.accesses);
            let stack = &run.accesses[0].stack;
            assert!(stack.iter().any(|frame| frame.function.contains(test.as_str())), "{stack:?}");
        }
    }
}

#[test]
fn the_calls_that_write_and_read_the_environment_the_directory_and_files_are_named() {
    let binary = compiled();
    let source = std::fs::read_to_string(fixture("states.rs")).unwrap();
    let file = file(&binary);
    use StateKind::{Cwd, Env, File};
    for (polluted, kind, name, writes, reads) in [
        ("env", Env, "STATES_VARIABLE", "env::set_var(", "env::var(\"STATES_VARIABLE\")"),
        ("env_by_removing", Env, "STATES_GIVEN", "env::remove_var(", "env::var(\"STATES_GIVEN\")"),
        ("cwd", Cwd, "", "env::set_current_dir(", "env::current_dir()"),
        ("file", File, file.as_str(), "fs::write(", "file().exists()"),
    ] {
        let state = StateId { kind, name: name.to_owned() };
        let spec = RunSpec::clean("").in_order(|tests| {
            tests.watch = vec![state.clone()];
            tests.lines = true;
        });
        let (first, then) = (format!("pollutes_{polluted}"), format!("victim_of_{polluted}"));
        let runs = run(&binary, &[&first, &then], &spec);
        for (run, line, writes) in [(&runs[0], writes, true), (&runs[1], reads, false)] {
            let [access, ..] = &run.accesses[..] else {
                panic!("{polluted}: no access {writes}");
            };
            assert_eq!((&access.state, access.writes), (&state, writes));
            let ours = |frame: &&nondex_core::Frame| frame.file.ends_with("libtest/states.rs");
            let frame = access.stack.iter().find(ours).unwrap();
            let text = source.lines().nth(frame.line as usize - 1).unwrap();
            assert!(text.contains(line), "{polluted}: {text}");
        }
    }
}

#[test]
fn a_test_that_shares_nothing_changes_nothing_and_a_port_that_stays_open_is_named() {
    let binary = compiled();
    let symbols = Symbols::of(&binary.executable).unwrap();
    let spec = RunSpec::clean("").in_order(|tests| tests.changes = true);
    let runs = run(&binary, &["victim_of_atomic", "victim_of_cwd", "listens"], &spec);
    assert_eq!(named(&symbols, &runs[0].states), []);
    assert_eq!(named(&symbols, &runs[1].states), []);
    let changes = named(&symbols, &runs[2].states);
    let [(kind, name, _)] = &changes[..] else {
        panic!("{changes:?}");
    };
    assert_eq!(*kind, StateKind::Port);
    assert!(name.starts_with("127.0.0.1:"), "{name}");
}

#[test]
fn without_debug_information_there_are_names_and_stripped_there_are_offsets() {
    let binary = compiled();
    let copy = binary.cwd.join("stripped");
    let symbols = |argument: &str| {
        let mut strip = std::process::Command::new("strip");
        let status =
            strip.args([argument, "-o", copy.as_str(), binary.executable.as_str()]).status();
        assert!(status.unwrap().success());
        Symbols::of(Utf8Path::new(copy.as_str())).unwrap()
    };
    let state = Symbols::of(&binary.executable).unwrap().named("states::ATOMIC").unwrap().state();
    let without = symbols("--strip-debug");
    assert_eq!(without.at(&state)[0].name, "states::ATOMIC");
    assert_eq!(without.at(&state)[0].line, None);
    assert!(symbols("--strip-all").at(&state).is_empty());
}

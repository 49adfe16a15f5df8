//! A test that depends on sources that no choice controls runs more often before it is called
//! stable. The report shows the confidence of this verdict.

use std::fs;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::judge::circumstance::Circumstance;
use cargo_nondex::judge::timing::is_timing_source;
use cargo_nondex::report::Verdict;
use nondex_core::{Level, Source};

use crate::support::{Fixture, Nondex, test};

#[test]
fn a_test_that_chance_may_decide_is_run_often_before_it_is_called_stable() {
    let fixture = Fixture::new("chance");
    let output = Nondex::run_in(&fixture.path(".")).arg("-v").run();
    output.expect(ExitCode::Found);
    let report = output.report();
    for (name, source, runs) in [
        ("tests::uses_clock", Source::Clock, 20),
        ("tests::uses_sleep", Source::Sleep, 20),
        ("tests::uses_clock_of_a_channel", Source::Clock, 20),
        ("tests::uses_thread", Source::Thread, 20),
        ("tests::uses_child", Source::Child, 20),
        ("tests::uses_a_file_with_the_time", Source::Clock, 20),
        ("tests::uses_the_time_of_the_processor", Source::Clock, 20),
        ("tests::uses_the_number_of_the_process", Source::ProcessNumber, 20),
        ("tests::uses_a_number_by_a_system_call", Source::ProcessNumber, 20),
        ("tests::uses_the_number_of_its_thread", Source::ProcessNumber, 20),
        ("tests::uses_a_link_with_the_number_of_the_process", Source::ProcessNumber, 20),
        ("tests::uses_a_folder_with_the_numbers_of_threads", Source::ProcessNumber, 20),
        ("tests::uses_a_file_with_the_number_of_the_process", Source::ProcessNumber, 20),
        ("tests::uses_a_port_that_the_system_chooses", Source::Port, 20),
        ("tests::uses_the_load_of_the_machine", Source::System, 20),
        ("tests::uses_the_date", Source::Date, 60),
        ("tests::uses_a_random_file", Source::RandomFile, 60),
        ("tests::uses_a_random_file_of_c", Source::RandomFile, 60),
    ] {
        let found = test(&report, name);
        assert_eq!(found.verdict, Verdict::Stable, "{found:#?}");
        assert!(found.sources.contains(&source), "{found:#?}");
        // Runs with chosen threads and time are no evidence about chance, and are additional. Most
        // of those with real ones are made together with other tests, where these are short. How
        // many that are depends on the load of the machine.
        let is_joined = |source: &Source| is_timing_source(*source) || *source == Source::Date;
        let is_timed = found.sources.iter().all(is_joined);
        assert!(is_timed || found.runs == runs, "{found:#?}");
        assert!(found.failure_bound.is_some_and(|bound| bound < 0.14));
    }
    // Std reads the id of each thread that it starts. This must not count as a use by the test.
    let sources = &test(&report, "tests::uses_thread").sources;
    assert!(!sources.contains(&Source::ProcessNumber), "{sources:?}");
    let found = test(&report, "tests::uses_nothing");
    assert_eq!((found.sources.as_slice(), found.runs), ([].as_slice(), 2));
    output.prints(&["chance$tests::uses_nothing (< 78 % at 95 %)"]);

    for name in
        ["fails_now_and_then", "fails_in_one_of_five_milliseconds", "fails_with_half_of_all_ports"]
    {
        let found = test(&report, &format!("tests::{name}"));
        assert_eq!(found.verdict, Verdict::NonDeterministic, "{found:#?}");
    }
}

#[test]
fn only_runs_that_were_made_count_where_a_test_has_randomness_of_its_own() {
    let fixture = Fixture::new("chance");
    let output =
        Nondex::run_in(&fixture.path(".")).args(["-E", "test(fails_in_two_of_three)"]).run();
    output.expect(ExitCode::Found);
    let report = output.report();
    let found = test(&report, "tests::fails_in_two_of_three_runs_with_a_random_file");
    assert_eq!(found.verdict, Verdict::NonDeterministic, "{found:#?}");
    assert_eq!(found.sources, [Source::RandomFile]);
    let made = fs::read_dir(fixture.path("."))
        .unwrap()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("drawn-"))
        .count();
    // The test counts its runs in files, and passes in one of three runs.
    let counted = found.failure_rate.values().map(|[_, runs]| *runs);
    assert!(counted.sum::<u64>() <= made as u64, "{found:#?}");
    for [failed, runs] in found.failure_rate.values() {
        assert!(runs / 3 <= *failed && *failed <= *runs, "{found:#?}");
    }
    assert_eq!(found.implied, 0);
}

#[test]
fn what_an_address_decides_is_no_other_test_s_doing() {
    let fixture = Fixture::new("chance");
    let shown =
        ["--message-format", "json", "--reruns", "30", "-E", "test(address) + test(counts)"];
    let order = Nondex::command(&fixture.path("."), "order").args(shown);
    let report = order.run().expect(ExitCode::Found).report();
    for name in ["depends_on_an_address", "depends_on_an_address_otherwise"] {
        let found = test(&report, &format!("tests::{name}"));
        assert_eq!(found.verdict, Verdict::NonDeterministic, "{found:#?}");
    }
    assert_eq!(test(&report, "tests::counts").verdict, Verdict::Stable);
}

#[test]
fn what_addresses_decide_is_found_at_random_ones_and_shown_again() {
    let fixture = Fixture::new("classify");
    let only = ["-E", "test(usual_place)", "--seeds", "3"];
    let output = Nondex::run_in(&fixture.path(".")).args(only).run();
    output.expect(ExitCode::Found);
    let report = output.report();
    let found = test(&report, "tests::wants_its_usual_place");
    assert_eq!(found.verdict, Verdict::NonDeterministic, "{found:#?}");
    assert_eq!(found.environment, Some(Circumstance::Addresses));
    output.prints(&["depends on addresses", "those runs had random addresses"]);
    let command = found.reproduce.as_deref().unwrap();
    assert!(command.contains("--clean --real-threads"), "{command}");
    let id = found.id.clone();
    let replay = Nondex::command(&fixture.path("."), "replay");
    replay.args([&*id, "--clean", "--real-threads"]).run().expect(ExitCode::Found);
    let replay = Nondex::command(&fixture.path("."), "replay");
    replay.args([&*id, "--clean"]).run().expect(ExitCode::Ok);
}

#[test]
fn a_test_in_which_a_hasher_draws_from_addresses_is_run_often_at_random_ones() {
    let fixture = Fixture::new("addresses");
    // Without pruning: one run at fixed addresses, one that shows what the test draws, and seeds.
    let all = [60 + 2 + 50, 2 + 1 + 50];
    for (arguments, runs) in [(&[][..], [2, 2]), (&["--no-prune"], all)] {
        let output = Nondex::run_in(&fixture.path(".")).args(arguments).run();
        output.expect(ExitCode::Found);
        let report = output.report();
        for name in [
            "tests::relies_on_a_seed",
            "tests::relies_on_a_page_of_the_stack",
            "tests::relies_on_a_page_of_the_heap",
        ] {
            let found = test(&report, name);
            assert_eq!(found.verdict, Verdict::NonDeterministic, "{found:#?}");
            assert_eq!(found.environment, Some(Circumstance::Addresses));
        }
        for (name, runs) in ["tests::relies_on_no_seed", "tests::draws_nothing"].iter().zip(runs) {
            let found = test(&report, name);
            assert_eq!((found.verdict, found.runs), (Verdict::Stable, runs), "{found:#?}");
        }
        let known = test(&report, "tests::relies_on_no_seed").failure_bound;
        assert!(known.is_some_and(|bound| bound < 0.05), "{known:?}");
    }
}

#[test]
fn a_passing_test_whose_output_depends_on_a_choice_is_listed_with_the_call() {
    let fixture = Fixture::new("chance");
    let output = Nondex::run_in(&fixture.path(".")).args(["-E", "test(prints)"]).run();
    output.expect(ExitCode::Ok);
    let report = output.report();
    let found = test(&report, "tests::prints_a_map");
    assert_eq!(found.verdict, Verdict::Stable);
    let latent = found.latent.as_ref().expect("its output depends on the map");
    assert_eq!(latent.level, Level::Std);
    let line = fixture.marked("src/lib.rs", "printed");
    let places: Vec<_> =
        latent.culprits.iter().map(|culprit| (culprit.file.as_str(), culprit.line)).collect();
    assert_eq!(places, [("src/lib.rs", line)]);
    output.prints(&[&format!(
        "latent: chance$tests::prints_a_map passes, but its output depends on HashMap::fmt at \
         src/lib.rs:{line} (STD)"
    )]);
    for silent in ["tests::prints_a_map_and_the_time", "tests::prints_a_sorted_map"] {
        assert_eq!(test(&report, silent).latent, None, "{silent}");
    }
}

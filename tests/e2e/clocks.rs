//! Times of clocks and files are chosen within what a real clock could show. A test that relies on
//! more is found at the level in its name.

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Verdict;
use cargo_nondex::report::schema::Timing;
use nondex_core::Level;

use crate::support::{Fixture, Nondex, test};

#[test]
fn each_test_that_relies_on_a_clock_is_found_at_the_level_of_its_name_and_no_other_test_is() {
    let fixture = Fixture::shared("clocks");
    let output = Nondex::run_in(&fixture.path("."))
        .args(["--seeds", "8"])
        // A thread that is delayed between two readings of a clock misses every margin.
        .args(["--skip-models", "^time/(std::time::.*::elapsed|gettimeofday|time)$"])
        .run();
    output.expect(ExitCode::Found);
    let report = output.report();
    let counters = if cfg!(target_arch = "x86_64") { 3 } else { 0 };
    assert_eq!(report.tests.len(), 34 + counters);
    for found in &report.tests {
        if found.name.starts_with("today") {
            // Nearly every plain run of such a test fails. Here two readings are more than a
            // microsecond apart, and the clock must stand still for them to agree.
            assert_eq!(found.verdict, Verdict::NonDeterministic, "{found:#?}");
            assert!(found.culprits.is_empty() || found.depends_on_clocks(), "{found:#?}");
            continue;
        }
        let mut notes = found.notes.iter();
        let fell_back = notes.any(|note| note.contains("with real threads and real time"));
        assert!(!fell_back, "{found:#?}");
        let (expected, _) = found.name.split_once('_').unwrap();
        let Ok(level) = expected.parse::<Level>() else {
            assert_eq!(found.verdict, Verdict::Stable, "{found:#?}");
            continue;
        };
        assert_eq!(found.verdict, Verdict::NonDeterministic, "{found:#?}");
        assert_eq!(found.reason, Some(Timing::Time), "{found:#?}");
        let weakest = found.delay_level.or(found.weakest_level);
        assert_eq!(weakest, Some(level), "{found:#?}");
        assert_eq!(found.advice().is_some(), level == Level::Full, "{found:#?}");
        assert!(found.depends_on_clocks() && found.culprits[0].confirmed);
    }
    let read = test(&report, "stable_what_is_in_files_is_read_without_their_times");
    assert!(read.points.iter().all(|point| point.api != "std::fs::Metadata::modified"));
    for (name, api, mark) in [
        ("one_two_instants_differ", "std::time::Instant::now", "second instant"),
        ("one_an_id_made_of_the_time_is_new", "std::time::SystemTime::now", "id"),
        ("std_a_change_after_two_milliseconds_is_noticed", "std::fs::Metadata::modified", "look"),
    ] {
        let found = test(&report, name);
        let culprit = &found.culprits[0];
        let line = fixture.marked("src/lib.rs", mark);
        assert_eq!((culprit.api.as_str(), culprit.line), (api, line));
        let reproduce = found.reproduce.as_deref().unwrap();
        let replayed = Nondex::pasted(&fixture.path("."), reproduce).run();
        replayed.expect(ExitCode::Found);
        replayed.prints(&["Failed again as recorded"]);
    }
}

#[test]
fn clocks_show_the_present_time_where_their_models_are_left_out() {
    let fixture = Fixture::shared("clocks");
    let output = Nondex::run_in(&fixture.path("."))
        .args(["--seeds", "10", "--levels", "STD,ONE"])
        .args(["--skip-models", "^time/std::(time|fs)"])
        .args(["-E", "test(/differ|is_new|milliseconds/) - test(today)"])
        .run();
    output.expect(ExitCode::Ok);
}

#[test]
fn a_thread_that_is_alone_may_be_held_back_before_it_reads_a_clock_again() {
    let fixture = Fixture::shared("clocks");
    let output = Nondex::run_in(&fixture.path("."))
        // STD adds up to 20 ms. A clock of whole seconds needs more.
        .args(["--seeds", "12", "--levels", "STD,ID"])
        .args(["-E", "test(/^margin|one_reading|never_go_back/)"])
        .run();
    output.expect(ExitCode::Found);
    output.prints(&["relies on how much time passes", "or longer before it reads the clock"]);
    let report = output.report();
    for (name, api, mark) in [
        ("margin_that_a_thread_misses_which_is_held_back", "std::time::Instant::elapsed", "margin"),
        ("margin_of_the_system_time", "std::time::SystemTime::elapsed", "system time"),
        ("margin_of_a_time_of_day", "gettimeofday", "time of day"),
        ("margin_of_seconds_that_c_counts", "time", "seconds"),
    ] {
        let found = test(&report, name);
        assert_eq!(found.verdict, Verdict::NonDeterministic, "{found:#?}");
        assert_eq!(found.reason, Some(Timing::Time), "{found:#?}");
        let culprit = &found.culprits[0];
        let line = fixture.marked("src/lib.rs", mark);
        assert_eq!((culprit.api.as_str(), culprit.line), (api, line));
    }
    for name in ["stable_instants_never_go_back", "stable_one_reading_is_no_choice"] {
        assert_eq!(test(&report, name).verdict, Verdict::Stable);
    }
}

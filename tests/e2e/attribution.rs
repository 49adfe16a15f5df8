//! A finding names the call, the elements or the position that decide the outcome, and where they
//! come from.

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::schema::{CallReport, Position};
use cargo_nondex::report::{Culprit, Report, Verdict};
use nondex_core::Level;

use crate::support::{Fixture, Nondex, test};

const CALLS: &str = "src/calls.rs";
const ELEMENTS: &str = "src/elements.rs";
const PARTS: &str = "parts/src/lib.rs";

/// Expected report of one choice.
#[derive(Clone, Copy)]
struct Choice {
    /// File and mark of the call.
    at: (&'static str, &'static str),
    thread: &'static str,
    /// Number of the call, and the number of calls.
    call: (u64, u64),
    decides: Decides,
    /// File and mark of the place where the collection was created.
    made: Option<(&'static str, &'static str)>,
}

#[derive(Clone, Copy)]
enum Decides {
    /// Order of two elements, with the marks of the lines where they were inserted.
    Pair([u64; 2], [Option<(&'static str, &'static str)>; 2]),
    /// Order of two entries with these names.
    Names([&'static str; 2]),
    Position(Position),
}

const FIRST: Decides = Decides::Position(Position::First);
const LETTERS: Option<(&str, &str)> = Some((CALLS, "letters"));
const NUMBERS: Option<(&str, &str)> = Some((ELEMENTS, "numbers"));

const fn letters(mark: &'static str, call: (u64, u64)) -> Choice {
    Choice { at: (CALLS, mark), thread: "0", call, decides: FIRST, made: LETTERS }
}

const fn numbers(decides: Decides) -> Choice {
    Choice { at: (ELEMENTS, "numbers"), thread: "0", call: (0, 1), decides, made: NUMBERS }
}

const EXPECTED: [(&str, &[Choice]); 14] = [
    ("calls::one_of_many_calls_decides", &[letters("one", (117, 300))]),
    (
        "calls::two_choices_decide_together",
        &[letters("two, the first", (0, 1)), letters("two, the second", (0, 1))],
    ),
    (
        "calls::three_choices_decide_together",
        &[letters("three", (3, 40)), letters("three", (20, 40)), letters("three", (31, 40))],
    ),
    ("calls::a_spawned_thread_decides", &[Choice { thread: "0.1", ..letters("thread", (0, 1)) }]),
    (
        "calls::a_dependency_decides",
        &[Choice {
            at: (PARTS, "dependency"),
            made: Some((PARTS, "lengths")),
            ..letters("", (0, 1))
        }],
    ),
    (
        "calls::debug_decides",
        &[Choice {
            decides: Decides::Pair([1, 2], [Some((CALLS, "debug")); 2]),
            made: Some((CALLS, "debug")),
            ..letters("debug", (0, 1))
        }],
    ),
    (
        "calls::a_closure_with_state_decides",
        &[Choice { decides: Decides::Position(Position::Last), ..letters("retain", (0, 1)) }],
    ),
    (
        "calls::a_destructor_decides",
        &[Choice {
            decides: Decides::Pair([1, 2], [Some((CALLS, "letters")); 2]),
            ..letters("drop", (0, 1))
        }],
    ),
    (
        "elements::a_pair_decides",
        &[numbers(Decides::Pair([5, 17], [Some((ELEMENTS, "numbers")); 2]))],
    ),
    ("elements::the_first_one_decides", &[numbers(FIRST)]),
    ("elements::the_last_one_decides", &[numbers(Decides::Position(Position::Last))]),
    ("elements::the_seventh_one_decides", &[numbers(Decides::Position(Position::Nth(6)))]),
    (
        "elements::the_two_elements_come_from_different_lines",
        &[Choice {
            at: (ELEMENTS, "places"),
            made: Some((ELEMENTS, "places")),
            ..numbers(Decides::Pair(
                [0, 9],
                [Some((ELEMENTS, "first")), Some((ELEMENTS, "second"))],
            ))
        }],
    ),
    (
        "elements::files_have_names",
        &[Choice {
            at: (ELEMENTS, "names"),
            made: None,
            ..numbers(Decides::Names(["first", "third"]))
        }],
    ),
];

#[test]
fn a_finding_names_the_call_the_elements_and_where_they_are_from() {
    let fixture = Fixture::new("attribution");
    let output = Nondex::run_in(&fixture.path("")).run();
    output.expect(ExitCode::Found);
    let report = output.report();
    for (name, choices) in EXPECTED {
        let found = test(&report, name);
        assert_eq!(found.verdict, Verdict::ImplementationDependent, "{found:#?}");
        assert_eq!(found.culprits.len(), choices.len(), "{found:#?}");
        for (culprit, choice) in found.culprits.iter().zip(choices) {
            compare(&fixture, culprit, choice);
        }
        // Finding the elements takes about 20 runs, for any number of calls.
        let most = 40 * choices.len() as u64;
        assert!(found.search_runs <= most, "{found:#?}");
    }
    assert_eq!(report.tests.len(), EXPECTED.len() + 2);
    few_orders_are_all_run(&fixture, &report);
    a_search_goes_on_from_where_its_budget_ended(&fixture);
}

fn few_orders_are_all_run(fixture: &Fixture, report: &Report) {
    let verified = &test(report, "orders::every_order_will_do").verified;
    assert_eq!(verified, &[Level::One, Level::Eq, Level::Id, Level::Full]);
    let rare = "orders::one_of_120_orders_will_not_do";
    // It is unspecified whether the seeds find this test. But they must not run all its orders, so
    // that the exhaustive run can find more.
    assert!(test(report, rare).verified.is_empty());
    let output = Nondex::run_in(&fixture.path("")).args(["--exhaustive", "120", rare]).run();
    output.expect(ExitCode::Found);
    let report = output.report();
    let found = test(&report, rare);
    assert_eq!(found.verdict, Verdict::ImplementationDependent, "{found:#?}");
    let line = fixture.line("src/orders.rs", "rare");
    assert_eq!(found.culprits[0].line, line, "{found:#?}");
    assert!(found.culprits[0].confirmed, "{found:#?}");
    let note = "all its orders at level";
    assert!(found.notes.iter().any(|text| text.starts_with(note)), "{found:#?}");
}

fn a_search_goes_on_from_where_its_budget_ended(fixture: &Fixture) {
    let name = "calls::three_choices_decide_together";
    let output = Nondex::run_in(&fixture.path("")).args(["--search-runs", "6", name]).run();
    output.expect(ExitCode::Found);
    let report = output.report();
    let stopped = test(&report, name);
    assert!(stopped.culprits.iter().all(|culprit| culprit.call.is_none()), "{stopped:#?}");
    let goes_on = format!("`cargo nondex explain {name}` continues it");
    assert!(stopped.notes.iter().any(|note| note.contains(&goes_on)), "{stopped:#?}");

    let output = Nondex::command(&fixture.path(""), "explain")
        .args([name, "--message-format", "json"])
        .run();
    output.expect(ExitCode::Found);
    output.prints(&[&format!("{} runs known", stopped.runs)]);
    let report = output.report();
    let explained = test(&report, name);
    assert_eq!(explained.culprits.len(), 3, "{explained:#?}");
    assert_eq!(explained.weakest_level, stopped.weakest_level);
    assert_eq!(explained.failure_rate, stopped.failure_rate);
    assert!(explained.runs > stopped.runs, "{explained:#?}");

    let output = Nondex::command(&fixture.path(""), "explain").arg("no_such_test").run();
    output.expect(ExitCode::Usage).prints(&["no finding `no_such_test`"]);
}

fn compare(fixture: &Fixture, culprit: &Culprit, choice: &Choice) {
    let place = |(file, mark): (&'static str, &str)| (file, fixture.marked(file, mark));
    assert!(culprit.confirmed, "{culprit:#?}");
    let (file, mark) = choice.at;
    assert_eq!(
        (culprit.file.as_str(), culprit.line),
        place((file, &format!("at: {mark}"))),
        "{culprit:#?}"
    );
    let (ordinal, of) = choice.call;
    let call = CallReport { thread: choice.thread.to_owned(), ordinal, of };
    assert_eq!(culprit.call, Some(call), "{culprit:#?}");
    let made = choice.made.map(|(file, mark)| place((file, &format!("made: {mark}"))));
    let created = culprit.created.as_ref().map(|place| (place.file.as_str(), place.line));
    assert_eq!(created, made, "{culprit:#?}");
    match choice.decides {
        Decides::Position(position) => {
            assert_eq!(
                (culprit.position, culprit.elements),
                (Some(position), None),
                "{culprit:#?}"
            );
        }
        Decides::Pair(elements, inserted) => {
            assert_eq!(
                (culprit.position, culprit.elements),
                (None, Some(elements)),
                "{culprit:#?}"
            );
            for (element, inserted) in culprit.element_details.iter().zip(inserted) {
                let (file, line) =
                    inserted.map(|(file, mark)| place((file, &insertion(mark)))).unzip();
                assert_eq!((element.file.as_deref(), element.line), (file, line), "{culprit:#?}");
            }
        }
        Decides::Names(expected) => {
            let names: Vec<_> =
                culprit.element_details.iter().map(|element| element.name.as_deref()).collect();
            assert_eq!(names, expected.map(Some), "{culprit:#?}");
        }
    }
}

/// Returns the mark of the line where an element was inserted. For a collection that is created
/// with all its elements, this is the line that creates it.
fn insertion(mark: &str) -> String {
    match mark {
        "letters" => "made: letters".to_owned(),
        "debug" => "made: debug".to_owned(),
        mark => format!("in: {mark}"),
    }
}

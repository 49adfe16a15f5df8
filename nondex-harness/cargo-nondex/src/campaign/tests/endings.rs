//! Tests of misbehaving tests: however a test ends, that is its result.

use super::*;

#[test]
fn what_a_misbehaving_test_does_is_the_result_of_that_test() {
    let mut project = Project::new(
        Harness::Nondex,
        r#"
        case $name in
            exits) exit 0 ;;
            exits_late) echo bye; exit 3 ;;
            aborts) echo "thread 'main' panicked at src/lib.rs:3:4:"; echo oops; kill -ABRT $$ ;;
            garbles) echo "not an event" >> "$record"; end true ;;
            leaves) sleep 1000 & end true ;;
            closes) exec >&- 2>&-; end true ;;
            lies) echo "test result: ok. 1 passed"; end false ;;
        esac"#,
        &["exits", "exits_late", "aborts", "garbles", "leaves", "closes", "lies"],
    );
    project.options.clean_runs = NonZeroU32::MIN;
    let report = project.run();
    let found: Vec<_> = report
        .tests
        .iter()
        .map(|test| {
            let failure = test.failures.first();
            (
                test.name.as_str(),
                test.verdict,
                failure.map(|failure| failure.outcome.clone()),
                // The parser's own wording is not compared.
                failure.map_or("", |failure| {
                    let (what, why) = (failure.message.as_str(), " not an event");
                    what.split_once(why).map_or(what, |(what, _)| what)
                }),
            )
        })
        .collect();
    use Verdict::{Broken, Stable};
    assert_eq!(
        found,
        [
            (
                "exits",
                Broken,
                Some(Outcome::Exited(0)),
                "the process exited with code 0 before the test ended"
            ),
            ("exits_late", Broken, Some(Outcome::Exited(3)), "the process exited with code 3"),
            (
                "aborts",
                Broken,
                Some(Outcome::Signalled(6)),
                "the process was killed by signal 6 (SIGABRT): oops"
            ),
            (
                "garbles",
                Broken,
                Some(Outcome::Exited(0)),
                "the record of the run cannot be read: item 1 of the record is"
            ),
            ("leaves", Stable, None, ""),
            ("closes", Stable, None, ""),
            ("lies", Broken, Some(Outcome::Failed), "the test failed"),
        ]
    );
    assert_eq!(report.tests[4].notes, ["it left a child process running"]);
}

#[test]
fn a_test_that_hangs_is_ended_whether_its_function_had_ended_or_not() {
    let mut project = Project::new(
        Harness::Nondex,
        r#"[ $name = after ] && emit '{"event":"end","test":"after","passed":true}'
        exec sleep 1000"#,
        &["after", "within"],
    );
    project.options.timeout = Duration::from_millis(300);
    for test in project.run().tests {
        assert_eq!(test.verdict, Verdict::Broken);
        assert_eq!(test.failures[0].outcome, Outcome::TimedOut);
        assert_eq!(test.failures[0].message, "timed out after 300ms");
    }
}

#[test]
fn a_test_whose_executable_is_gone_is_not_judged() {
    let mut project = Project::new(Harness::Nondex, "end true", &["t"]);
    project.suite.binary.executable = project.root().join("gone");
    let report = project.run();
    let test = &report.tests[0];
    assert_eq!((test.verdict, test.unjudged), (Verdict::NotRun, true));
    assert!(test.failures.is_empty() && test.failure_rate.is_empty());
    assert!(test.notes[0].contains("failed to start"), "{test:#?}");
}

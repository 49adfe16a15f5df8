//! The report in Markdown, for a job summary or a comment.

use cargo_nondex::report::markdown::{headline, render};
use cargo_nondex::report::problem::problems;
use cargo_nondex::report::schema::{Blame, ChangeReport};
use cargo_nondex::report::{TestReport, Verdict};

use crate::problems::all_kinds;
use crate::sample::{advice, dependent, report, sources, test};

#[test]
fn a_summary_has_a_sentence_the_counts_and_a_row_for_each_finding() {
    let (_folder, sources) = sources();
    let mut report = all_kinds();
    // Random seeds, so that the report shows how to repeat the run.
    report.run.seeds = (123_456..123_496).collect();
    insta::assert_snapshot!(render(&report, &sources));
}

#[test]
fn every_row_has_four_cells_whatever_is_in_them() {
    let (_folder, sources) = sources();
    let text = render(&all_kinds(), &sources);
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 3 * 2 + 7);
    for row in rows {
        let bars = row.match_indices('|').filter(|(at, _)| !row[..*at].ends_with('\\'));
        assert_eq!(bars.count(), 5, "{row}");
    }
}

#[test]
fn the_first_line_says_how_many_tests_failed_and_how_many_need_somebody() {
    let (_folder, sources) = sources();
    let of = |tests: Vec<TestReport>| headline(&problems(&report(tests), &sources));
    let named = |name: &str, test: TestReport| TestReport {
        id: format!("shop${name}"),
        name: name.to_owned(),
        ..test
    };
    let unrelated = TestReport {
        change: Some(ChangeReport {
            verdict: Blame::Flaky,
            witness: None,
            lines: Vec::new(),
            files: Vec::new(),
        }),
        ..test("unrelated", Verdict::NonDeterministic)
    };
    assert_eq!(of(vec![test("passes", Verdict::Stable)]), "No test failed");
    assert_eq!(of(vec![advice()]), "No test failed");
    assert_eq!(of(vec![dependent()]), "1 failed; 1 needs you");
    let both = vec![dependent(), named("more", dependent())];
    assert_eq!(of(both.clone()), "2 failed; 2 need you");
    assert_eq!(of(vec![unrelated.clone()]), "1 failed; none needs you");
    let all = [both, vec![unrelated]].concat();
    assert_eq!(of(all), "3 failed; 2 need you");
}

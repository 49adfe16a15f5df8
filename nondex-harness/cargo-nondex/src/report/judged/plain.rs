//! Notes on tests that were compared with a plain build.

use camino::Utf8Path;
use nondex_core::Outcome;

use crate::judge::{Fact, PlainBuild};
use crate::report::TestReport;
use crate::report::schema::PointReport;

/// Writes the result of a plain build for a test that fails alone and in every test order.
pub fn compared(
    report: &mut TestReport,
    plain: &PlainBuild,
    generated: Option<&str>,
    root: &Utf8Path,
) {
    let note = note(report, plain, generated, root);
    if let PlainBuild::Runs(rate @ [failures, runs]) = *plain {
        report.plain = Some(rate);
        report.runs += runs;
        if failures < runs {
            report.notes.clear();
            report.rule(match failures {
                0 => Fact::Unjudged,
                _ => Fact::Unexplained,
            });
        }
    }
    report.notes.push(note);
}

/// Describes the result of the comparison. `generated` is a file that the build script wrote with
/// different content in the plain build. `root` is the root of the test's workspace.
pub(super) fn note(
    report: &TestReport,
    plain: &PlainBuild,
    generated: Option<&str>,
    root: &Utf8Path,
) -> String {
    match *plain {
        PlainBuild::Not(ref reason) => {
            format!("whether it fails in a plain build too is not known: {reason}")
        }
        PlainBuild::Runs([0, runs]) if report.is_dependent() => {
            format!("it passes in {runs} of {runs} runs of a plain build")
        }
        PlainBuild::Runs([failures, runs]) if failures == runs => {
            "it fails in a plain build too".to_owned()
        }
        PlainBuild::Runs([failures, runs]) if !report.fails_in_canonical_order() => {
            format!("it fails in {failures} of {runs} runs of a plain build")
        }
        PlainBuild::Runs([0, runs]) => format!(
            "it is not judged: it passes in {runs} of {runs} runs of a plain build, and fails in \
             canonical order here, most likely because of {}",
            generated.map_or_else(|| addition(report, root), of_build_script)
        ),
        PlainBuild::Runs([failures, runs]) => format!(
            "it fails in canonical order here, and in {failures} of {runs} runs of a plain build"
        ),
    }
}

/// Describes that a build script decides, through a file that it wrote.
fn of_build_script(file: &str) -> String {
    format!(
        "its build: the build script of its package wrote a different `{file}` in each of the two \
         builds, for example from the date, its process id or random bytes"
    )
}

/// Words in a failing line that read something which this tool changes, and what it changes.
const ADDITIONS: [(&str, &str); 3] = [
    ("alloc", "the number or size of allocations, which differ with this tool's std"),
    ("env::", "the environment, which has a variable of this tool"),
    ("current_exe", "the path of the executable, which is in a folder of this tool"),
];

/// Start of rustc's message about a library that was built with another std.
const REFUSED_LIBRARIES: &str = "error[E0460]";

/// Maximum number of lines of a statement that are searched.
const STATEMENT: usize = 8;

/// Describes what makes a test fail that passes in a plain build, as far as it is known.
fn addition(report: &TestReport, root: &Utf8Path) -> String {
    let Some(failure) = report.failures.first() else {
        return "side effects of this tool".to_owned();
    };
    if report.end() == Some("steps") {
        return "the overhead of this tool where threads spin: raise `--max-steps` and `--timeout`"
            .to_owned();
    }
    if failure.outcome == Outcome::TimedOut {
        let time = "the overhead of this tool: raise `--timeout`";
        let mut orders = report.points.iter();
        return match orders.find(|point| point.family.is_of_orders()) {
            Some(PointReport { file, line, .. }) => format!(
                "the order at {file}:{line}, which is the same at every call here (if the test \
                 waits for another order), or {time}"
            ),
            None => time.to_owned(),
        };
    }
    if report.output.as_ref().is_some_and(|output| output.contains(REFUSED_LIBRARIES)) {
        return format!(
            "this tool's std: the test gives rustc the libraries that cargo built, and rustc \
             refuses them (E0460); leave it out with `-E 'not test({})'`",
            report.name
        );
    }
    let statement = || {
        let source = std::fs::read_to_string(root.join(failure.file.as_deref()?)).ok()?;
        let first = (failure.line? as usize).checked_sub(1)?;
        let mut lines = Vec::new();
        for line in source.lines().skip(first).take(STATEMENT) {
            lines.push(line.to_owned());
            if line.trim_end().ends_with([';', '}']) {
                break;
            }
        }
        Some(lines.join("\n"))
    };
    let statement = statement().unwrap_or_default();
    let known = ADDITIONS
        .iter()
        .find(|(word, _)| statement.contains(word) || failure.message.contains(word));
    known.map_or_else(
        || {
            "side effects of this tool, such as allocations, an environment variable, another \
             order of directories, fixed addresses or overhead"
                .to_owned()
        },
        |(_, what)| format!("what its failing line reads: {what}"),
    )
}

#[cfg(test)]
mod tests {
    use nondex_core::Family;

    use super::*;
    use crate::report::{FailureReport, Scheduled, Verdict};

    fn broken(message: &str, outcome: Outcome) -> TestReport {
        TestReport {
            failures: vec![FailureReport {
                message: message.to_owned(),
                file: Some("src/lib.rs".to_owned()),
                line: Some(2),
                ..FailureReport::clean(outcome)
            }],
            ..TestReport::new("p", "p", "t")
        }
    }

    #[test]
    fn a_test_that_passes_in_a_plain_build_is_not_broken() {
        for (runs, verdict, is_unjudged) in [
            ([0, 20], Verdict::NotRun, true),
            ([7, 20], Verdict::Unknown, false),
            ([3, 3], Verdict::Broken, false),
        ] {
            let mut report = broken("x", Outcome::Failed);
            report.rule(Fact::Fails);
            report.notes.push("it failed in each of 63 runs".to_owned());
            compared(&mut report, &PlainBuild::Runs(runs), None, Utf8Path::new("."));
            assert_eq!((report.verdict, report.unjudged), (verdict, is_unjudged));
            assert_eq!(report.plain, Some(runs));
            assert_eq!(report.notes.len(), if is_unjudged || runs[0] == 7 { 1 } else { 2 });
        }
    }

    #[test]
    fn of_a_test_that_passes_in_base_order_no_more_is_said_than_how_often_it_fails() {
        let report = TestReport::new("p", "p", "t");
        for (runs, expected) in [([0, 20], "0 of 20"), ([1, 3], "1 of 3")] {
            let note = note(&report, &PlainBuild::Runs(runs), None, Utf8Path::new("."));
            let expected = format!("it fails in {expected} runs of a plain build");
            assert_eq!(note, expected);
        }
    }

    #[test]
    fn a_test_whose_libraries_rustc_refuses_has_this_cause_and_a_way_out() {
        let mut report = broken("Failed to run rustdoc tests", Outcome::Failed);
        report.output = Some("error[E0460]: found possibly newer version of crate `std`".into());
        let note = note(&report, &PlainBuild::Runs([0, 20]), None, Utf8Path::new("."));
        assert!(note.contains("E0460") && note.contains("-E 'not test(t)'"), "{note}");
    }

    #[test]
    fn what_this_tool_adds_is_named_by_the_line_that_fails() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        std::fs::create_dir(root.join("src")).unwrap();
        for (source, message, named) in [
            ("\nfn f() { assert!(x); }\nlet alloc = 1;", "left", "such as"),
            ("\nassert_eq!(\n    allocations(),\n    1,\n);", "left", "allocations"),
            ("\nassert!(x);\nallocations();", "left", "such as"),
            ("\nassert!(env::vars().count() == 1);", "left", "environment"),
            ("", "allocations differ", "allocations"),
            ("\nassert!(x);", "left", "such as"),
        ] {
            std::fs::write(root.join("src/lib.rs"), source).unwrap();
            let report = broken(message, Outcome::Failed);
            let note = note(&report, &PlainBuild::Runs([0, 3]), None, root);
            assert!(note.contains(named), "{note}");
        }
        let report = broken("left", Outcome::Failed);
        let build = note(&report, &PlainBuild::Runs([0, 3]), Some("number.rs"), root);
        assert!(build.contains("build script") && build.contains("`number.rs`"), "{build}");
        let mut cut = broken("no end", Outcome::Failed);
        cut.scheduled = Some(Scheduled { end: Some("steps".to_owned()), ..Scheduled::default() });
        let limit = note(&cut, &PlainBuild::Runs([0, 3]), None, root);
        assert!(limit.contains("--max-steps"), "{limit}");
        let mut report = broken("timed out after 60s", Outcome::TimedOut);
        let limit = note(&report, &PlainBuild::Runs([0, 3]), None, root);
        assert!(limit.contains("--timeout") && !limit.contains(":14"));
        report.points = vec![PointReport {
            api: "std::collections::HashSet::iter".to_owned(),
            family: Family::HashSet,
            file: "src/lib.rs".to_owned(),
            line: 14,
            column: 9,
            count: 1,
            max_len: 5,
        }];
        let order = note(&report, &PlainBuild::Runs([0, 3]), None, root);
        assert!(order.contains("the order at src/lib.rs:14") && order.contains("--timeout"));
    }
}

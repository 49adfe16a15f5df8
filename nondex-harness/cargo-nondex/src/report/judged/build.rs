//! Reports of tests whose outcome depends on the build.

use crate::judge::Fact;
use crate::report::schema::{BuildCause, FailureReport, TestReport};
use crate::shell;

/// Records that the build decides: the test fails in `failed` of `builds` builds.
pub fn decides(
    report: &mut TestReport,
    cause: BuildCause,
    [failed, builds]: [usize; 2],
    failure: FailureReport,
) {
    report.rule(Fact::Build);
    // The rates are those of one build.
    report.failure_rate.clear();
    // A note about a plain build may say that the test always fails, which is now refuted.
    report.notes.retain(|note| !note.contains("plain build"));
    let builds = match cause.passes {
        Some(_) => format!("{failed} of {builds} builds"),
        None => format!("each of {builds} builds, with different values"),
    };
    let message: Vec<&str> = failure.message.lines().map(str::trim).collect();
    report.notes.push(format!(
        "all its runs in one build have the same outcome; it fails in {builds}: {}",
        message.join(", ")
    ));
    if report.failures.is_empty() {
        report.failures.push(failure);
    }
    let clean = shell::join(["cargo", "clean", "-p", &cause.package]);
    let test = shell::join(["cargo", "test", "-p", &report.package, &report.name]);
    report.reproduce = Some(format!("{clean} && {test} -- --exact"));
    report.replay = None;
    report.build = Some(cause);
}

/// Records that a test is not judged, because builds could not be compared.
pub fn may_decide(report: &mut TestReport, cause: BuildCause) {
    report.rule(Fact::Unjudged);
    report.build = Some(cause);
}

#[cfg(test)]
mod tests {
    use nondex_core::{Failure, Outcome};

    use super::*;
    use crate::report::Verdict;
    use crate::report::schema::tests::test;

    fn failed(message: &str) -> FailureReport {
        let failure = Failure { message: message.to_owned(), ..Failure::default() };
        FailureReport::new(Outcome::Failed, Some(failure))
    }

    fn cause(passes: Option<u64>) -> BuildCause {
        BuildCause {
            package: "shop".to_owned(),
            kind: BuildCause::BUILD_SCRIPT.to_owned(),
            file: None,
            more_files: Vec::new(),
            by_chance: false,
            passes,
            fails: Some(1),
        }
    }

    #[test]
    fn a_test_about_which_its_build_decides_is_not_broken() {
        let broken = || {
            let mut report = test(Verdict::Broken);
            report.notes = vec!["it fails in a plain build too".to_owned()];
            report
        };
        let mut report = broken();
        decides(&mut report, cause(Some(2)), [1, 3], failed("left: 1\n right: 2"));
        assert_eq!(report.verdict, Verdict::ImplementationDependent);
        assert!(!report.is_dependent(), "no choice of a run decides");
        assert_eq!(report.failures.len(), 1, "where it fails is shown");
        assert_eq!(
            report.notes,
            ["all its runs in one build have the same outcome; it fails in 1 of 3 builds: left: \
                 1, right: 2"]
        );
        assert!(report.reproduce.unwrap().starts_with("cargo clean -p shop && cargo test -p "));

        let mut report = broken();
        decides(&mut report, cause(None), [3, 3], failed("a"));
        assert!(report.notes[0].contains("each of 3 builds, with different values"));

        let mut report = broken();
        may_decide(&mut report, cause(None));
        assert_eq!((report.verdict, report.unjudged), (Verdict::NotRun, true));
    }
}

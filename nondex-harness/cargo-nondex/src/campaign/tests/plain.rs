//! Tests of runs in a plain build.

use nondex_core::Source;

use super::super::budget::Budget;
use super::super::comparison::{Builder, Comparison, RUNS};
use super::*;
use crate::judge::plain::PlainBuild;

/// A plain build that is the given one.
struct Built(Suite);

impl Builder for Built {
    fn build(&self) -> Result<Vec<Suite>, String> {
        Ok(vec![self.0.clone()])
    }
}

#[test]
fn when_the_budget_is_spent_only_what_is_decisive_runs_in_a_plain_build() {
    let script = r#"echo >> runs; test "$2" = passing"#;
    let project = Project::new(Harness::Libtest, script, &["passing", "failing"]);
    let stop = StopFlag::new();
    let spent = Budget::new(Some(10.0), NonZeroUsize::MIN, &stop);
    spent.compared(Duration::from_secs(60));
    let free = Budget::new(Some(10.0), NonZeroUsize::MIN, &stop);
    let builder = Built(project.suite.clone());
    let compare = |budget, test: usize, is_decisive| {
        let case = &project.suite.tests[test];
        let comparison = Comparison::new(&builder, Some(budget), &stop);
        let limit = Duration::from_secs(30);
        comparison.compare(&project.suite, case, limit, is_decisive, &[]).0
    };
    for test in [0, 1] {
        assert!(matches!(compare(&spent, test, false), PlainBuild::Not(reason)
            if reason.contains("--thorough")));
        assert!(!free.has_compared());
        for is_decisive in [false, true] {
            assert!(matches!(compare(&free, test, is_decisive), PlainBuild::Runs([failures, runs])
                    if runs >= RUNS && failures == runs * test as u64),);
        }
    }
    assert_eq!(compare(&spent, 0, true), PlainBuild::Runs([0, RUNS]));
}

#[test]
fn what_failed_in_a_plain_build_fails_again_without_backtraces() {
    let script = r#"echo "${RUST_BACKTRACE-unset}" >> backtraces; test "$2" = passing"#;
    let mut project = Project::new(Harness::Libtest, script, &["passing", "failing"]);
    project.suite.binary.env.insert("RUST_BACKTRACE".into(), "1".into());
    let stop = StopFlag::new();
    let builder = Built(project.suite.clone());
    let comparison = Comparison::new(&builder, None, &stop);
    for (case, later) in project.suite.tests.iter().zip(["1", "unset"]) {
        let limit = Duration::from_secs(30);
        comparison.compare(&project.suite, case, limit, true, &[]);
        let file = project.directory.path().join("backtraces");
        let seen = fs::read_to_string(&file).unwrap();
        let mut lines = seen.lines();
        assert_eq!(lines.next(), Some("1"));
        assert!(lines.clone().count() > 1 && lines.all(|line| line == later), "{seen}");
        fs::remove_file(&file).unwrap();
    }
}

#[test]
fn what_fails_in_every_other_second_has_both_outcomes_in_a_plain_build() {
    let script = "test $(($(date +%s) % 2)) = 0";
    let project = Project::new(Harness::Libtest, script, &["dated"]);
    let stop = StopFlag::new();
    let builder = Built(project.suite.clone());
    let comparison = Comparison::new(&builder, None, &stop);
    let (case, limit) = (&project.suite.tests[0], Duration::from_secs(30));
    let (found, _) = comparison.compare(&project.suite, case, limit, true, &[Source::Date]);
    let PlainBuild::Runs([failures, runs]) = found else { panic!("{found:?}") };
    assert!(0 < failures && failures < runs, "{failures} of {runs}");
}

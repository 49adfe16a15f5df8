//! Observations that would refute a finding.

use super::Refutation;
use crate::report::schema::{TestReport, Verdict};
use crate::shell;

/// Number of repetitions of a run that may refute a finding.
const RUNS: u64 = 20;

/// Returns the observations that would refute the finding about a test.
pub(super) fn refutations(test: &TestReport) -> Vec<Refutation> {
    let replay = test.reproduce.as_deref().filter(|line| line.starts_with("cargo nondex replay "));
    let repeated = replay.map(|line| format!("{line} --runs {RUNS}"));
    let alone = replay.map(|line| format!("{} --clean --runs {RUNS}", without_choices(line)));
    let plain = Some(format!("cargo nondex confirm {}", shell::quote(&test.name)));
    let again = |observation: &str| refutation(observation, repeated.clone());
    match test.verdict {
        Verdict::ImplementationDependent if test.fails_in_canonical_order() => {
            vec![again("no run with these choices has this outcome")]
        }
        Verdict::ImplementationDependent => vec![
            again("no run with these choices fails"),
            refutation("a run in canonical order fails as well", alone),
        ],
        Verdict::OrderDependentVictim => vec![
            again("no run after these tests fails"),
            refutation("a run of the test alone fails as well", alone),
        ],
        Verdict::OrderDependentBrittle => vec![again("no run of the test alone fails")],
        Verdict::NonDeterministic | Verdict::Unknown => {
            vec![again("every repetition has the same outcome, more often than the rate allows")]
        }
        Verdict::Network => vec![refutation("a run that reaches the network fails as well", None)],
        Verdict::Broken => vec![refutation("a plain build passes", plain)],
        Verdict::Stable | Verdict::Passed | Verdict::NotRun => Vec::new(),
    }
}

fn refutation(observation: &str, command: Option<String>) -> Refutation {
    Refutation { observation: observation.to_owned(), command }
}

/// Returns the part of a replay command before the options for its choices.
fn without_choices(line: &str) -> &str {
    let ends = [" --level ", " --clean", " --after "];
    let end = ends.iter().filter_map(|option| line.find(option)).min();
    &line[..end.unwrap_or(line.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::schema::tests::test;

    fn commands(verdict: Verdict, reproduce: &str) -> Vec<Option<String>> {
        let mut found = test(verdict);
        found.reproduce = Some(reproduce.to_owned());
        refutations(&found).into_iter().map(|one| one.command).collect()
    }

    #[test]
    fn a_dependency_is_refuted_by_runs_with_the_choices_and_by_runs_without() {
        let line = "cargo nondex replay --lib 'a$b' --level ONE --seed 3 --timeout 5";
        assert_eq!(
            commands(Verdict::ImplementationDependent, line),
            [
                Some(format!("{line} --runs 20")),
                Some("cargo nondex replay --lib 'a$b' --clean --runs 20".to_owned())
            ]
        );
        let line = "cargo nondex replay 'a$b' --after c";
        assert_eq!(
            commands(Verdict::OrderDependentVictim, line),
            [
                Some(format!("{line} --runs 20")),
                Some("cargo nondex replay 'a$b' --clean --runs 20".to_owned())
            ]
        );
    }

    #[test]
    fn only_a_replay_is_repeated_and_a_passing_test_has_nothing_to_refute() {
        let line = "cargo nondex order --orders 5";
        assert_eq!(commands(Verdict::NonDeterministic, line), [None]);
        assert!(commands(Verdict::Stable, line).is_empty());
    }
}

//! The answer about a change: how many failures it may have caused.

use crate::judge::change::Blame;
use crate::report::{TestReport, first, plural};

/// Maximum number of tests that are named for each answer.
const NAMED: usize = 3;

/// Returns the answer: `3 failures: 1 may be caused by the change (a$sums), 2 not caused by the
/// change`. Returns `None` if no failure was compared with a change.
pub(super) fn answer(tests: &[TestReport]) -> Option<String> {
    let of = |blame: Blame| {
        let is_blamed =
            |test: &&TestReport| test.change.as_ref().is_some_and(|change| change.verdict == blame);
        tests.iter().filter(is_blamed).map(|test| &test.id).collect::<Vec<&String>>()
    };
    let [caused, unknown, innocent] = [Blame::Regression, Blame::Unknown, Blame::Flaky].map(of);
    let all = caused.len() + unknown.len() + innocent.len();
    let number = |of: &[&String]| if all == 1 { String::new() } else { format!("{} ", of.len()) };
    let mut parts = Vec::new();
    if !caused.is_empty() {
        let names = first(&caused, NAMED);
        parts.push(format!("{}may be caused by the change ({names})", number(&caused)));
    }
    if !unknown.is_empty() {
        parts.push(format!("{}undecided ({})", number(&unknown), first(&unknown, NAMED)));
    }
    if !innocent.is_empty() {
        parts.push(format!("{}not caused by the change", number(&innocent)));
    }
    (all > 0).then(|| format!("{}: {}", plural(all as u64, "failure"), parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::schema::ChangeReport;

    #[test]
    fn the_answer_names_what_needs_somebody() {
        let of = |blames: &[Blame]| {
            let tests = blames.iter().enumerate().map(|(number, verdict)| TestReport {
                change: Some(ChangeReport {
                    verdict: *verdict,
                    witness: None,
                    lines: Vec::new(),
                    files: Vec::new(),
                }),
                ..TestReport::new("a", "a", &number.to_string())
            });
            let stable = TestReport::new("a", "a", "stable");
            answer(&tests.chain([stable]).collect::<Vec<_>>())
        };
        use Blame::{Flaky, Regression, Unknown};
        assert_eq!(of(&[]), None);
        for (blames, expected) in [
            (&[Flaky][..], "1 failure: not caused by the change"),
            (&[Regression], "1 failure: may be caused by the change (a$0)"),
            (&[Flaky, Flaky], "2 failures: 2 not caused by the change"),
            (
                &[Flaky, Regression, Unknown],
                "3 failures: 1 may be caused by the change (a$1), 1 undecided (a$2), 1 not caused \
                 by the change",
            ),
        ] {
            assert_eq!(of(blames).as_deref(), Some(expected));
        }
    }
}

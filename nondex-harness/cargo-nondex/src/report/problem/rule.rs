//! The kinds of findings.

use nondex_core::Model;

use crate::report::schema::{TestReport, Timing, Verdict};

/// A kind of finding: an API with an unspecified result, or a verdict.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rule {
    /// Stable identifier: `hash_map/std::collections::HashMap::keys`, `OD-victim`, `race`.
    pub id: String,
    /// A sentence about the problem, without its period.
    pub title: String,
    /// What std leaves unspecified, if that is the cause.
    pub promise: Option<&'static str>,
    /// The advice, if it is the same for all findings of the kind.
    pub fix: Option<&'static str>,
    /// The address of std's documentation of the API.
    pub url: Option<String>,
}

impl Rule {
    /// Returns the kind of a test's finding.
    pub fn of(test: &TestReport) -> Self {
        if let Some(sanitised) = &test.sanitised_by {
            let title = format!("The test needs a prerequisite: {}", sanitised.name);
            return Rule::new(&format!("sanitised/{}", sanitised.name), &title);
        }
        if test.is_dependent() && test.reason.is_none() {
            return Self::of_choice(test);
        }
        let (id, title) = match (test.end(), test.reason) {
            (Some("deadlock"), _) => ("deadlock", "Threads wait for each other forever"),
            (Some("livelock"), _) => ("livelock", "Threads spin without progress"),
            (Some(_), Some(_)) => ("timeout", "The test times out under some schedules"),
            (None, Some(Timing::Race)) => ("race", "The outcome depends on when threads run"),
            (None, Some(Timing::Time)) => ("time", "The outcome depends on how much time passes"),
            (_, None) => Self::of_verdict(test),
        };
        Rule::new(id, title)
    }

    /// Returns the kind for a test that relies on choices other than thread schedules.
    fn of_choice(test: &TestReport) -> Self {
        let culprit = test.culprits.first();
        let model = culprit.and_then(|culprit| Model::by_api(&culprit.api));
        let Some((culprit, model)) = culprit.zip(model) else {
            return Rule::new(test.verdict.name(), "The outcome depends on an unspecified choice");
        };
        let title = format!("The outcome depends on what `{}` leaves unspecified", model.api);
        Rule {
            promise: Some(model.promise),
            fix: Some(model.fix),
            url: Some(model.url()),
            ..Rule::new(&model.name(culprit.family), &title)
        }
    }

    fn of_verdict(test: &TestReport) -> (&'static str, &'static str) {
        let title = match test.verdict {
            Verdict::ImplementationDependent if test.build.is_some() => {
                return ("ID/build", "The outcome depends on how the test was built");
            }
            Verdict::ImplementationDependent if test.environment.is_some() => {
                return ("ID/environment", "The outcome depends on the environment");
            }
            Verdict::NonDeterministic if test.race.is_some() => {
                return ("test-race", "The test fails when another test runs at the same time");
            }
            Verdict::ImplementationDependent => "The outcome depends on an unspecified choice",
            Verdict::OrderDependentVictim => "The test fails after another test",
            Verdict::OrderDependentBrittle => "The test fails unless another test ran before it",
            Verdict::NonDeterministic => "The outcome differs between runs with the same choices",
            Verdict::Unknown => "The test is flaky for an unknown reason",
            Verdict::Broken => "The test fails in canonical order too",
            Verdict::Network => "The test needs the network",
            Verdict::NotRun => "The test was not judged",
            Verdict::Stable | Verdict::Passed => "The test passes",
        };
        (test.verdict.name(), title)
    }

    fn new(id: &str, title: &str) -> Self {
        Rule { id: id.to_owned(), title: title.to_owned(), promise: None, fix: None, url: None }
    }
}

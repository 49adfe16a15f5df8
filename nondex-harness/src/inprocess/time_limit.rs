//! `--report-time` and `--ensure-time`: how long a test of each kind may take.

use std::time::Duration;

use super::descriptor::TestType;

/// From when on a test is slow, and too slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeLimit {
    pub(crate) warn: Duration,
    pub(crate) critical: Duration,
}

/// The limits for each kind of test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeLimits {
    /// Whether a test that is too slow fails.
    pub(crate) enforced: bool,
    unit: TimeLimit,
    integration: TimeLimit,
    doctest: TimeLimit,
}

impl TimeLimit {
    const fn milliseconds(warn: u64, critical: u64) -> Self {
        TimeLimit {
            warn: Duration::from_millis(warn),
            critical: Duration::from_millis(critical),
        }
    }

    fn from_env(
        variable: &str,
        env: &impl Fn(&str) -> Option<String>,
        default: Self,
    ) -> Result<Self, String> {
        let Some(text) = env(variable) else {
            return Ok(default);
        };
        text.split_once(',')
            .and_then(|(warn, critical)| Some((warn.parse().ok()?, critical.parse().ok()?)))
            .filter(|(warn, critical)| warn <= critical)
            .map(|(warn, critical)| TimeLimit::milliseconds(warn, critical))
            .ok_or_else(|| {
                format!("{variable} is `{text}`, expected `WARN,CRITICAL` in milliseconds, in ascending order")
            })
    }
}

impl TimeLimits {
    /// libtest's limits, or those of its environment variables.
    pub(crate) fn from_env(
        enforced: bool,
        env: &impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let whole = TimeLimit::milliseconds(500, 1000);
        Ok(TimeLimits {
            enforced,
            unit: TimeLimit::from_env(
                "RUST_TEST_TIME_UNIT",
                env,
                TimeLimit::milliseconds(50, 100),
            )?,
            integration: TimeLimit::from_env("RUST_TEST_TIME_INTEGRATION", env, whole)?,
            doctest: TimeLimit::from_env("RUST_TEST_TIME_DOCTEST", env, whole)?,
        })
    }

    /// The limit for a test of kind `test_type`.
    pub(crate) const fn of(&self, test_type: TestType) -> TimeLimit {
        match test_type {
            TestType::UnitTest => self.unit,
            TestType::IntegrationTest => self.integration,
            TestType::DocTest => self.doctest,
            TestType::Unknown => TimeLimit::milliseconds(60_000, 120_000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_sets_the_limit_of_its_kind_only() {
        let env = |name: &str| (name == "RUST_TEST_TIME_UNIT").then(|| "1,2".to_owned());
        let limits = TimeLimits::from_env(false, &env).unwrap();
        assert_eq!(limits.of(TestType::UnitTest), TimeLimit::milliseconds(1, 2));
        assert_eq!(
            limits.of(TestType::DocTest),
            TimeLimit::milliseconds(500, 1000)
        );
    }

    #[test]
    fn a_limit_that_is_no_ascending_pair_is_an_error() {
        for text in ["", "1", "1,x", "2,1"] {
            assert!(TimeLimits::from_env(false, &|_| Some(text.to_owned())).is_err());
        }
    }
}

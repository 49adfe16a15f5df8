//! Limits the number of sanitised tests of a successful run.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Number of tests, or share of those that were run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Limit {
    /// Number of tests.
    Count(u64),
    /// Percentage of the tests that were run.
    Percent(u8),
}

impl Limit {
    /// Returns whether `sanitised` of `run` tests exceed the limit.
    pub const fn is_exceeded(self, sanitised: u64, run: u64) -> bool {
        match self {
            Limit::Count(most) => sanitised > most,
            Limit::Percent(most) => sanitised as u128 * 100 > run as u128 * most as u128,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Count(most) => write!(f, "{most}"),
            Limit::Percent(most) => write!(f, "{most}%"),
        }
    }
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let limit = match text.strip_suffix('%') {
            Some(share) => share.parse().ok().filter(|share| *share <= 100).map(Limit::Percent),
            None => text.parse().ok().map(Limit::Count),
        };
        limit
            .ok_or_else(|| "expected a number of tests such as `3`, or a share such as `5%`".into())
    }
}

impl From<Limit> for String {
    fn from(limit: Limit) -> String {
        limit.to_string()
    }
}

impl TryFrom<String> for Limit {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_exceeded_by_more_and_not_by_as_many() {
        for (text, sanitised, run, exceeded) in [
            ("0", 0, 10, false),
            ("0", 1, 10, true),
            ("3", 3, 10, false),
            ("0%", 0, 10, false),
            ("0%", 1, 1000, true),
            ("10%", 1, 10, false),
            ("10%", 2, 10, true),
            ("100%", 10, 10, false),
        ] {
            let limit: Limit = text.parse().unwrap();
            assert_eq!(
                limit.is_exceeded(sanitised, run),
                exceeded,
                "{sanitised} of {run} at {text}"
            );
            assert_eq!(limit.to_string(), text);
        }
        for text in ["", "%", "-1", "101%", "1.5%", "few"] {
            assert!(text.parse::<Limit>().is_err(), "{text}");
        }
    }
}

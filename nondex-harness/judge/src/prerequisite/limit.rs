//! Limits the number of sanitised tests of a successful run.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Number of tests, or share of those that were run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum SanitisedLimit {
    /// Number of tests.
    Count(u64),
    /// Percentage of the tests that were run.
    Percent(u8),
}

impl SanitisedLimit {
    /// Returns whether `sanitised` of `run` tests exceed the limit.
    pub const fn is_exceeded(self, sanitised: u64, run: u64) -> bool {
        match self {
            SanitisedLimit::Count(most) => sanitised > most,
            SanitisedLimit::Percent(most) => sanitised as u128 * 100 > run as u128 * most as u128,
        }
    }
}

impl fmt::Display for SanitisedLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SanitisedLimit::Count(most) => write!(f, "{most}"),
            SanitisedLimit::Percent(most) => write!(f, "{most}%"),
        }
    }
}

impl FromStr for SanitisedLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let limit = match text.strip_suffix('%') {
            Some(share) => {
                share.parse().ok().filter(|share| *share <= 100).map(SanitisedLimit::Percent)
            }
            None => text.parse().ok().map(SanitisedLimit::Count),
        };
        limit
            .ok_or_else(|| "expected a number of tests such as `3`, or a share such as `5%`".into())
    }
}

impl From<SanitisedLimit> for String {
    fn from(limit: SanitisedLimit) -> String {
        limit.to_string()
    }
}

impl TryFrom<String> for SanitisedLimit {
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
            let limit: SanitisedLimit = text.parse().unwrap();
            assert_eq!(
                limit.is_exceeded(sanitised, run),
                exceeded,
                "{sanitised} of {run} at {text}"
            );
            assert_eq!(limit.to_string(), text);
        }
        for text in ["", "%", "-1", "101%", "1.5%", "few"] {
            assert!(text.parse::<SanitisedLimit>().is_err(), "{text}");
        }
    }
}

//! Parses `--max-fail`, the number of failures after which no further test starts.

use std::num::NonZeroUsize;
use std::str::FromStr;

/// Number of failures after which no further test starts, or `None` to run all tests.
///
/// nextest's `N:wait` and `N:immediate` are parsed as `N`. Running tests are always finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxFail(pub Option<NonZeroUsize>);

impl MaxFail {
    /// Limit of one failure.
    pub const ONE: Self = MaxFail(Some(NonZeroUsize::MIN));
    /// No limit.
    pub const ALL: Self = MaxFail(None);
}

impl FromStr for MaxFail {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(MaxFail::ALL),
            number => {
                let modes = [":wait", ":immediate"];
                let number = modes.into_iter().find_map(|mode| number.strip_suffix(mode));
                match number.unwrap_or(text).parse() {
                    Ok(number) => Ok(MaxFail(Some(number))),
                    Err(_) => Err("expected a number of at least 1, or `all`".to_owned()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_failures_is_at_least_one() {
        assert_eq!("all".parse(), Ok(MaxFail::ALL));
        assert_eq!("1".parse(), Ok(MaxFail::ONE));
        assert_eq!("3".parse(), Ok(MaxFail(NonZeroUsize::new(3))));
        assert_eq!("1:wait".parse(), Ok(MaxFail::ONE));
        assert_eq!("1:immediate".parse(), Ok(MaxFail::ONE));
        for text in ["0", "-1", "none", "", "1:", ":wait", "all:wait", "1:wait:wait"] {
            assert!(text.parse::<MaxFail>().is_err(), "{text}");
        }
    }
}

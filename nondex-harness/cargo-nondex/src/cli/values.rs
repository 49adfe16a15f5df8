//! Parses values of options: names, numbers and durations.

use std::num::NonZeroUsize;
use std::str::FromStr;
use std::thread::available_parallelism;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use nondex_core::Schedule;

/// Options that switch something on, or off as `--FLAG=false`.
pub(super) trait Switch {
    /// Turns an option into a switch. The help text shows `value_name` in place of `true` or
    /// `false`.
    fn switch(self, value_name: &'static str) -> Self;
}

impl Switch for clap::Arg {
    fn switch(self, value_name: &'static str) -> Self {
        self.value_name(value_name)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .hide_possible_values(true)
    }
}

/// Returns a parser that accepts the names of `all`.
pub(super) fn one_of<T, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.map(name)).map(move |given| {
        all.into_iter().find(|one| name(*one) == given).expect("no other word is accepted")
    })
}

/// Parses a whole number of at least 1.
pub(crate) fn positive<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "expected a whole number of at least 1".to_owned())
}

/// Parses a whole number. clap's own message does not name what it expects.
pub(crate) fn whole<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "expected a whole number below 2^64".to_owned())
}

/// Parses a number of parallel jobs in the format of cargo and nextest. A negative number is
/// subtracted from the number of processors.
pub(crate) fn processors(text: &str) -> Result<NonZeroUsize, String> {
    let all = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    match (text, text.parse::<isize>()) {
        ("num-cpus" | "default", _) => Ok(all),
        (_, Ok(number @ ..0)) => {
            let rest = all.get().saturating_sub(number.unsigned_abs());
            Ok(NonZeroUsize::new(rest).unwrap_or(NonZeroUsize::MIN))
        }
        _ => text.parse().map_err(|_| {
            "expected a whole number of at least 1, a negative one to leave processors free, or \
             `num-cpus`"
                .to_owned()
        }),
    }
}

/// Parses the schedule of a campaign. `systematic` is invalid, because each of its seeds encodes a
/// list of preemptions.
pub(crate) fn drawn(text: &str) -> Result<Schedule, String> {
    match text.parse() {
        Ok(schedule @ (Schedule::Covering | Schedule::Random)) => Ok(schedule),
        Ok(Schedule::Systematic) | Err(_) => Err("expected covering or random".to_owned()),
    }
}

/// Parses a positive duration: seconds, with or without a fraction, or numbers with units, as in
/// the configuration of nextest.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let duration = match text.parse() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => humantime::parse_duration(text).ok(),
    };
    duration.filter(|duration| !duration.is_zero()).ok_or_else(|| {
        "expected a time above 0, in seconds, such as `60` or `0.5`, or with units, such as `10m`"
            .to_owned()
    })
}

/// Parses a positive number, with or without a fraction.
pub(crate) fn factor(text: &str) -> Result<f64, String> {
    let read = text.parse::<f64>().ok().filter(|factor| factor.is_finite() && *factor > 0.0);
    read.ok_or_else(|| "expected a number above 0, such as `10` or `2.5`".to_owned())
}

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
    fn a_campaign_draws_its_seeds() {
        assert_eq!(drawn("random"), Ok(Schedule::Random));
        assert!(drawn("systematic").is_err() && drawn("").is_err());
    }

    #[test]
    fn a_number_of_jobs_is_positive_or_leaves_processors_free_or_is_that_of_the_processors() {
        let all = available_parallelism().unwrap();
        assert_eq!(processors("3").ok(), NonZeroUsize::new(3));
        assert_eq!(processors("-100000"), Ok(NonZeroUsize::MIN));
        assert_eq!((processors("num-cpus"), processors("default")), (Ok(all), Ok(all)));
        for text in ["0", "", "many", "1.5"] {
            assert!(processors(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_factor_is_a_positive_number() {
        assert_eq!(factor("2.5"), Ok(2.5));
        for text in ["0", "-1", "NaN", "inf", "1e400", "2x", ""] {
            assert!(factor(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_time_is_positive_and_in_seconds_or_with_units() {
        assert_eq!(duration("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("1h 30m"), Ok(Duration::from_secs(5400)));
        for text in ["0", "-1", "NaN", "inf", "1e400", "0s", "10 minutos", "5x", ""] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

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

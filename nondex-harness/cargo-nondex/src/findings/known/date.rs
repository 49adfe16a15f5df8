//! Calendar days, in the format of TOML and the command line.

use chrono::{DateTime, Datelike, NaiveDate, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::time::SystemTime;
use toml::Value;
use toml::value::{Date, Datetime};

/// Returns the current date in UTC.
pub fn today() -> NaiveDate {
    DateTime::<Utc>::from(SystemTime::now()).date_naive()
}

/// Parses a date such as `2027-01-31`.
///
/// # Errors
/// Returns an error when the text is not a date.
pub fn parse(text: &str) -> Result<NaiveDate, String> {
    text.parse().map_err(|_| format!("`{text}` is not a date, expected one such as 2027-01-31"))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<NaiveDate, D::Error> {
    let found = Value::deserialize(from)?;
    parse(&found.to_string()).map_err(serde::de::Error::custom)
}

pub(super) fn serialize<S: Serializer>(day: &NaiveDate, to: S) -> Result<S::Ok, S::Error> {
    let part = |part: u32| u8::try_from(part).map_err(serde::ser::Error::custom);
    let date = Date {
        year: u16::try_from(day.year()).map_err(serde::ser::Error::custom)?,
        month: part(day.month())?,
        day: part(day.day())?,
    };
    Datetime::from(date).serialize(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_date_is_refused_with_an_example() {
        assert_eq!(parse("2027-01-31").unwrap().to_string(), "2027-01-31");
        for text in ["tomorrow", "2027-13-01", "2027-02-30", "2027-01-31T10:00:00", ""] {
            let error = parse(text).unwrap_err();
            assert!(error.contains("2027-01-31"), "{text}: {error}");
        }
    }
}

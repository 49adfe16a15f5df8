//! One line of an access log: `10.0.0.1 GET /index.html 200`.

use std::fmt;
use std::str::FromStr;

/// Request in an access log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub visitor: String,
    pub method: String,
    pub path: String,
    pub status: u16,
}

/// Error for a line that is not a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError(String);

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected `visitor method path status`, found `{}`", self.0)
    }
}

impl std::error::Error for ParseError {}

impl FromStr for Entry {
    type Err = ParseError;

    fn from_str(line: &str) -> Result<Self, Self::Err> {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [visitor, method, path, status] = fields[..] else {
            return Err(ParseError(line.to_owned()));
        };
        Ok(Entry {
            visitor: visitor.to_owned(),
            method: method.to_owned(),
            path: path.to_owned(),
            status: status.parse().map_err(|_| ParseError(line.to_owned()))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_parsed() {
        let entry: Entry = "10.0.0.1 GET / 200".parse().unwrap();
        assert_eq!((entry.path.as_str(), entry.status), ("/", 200));
    }

    #[test]
    fn a_line_with_a_missing_field_is_refused() -> Result<(), String> {
        match "10.0.0.1 GET 200".parse::<Entry>() {
            Err(error) if error.to_string().contains("10.0.0.1 GET 200") => Ok(()),
            other => Err(format!("{other:?}")),
        }
    }
}

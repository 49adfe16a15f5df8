//! Enums that users write by name: on the command line, in an environment variable, or in a
//! configuration file.

use std::fmt;

/// Error for a name that is none of the expected ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    what: &'static str,
    found: String,
    expected: String,
}

impl UnknownWord {
    pub(crate) fn new(what: &'static str, found: &str, expected: &[&str]) -> Self {
        UnknownWord { what, found: found.to_owned(), expected: expected.join(", ") }
    }
}

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnknownWord { what, found, expected } = self;
        write!(f, "unknown {what} `{found}`, expected one of {expected}")
    }
}

impl std::error::Error for UnknownWord {}

/// Implements `Display` and `FromStr` (case-insensitive) for an enum with `ALL` and `name`:
/// `word!(Level, "level")`.
macro_rules! word {
    ($type:ident, $what:literal) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::word::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $type::ALL
                    .into_iter()
                    .find(|known| known.name().eq_ignore_ascii_case(text))
                    .ok_or_else(|| {
                        $crate::word::UnknownWord::new($what, text, &$type::ALL.map($type::name))
                    })
            }
        }
    };
}

pub(crate) use word;

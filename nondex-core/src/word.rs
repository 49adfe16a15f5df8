//! A word of a short list that a person writes: on the command line, in a variable of the
//! environment, in a configuration.

use std::fmt;

/// A word was found that is none of those expected.
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

/// An enum with `ALL` and `name` is shown as its name and parsed from it in any case:
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

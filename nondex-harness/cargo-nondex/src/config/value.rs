//! Values of keys. They are text in the format of the command line, and the same functions parse
//! them.

use std::fmt;
use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use camino::Utf8PathBuf;
use nondex_core::{Level, NetworkMode, Schedule};
use regex::Regex;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use crate::cli::values::{drawn, duration, factor, positive, processors};
use crate::cli::{Expression, Seeds};
use crate::judge::SanitisedLimit;
use crate::project::Mode;

/// A value that can be parsed from text.
pub(super) trait Read: Sized {
    /// Parses a value.
    fn read(text: &str) -> Result<Self, String>;

    /// Parses a value that is an item of a list.
    fn read_item(text: &str) -> Result<Self, String> {
        Self::read(text)
    }

    /// Combines the items of a list into one value. Returns `None` if the type does not allow a
    /// list.
    fn join(_items: Vec<Self>) -> Option<Self> {
        None
    }
}

/// Implements [`Read`] for types with a parsing function each.
macro_rules! read {
    ($($type:ty: $read:expr;)*) => {$(
        impl Read for $type {
            fn read(text: &str) -> Result<Self, String> {
                let read: fn(&str) -> Result<Self, String> = $read;
                read(text)
            }
        }
    )*};
}

read! {
    String: |text| Ok(text.to_owned());
    Utf8PathBuf: |text| Ok(text.into());
    u64: whole;
    usize: whole;
    NonZeroU32: positive;
    // The number of parallel jobs.
    NonZeroUsize: processors;
    Duration: duration;
    f64: factor;
    Schedule: drawn;
    Regex: |text| Regex::new(text).map_err(message);
    SanitisedLimit: str::parse;
    Expression: |text| Expression::parse(text).map_err(message);
    Mode: |text| one_of(text, Mode::ALL.map(|mode| (mode.name(), mode)));
    NetworkMode: |text| one_of(text, NetworkMode::ALL.map(|mode| (mode.name(), mode)));
}

impl Read for Seeds {
    fn read(text: &str) -> Result<Self, String> {
        text.parse()
    }

    // A number in a list is a seed; a single number outside of a list is the number of seeds.
    fn read_item(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(seed) => Ok(Seeds::one(seed)),
            Err(_) => Self::read(text),
        }
    }

    fn join(items: Vec<Self>) -> Option<Self> {
        Some(Seeds::union(items))
    }
}

/// A comma-separated list of levels.
impl Read for Vec<Level> {
    fn read(text: &str) -> Result<Self, String> {
        text.split(',').map(|name| name.trim().parse()).collect::<Result<_, _>>().map_err(message)
    }

    fn join(items: Vec<Self>) -> Option<Self> {
        (!items.is_empty()).then(|| items.concat())
    }
}

/// A comma-separated list of names.
#[derive(Clone, Debug)]
pub struct NameList(pub Vec<String>);

impl Read for NameList {
    fn read(text: &str) -> Result<Self, String> {
        Ok(NameList(text.split(',').map(str::to_owned).collect()))
    }

    fn join(items: Vec<Self>) -> Option<Self> {
        let names = items.into_iter().flat_map(|names| names.0);
        Some(NameList(names.collect()))
    }
}

fn message(error: impl fmt::Display) -> String {
    error.to_string()
}

fn whole<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "expected a whole number".to_owned())
}

fn one_of<T, const N: usize>(text: &str, known: [(&str, T); N]) -> Result<T, String> {
    let names = known.each_ref().map(|(name, _)| *name).join(", ");
    let found = known.into_iter().find(|(name, _)| *name == text);
    found.map_or_else(|| Err(format!("`{text}`: expected one of {names}")), |(_, value)| Ok(value))
}

/// Deserializes a key whose value is a string or a number, or a list if the type allows one.
pub(super) fn one<'de, D: Deserializer<'de>, T: Read>(from: D) -> Result<Option<T>, D::Error> {
    from.deserialize_any(Text(T::read)).map(Some)
}

/// Deserializes a required key.
pub(super) fn required<'de, D: Deserializer<'de>, T: Read>(from: D) -> Result<T, D::Error> {
    from.deserialize_any(Text(T::read))
}

/// Deserializes a key whose value is a single value or a list of values.
pub(super) fn many<'de, D: Deserializer<'de>, T: Read>(
    from: D,
) -> Result<Option<Vec<T>>, D::Error> {
    let all: All<T> = from.deserialize_any(Text(All::read))?;
    Ok(Some(all.0))
}

/// A list of values, which may be written as a single value.
pub(super) struct All<T>(pub(super) Vec<T>);

impl<T: Read> Read for All<T> {
    fn read(text: &str) -> Result<Self, String> {
        Ok(All(vec![T::read(text)?]))
    }

    fn join(items: Vec<Self>) -> Option<Self> {
        Some(All(items.into_iter().flat_map(|all| all.0).collect()))
    }
}

/// One item of a list, parsed by [`Read::read_item`].
struct Item<T>(T);

impl<'de, T: Read> Deserialize<'de> for Item<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Text(T::read_item)).map(Item)
    }
}

/// A visitor that passes a string, or a number as text, to a parsing function.
struct Text<T>(fn(&str) -> Result<T, String>);

impl<'de, T: Read> Visitor<'de> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a number")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<T, A::Error> {
        let mut items = Vec::new();
        while let Some(Item(item)) = list.next_element()? {
            items.push(item);
        }
        let expected = "a list is not allowed here, or must not be empty";
        T::join(items).ok_or_else(|| A::Error::custom(expected))
    }
}

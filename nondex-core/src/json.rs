//! A minimal implementation of JSON for the protocol.
//!
//! It does not use `serde_json`, for a reason that a published crate showed. `serde_json`
//! implements `PartialEq<Value>` for `usize` and the other primitives. Implementations in
//! dependencies of the std facade are visible to every crate that is compiled with it. The types of
//! `if id == dead_id()` (aho-corasick 0.7.15) can then no longer be inferred.
//!
//! It does not use serde either, which would dominate the build time of the runtime. A macro of
//! `define` defines the JSON of a type once; with the feature `serde`, the serde traits derive from
//! it (`bridge`). The tests of the protocol compare the text with that of `serde_json`. There are
//! no floats and no maps.

#[cfg(feature = "serde")]
mod bridge;
pub(crate) mod define;
mod object;
mod read;
mod write;

use std::fmt;
use std::path::PathBuf;

pub(crate) use define::{object, tagged, variants, words};
#[doc(hidden)]
pub use define::{unknown, variant};
pub use object::Object;
pub(crate) use write::string;

/// Error in a JSON text or value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl Error {
    fn new(message: impl Into<String>) -> Self {
        Error(message.into())
    }

    /// Creates the error that something other than `expected` was found.
    fn expected(expected: &str, found: &Value) -> Self {
        Error(format!("expected {expected}, found {}", found.kind()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// A JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A non-negative integer.
    Unsigned(u64),
    /// A negative integer.
    Negative(i64),
    /// A string.
    String(String),
    /// An array.
    List(Vec<Value>),
    /// An object: its fields in the order in which they are written.
    Object(Vec<(String, Value)>),
}

impl Value {
    const fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Unsigned(_) | Value::Negative(_) => "a number",
            Value::String(_) => "a string",
            Value::List(_) => "a list",
            Value::Object(_) => "an object",
        }
    }
}

/// A type of the protocol that converts to and from JSON.
pub trait Data: Sized {
    /// Converts to a value.
    fn to_value(&self) -> Value;

    /// Converts from a value.
    ///
    /// # Errors
    /// Returns an error if the value is not of this type; the message states the expected type.
    fn from_value(value: Value) -> Result<Self, Error>;
}

/// Returns the JSON text of a value, on one line.
pub fn to_string(value: &impl Data) -> String {
    let mut text = String::new();
    write::value(&value.to_value(), &mut text);
    text
}

/// Parses a complete JSON text.
///
/// # Errors
/// Returns an error if the text is not JSON, or not of a `T`. The message has the position in
/// bytes, or the type.
pub fn from_str<T: Data>(text: &str) -> Result<T, Error> {
    T::from_value(read::text(text)?)
}

impl Data for Value {
    fn to_value(&self) -> Value {
        self.clone()
    }

    fn from_value(value: Value) -> Result<Self, Error> {
        Ok(value)
    }
}

impl Data for bool {
    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }

    fn from_value(value: Value) -> Result<Self, Error> {
        match value {
            Value::Bool(value) => Ok(value),
            other => Err(Error::expected("a boolean", &other)),
        }
    }
}

impl Data for u64 {
    fn to_value(&self) -> Value {
        Value::Unsigned(*self)
    }

    fn from_value(value: Value) -> Result<Self, Error> {
        match value {
            Value::Unsigned(value) => Ok(value),
            other => Err(Error::expected("a number from 0", &other)),
        }
    }
}

impl Data for u32 {
    fn to_value(&self) -> Value {
        Value::Unsigned((*self).into())
    }

    fn from_value(value: Value) -> Result<Self, Error> {
        let value = u64::from_value(value)?;
        value.try_into().map_err(|_| Error(format!("expected a number of 32 bits, found {value}")))
    }
}

impl Data for i32 {
    fn to_value(&self) -> Value {
        u64::try_from(*self).map_or(Value::Negative((*self).into()), Value::Unsigned)
    }

    fn from_value(value: Value) -> Result<Self, Error> {
        let narrow = match value {
            Value::Unsigned(value) => value.try_into().ok(),
            Value::Negative(value) => value.try_into().ok(),
            _ => None,
        };
        narrow.ok_or_else(|| Error::expected("a number of 32 bits", &value))
    }
}

impl Data for String {
    fn to_value(&self) -> Value {
        Value::String(self.clone())
    }

    fn from_value(value: Value) -> Result<Self, Error> {
        match value {
            Value::String(value) => Ok(value),
            other => Err(Error::expected("a string", &other)),
        }
    }
}

impl Data for PathBuf {
    fn to_value(&self) -> Value {
        let path = self.to_str().expect("the driver's paths are UTF-8");
        Value::String(path.to_owned())
    }

    fn from_value(value: Value) -> Result<Self, Error> {
        String::from_value(value).map(PathBuf::from)
    }
}

/// A field that may be `null`.
impl<T: Data> Data for Option<T> {
    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::to_value)
    }

    fn from_value(value: Value) -> Result<Self, Error> {
        match value {
            Value::Null => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl<T: Data> Data for Vec<T> {
    fn to_value(&self) -> Value {
        // Uses loops, because iterator adapters are compiled again for each type.
        let mut items = Vec::with_capacity(self.len());
        for item in self {
            items.push(item.to_value());
        }
        Value::List(items)
    }

    fn from_value(value: Value) -> Result<Self, Error> {
        match value {
            Value::List(items) => {
                let mut all = Vec::with_capacity(items.len());
                for item in items {
                    all.push(T::from_value(item)?);
                }
                Ok(all)
            }
            other => Err(Error::expected("a list", &other)),
        }
    }
}

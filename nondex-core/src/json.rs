//! JSON for the protocol, and no more of it than the protocol needs.
//!
//! Not `serde_json`, for a reason that was met on a published crate: it implements `PartialEq<Value>` for `usize` and the
//! other primitives, and what the std facade depends on is in sight of every crate that is compiled over it. There
//! `if id == dead_id()` (aho-corasick 0.7.15) no longer infers its type. Its text is compared with `serde_json`'s in the
//! tests of the protocol. Floats and maps with other keys than strings do not occur.

mod de;
mod ser;

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// What is wrong with a text, or why a value has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl serde::ser::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Error(message.to_string())
    }
}

impl serde::de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Error(message.to_string())
    }
}

/// The text of a value, on one line.
///
/// # Errors
/// When the value has a float, bytes, or a key that is not a string.
pub fn to_string(value: &impl Serialize) -> Result<String, Error> {
    let mut text = String::new();
    value.serialize(ser::Writer { text: &mut text })?;
    Ok(text)
}

/// The value of a text, all of it.
///
/// # Errors
/// When the text is not JSON, or not of a `T`; the message has the byte where it was noticed.
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let mut reader = de::Reader::new(text);
    let value = T::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

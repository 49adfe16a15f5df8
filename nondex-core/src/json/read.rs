//! The JSON parser.

use super::{Error, Value};

/// Maximum nesting depth of arrays and objects. It exceeds that of every type of the protocol, and
/// is small enough for any stack.
const DEPTH: usize = 64;

/// Parses a complete text.
pub(super) fn text(text: &str) -> Result<Value, Error> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(DEPTH)?;
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(reader.expected("the end")),
    }
}

/// A text and the position up to which it was read.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(self.at) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn expected(&self, what: &str) -> Error {
        match self.rest().chars().next() {
            Some(found) => Error(format!("expected {what} at byte {}, found `{found}`", self.at)),
            None => Error(format!("expected {what}, found the end of the text")),
        }
    }

    /// Consumes `token` if it comes next, and returns whether it did.
    fn take(&mut self, token: &str) -> bool {
        self.peek();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn require(&mut self, token: &str) -> Result<(), Error> {
        if self.take(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    fn value(&mut self, depth: usize) -> Result<Value, Error> {
        let inner = depth.checked_sub(1).ok_or_else(|| Error::new("a value is nested too deep"))?;
        match self.peek() {
            Some(b'"') => self.string().map(Value::String),
            Some(b'[') => {
                let mut items = Vec::new();
                self.separated(["[", "]"], |reader| {
                    items.push(reader.value(inner)?);
                    Ok(())
                })?;
                Ok(Value::List(items))
            }
            Some(b'{') => {
                let mut fields = Vec::new();
                self.separated(["{", "}"], |reader| {
                    let name = reader.string()?;
                    reader.require(":")?;
                    fields.push((name, reader.value(inner)?));
                    Ok(())
                })?;
                Ok(Value::Object(fields))
            }
            _ if self.take("null") => Ok(Value::Null),
            _ if self.take("true") => Ok(Value::Bool(true)),
            _ if self.take("false") => Ok(Value::Bool(false)),
            _ => self.number(),
        }
    }

    fn separated(
        &mut self,
        [open, close]: [&str; 2],
        mut item: impl FnMut(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.require(open)?;
        if self.take(close) {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.take(close) {
                return Ok(());
            }
            self.require(",")?;
        }
    }

    fn string(&mut self) -> Result<String, Error> {
        self.require("\"")?;
        let mut value = String::new();
        loop {
            let rest = self.rest();
            // Both bytes are ASCII, so they are not part of another character.
            let plain = rest
                .bytes()
                .position(|byte| matches!(byte, b'"' | b'\\'))
                .ok_or_else(|| Error::new("a string does not end"))?;
            value.push_str(&rest[..plain]);
            self.at += plain + 1;
            if rest.as_bytes()[plain] == b'"' {
                return Ok(value);
            }
            let escape = self.rest().chars().next();
            self.at += escape.map_or(0, char::len_utf8);
            value.push(match escape {
                Some(c @ ('"' | '\\' | '/')) => c,
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('u') => self.unicode()?,
                _ => return Err(Error(format!("a bad escape at byte {}", self.at))),
            });
        }
    }

    /// Parses the rest of a `\u` escape: one UTF-16 unit, or a surrogate pair with another `\u` in
    /// between.
    fn unicode(&mut self) -> Result<char, Error> {
        let first = self.unit()?;
        let mut units = vec![first];
        if (0xd800..0xdc00).contains(&first) && self.rest().starts_with("\\u") {
            self.at += 2;
            units.push(self.unit()?);
        }
        let decoded = char::decode_utf16(units).next().and_then(Result::ok);
        decoded.ok_or_else(|| Error(format!("half a character at byte {}", self.at)))
    }

    fn unit(&mut self) -> Result<u16, Error> {
        let digits = self
            .rest()
            .get(..4)
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u16::from_str_radix(digits, 16).ok());
        self.at += 4;
        digits.ok_or_else(|| Error(format!("a bad escape before byte {}", self.at)))
    }

    fn number(&mut self) -> Result<Value, Error> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
        let digits = &rest[..end];
        let value = if let Ok(number) = digits.parse() {
            Value::Unsigned(number)
        } else if let Ok(number) = digits.parse() {
            Value::Negative(number)
        } else {
            return Err(self.expected("a value"));
        };
        self.at += end;
        Ok(value)
    }
}

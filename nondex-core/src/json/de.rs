//! Reading.

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};

use super::Error;

/// A text and how far it was read.
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Reader { text, at: 0 }
    }

    /// Checks that nothing but white space is left.
    pub(super) fn end(&mut self) -> Result<(), Error> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.expected("the end")),
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&mut self) -> Option<u8> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        self.rest().bytes().next()
    }

    fn expected(&mut self, what: &str) -> Error {
        match self.rest().chars().next() {
            Some(found) => Error::custom(format_args!(
                "expected {what} at byte {}, found `{found}`",
                self.at
            )),
            None => Error::custom(format_args!("expected {what}, found the end of the text")),
        }
    }

    /// Reads `token` if it comes next.
    fn take(&mut self, token: &str) -> bool {
        self.peek();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn require(&mut self, token: &str) -> Result<(), Error> {
        if self.take(token) {
            Ok(())
        } else {
            Err(self.expected(&format!("`{token}`")))
        }
    }

    fn string(&mut self) -> Result<String, Error> {
        self.require("\"")?;
        let mut value = String::new();
        loop {
            let rest = self.rest();
            let plain = rest
                .find(['"', '\\'])
                .ok_or_else(|| Error::custom("a string does not end"))?;
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
                _ => {
                    return Err(Error::custom(format_args!(
                        "a bad escape at byte {}",
                        self.at
                    )));
                }
            });
        }
    }

    /// What follows `\u`: one unit of UTF-16, or two with another `\u` between them.
    fn unicode(&mut self) -> Result<char, Error> {
        let first = self.unit()?;
        let mut units = vec![first];
        if (0xd800..0xdc00).contains(&first) && self.take("\\u") {
            units.push(self.unit()?);
        }
        let decoded = char::decode_utf16(units).next().and_then(Result::ok);
        decoded.ok_or_else(|| Error::custom(format_args!("half a character at byte {}", self.at)))
    }

    fn unit(&mut self) -> Result<u16, Error> {
        let digits = self
            .rest()
            .get(..4)
            .and_then(|digits| u16::from_str_radix(digits, 16).ok());
        self.at += 4;
        digits.ok_or_else(|| Error::custom(format_args!("a bad escape before byte {}", self.at)))
    }

    fn number<'de, V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let rest = self.rest();
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '-')
            .unwrap_or(rest.len());
        let digits = &rest[..end];
        if let Ok(number) = digits.parse::<u64>() {
            self.at += end;
            visitor.visit_u64(number)
        } else if let Ok(number) = digits.parse::<i64>() {
            self.at += end;
            visitor.visit_i64(number)
        } else {
            Err(self.expected("a value"))
        }
    }
}

impl<'de> Deserializer<'de> for &mut Reader<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.peek() {
            Some(b'"') => visitor.visit_string(self.string()?),
            Some(b'{') => {
                self.require("{")?;
                let value = visitor.visit_map(Items {
                    reader: self,
                    first: true,
                })?;
                self.require("}")?;
                Ok(value)
            }
            Some(b'[') => {
                self.require("[")?;
                let value = visitor.visit_seq(Items {
                    reader: self,
                    first: true,
                })?;
                self.require("]")?;
                Ok(value)
            }
            _ if self.take("null") => visitor.visit_unit(),
            _ if self.take("true") => visitor.visit_bool(true),
            _ if self.take("false") => visitor.visit_bool(false),
            _ => self.number(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.take("null") {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if self.peek() != Some(b'{') {
            return visitor.visit_enum(Variant {
                reader: self,
                has_value: false,
            });
        }
        self.require("{")?;
        let value = visitor.visit_enum(Variant {
            reader: self,
            has_value: true,
        })?;
        self.require("}")?;
        Ok(value)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// The items of a list or an object.
struct Items<'r, 'a> {
    reader: &'r mut Reader<'a>,
    first: bool,
}

impl Items<'_, '_> {
    /// Whether another item follows; reads the comma before it.
    fn more(&mut self, close: u8) -> Result<bool, Error> {
        if self.reader.peek() == Some(close) {
            return Ok(false);
        }
        if !std::mem::take(&mut self.first) {
            self.reader.require(",")?;
        }
        Ok(true)
    }
}

impl<'de> SeqAccess<'de> for Items<'_, '_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if self.more(b']')? {
            seed.deserialize(&mut *self.reader).map(Some)
        } else {
            Ok(None)
        }
    }
}

impl<'de> MapAccess<'de> for Items<'_, '_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        if self.more(b'}')? {
            seed.deserialize(&mut *self.reader).map(Some)
        } else {
            Ok(None)
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        self.reader.require(":")?;
        seed.deserialize(&mut *self.reader)
    }
}

/// A variant: a bare name, or an object with one field.
struct Variant<'r, 'a> {
    reader: &'r mut Reader<'a>,
    has_value: bool,
}

impl<'de> EnumAccess<'de> for Variant<'_, '_> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let name = seed.deserialize(&mut *self.reader)?;
        if self.has_value {
            self.reader.require(":")?;
        }
        Ok((name, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, '_> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        if self.has_value {
            self.reader.require("null")
        } else {
            Ok(())
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        if self.has_value {
            seed.deserialize(self.reader)
        } else {
            Err(Error::invalid_type(
                Unexpected::UnitVariant,
                &"a variant with a value",
            ))
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.reader.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.reader.deserialize_any(visitor)
    }
}

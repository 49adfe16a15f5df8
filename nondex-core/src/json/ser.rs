//! Writing.

use std::fmt::{Display, Write as _};

use serde::ser::{
    Error as _, Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, Serializer,
};

use super::Error;

/// Appends one value.
pub(super) struct Writer<'a> {
    pub(super) text: &'a mut String,
}

impl Writer<'_> {
    fn display(self, value: impl Display) -> Result<(), Error> {
        write!(self.text, "{value}").map_err(Error::custom)
    }

    fn string(&mut self, value: &str) -> Result<(), Error> {
        self.text.push('"');
        for c in value.chars() {
            match c {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                '\u{8}' => self.text.push_str("\\b"),
                '\u{c}' => self.text.push_str("\\f"),
                c if c < ' ' => {
                    write!(self.text, "\\u{:04x}", u32::from(c)).map_err(Error::custom)?;
                }
                c => self.text.push(c),
            }
        }
        self.text.push('"');
        Ok(())
    }
}

/// A list or an object that is being written.
pub(super) struct Items<'a> {
    text: &'a mut String,
    empty: bool,
    close: &'static str,
}

impl<'a> Items<'a> {
    fn open(text: &'a mut String, open: &str, close: &'static str) -> Self {
        text.push_str(open);
        Items {
            text,
            empty: true,
            close,
        }
    }

    fn item(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        if !std::mem::take(&mut self.empty) {
            self.text.push(',');
        }
        value.serialize(Writer { text: self.text })
    }

    fn field(&mut self, name: &str, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        self.item(name)?;
        self.text.push(':');
        value.serialize(Writer { text: self.text })
    }

    fn close(self) -> Result<(), Error> {
        self.text.push_str(self.close);
        Ok(())
    }
}

macro_rules! displayed {
    ($($method:ident $type:ty)*) => {$(
        fn $method(self, value: $type) -> Result<(), Error> {
            self.display(value)
        }
    )*};
}

impl<'a> Serializer for Writer<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Items<'a>;
    type SerializeTuple = Impossible<(), Error>;
    type SerializeTupleStruct = Impossible<(), Error>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeMap = Items<'a>;
    type SerializeStruct = Items<'a>;
    type SerializeStructVariant = Impossible<(), Error>;

    displayed! {
        serialize_bool bool
        serialize_i8 i8 serialize_i16 i16 serialize_i32 i32 serialize_i64 i64
        serialize_u8 u8 serialize_u16 u16 serialize_u32 u32 serialize_u64 u64
    }

    fn serialize_f32(self, _: f32) -> Result<(), Error> {
        Err(Error::custom("the protocol has no floats"))
    }

    fn serialize_f64(self, _: f64) -> Result<(), Error> {
        Err(Error::custom("the protocol has no floats"))
    }

    fn serialize_char(mut self, value: char) -> Result<(), Error> {
        self.string(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(mut self, value: &str) -> Result<(), Error> {
        self.string(value)
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), Error> {
        Err(Error::custom("the protocol has no bytes"))
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.display("null")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.display("null")
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.display("null")
    }

    fn serialize_unit_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        self.string(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let mut items = Items::open(self.text, "{", "}");
        items.field(variant, value)?;
        items.close()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'a>, Error> {
        Ok(Items::open(self.text, "[", "]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Impossible<(), Error>, Error> {
        Err(Error::custom("the protocol has no tuples"))
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Impossible<(), Error>, Error> {
        Err(Error::custom("the protocol has no tuple structs"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Impossible<(), Error>, Error> {
        Err(Error::custom("the protocol has no tuple variants"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Items<'a>, Error> {
        Ok(Items::open(self.text, "{", "}"))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Items<'a>, Error> {
        Ok(Items::open(self.text, "{", "}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Impossible<(), Error>, Error> {
        Err(Error::custom(
            "the protocol has no struct variants without a tag",
        ))
    }
}

impl SerializeSeq for Items<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.item(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl SerializeMap for Items<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        let before = self.text.len();
        self.item(key)?;
        if self.text[before..].trim_start_matches(',').starts_with('"') {
            Ok(())
        } else {
            Err(Error::custom("the protocol has no keys but strings"))
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.text.push(':');
        value.serialize(Writer { text: self.text })
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl SerializeStruct for Items<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.field(name, value)
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

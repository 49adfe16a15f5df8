//! Objects that are written field by field into text in the arena. Interposed calls record them
//! without the program's allocators.

use std::fmt::{self, Write};

use super::string;
use crate::hidden::Text;

/// An object that is being written. Names of fields must not need escapes.
#[derive(Debug)]
pub struct Object<'a> {
    text: &'a mut Text,
    is_empty: bool,
}

impl<'a> Object<'a> {
    /// Appends an object to a text.
    pub fn write(text: &'a mut Text, fields: impl FnOnce(&mut Object<'_>)) {
        text.push_str("{");
        let mut object = Object { text, is_empty: true };
        fields(&mut object);
        object.text.push_str("}");
    }

    /// Begins a field; the value is what is appended to the returned text.
    fn field(&mut self, name: &str) -> &mut Text {
        let separator = if self.is_empty { "\"" } else { ",\"" };
        self.is_empty = false;
        self.text.push_str(separator);
        self.text.push_str(name);
        self.text.push_str("\":");
        self.text
    }

    /// Writes a string.
    pub fn string(&mut self, name: &str, value: &str) -> &mut Self {
        self.field(name).quote(value);
        self
    }

    /// Writes a string if there is one, and no field if not.
    pub fn optional_string(&mut self, name: &str, value: Option<&str>) -> &mut Self {
        if let Some(value) = value {
            self.string(name, value);
        }
        self
    }

    /// Writes the formatted arguments as a string.
    pub fn shown(&mut self, name: &str, value: fmt::Arguments<'_>) -> &mut Self {
        self.string(name, &Text::of(value))
    }

    /// Writes a number.
    pub fn number(&mut self, name: &str, value: u64) -> &mut Self {
        self.field(name).push(value);
        self
    }

    /// Writes a number if there is one, and no field if not.
    pub fn optional_number(&mut self, name: &str, value: Option<u64>) -> &mut Self {
        if let Some(value) = value {
            self.number(name, value);
        }
        self
    }

    /// Writes a number if it is not 0, and no field if it is.
    pub fn count(&mut self, name: &str, value: u64) -> &mut Self {
        self.optional_number(name, (value != 0).then_some(value))
    }

    /// Writes a boolean.
    pub fn boolean(&mut self, name: &str, value: bool) -> &mut Self {
        self.field(name).push(value);
        self
    }

    /// Writes a boolean if it is true, and no field if not.
    pub fn flag(&mut self, name: &str, value: bool) -> &mut Self {
        if value {
            self.boolean(name, true);
        }
        self
    }

    /// Writes an object.
    pub fn object(&mut self, name: &str, fields: impl FnOnce(&mut Object<'_>)) -> &mut Self {
        Object::write(self.field(name), fields);
        self
    }

    /// Writes an array to which `write` appends each item.
    pub fn list<T>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(T, &mut Text),
    ) -> &mut Self {
        let text = self.field(name);
        text.push_str("[");
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                text.push_str(",");
            }
            write(item, text);
        }
        text.push_str("]");
        self
    }

    /// Writes an array of objects.
    pub fn objects<T>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = T>,
        mut fields: impl FnMut(T, &mut Object<'_>),
    ) -> &mut Self {
        self.list(name, items, |item, text| {
            Object::write(text, |object| fields(item, object));
        })
    }

    /// Writes an array of numbers.
    pub fn numbers(&mut self, name: &str, items: impl IntoIterator<Item = u64>) -> &mut Self {
        self.list(name, items, |item, text| text.push(item))
    }
}

impl Text {
    /// Appends a string in quotation marks.
    pub fn quote(&mut self, value: &str) {
        // Writing to a `Text` cannot fail.
        let _ = string(value, self);
    }

    /// Appends the `Display` form of a value.
    pub fn push(&mut self, value: impl fmt::Display) {
        let _ = write!(self, "{value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_has_the_fields_that_are_written() {
        let mut text = Text::new();
        Object::write(&mut text, |object| {
            object
                .string("a", "\"\n")
                .optional_string("b", None)
                .shown("c", format_args!("{}-{}", 1, "\\"))
                .number("d", u64::MAX)
                .count("e", 0)
                .flag("f", false)
                .boolean("g", false)
                .flag("h", true)
                .object("i", |_| {})
                .numbers("j", [1, 2])
                .objects("k", [3, 4], |item, object| {
                    object.number("l", item);
                });
        });
        assert_eq!(
            *text,
            *concat!(
                r#"{"a":"\"\n","c":"1-\\","d":18446744073709551615,"g":false,"h":true,"i":{},"#,
                r#""j":[1,2],"k":[{"l":3},{"l":4}]}"#
            )
        );
    }
}

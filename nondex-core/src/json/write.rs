//! The JSON writer.

use std::fmt::{self, Display, Write};

use super::Value;

/// Message for an error that cannot happen, because writing to a string does not fail.
const TAKEN: &str = "a string takes it";

/// Appends a value to `text`.
pub(super) fn value(value: &Value, text: &mut String) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(value) => display(value, text),
        Value::Unsigned(value) => display(value, text),
        Value::Negative(value) => display(value, text),
        Value::String(value) => string(value, text).expect(TAKEN),
        Value::List(items) => {
            let item = |item: &Value, text: &mut String| self::value(item, text);
            separated(items, ['[', ']'], item, text);
        }
        Value::Object(fields) => {
            let field = |(name, value): &(String, Value), text: &mut String| {
                string(name, text).expect(TAKEN);
                text.push(':');
                self::value(value, text);
            };
            separated(fields, ['{', '}'], field, text);
        }
    }
}

fn display(value: impl Display, text: &mut String) {
    write!(text, "{value}").expect(TAKEN);
}

fn separated<T>(
    items: &[T],
    [open, close]: [char; 2],
    write: impl Fn(&T, &mut String),
    text: &mut String,
) {
    text.push(open);
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        write(item, text);
    }
    text.push(close);
}

/// Writes a string in quotation marks, with escapes.
pub(crate) fn string(value: &str, text: &mut impl Write) -> fmt::Result {
    text.write_char('"')?;
    for c in value.chars() {
        match c {
            '"' => text.write_str("\\\""),
            '\\' => text.write_str("\\\\"),
            '\n' => text.write_str("\\n"),
            '\r' => text.write_str("\\r"),
            '\t' => text.write_str("\\t"),
            '\u{8}' => text.write_str("\\b"),
            '\u{c}' => text.write_str("\\f"),
            c if c < ' ' => write!(text, "\\u{:04x}", u32::from(c)),
            c => text.write_char(c),
        }?;
    }
    text.write_char('"')
}

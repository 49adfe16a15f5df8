//! From a value to its text.

use std::fmt::{Display, Write as _};

use super::Value;

/// Appends a value.
pub(super) fn value(value: &Value, text: &mut String) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(value) => display(value, text),
        Value::Unsigned(value) => display(value, text),
        Value::Negative(value) => display(value, text),
        Value::String(value) => string(value, text),
        Value::List(items) => {
            let item = |item: &Value, text: &mut String| self::value(item, text);
            separated(items, ['[', ']'], item, text);
        }
        Value::Object(fields) => {
            let field = |(name, value): &(String, Value), text: &mut String| {
                string(name, text);
                text.push(':');
                self::value(value, text);
            };
            separated(fields, ['{', '}'], field, text);
        }
    }
}

fn display(value: impl Display, text: &mut String) {
    write!(text, "{value}").expect("a string takes it");
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

fn string(value: &str, text: &mut String) {
    text.push('"');
    for c in value.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            c if c < ' ' => display(format_args!("\\u{:04x}", u32::from(c)), text),
            c => text.push(c),
        }
    }
    text.push('"');
}

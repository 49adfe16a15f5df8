//! A TOML file whose every part knows its place, for messages.

use std::ops::Range;

use camino::Utf8PathBuf;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{Error, Result};

/// The file that is read: what messages need of it.
#[derive(Clone, Debug)]
pub(super) struct Document<'a> {
    /// As it is shown.
    pub(super) path: Utf8PathBuf,
    pub(super) text: &'a str,
}

/// A value of the file, or a part of one.
pub(super) type Value<'a> = Spanned<DeValue<'a>>;

impl<'a> Document<'a> {
    /// Reads the whole.
    pub(super) fn parse(&self) -> Result<Spanned<DeTable<'a>>> {
        DeTable::parse(self.text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            self.error(span, error.message())
        })
    }

    /// `path:line:column`.
    pub(super) fn place(&self, span: &Range<usize>) -> String {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        format!("{}:{line}:{column}", self.path)
    }

    /// An error about a part of the file.
    pub(super) fn error(&self, span: Range<usize>, message: impl std::fmt::Display) -> Error {
        Error::setup(format!("{}: {message}", self.place(&span)))
    }

    /// The error that `value` is not what is `expected` of `key`.
    pub(super) fn unexpected(&self, key: &str, value: &Value<'_>, expected: &str) -> Error {
        let found = self.text.get(value.span()).unwrap_or_default();
        let found = match value.get_ref() {
            DeValue::Table(_) => "a table",
            _ if found.len() > 60 || found.contains('\n') => value.get_ref().type_str(),
            _ => &format!("`{found}`"),
        };
        self.error(
            value.span(),
            format!("`{key}` is {found}, expected {expected}"),
        )
    }

    /// A table.
    pub(super) fn table<'v>(&self, key: &str, value: &'v Value<'a>) -> Result<&'v DeTable<'a>> {
        let table = value.get_ref().as_table();
        table.ok_or_else(|| self.unexpected(key, value, "a table"))
    }

    /// An array of tables.
    pub(super) fn tables<'v>(
        &self,
        key: &str,
        value: &'v Value<'a>,
    ) -> Result<Vec<(&'v DeTable<'a>, Range<usize>)>> {
        let array = value.get_ref().as_array();
        let array = array.ok_or_else(|| self.unexpected(key, value, "an array of tables"))?;
        let table = |value: &'v Value<'a>| Ok((self.table(key, value)?, value.span()));
        array.iter().map(table).collect()
    }

    /// A boolean.
    pub(super) fn boolean(&self, key: &str, value: &Value<'_>) -> Result<bool> {
        let boolean = value.get_ref().as_bool();
        boolean.ok_or_else(|| self.unexpected(key, value, "`true` or `false`"))
    }

    /// A string.
    pub(super) fn string(&self, key: &str, value: &Value<'_>) -> Result<String> {
        let string = value.get_ref().as_str().map(str::to_owned);
        string.ok_or_else(|| self.unexpected(key, value, "a string"))
    }

    /// A string or a number, as the command line would have it.
    pub(super) fn scalar(&self, key: &str, value: &Value<'_>) -> Result<String> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str().to_owned()),
            DeValue::Float(number) => Ok(number.as_str().to_owned()),
            _ => Err(self.unexpected(key, value, "a string or a number")),
        }
    }

    /// One or several of them, each with its place.
    pub(super) fn scalars(
        &self,
        key: &str,
        value: &Value<'a>,
    ) -> Result<Vec<(String, Range<usize>)>> {
        match value.get_ref() {
            DeValue::Array(array) => array
                .iter()
                .map(|item| Ok((self.scalar(key, item)?, item.span())))
                .collect(),
            _ => Ok(vec![(self.scalar(key, value)?, value.span())]),
        }
    }
}

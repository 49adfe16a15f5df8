//! Reads the `NONDEX_…` variables.

use std::collections::BTreeMap;
use std::ffi::OsString;

use nondex_core::protocol::spec::{LEVEL_VARIABLE, SEED_VARIABLE, SPEC_VARIABLE};
use toml::Value;

use super::settings::{KEYS, Settings};
use crate::error::{Error, OrSetup, Result};
use crate::nearest;
use crate::project;

/// The prefix of all variables of this tool.
const PREFIX: &str = "NONDEX_";

/// Variables of options that are not keys, since they select the file and the profile to read.
pub const OF_NO_KEY: [&str; 2] = ["NONDEX_CONFIG_FILE", "NONDEX_PROFILE"];

/// Variables that have no option.
const OTHERS: [&str; 5] = [
    SEED_VARIABLE,
    LEVEL_VARIABLE,
    SPEC_VARIABLE,
    project::runtime::CACHE_VARIABLE,
    project::intercept::VARIABLE,
];

/// Returns the name of the variable for a key.
pub fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.to_uppercase().replace('-', "_"))
}

/// The environment variables that have the prefix and are not empty.
#[derive(Clone, Debug, Default)]
pub struct Variables(BTreeMap<String, String>);

impl Variables {
    /// Collects the variables with the prefix from `all`.
    ///
    /// # Errors
    /// Returns an error when the value of one is not UTF-8.
    pub fn new(all: impl IntoIterator<Item = (OsString, OsString)>) -> Result<Self> {
        let mut ours = BTreeMap::new();
        for (name, value) in all {
            let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else {
                continue;
            };
            let value = value.into_string().map_err(|value| {
                let shown = value.to_string_lossy();
                Error::setup(format!("`{name}` is `{shown}`: it is not UTF-8"))
            })?;
            // An empty variable counts as unset, as for cargo's own variables.
            if !value.is_empty() {
                ours.insert(name.to_owned(), value);
            }
        }
        Ok(Variables(ours))
    }

    /// Returns the value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns the settings from the variables.
    ///
    /// # Errors
    /// Returns an error when a value is invalid.
    pub fn settings(&self) -> Result<Settings> {
        let mut table = toml::Table::new();
        for key in KEYS {
            let name = variable(key);
            if let Some(text) = self.get(&name) {
                let value = value(key, text).or_setup(format_args!("`{name}` is `{text}`"))?;
                table.insert(key.to_owned(), value);
            }
        }
        Ok(table.try_into().expect("each key was read on its own"))
    }

    /// Returns a sentence about each variable that this tool does not know.
    pub fn unknown(&self) -> Vec<String> {
        self.0.keys().filter_map(|name| unknown(name)).collect()
    }
}

/// Converts the text of a variable into a TOML value that is valid for the key: a boolean if the
/// key accepts one, or else a string.
fn value(key: &str, text: &str) -> Result<Value, String> {
    let word = match text.to_lowercase().as_str() {
        "y" | "yes" | "t" | "true" | "on" | "1" => Some(Value::Boolean(true)),
        "n" | "no" | "f" | "false" | "off" | "0" => Some(Value::Boolean(false)),
        _ => None,
    };
    let mut why = String::new();
    for value in word.into_iter().chain([Value::String(text.to_owned())]) {
        let table = toml::Table::from_iter([(key.to_owned(), value.clone())]);
        match table.try_into::<Settings>() {
            Ok(_) => return Ok(value),
            Err(error) if error.message().ends_with("expected a boolean") => {
                "expected `true` or `false`".clone_into(&mut why);
            }
            Err(error) => error.message().clone_into(&mut why),
        }
    }
    Err(why)
}

fn unknown(name: &str) -> Option<String> {
    if name == SEED_VARIABLE || name == LEVEL_VARIABLE {
        return Some(format!(
            "`{name}` is only read by a plain `cargo test` with the feature `nondex`; here it is \
             `{name}S`"
        ));
    }
    let mut known: Vec<String> = KEYS.iter().map(|key| variable(key)).collect();
    known.extend(OF_NO_KEY.map(str::to_owned));
    if OTHERS.contains(&name) || known.iter().any(|known| known == name) {
        return None;
    }
    known.push(project::runtime::CACHE_VARIABLE.to_owned());
    // The common prefix would make any two short names similar.
    let own = |name: &str| name.trim_start_matches(PREFIX).to_owned();
    let known: Vec<String> = known.iter().map(|known| own(known)).collect();
    let hint = nearest::nearest(&own(name), known.iter().map(String::as_str)).map_or_else(
        || "`cargo nondex --help` lists them".to_owned(),
        |nearest| format!("did you mean `{PREFIX}{nearest}`?"),
    );
    Some(format!("no variable is called `{name}`: {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_ours_and_is_none_is_named_with_the_nearest() {
        for (name, expected) in [
            (
                "NONDEX_SEDS",
                Some("no variable is called `NONDEX_SEDS`: did you mean `NONDEX_SEEDS`?"),
            ),
            (
                "NONDEX_LEVEL",
                Some(
                    "`NONDEX_LEVEL` is only read by a plain `cargo test` with the feature \
                     `nondex`; \
                     here it is `NONDEX_LEVELS`",
                ),
            ),
            (
                "NONDEX_FOO",
                Some("no variable is called `NONDEX_FOO`: `cargo nondex --help` lists them"),
            ),
            ("NONDEX_SEEDS", None),
            ("NONDEX_CACHE_DIR", None),
            ("NONDEX_PROFILE", None),
            ("NONDEX_SPEC", None),
            ("NEXTEST_PROFILE", None),
        ] {
            let variables = Variables::new([(name.into(), "x".into())]).unwrap();
            assert_eq!(variables.unknown().first().map(String::as_str), expected);
        }
    }
}

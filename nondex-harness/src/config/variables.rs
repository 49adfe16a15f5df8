//! The `NONDEX_…` variables.

use std::ffi::OsString;

use clap::Command;

use super::key::{self, Key, Kind};
use super::layers::{self, Layer, Setting};
use super::nearest;
use crate::error::{Error, Result};
use crate::project;
use nondex_core::spec::{LEVEL_VARIABLE, SEED_VARIABLE, SPEC_VARIABLE};

/// What all of ours begin with.
const PREFIX: &str = "NONDEX_";

/// Variables that do not stand for an option.
const OTHERS: [&str; 5] = [
    SEED_VARIABLE,
    LEVEL_VARIABLE,
    SPEC_VARIABLE,
    project::runtime::CACHE_VARIABLE,
    project::intercept::VARIABLE,
];

/// What the variables set for `command`. `is_given` says whether the command line gives an option, by clap's name: then
/// its variable is not looked at.
///
/// # Errors
/// When the option's own parser refuses a value, or two of them cannot be used together.
pub fn read(
    command: &Command,
    variables: impl IntoIterator<Item = (OsString, OsString)>,
    is_given: &dyn Fn(&str) -> bool,
) -> Result<Layer> {
    let mut layer = Layer::default();
    for (name, value) in variables {
        let Some(key) = name.to_str().and_then(of_variable) else {
            continue;
        };
        let is_used = command.get_arguments().any(|arg| arg.get_id() == &key.id)
            && key::of(command.get_name(), &key.id).is_some();
        if !is_used || is_given(&key.id) {
            continue;
        }
        let wrong = |value: &str, why: &str| {
            Error::setup(format!("`{}` is `{value}`: {why}", key.variable))
        };
        let value = value
            .into_string()
            .map_err(|value| wrong(&value.to_string_lossy(), "it is not UTF-8"))?;
        // As for a flag that is not given; cargo reads its own variables so.
        if value.is_empty() && !matches!(key.kind, Kind::One(_) | Kind::List) {
            continue;
        }
        key.check(std::slice::from_ref(&value))
            .map_err(|why| wrong(&value, &why))?;
        let value = layers::normal(key.kind, value);
        let values = vec![value];
        layer.settings.insert(key.id.clone(), Setting { values });
    }
    match layers::contradiction(command, &layer) {
        None => Ok(layer),
        Some((one, other)) => Err(Error::setup(format!(
            "`{}` and `{}` cannot be used together",
            variable(&one),
            variable(&other)
        ))),
    }
}

/// A sentence about each of the variables that looks like one of ours and is none, or not one of this command.
#[must_use]
pub fn unknown(names: impl IntoIterator<Item = OsString>) -> Vec<String> {
    let mut names: Vec<String> = names
        .into_iter()
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name.starts_with(PREFIX) && of_variable(name).is_none())
        .collect();
    names.sort();
    let sentence = |name: String| {
        if name == SEED_VARIABLE || name == LEVEL_VARIABLE {
            return Some(format!(
                "`{name}` is only read by a plain `cargo test` with the feature `nondex`; here it is `{name}S`"
            ));
        }
        if OTHERS.contains(&name.as_str()) {
            return None;
        }
        let known = || {
            let keys = key::all().iter().map(|key| key.variable.as_str());
            keys.chain([project::runtime::CACHE_VARIABLE])
        };
        let hint = nearest::nearest(&name, known()).map_or_else(
            || "`cargo nondex --help` has them all".to_owned(),
            |nearest| format!("did you mean `{nearest}`?"),
        );
        Some(format!("no variable is called `{name}`: {hint}"))
    };
    names.into_iter().filter_map(sentence).collect()
}

fn of_variable(name: &str) -> Option<&'static Key> {
    key::all().iter().find(|key| key.variable == name)
}

fn variable(option: &str) -> String {
    let key = key::all().iter().find(|key| key.name == option);
    key.map_or_else(|| option.to_owned(), |key| key.variable.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_ours_and_is_none_is_named_with_the_nearest() {
        let unknown = |name: &str| unknown([OsString::from(name)]);
        assert_eq!(
            unknown("NONDEX_SEDS"),
            ["no variable is called `NONDEX_SEDS`: did you mean `NONDEX_SEEDS`?"]
        );
        assert_eq!(
            unknown("NONDEX_LEVEL"),
            [
                "`NONDEX_LEVEL` is only read by a plain `cargo test` with the feature `nondex`; here it is `NONDEX_LEVELS`"
            ]
        );
        for name in [
            "NONDEX_SEEDS",
            "NONDEX_CACHE_DIR",
            "NONDEX_PROFILE",
            "NONDEX_SPEC",
            "NEXTEST_PROFILE",
        ] {
            assert!(unknown(name).is_empty(), "{name}");
        }
    }
}

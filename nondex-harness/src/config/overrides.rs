//! Options of single tests: `[[profile.NAME.overrides]]`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use nondex_core::Level;
use regex::Regex;
use toml::de::DeTable;

use super::Config;
use super::document::{Document, Value};
use super::key;
use super::nearest::instead;
use crate::campaign::{Selected, TestOptions};
use crate::cli::filterset::{Expression, Filterset, Query, Workspace};
use crate::cli::model_args::model_names;
use crate::cli::network_args::Network;
use crate::error::{Error, Result};

/// The keys of an override.
pub const KEYS: [&str; 6] = [
    "filter",
    "levels",
    "models-off",
    "network",
    "sanitise",
    "timeout",
];

/// What is set for the tests of a filterset.
#[derive(Clone, Debug)]
pub struct Override {
    /// Which tests.
    filter: Expression,
    /// Where it stands, for messages.
    place: String,
    /// What holds for them.
    pub options: TestOptions,
}

impl Override {
    pub(super) fn read<'a>(
        document: &Document<'a>,
        table: &DeTable<'a>,
        span: Range<usize>,
    ) -> Result<Self> {
        let mut filter = None;
        let mut options = TestOptions::default();
        for (name, value) in table {
            let at = |why: String| document.error(value.span(), why);
            match name.get_ref().as_ref() {
                "filter" => {
                    let text = document.string("filter", value)?;
                    let parsed = Expression::parse(&text);
                    filter = Some(parsed.map_err(|e| at(format!("invalid filterset: {e}")))?);
                }
                "levels" => {
                    let names = checked(document, "levels", value)?;
                    let levels = names.iter().flat_map(|names| names.split(','));
                    let levels = levels.map(|name| name.trim().parse::<Level>());
                    let levels: Result<Vec<_>, _> = levels.collect();
                    options.levels = Some(levels.map_err(|e| at(e.to_string()))?);
                }
                "models-off" => options.models_off = Some(models_off(document, value)?),
                "network" => {
                    let text = &checked(document, "network", value)?[0];
                    let network = <Network as clap::ValueEnum>::from_str(text, false);
                    options.network = Some(network.map_err(at)?.into());
                }
                "sanitise" => options.sanitise = Some(document.boolean("sanitise", value)?),
                "timeout" => {
                    let text = &checked(document, "timeout", value)?[0];
                    options.timeout = Some(crate::cli::run_args::seconds(text).map_err(at)?);
                }
                other => {
                    let instead = instead(other, KEYS);
                    let why = format!("unknown key `{other}` of an override: {instead}");
                    return Err(document.error(name.span(), why));
                }
            }
        }
        let place = document.place(&span);
        let Some(filter) = filter else {
            return Err(document.error(
                span,
                "an override needs a `filter`, such as `filter = 'test(slow)'`",
            ));
        };
        Ok(Override {
            filter,
            place,
            options,
        })
    }
}

/// The overrides of a profile, with their filters resolved.
#[derive(Debug)]
pub struct PerTest<'a> {
    overrides: Vec<(Filterset, &'a TestOptions)>,
    given: &'a BTreeSet<String>,
}

impl Config {
    /// Resolves the filters of the overrides against the packages of the workspace.
    ///
    /// # Errors
    /// When one names a package or a binary that does not exist.
    pub fn for_tests(&self, workspace: &Workspace) -> Result<PerTest<'_>> {
        let resolve = |found: &'_ Override| {
            let resolved = found.filter.resolve(workspace);
            resolved.map_err(|e| Error::setup(format!("{}: invalid filterset: {e}", found.place)))
        };
        let overrides = self.overrides.iter();
        let overrides = overrides.map(|found| Ok((resolve(found)?, &found.options)));
        Ok(PerTest {
            overrides: overrides.collect::<Result<_>>()?,
            given: &self.given,
        })
    }
}

impl PerTest<'_> {
    /// The options of those tests that have any of their own, by id.
    #[must_use]
    pub fn of(&self, selected: &[Selected<'_>]) -> BTreeMap<String, TestOptions> {
        let tests = selected.iter().flat_map(|selected| {
            selected
                .tests
                .iter()
                .map(|(test, _)| (selected.suite, test))
        });
        tests
            .map(|(suite, test)| {
                let options = self.of_one(&Query::of(suite, test));
                (suite.test_id(test), options)
            })
            .filter(|(_, options)| *options != TestOptions::default())
            .collect()
    }

    /// Of each option the first of the overrides that match and have it, unless a more important source gives it.
    fn of_one(&self, query: &Query<'_>) -> TestOptions {
        let mut all = TestOptions::default();
        let matching = self.overrides.iter();
        for (_, options) in matching.filter(|(filter, _)| filter.contains(query)) {
            let options = (*options).clone();
            all.levels = all.levels.or(options.levels);
            all.models_off = all.models_off.or(options.models_off);
            all.network = all.network.or(options.network);
            all.sanitise = all.sanitise.or(options.sanitise);
            all.timeout = all.timeout.or(options.timeout);
        }
        let given = |id: &str| self.given.contains(id);
        let models = given("models") || given("skip_models");
        TestOptions {
            levels: all.levels.filter(|_| !given("levels")),
            models_off: all.models_off.filter(|_| !models),
            network: all.network.filter(|_| !given("network")),
            sanitise: all.sanitise.filter(|_| !given("no_sanitise")),
            timeout: all.timeout.filter(|_| !given("timeout")),
            regressions: Vec::new(),
        }
    }
}

/// The value of a key that is an option's too, known to be valid; never empty.
fn checked<'a>(document: &Document<'a>, name: &str, value: &Value<'a>) -> Result<Vec<String>> {
    let values = document.scalars(name, value)?;
    let key = key::all().iter().find(|key| key.name == name);
    let key = key.expect("it is an option of `run`");
    for (text, span) in &values {
        key.check(std::slice::from_ref(text))
            .map_err(|why| document.error(span.clone(), format!("`{name}` is `{text}`: {why}")))?;
    }
    if values.is_empty() {
        return Err(document.unexpected(name, value, "at least one value"));
    }
    Ok(values.into_iter().map(|(text, _)| text).collect())
}

/// The names of the models that match one of the expressions.
fn models_off<'a>(document: &Document<'a>, value: &Value<'a>) -> Result<Vec<String>> {
    let mut off: Vec<String> = Vec::new();
    for (text, span) in document.scalars("models-off", value)? {
        let regex = Regex::new(&text).map_err(|e| document.error(span.clone(), e))?;
        let before = off.len();
        let matching = model_names().filter(|name| regex.is_match(name));
        let matching: Vec<String> = matching.collect();
        if matching.is_empty() {
            let families: Vec<String> = model_names()
                .filter_map(|name| Some(name.split_once('/')?.0.to_owned()))
                .collect();
            let mut families: Vec<&str> = families.iter().map(String::as_str).collect();
            families.dedup();
            let why = format!(
                "`models-off` has `{text}`, which matches no model: {}",
                instead(&text, families)
            );
            return Err(document.error(span, why));
        }
        off.extend(matching);
        debug_assert!(off.len() > before);
    }
    off.sort();
    off.dedup();
    Ok(off)
}

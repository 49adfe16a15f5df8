//! Settings of single tests: `[[profile.NAME.overrides]]`.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use nondex_core::{Level, NetworkMode};
use regex::Regex;
use serde::Deserialize;
use toml::Spanned;

use super::value::{Read, one, required};
use crate::cli::filterset::{Expression, Filterset, Query, WorkspaceMembers};
use crate::cli::model_args::model_names;
use crate::error::{OrSetup, Result};
use crate::judge::{Required, TestGroup, TestOptions};
use crate::nearest::instead;
use crate::project::{Suite, TestCase};

/// The keys of an override.
pub const KEYS: [&str; 6] = ["filter", "levels", "models-off", "network", "sanitise", "timeout"];

/// Settings for the tests that match a filterset.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Override {
    /// Filter for the tests to which the override applies.
    #[serde(deserialize_with = "required")]
    filter: Expression,
    /// Levels at which the tests run.
    #[serde(default, deserialize_with = "one")]
    pub levels: Option<Vec<Level>>,
    /// Models that are disabled for the tests.
    #[serde(default, deserialize_with = "one")]
    models_off: Option<ModelsOff>,
    /// How the runs treat the network.
    #[serde(default, deserialize_with = "one")]
    pub network: Option<NetworkMode>,
    /// Whether sanitisers may attribute the tests' failures to the machine.
    pub sanitise: Option<bool>,
    /// Time limit of one run.
    #[serde(default, deserialize_with = "one")]
    pub timeout: Option<Duration>,
    /// Test group; only nextest's configuration can set it.
    #[serde(skip)]
    test_group: Option<Arc<TestGroup>>,
    /// Number of job slots; only nextest's configuration can set it.
    #[serde(skip)]
    threads_required: Option<NonZeroUsize>,
    /// Position of the override in its file, for messages.
    #[serde(skip)]
    pub(super) place: String,
    /// Whether the override comes from nextest's configuration. Its filter may then match no test,
    /// since nextest may run tests that this tool does not.
    #[serde(skip)]
    is_of_nextest: bool,
}

impl Override {
    /// Creates an override from the supported settings of one in nextest's configuration.
    pub(super) fn of_nextest(
        filter: Expression,
        timeout: Option<Duration>,
        test_group: Option<Arc<TestGroup>>,
        threads_required: Option<NonZeroUsize>,
    ) -> Self {
        Override {
            filter,
            levels: None,
            models_off: None,
            network: None,
            sanitise: None,
            timeout,
            test_group,
            threads_required,
            place: "nextest's configuration".to_owned(),
            is_of_nextest: true,
        }
    }
}

/// The names of the models that match a regular expression.
#[derive(Clone, Debug)]
struct ModelsOff(Vec<String>);

impl Read for ModelsOff {
    fn read(text: &str) -> Result<Self, String> {
        let regex = Regex::new(text).map_err(|error| error.to_string())?;
        let off: Vec<String> = model_names().filter(|name| regex.is_match(name)).collect();
        if off.is_empty() {
            let names: Vec<String> = model_names().collect();
            let mut families: Vec<&str> =
                names.iter().filter_map(|name| Some(name.split_once('/')?.0)).collect();
            families.dedup();
            let instead = instead(text, families);
            return Err(format!("`{text}` matches no model: {instead}"));
        }
        Ok(ModelsOff(off))
    }

    fn join(items: Vec<Self>) -> Option<Self> {
        let mut off: Vec<String> = items.into_iter().flat_map(|item| item.0).collect();
        off.sort();
        off.dedup();
        Some(ModelsOff(off))
    }
}

/// Keys set by a source that takes precedence over overrides: the command line or a variable. The
/// number of jobs may come from the configuration file, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the key of an override, or of the configuration")]
pub struct GivenKeys {
    pub jobs: bool,
    pub levels: bool,
    pub models: bool,
    pub network: bool,
    pub sanitise: bool,
    pub timeout: bool,
}

/// Overrides with resolved filters.
#[derive(Debug)]
pub struct PerTest<'a> {
    overrides: Vec<(Filterset, &'a Override)>,
    given: GivenKeys,
}

impl<'a> PerTest<'a> {
    /// Resolves the filters against the packages of the workspace.
    ///
    /// # Errors
    /// Returns an error when a filter names a package or a binary that does not exist.
    pub fn new(
        overrides: &'a [Spanned<Override>],
        given: GivenKeys,
        workspace: &WorkspaceMembers,
    ) -> Result<Self> {
        let resolve = |found: &'a Spanned<Override>| {
            let found = found.get_ref();
            let filter = found.filter.resolve(workspace);
            Ok((filter.or_setup(format_args!("{}: invalid filterset", found.place))?, found))
        };
        let overrides = overrides.iter().map(resolve).collect::<Result<_>>()?;
        Ok(PerTest { overrides, given })
    }

    /// Returns a sentence about each override that matches none of the tests of `suites`.
    pub fn unused(&self, suites: &[Suite]) -> Vec<String> {
        let has_test = |filter: &Filterset| {
            suites.iter().any(|suite| {
                suite.tests.iter().any(|test| filter.contains(&Query::of(suite, test)))
            })
        };
        self.overrides
            .iter()
            .filter(|(filter, found)| !found.is_of_nextest && !has_test(filter))
            .map(|(_, found)| {
                format!("{}: the filter of this override matches no test", found.place)
            })
            .collect()
    }

    /// Returns the options of the tests whose options differ from the defaults, by test id.
    pub fn of<'t>(
        &self,
        tests: impl Iterator<Item = (&'t Suite, &'t TestCase)>,
    ) -> BTreeMap<String, TestOptions> {
        by_id(tests, |_, query| self.of_one(query))
    }

    /// Returns the job slots and the test group of the tests that need more than one slot or a
    /// group, by test id. `at_once` returns how many tests may run in total while a test of the
    /// given suite runs.
    pub fn required<'t>(
        &self,
        tests: impl Iterator<Item = (&'t Suite, &'t TestCase)>,
        at_once: impl Fn(&Suite) -> Option<NonZeroUsize>,
    ) -> BTreeMap<String, Required> {
        by_id(tests, |suite, query| {
            let threads = self.first(query, |found| found.threads_required);
            let group = self.first(query, |found| found.test_group.clone());
            let required = Required::new(threads.unwrap_or(NonZeroUsize::MIN), group);
            match at_once(suite) {
                Some(limit) => required.within(limit),
                None => required,
            }
        })
    }

    /// Returns the options of one test. For each option the first matching override that sets it
    /// wins, unless a source with precedence over overrides sets it.
    fn of_one(&self, query: &Query<'_>) -> TestOptions {
        let GivenKeys { levels, models, network, sanitise, timeout, .. } = self.given;
        let off = |found: &Override| found.models_off.as_ref().map(|off| off.0.clone());
        TestOptions {
            levels: self.first(query, |found| found.levels.clone()).filter(|_| !levels),
            models_off: self.first(query, off).filter(|_| !models),
            network: self.first(query, |found| found.network).filter(|_| !network),
            sanitise: self.first(query, |found| found.sanitise).filter(|_| !sanitise),
            timeout: self.first(query, |found| found.timeout).filter(|_| !timeout),
            regressions: Vec::new(),
        }
    }

    /// Returns the setting of the first override that matches a test and sets it.
    fn first<T>(&self, query: &Query<'_>, setting: impl Fn(&Override) -> Option<T>) -> Option<T> {
        let mut matching = self.overrides.iter().filter(|(filter, _)| filter.contains(query));
        matching.find_map(|(_, found)| setting(found))
    }
}

/// Returns the results of `find` that differ from the default, by test id.
fn by_id<'t, T: Default + PartialEq>(
    tests: impl Iterator<Item = (&'t Suite, &'t TestCase)>,
    find: impl Fn(&Suite, &Query<'_>) -> T,
) -> BTreeMap<String, T> {
    tests
        .map(|(suite, test)| (suite.test_id(test), find(suite, &Query::of(suite, test))))
        .filter(|(_, found)| *found != T::default())
        .collect()
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;

    use super::super::{DEFAULT_PROFILE, File};
    use super::*;
    use crate::cli::test_filter::tests::suite;

    #[test]
    fn an_override_for_no_test_is_named_with_its_place() {
        let text = "[[profile.default.overrides]]\nfilter = 'test(add)'\ntimeout = 9\n\n\
                    [[profile.default.overrides]]\nfilter = 'test(ad_d)'\ntimeout = 9\n";
        let file = File::parse(text, Utf8Path::new("nondex.toml"), Utf8Path::new("")).unwrap();
        let config = file.chosen(DEFAULT_PROFILE).unwrap();
        let workspace = WorkspaceMembers::default();
        let overrides = &config.profile.overrides;
        let per_test = PerTest::new(overrides, GivenKeys::default(), &workspace).unwrap();
        assert_eq!(
            per_test.unused(&[suite()]),
            ["nondex.toml:5:1: the filter of this override matches no test"]
        );
    }
}

//! Reads the part of nextest's configuration, `.config/nextest.toml`, that applies to this tool
//! too.
//!
//! A project that uses nextest configures there which tests run by default, which need more time,
//! and which setup scripts they need. Settings that only affect how nextest runs or shows tests are
//! ignored. Each unsupported setting that would change a result produces one note.

mod concurrency;

use std::num::NonZeroUsize;
use std::time::Duration;

use camino::Utf8Path;
use toml::{Spanned, Table, Value};

use super::overrides::Override;
use crate::cli::{Expression, MaxFail, processors};
use crate::error::{OrSetup, Result};
use crate::file;
use crate::judge::options::DEFAULT_TIMEOUT;

/// Path of nextest's configuration file, relative to the root of the workspace.
const FILE: &str = ".config/nextest.toml";

/// nextest's variable for the number of concurrent tests.
const THREADS: &str = "NEXTEST_TEST_THREADS";

/// The profile from which every other profile inherits.
const DEFAULT: &str = "default";

/// Settings that decide whether a test passes in nextest, but are ignored here: key, entry and
/// value.
const PASSED_OVER: [(&str, &str, &str); 2] =
    [("leak-timeout", "result", "fail"), ("slow-timeout", "on-timeout", "pass")];

/// The part of nextest's configuration that applies to this tool.
#[derive(Clone, Debug, Default)]
pub struct Nextest {
    /// Filter for the tests that run when no tests are requested.
    pub default_filter: Option<Expression>,
    /// Time limits longer than this tool's default, test groups, and numbers of job slots.
    pub(super) overrides: Vec<Spanned<Override>>,
    /// Number of failures after which no further test starts.
    pub max_fail: Option<MaxFail>,
    /// Number of tests that run concurrently.
    pub test_threads: Option<NonZeroUsize>,
    /// Scripts to run before the tests.
    pub scripts: Vec<SetupScript>,
    /// Notes about unsupported settings, one sentence each.
    pub notes: Vec<String>,
}

/// A script that runs before the tests that match its filter.
#[derive(Clone, Debug)]
pub struct SetupScript {
    /// Name of the script in the configuration.
    pub name: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Filter for the tests that need the script; `None` for all tests.
    pub filter: Option<Expression>,
}

impl Nextest {
    /// Reads the configuration of the workspace at `root`. Returns an empty one if there is no
    /// file.
    ///
    /// # Errors
    /// Returns an error when the file cannot be read or is not valid TOML.
    pub(super) fn read(root: &Utf8Path) -> Result<Self> {
        let path = root.join(FILE);
        let variable = std::env::var("NEXTEST_PROFILE").ok();
        let profile = variable.as_deref().unwrap_or(DEFAULT);
        let mut found = match file::read_if_there(&path)? {
            None => Nextest::default(),
            Some(text) => {
                Self::parse(&text, profile).or_setup(format_args!("failed to read `{path}`"))?
            }
        };
        if let Ok(text) = std::env::var(THREADS) {
            let number = processors(&text).or_setup(format_args!("`{THREADS}={text}`"))?;
            found.test_threads = Some(number);
        }
        Ok(found)
    }

    /// Returns whether the nextest configuration of the workspace at `root` has this profile.
    pub(super) fn has_profile(root: &Utf8Path, name: &str) -> bool {
        let text = file::read_if_there(&root.join(FILE)).ok().flatten();
        let document: Option<Table> = text.and_then(|text| text.parse().ok());
        document.is_some_and(|document| {
            table(document.get("profile")).is_some_and(|profiles| profiles.contains_key(name))
        })
    }

    /// Parses the settings of `profile`, with those of the default profile for missing keys.
    fn parse(text: &str, profile: &str) -> Result<Self, String> {
        let document: Table = text.parse().map_err(|e: toml::de::Error| e.to_string())?;
        let mut found = Nextest::default();
        let profiles = table(document.get("profile"));
        let names: &[&str] = if profile == DEFAULT { &[DEFAULT] } else { &[profile, DEFAULT] };
        for name in names {
            let profile = profiles.and_then(|profiles| table(profiles.get(*name)));
            if let Some(profile) = profile {
                found.add(profile, &document);
            }
        }
        Ok(found)
    }

    /// Adds the settings of `profile`. Settings that are already present take precedence.
    fn add(&mut self, profile: &Table, document: &Table) {
        let filter = profile.get("default-filter").and_then(Value::as_str);
        if self.default_filter.is_none() {
            self.default_filter = filter.and_then(|text| self.expression(text));
        }
        let fail_fast = profile.get("fail-fast");
        self.max_fail = self.max_fail.or_else(|| fail_fast.and_then(max_fail));
        if let (None, Some(number)) = (self.test_threads, profile.get("test-threads")) {
            self.test_threads =
                self.understood(concurrency::threads(number), "test-threads", number);
        }
        let overrides = list(profile.get("overrides"));
        for one in overrides.filter_map(Value::as_table) {
            if one.contains_key("platform") {
                self.note("overrides for a `platform` are ignored");
            } else if let Some(text) = one.get("filter").and_then(Value::as_str) {
                self.add_override(text, one, document);
            }
        }
        self.add_override("all()", profile, document);
        for entry in list(profile.get("scripts")).filter_map(Value::as_table) {
            if entry.contains_key("run-wrapper") {
                self.note("`run-wrapper` scripts are ignored");
            }
            let filter =
                entry.get("filter").and_then(Value::as_str).map(|text| self.expression(text));
            if matches!(filter, Some(None)) {
                continue;
            }
            for name in texts(entry.get("setup")) {
                match command(document, &name) {
                    Some(command) => self.scripts.push(SetupScript {
                        name,
                        command,
                        filter: filter.clone().flatten(),
                    }),
                    None => self.note(&format!("the setup script `{name}` is not understood")),
                }
            }
        }
    }

    /// Adds the supported settings of an override, or of the profile itself.
    fn add_override(&mut self, filter: &str, settings: &Table, document: &Table) {
        for (key, entry, value) in PASSED_OVER {
            let found = settings.get(key).and_then(|found| found.get(entry));
            if found.and_then(Value::as_str) == Some(value) {
                self.note(&format!("`{key}` with `{entry} = \"{value}\"` is ignored"));
            }
        }
        // Runs under this tool may take longer, so limits below its default are ignored.
        let limit = limit(settings).filter(|limit| *limit > DEFAULT_TIMEOUT);
        let group = settings.get("test-group").and_then(|name| {
            let found = concurrency::group(document, name);
            self.understood(found, "test-group", name)
        });
        let threads = settings.get("threads-required").and_then(|number| {
            let found = concurrency::threads(number);
            self.understood(found, "threads-required", number)
        });
        if limit.is_none() && group.is_none() && threads.is_none() {
            return;
        }
        if let Some(filter) = self.expression(filter) {
            let found = Override::of_nextest(filter, limit, group, threads);
            self.overrides.push(Spanned::new(0..0, found));
        }
    }

    /// Returns `found`. Adds a note if it is `None`, since this value of the key is unsupported.
    fn understood<T>(&mut self, found: Option<T>, key: &str, value: &Value) -> Option<T> {
        if found.is_none() {
            self.note(&format!("`{key} = {value}` is not understood"));
        }
        found
    }

    fn expression(&mut self, text: &str) -> Option<Expression> {
        let parsed = Expression::parse(text);
        if parsed.is_err() {
            self.note(&format!("the filterset `{text}` is not understood"));
        }
        parsed.ok()
    }

    fn note(&mut self, what: &str) {
        let note = format!("nextest's configuration: {what}");
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// Parses a profile's `fail-fast`: `true`, `false`, or `{ max-fail = N }`.
fn max_fail(setting: &Value) -> Option<MaxFail> {
    match setting {
        Value::Boolean(true) => Some(MaxFail::ONE),
        Value::Boolean(false) => Some(MaxFail::ALL),
        other => match other.get("max-fail")? {
            Value::Integer(number) => number.to_string().parse().ok(),
            other => other.as_str()?.parse().ok(),
        },
    }
}

/// Returns the time limit of a profile or an override: the slow period times the number of periods
/// after which nextest terminates a test.
fn limit(settings: &Table) -> Option<Duration> {
    let slow = settings.get("slow-timeout")?.as_table()?;
    let period = humantime::parse_duration(slow.get("period")?.as_str()?).ok()?;
    let times = u32::try_from(slow.get("terminate-after")?.as_integer()?).ok()?;
    period.checked_mul(times)
}

/// Returns the command of a setup script: `[scripts.setup.NAME]`, or `[script.NAME]` in older
/// versions of nextest.
fn command(document: &Table, name: &str) -> Option<Vec<String>> {
    let scripts = table(document.get("scripts"));
    let now = scripts.and_then(|scripts| table(scripts.get("setup"))?.get(name));
    let before = table(document.get("script")).and_then(|scripts| scripts.get(name));
    let script = now.or(before)?.as_table()?;
    let words = match script.get("command")? {
        Value::String(line) => shell_words::split(line).ok()?,
        Value::Array(words) => {
            words.iter().map(|word| Some(word.as_str()?.to_owned())).collect::<Option<_>>()?
        }
        Value::Table(settings) if !settings.contains_key("relative-to") => {
            shell_words::split(settings.get("command-line")?.as_str()?).ok()?
        }
        _ => return None,
    };
    (!words.is_empty()).then_some(words)
}

fn table(value: Option<&Value>) -> Option<&Table> {
    value?.as_table()
}

fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

/// Returns the strings of a value that is a string or a list of strings.
fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        several => list(several).filter_map(Value::as_str).map(str::to_owned).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        [profile.default]
        default-filter = 'not test(slow)'
        fail-fast = { max-fail = 5 }
        retries = 3
        test-threads = 1
        slow-timeout = { period = "60s", terminate-after = 5 }

        [[profile.default.overrides]]
        filter = 'test(import)'
        slow-timeout = { period = "2m", terminate-after = 10 }

        [[profile.default.overrides]]
        filter = 'test(quick)'
        slow-timeout = { period = "1s", terminate-after = 2 }

        [[profile.default.scripts]]
        filter = 'package(db)'
        setup = "db"

        [profile.ci]
        test-threads = 3
        default-filter = 'all()'
        fail-fast = false

        [scripts.setup.db]
        command = "./start 'a database'"
    "#;

    fn text(found: &Nextest) -> &str {
        found.default_filter.as_ref().map_or("", Expression::text)
    }

    #[test]
    fn filter_limits_and_scripts_are_read_and_the_rest_is_passed_over() {
        let found = Nextest::parse(TEXT, "default").unwrap();
        assert_eq!(text(&found), "not test(slow)");
        let limits: Vec<_> = found.overrides.iter().map(|one| one.get_ref().timeout).collect();
        let seconds = [1200, 300].map(|seconds| Some(Duration::from_secs(seconds)));
        assert_eq!(limits, seconds);
        assert_eq!(found.scripts[0].command, ["./start", "a database"]);
        assert_eq!(found.max_fail, "5".parse().ok());
        assert_eq!(found.test_threads, NonZeroUsize::new(1));
        assert_eq!(found.notes, [""; 0]);
    }

    #[test]
    fn a_profile_comes_over_the_default_one() {
        let found = Nextest::parse(TEXT, "ci").unwrap();
        assert_eq!(text(&found), "all()");
        assert_eq!(found.overrides.len(), 2);
        assert_eq!(found.max_fail, Some(MaxFail::ALL));
        assert_eq!(found.test_threads, NonZeroUsize::new(3));
    }

    #[test]
    fn a_profile_that_only_nextest_has_is_named_with_its_variable() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        std::fs::create_dir(root.join(".config")).unwrap();
        std::fs::write(root.join(FILE), TEXT).unwrap();
        let message = |profile| {
            super::super::file::unknown_profile(profile, None, [].into_iter(), root).to_string()
        };
        assert!(message("ci").ends_with("nextest's profile is chosen by `NEXTEST_PROFILE=ci`"));
        assert!(!message("cii").contains("NEXTEST_PROFILE"));
    }

    #[test]
    fn what_is_not_understood_is_named_once() {
        let text = "test-groups.one.max-threads = 0\n\
                    [[profile.default.overrides]]\nfilter = 'test(a)'\ntest-group = 'one'\n\
                    [[profile.default.overrides]]\nfilter = 'test(b)'\ntest-group = 'two'\n\
                    [[profile.default.overrides]]\nfilter = 'test(c)'\ntest-group = 'two'\n\
                    [[profile.default.overrides]]\nplatform = 'cfg(windows)'\n\
                    [[profile.default.overrides]]\nplatform = 'cfg(unix)'\n\
                    [[profile.default.scripts]]\nsetup = 'missing'\n\
                    [profile.default.leak-timeout]\nperiod = '1s'\nresult = 'fail'\n\
                    [profile.default.slow-timeout]\nperiod = '1s'\non-timeout = 'pass'\n";
        let found = Nextest::parse(text, "default").unwrap();
        assert_eq!(found.notes.len(), 6, "{:?}", found.notes);
    }
}

//! nextest's own configuration, `.config/nextest.toml`: what of it holds here, too.
//!
//! A project that runs by nextest has said there which tests run by default, which need longer, and
//! what is to be done before. What only decides how nextest runs and shows tests is passed over.
//! What would change a result here and is not understood is named once.

mod concurrency;

use std::num::NonZeroUsize;
use std::time::Duration;

use camino::Utf8Path;
use toml::{Spanned, Table, Value};

use super::overrides::Override;
use crate::cli::filterset::Expression;
use crate::cli::{MaxFail, processors};
use crate::error::{Error, Result};
use crate::file;
use crate::judge::options::DEFAULT_TIMEOUT;

/// The file, below the root of the workspace.
const FILE: &str = ".config/nextest.toml";

/// nextest's variable for the number of tests that run at once.
const THREADS: &str = "NEXTEST_TEST_THREADS";

/// The profile that every other one builds on.
const DEFAULT: &str = "default";

/// What decides in nextest whether a test passes, and not here: key, its entry, and the value.
const PASSED_OVER: [(&str, &str, &str); 2] =
    [("leak-timeout", "result", "fail"), ("slow-timeout", "on-timeout", "pass")];

/// What applies here of nextest's configuration.
#[derive(Clone, Debug, Default)]
pub struct Nextest {
    /// Which tests run unless others are requested.
    pub default_filter: Option<Expression>,
    /// Time limits of tests, longer than ours, test groups, and numbers of job slots.
    pub(super) overrides: Vec<Spanned<Override>>,
    /// After how many failures no other test is begun.
    pub max_fail: Option<MaxFail>,
    /// How many tests run at once.
    pub test_threads: Option<NonZeroUsize>,
    /// What is run before the tests.
    pub scripts: Vec<SetupScript>,
    /// What is not understood, a sentence each.
    pub notes: Vec<String>,
}

/// A script that is run before the tests that match its filter.
#[derive(Clone, Debug)]
pub struct SetupScript {
    /// Its name in the configuration.
    pub name: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Which tests need it; `None` for all.
    pub filter: Option<Expression>,
}

impl Nextest {
    /// Reads the configuration of the workspace at `root`, if there is one.
    ///
    /// # Errors
    /// When it cannot be read, or is no TOML.
    pub(super) fn read(root: &Utf8Path) -> Result<Self> {
        let path = root.join(FILE);
        let profile = std::env::var("NEXTEST_PROFILE").ok();
        let profile = profile.as_deref().unwrap_or(DEFAULT);
        let mut found = match file::read_if_there(&path)? {
            None => Nextest::default(),
            Some(text) => Self::parse(&text, profile)
                .map_err(|why| Error::setup(format!("failed to read `{path}`: {why}")))?,
        };
        if let Ok(number) = std::env::var(THREADS) {
            let number = processors(&number)
                .map_err(|why| Error::setup(format!("`{THREADS}={number}`: {why}")))?;
            found.test_threads = Some(number);
        }
        Ok(found)
    }

    /// Whether the configuration of the workspace at `root` has this profile.
    pub(super) fn has_profile(root: &Utf8Path, name: &str) -> bool {
        let text = file::read_if_there(&root.join(FILE)).ok().flatten();
        let document: Option<Table> = text.and_then(|text| text.parse().ok());
        document.is_some_and(|document| {
            table(document.get("profile")).is_some_and(|profiles| profiles.contains_key(name))
        })
    }

    /// The settings of this profile.
    fn parse(text: &str, profile: &str) -> Result<Self, String> {
        let document: Table = text.parse().map_err(|e: toml::de::Error| e.to_string())?;
        let mut found = Nextest::default();
        let profiles = table(document.get("profile"));
        let names = [profile, DEFAULT];
        let names = if profile == DEFAULT { &names[1..] } else { &names[..] };
        for name in names {
            let profile = profiles.and_then(|profiles| table(profiles.get(*name)));
            if let Some(profile) = profile {
                found.add(profile, &document);
            }
        }
        Ok(found)
    }

    /// Adds the settings of a profile that a more important one does not have.
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
                self.note("overrides for a `platform` are passed over");
            } else if let Some(text) = one.get("filter").and_then(Value::as_str) {
                self.add_override(text, one, document);
            }
        }
        self.add_override("all()", profile, document);
        for entry in list(profile.get("scripts")).filter_map(Value::as_table) {
            if entry.contains_key("run-wrapper") {
                self.note("`run-wrapper` scripts are passed over");
            }
            let filter = entry.get("filter").and_then(Value::as_str);
            let filter = filter.map(|text| self.expression(text));
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

    /// Adds what applies here of the settings of some tests.
    fn add_override(&mut self, filter: &str, settings: &Table, document: &Table) {
        for (key, entry, value) in PASSED_OVER {
            let found = settings.get(key).and_then(|found| found.get(entry));
            if found.and_then(Value::as_str) == Some(value) {
                self.note(&format!("`{key}` with `{entry} = \"{value}\"` is passed over"));
            }
        }
        // A run over this tool may take longer, so that a shorter one is none here.
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

    /// What was found of the value of this key; a note where that is nothing.
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

/// `fail-fast` of a profile: `true`, `false`, or `{ max-fail = N }`.
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

/// The time limit of a profile or an override: after this number of periods a slow test is ended.
fn limit(settings: &Table) -> Option<Duration> {
    let slow = settings.get("slow-timeout")?.as_table()?;
    let period = humantime::parse_duration(slow.get("period")?.as_str()?).ok()?;
    let times = u32::try_from(slow.get("terminate-after")?.as_integer()?).ok()?;
    period.checked_mul(times)
}

/// The command of a setup script: `[scripts.setup.NAME]`, or `[script.NAME]` as it was before.
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

/// A text, or several.
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

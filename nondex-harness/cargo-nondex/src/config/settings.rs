//! The keys that a project may set.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use camino::Utf8PathBuf;
use nondex_core::{Level, NetworkMode, Schedule};
use regex::Regex;
use serde::Deserialize;
use toml::Spanned;

use super::overrides::Override;
use super::value::{NameList, many, one};
use crate::cli::{Expression, Seeds};
use crate::judge::SanitisedLimit;
use crate::project::Mode;

/// Declares [`Settings`] with one line for each key: its name, its field with the type of its value
/// and, unless it is a boolean, the function that parses the value.
macro_rules! settings {
    ($($key:literal $field:ident: $type:ty $(, $read:literal)?;)*) => {
        /// The keys. Each is an option of `cargo nondex run` without the dashes.
        pub const KEYS: [&str; [$($key),*].len()] = [$($key),*];

        /// The settings of a profile, or of all variables together.
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        #[expect(
            missing_docs,
            reason = "each is an option of the command line, which explains it"
        )]
        pub struct Settings {
            $(
                #[serde(rename = $key $(, deserialize_with = $read)?)]
                pub $field: Option<$type>,
            )*

            /// Overrides for single tests, in order of precedence.
            pub overrides: Vec<Spanned<Override>>,
        }

        impl Settings {
            /// Returns these settings, with the values of `below` for missing ones. Lists are
            /// replaced as a whole. Overrides of `below` follow those of `self`.
            pub fn over(self, mut below: Settings) -> Settings {
                // `--package` and `--workspace` exclude each other, so setting one hides both
                // below.
                if self.package.is_some() || self.workspace.is_some() {
                    (below.package, below.workspace) = (None, None);
                }
                Settings {
                    $($field: self.$field.or(below.$field),)*
                    overrides: [self.overrides, below.overrides].concat(),
                }
            }
        }
    };
}

settings! {
    "all-features" all_features: bool;
    "budget-factor" budget_factor: f64, "one";
    "cargo-profile" cargo_profile: String, "one";
    "clean-runs" clean_runs: NonZeroU32, "one";
    "exclude" exclude: Vec<String>, "many";
    "exhaustive" exhaustive: u64, "one";
    "features" features: Vec<String>, "many";
    "files" files: NameList, "one";
    "filterset" filterset: Vec<Expression>, "many";
    "gitlab" gitlab: Utf8PathBuf, "one";
    "history-dir" history_dir: Utf8PathBuf, "one";
    "jobs" jobs: NonZeroUsize, "one";
    "junit" junit: Utf8PathBuf, "one";
    "levels" levels: Vec<Level>, "one";
    "max-sanitised" max_sanitised: SanitisedLimit, "one";
    "max-steps" max_steps: u64, "one";
    "max-time" max_time: Duration, "one";
    "mode" mode: Mode, "one";
    "models" models: Regex, "one";
    "network" network: NetworkMode, "one";
    "network-allow" network_allow: NameList, "one";
    "network-verify" network_verify: bool;
    "no-default-features" no_default_features: bool;
    "no-sanitise" no_sanitise: bool;
    "package" package: Vec<String>, "many";
    "real-threads" real_threads: bool;
    "regressions" regressions: Utf8PathBuf, "one";
    "sarif" sarif: Utf8PathBuf, "one";
    "schedule" schedule: Schedule, "one";
    "search-runs" search_runs: usize, "one";
    "seeds" seeds: Seeds, "one";
    "skip-files" skip_files: NameList, "one";
    "skip-models" skip_models: Regex, "one";
    "strict" strict: bool;
    "thorough" thorough: bool;
    "timeout" timeout: Duration, "one";
    "workspace" workspace: bool;
}

impl Settings {
    /// Returns the settings that are paths. Relative ones start at the root of the workspace.
    pub(super) fn files(&mut self) -> [&mut Option<Utf8PathBuf>; 4] {
        [&mut self.gitlab, &mut self.junit, &mut self.regressions, &mut self.sarif]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_keys_is_what_is_read() {
        let mut wrong = toml::Table::new();
        wrong.insert("no key".to_owned(), toml::Value::Boolean(true));
        let error = wrong.try_into::<Settings>().unwrap_err();
        let mut read: Vec<&str> = error.message().split('`').skip(3).step_by(2).collect();
        read.retain(|name| *name != "overrides");
        assert_eq!(read, KEYS);
    }
}

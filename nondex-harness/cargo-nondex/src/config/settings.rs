//! The keys that a project may set.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use camino::Utf8PathBuf;
use nondex_core::{Level, NetworkMode, Schedule};
use regex::Regex;
use serde::Deserialize;
use toml::Spanned;

use super::overrides::Override;
use super::value::{FilterText, Names, many, one};
use crate::cli::seeds::Seeds;
use crate::judge::prerequisite::Limit;
use crate::project::Mode;

/// The keys, each an option of `cargo nondex run` without its dashes.
pub const KEYS: [&str; 37] = [
    "all-features",
    "budget-factor",
    "cargo-profile",
    "clean-runs",
    "exclude",
    "exhaustive",
    "features",
    "files",
    "filterset",
    "gitlab",
    "history-dir",
    "jobs",
    "junit",
    "levels",
    "max-sanitised",
    "max-steps",
    "max-time",
    "mode",
    "models",
    "network",
    "network-allow",
    "network-verify",
    "no-default-features",
    "no-sanitise",
    "package",
    "real-threads",
    "regressions",
    "sarif",
    "schedule",
    "search-runs",
    "seeds",
    "skip-files",
    "skip-models",
    "strict",
    "thorough",
    "timeout",
    "workspace",
];

/// What a profile, or the variables together, set.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[expect(
    missing_docs,
    reason = "each is an option of the command line, which explains it"
)]
pub struct Settings {
    pub all_features: Option<bool>,
    #[serde(deserialize_with = "one")]
    pub budget_factor: Option<f64>,
    #[serde(deserialize_with = "one")]
    pub cargo_profile: Option<String>,
    #[serde(deserialize_with = "one")]
    pub clean_runs: Option<NonZeroU32>,
    #[serde(deserialize_with = "many")]
    pub exclude: Option<Vec<String>>,
    #[serde(deserialize_with = "one")]
    pub exhaustive: Option<u64>,
    #[serde(deserialize_with = "many")]
    pub features: Option<Vec<String>>,
    #[serde(deserialize_with = "one")]
    pub files: Option<Names>,
    #[serde(deserialize_with = "many")]
    pub filterset: Option<Vec<FilterText>>,
    #[serde(deserialize_with = "one")]
    pub gitlab: Option<Utf8PathBuf>,
    #[serde(deserialize_with = "one")]
    pub history_dir: Option<Utf8PathBuf>,
    #[serde(deserialize_with = "one")]
    pub jobs: Option<NonZeroUsize>,
    #[serde(deserialize_with = "one")]
    pub junit: Option<Utf8PathBuf>,
    #[serde(deserialize_with = "one")]
    pub levels: Option<Vec<Level>>,
    #[serde(deserialize_with = "one")]
    pub max_sanitised: Option<Limit>,
    #[serde(deserialize_with = "one")]
    pub max_steps: Option<u64>,
    #[serde(deserialize_with = "one")]
    pub max_time: Option<Duration>,
    #[serde(deserialize_with = "one")]
    pub mode: Option<Mode>,
    #[serde(deserialize_with = "one")]
    pub models: Option<Regex>,
    #[serde(deserialize_with = "one")]
    pub network: Option<NetworkMode>,
    #[serde(deserialize_with = "one")]
    pub network_allow: Option<Names>,
    pub network_verify: Option<bool>,
    pub no_default_features: Option<bool>,
    pub no_sanitise: Option<bool>,
    #[serde(deserialize_with = "many")]
    pub package: Option<Vec<String>>,
    pub real_threads: Option<bool>,
    #[serde(deserialize_with = "one")]
    pub regressions: Option<Utf8PathBuf>,
    #[serde(deserialize_with = "one")]
    pub sarif: Option<Utf8PathBuf>,
    #[serde(deserialize_with = "one")]
    pub schedule: Option<Schedule>,
    #[serde(deserialize_with = "one")]
    pub search_runs: Option<usize>,
    #[serde(deserialize_with = "one")]
    pub seeds: Option<Seeds>,
    #[serde(deserialize_with = "one")]
    pub skip_files: Option<Names>,
    #[serde(deserialize_with = "one")]
    pub skip_models: Option<Regex>,
    pub strict: Option<bool>,
    pub thorough: Option<bool>,
    #[serde(deserialize_with = "one")]
    pub timeout: Option<Duration>,
    pub workspace: Option<bool>,
    /// For single tests, the most important first.
    pub overrides: Vec<Spanned<Override>>,
}

impl Settings {
    /// The paths of files, which start at the root of the workspace.
    pub(super) fn files(&mut self) -> [&mut Option<Utf8PathBuf>; 4] {
        [
            &mut self.gitlab,
            &mut self.junit,
            &mut self.regressions,
            &mut self.sarif,
        ]
    }

    /// These, with the values of `below` where they have none. Lists are replaced as a whole;
    /// overrides all count.
    #[must_use]
    pub fn over(self, below: Settings) -> Settings {
        // Packages that are named are not to be joined by the whole workspace, nor the other way
        // round.
        let selects = self.package.is_some() || self.workspace.is_some();
        let (package, workspace) = match selects {
            true => (self.package, self.workspace),
            false => (below.package, below.workspace),
        };
        Settings {
            all_features: self.all_features.or(below.all_features),
            budget_factor: self.budget_factor.or(below.budget_factor),
            cargo_profile: self.cargo_profile.or(below.cargo_profile),
            clean_runs: self.clean_runs.or(below.clean_runs),
            exclude: self.exclude.or(below.exclude),
            exhaustive: self.exhaustive.or(below.exhaustive),
            features: self.features.or(below.features),
            files: self.files.or(below.files),
            filterset: self.filterset.or(below.filterset),
            gitlab: self.gitlab.or(below.gitlab),
            history_dir: self.history_dir.or(below.history_dir),
            jobs: self.jobs.or(below.jobs),
            junit: self.junit.or(below.junit),
            levels: self.levels.or(below.levels),
            max_sanitised: self.max_sanitised.or(below.max_sanitised),
            max_steps: self.max_steps.or(below.max_steps),
            max_time: self.max_time.or(below.max_time),
            mode: self.mode.or(below.mode),
            models: self.models.or(below.models),
            network: self.network.or(below.network),
            network_allow: self.network_allow.or(below.network_allow),
            network_verify: self.network_verify.or(below.network_verify),
            no_default_features: self.no_default_features.or(below.no_default_features),
            no_sanitise: self.no_sanitise.or(below.no_sanitise),
            package,
            real_threads: self.real_threads.or(below.real_threads),
            regressions: self.regressions.or(below.regressions),
            sarif: self.sarif.or(below.sarif),
            schedule: self.schedule.or(below.schedule),
            search_runs: self.search_runs.or(below.search_runs),
            seeds: self.seeds.or(below.seeds),
            skip_files: self.skip_files.or(below.skip_files),
            skip_models: self.skip_models.or(below.skip_models),
            strict: self.strict.or(below.strict),
            thorough: self.thorough.or(below.thorough),
            timeout: self.timeout.or(below.timeout),
            workspace,
            overrides: [self.overrides, below.overrides].concat(),
        }
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

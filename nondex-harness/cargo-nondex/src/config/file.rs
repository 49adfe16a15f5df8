//! `.config/nondex.toml`: profiles of settings.

use std::collections::BTreeMap;
use std::ops::Range;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use toml::Spanned;

use super::sanitisers::{self, Entry};
use super::{Config, Nextest, Settings};
use crate::error::{Error, Result};
use crate::judge::prerequisite::Operations;
use crate::nearest::instead;
use crate::toml_error::{place, wrong as wrong_file};

/// The profile that every other one builds on.
pub const DEFAULT_PROFILE: &str = "default";

/// The file, read and found valid as a whole, whichever profile is chosen.
#[derive(Clone, Debug, Default)]
pub struct File {
    path: Utf8PathBuf,
    root: Utf8PathBuf,
    profiles: BTreeMap<String, Settings>,
    sanitisers: Vec<Operations>,
}

/// What is written in it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    profile: BTreeMap<String, Settings>,
    #[serde(default, alias = "sanitize")]
    sanitise: Vec<Spanned<Entry>>,
}

impl File {
    /// Reads `text`. Relative paths in it start at `root`; `path` is for messages.
    ///
    /// # Errors
    /// When anything in it is not as it must be: with path, line and column, what was found and
    /// what was expected.
    pub fn parse(text: &str, path: &Utf8Path, root: &Utf8Path) -> Result<Self> {
        let wrong = |span: Range<usize>, why: &str| {
            Error::setup(format!("{}: {why}", place(text, path, &span)))
        };
        let document: Document =
            toml::from_str(text).map_err(|error| Error::setup(wrong_file(&error, text, path)))?;
        let sanitisers =
            sanitisers::sanitisers(document.sanitise).map_err(|(span, why)| wrong(span, &why))?;
        let mut profiles = document.profile;
        for settings in profiles.values_mut() {
            for file in settings.files() {
                *file = file.take().map(|file| root.join(file));
            }
            for found in &mut settings.overrides {
                let place = place(text, path, &found.span());
                found.get_mut().place = place;
            }
        }
        Ok(File { path: path.to_owned(), root: root.to_owned(), profiles, sanitisers })
    }

    /// What a profile sets, over what the default one does.
    ///
    /// # Errors
    /// When there is no such profile. The default one is always there.
    pub fn chosen(mut self, profile: &str) -> Result<Config> {
        let own = match self.profiles.remove(profile) {
            Some(settings) => settings,
            None if profile == DEFAULT_PROFILE => Settings::default(),
            None => {
                let known = self.profiles.keys().map(String::as_str);
                return Err(unknown_profile(profile, Some(&self.path), known, &self.root));
            }
        };
        let default = self.profiles.remove(DEFAULT_PROFILE).unwrap_or_default();
        Ok(Config { profile: own.over(default), sanitisers: self.sanitisers, ..Config::default() })
    }
}

/// The error that there is no profile of this name, with the tool in whose words there is one for
/// the workspace at `root`.
pub(super) fn unknown_profile<'a>(
    profile: &str,
    path: Option<&Utf8Path>,
    known: impl Iterator<Item = &'a str>,
    root: &Utf8Path,
) -> Error {
    let mut known: Vec<&str> = known.chain([DEFAULT_PROFILE]).collect();
    known.sort_unstable();
    known.dedup();
    let place = match path {
        Some(path) => format!("in `{path}`"),
        None => "because there is no `.config/nondex.toml`".to_owned(),
    };
    // Cargo's flag of this name is called as nextest calls it.
    let others = match profile {
        "dev" | "release" | "test" | "bench" => {
            format!("; cargo's profile is chosen by `--cargo-profile {profile}`")
        }
        _ if Nextest::has_profile(root, profile) => {
            format!("; nextest's profile is chosen by `NEXTEST_PROFILE={profile}`")
        }
        _ => String::new(),
    };
    Error::setup(format!(
        "there is no profile `{profile}` {place}: {}{others}",
        instead(profile, known)
    ))
}

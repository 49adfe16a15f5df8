//! Parses `.config/nondex.toml`, which has profiles of settings.

use std::collections::BTreeMap;
use std::ops::Range;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use toml::Spanned;

use super::sanitisers::{self, SanitiserEntry};
use super::{Config, Nextest, Settings};
use crate::error::{Error, Result};
use crate::judge::Operations;
use crate::nearest::instead;
use crate::toml_error::{place, wrong as wrong_file};

/// The profile from which every other profile inherits.
pub const DEFAULT_PROFILE: &str = "default";

/// The configuration file, parsed and fully validated, whichever profile is selected.
#[derive(Clone, Debug, Default)]
pub struct File {
    path: Utf8PathBuf,
    root: Utf8PathBuf,
    profiles: BTreeMap<String, Settings>,
    sanitisers: Vec<Operations>,
}

/// The deserialized content of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    profile: BTreeMap<String, Settings>,
    #[serde(default, alias = "sanitize")]
    sanitise: Vec<Spanned<SanitiserEntry>>,
}

impl File {
    /// Reads `text`. Relative paths in it start at `root`; `path` is for messages.
    ///
    /// # Errors
    /// Returns an error when the file is invalid. The error has path, line and column, and says
    /// what was found and what was expected.
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

    /// Returns the settings of a profile, with those of the default profile for missing keys.
    ///
    /// # Errors
    /// Returns an error when there is no such profile. The default profile always exists.
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

/// Returns the error for an unknown profile. The error suggests the option of cargo or nextest if
/// that tool has a profile of this name for the workspace at `root`.
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
    // nextest calls cargo's option `--cargo-profile`, and so does this tool.
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

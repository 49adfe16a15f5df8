//! `.config/nondex.toml`: profiles of options.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Command, CommandFactory};
use toml::de::DeTable;

use super::document::{Document, Value};
use super::key::{self, Key, Kind};
use super::layers::{self, Layer, Setting};
use super::nearest::instead;
use super::overrides::Override;
use super::{Config, sanitisers};
use crate::cli::CommandLine;
use crate::error::{Error, Result};
use crate::sanitise::OperationSanitiser;

/// The profile that every other one builds on.
pub const DEFAULT_PROFILE: &str = "default";

/// The file, read and found valid as a whole, whichever profile is chosen.
#[derive(Clone, Debug, Default)]
pub struct File {
    path: Utf8PathBuf,
    profiles: BTreeMap<String, Profile>,
    sanitisers: Vec<OperationSanitiser>,
}

/// What one profile sets.
#[derive(Clone, Debug, Default)]
struct Profile {
    layer: Layer,
    overrides: Vec<Override>,
}

impl File {
    /// Reads `text`. Relative paths in it start at `root`; `path` is for messages.
    ///
    /// # Errors
    /// When anything in it is not as it must be: with path, line and column, what was found and what was expected.
    pub fn parse(text: &str, path: &Utf8Path, root: &Utf8Path) -> Result<Self> {
        let document = Document {
            path: path.to_owned(),
            text,
        };
        let mut file = File {
            path: path.to_owned(),
            ..File::default()
        };
        let parsed = document.parse()?;
        for (name, value) in parsed.get_ref() {
            match name.get_ref().as_ref() {
                "profile" => {
                    for (profile, value) in document.table("profile", value)? {
                        let name = profile.get_ref().to_string();
                        let table = document.table(&format!("profile.{name}"), value)?;
                        let read = Profile::read(&document, &name, table, root)?;
                        file.profiles.insert(name, read);
                    }
                }
                "sanitise" | "sanitize" => {
                    file.sanitisers.extend(sanitisers::read(&document, value)?);
                }
                other => {
                    let known = ["profile", "sanitise"];
                    let why = format!("unknown key `{other}`: {}", instead(other, known));
                    return Err(document.error(name.span(), why));
                }
            }
        }
        Ok(file)
    }

    /// What a profile sets, and what the default one does below it, the more important first; and what else there is.
    ///
    /// # Errors
    /// When there is no such profile. The default one is always there.
    pub fn chosen(&self, profile: &str) -> Result<(Vec<Layer>, Config)> {
        let names = [profile, DEFAULT_PROFILE];
        let names = &names[..if profile == DEFAULT_PROFILE { 1 } else { 2 }];
        if profile != DEFAULT_PROFILE && !self.profiles.contains_key(profile) {
            return Err(unknown_profile(
                profile,
                Some(&self.path),
                self.profiles.keys().map(String::as_str),
            ));
        }
        let profiles = names.iter().filter_map(|name| self.profiles.get(*name));
        let profiles: Vec<&Profile> = profiles.collect();
        Ok((
            profiles
                .iter()
                .map(|profile| profile.layer.clone())
                .collect(),
            Config {
                overrides: profiles
                    .iter()
                    .flat_map(|profile| profile.overrides.iter().cloned())
                    .collect(),
                sanitisers: self.sanitisers.clone(),
                ..Config::default()
            },
        ))
    }
}

/// The error that there is no profile of this name.
pub(crate) fn unknown_profile<'a>(
    profile: &str,
    path: Option<&Utf8Path>,
    known: impl Iterator<Item = &'a str>,
) -> Error {
    let mut known: Vec<&str> = known.chain([DEFAULT_PROFILE]).collect();
    known.sort_unstable();
    known.dedup();
    let place = match path {
        Some(path) => format!("in `{path}`"),
        None => "because there is no `.config/nondex.toml`".to_owned(),
    };
    // Cargo's flag of this name is called as nextest calls it.
    let cargos = match profile {
        "dev" | "release" | "test" | "bench" => {
            format!("; cargo's profile is chosen by `--cargo-profile {profile}`")
        }
        _ => String::new(),
    };
    Error::setup(format!(
        "there is no profile `{profile}` {place}: {}{cargos}",
        instead(profile, known)
    ))
}

impl Profile {
    fn read<'a>(
        document: &Document<'a>,
        profile: &str,
        table: &DeTable<'a>,
        root: &Utf8Path,
    ) -> Result<Self> {
        let mut read = Profile::default();
        let mut spans = BTreeMap::new();
        for (name, value) in table {
            let text = name.get_ref().as_ref();
            if text == "overrides" {
                for (table, span) in document.tables("overrides", value)? {
                    read.overrides.push(Override::read(document, table, span)?);
                }
                continue;
            }
            let keys = || key::all().iter().filter(|key| key.in_file);
            let Some(key) = keys().find(|key| key.name == text) else {
                let why = match key::EXCEPTIONS.iter().find(|e| e.name == text) {
                    Some(exception) => format!(
                        "`{text}` is only an option of the command line: {}",
                        exception.reason
                    ),
                    None => {
                        let known = keys().map(|key| key.name.as_str()).chain(["overrides"]);
                        let instead = instead(text, known);
                        format!("unknown key `{text}` of profile `{profile}`: {instead}")
                    }
                };
                return Err(document.error(name.span(), why));
            };
            let setting = setting(document, key, value, root)?;
            read.layer.settings.insert(key.id.clone(), setting);
            spans.insert(key.name.as_str(), name.span());
        }
        if let Some((one, other)) = layers::contradiction(&run_command(), &read.layer) {
            let span = spans.get(other.as_str()).cloned().unwrap_or(0..0);
            let why = format!("`{one}` and `{other}` cannot be used together");
            return Err(document.error(span, why));
        }
        Ok(read)
    }
}

fn run_command() -> Command {
    let line = CommandLine::command();
    line.find_subcommand("run").expect("there is `run`").clone()
}

/// The value of a key, as the option has it.
fn setting<'a>(
    document: &Document<'a>,
    key: &Key,
    value: &Value<'a>,
    root: &Utf8Path,
) -> Result<Setting> {
    let name = &key.name;
    let mut values = match key.kind {
        Kind::Flag => vec![(document.boolean(name, value)?.to_string(), value.span())],
        Kind::One(_) | Kind::Count => vec![(document.scalar(name, value)?, value.span())],
        Kind::List | Kind::Many => document.scalars(name, value)?,
    };
    for (text, span) in &values {
        key.check(std::slice::from_ref(text))
            .map_err(|why| document.error(span.clone(), format!("`{name}` is `{text}`: {why}")))?;
    }
    if key.kind == Kind::List {
        let mut texts: Vec<&str> = values.iter().map(|(text, _)| text.as_str()).collect();
        // Without a comma it would be a number of seeds. What is repeated counts once.
        if let ([one], true) = (texts.as_slice(), value.get_ref().is_array()) {
            texts = vec![one, one];
        }
        values = vec![(texts.join(","), value.span())];
        key.check(&[values[0].0.clone()])
            .map_err(|why| document.error(value.span(), format!("`{name}`: {why}")))?;
    }
    let start_at_root = |text: String| match key.kind {
        Kind::One(true) => root.join(text).into_string(),
        _ => text,
    };
    Ok(Setting {
        values: values
            .into_iter()
            .map(|(text, _)| start_at_root(text))
            .collect(),
    })
}

//! Reads the configuration: `.config/nondex.toml` and the `NONDEX_…` variables.
//!
//! [`Settings`] has the keys that a project may set, as plain values. [`load`] reads the variables,
//! the selected profile and the default profile. Variables take precedence over the selected
//! profile, which takes precedence over the default one. Options of the command line take
//! precedence over all of them.

mod file;
mod location;
pub mod nextest;
mod overrides;
mod sanitisers;
mod settings;
mod value;
mod variables;

pub use file::{DEFAULT_PROFILE, File};
pub use location::{DEFAULT_FILE as CONFIG_FILE, workspace_root};
pub use nextest::{Nextest, SetupScript};
pub use overrides::{GivenKeys, KEYS as OVERRIDE_KEYS, Override, PerTest};
pub use sanitisers::KEYS as SANITISE_KEYS;
pub use settings::{KEYS, Settings};
pub use value::NameList;
pub use variables::{OF_NO_KEY, Variables, variable};

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::Result;
use crate::judge::Operations;

/// The configuration from variables and files.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Settings from the variables.
    pub variables: Settings,
    /// Settings of the selected profile, and of the default profile for missing keys.
    pub profile: Settings,
    /// The `[[sanitise]]` entries, which apply to all profiles.
    pub sanitisers: Vec<Operations>,
    /// The supported part of nextest's configuration.
    pub nextest: Nextest,
    /// The root of the workspace; `None` when cargo finds none.
    pub root: Option<Utf8PathBuf>,
}

/// Loads the configuration from `variables` and a file: `file` if given, or else
/// `.config/nondex.toml` in the workspace `root`.
///
/// # Errors
/// Returns an error when a variable or the file is invalid, or when there is no such profile.
pub fn load(
    variables: &Variables,
    file: Option<&Utf8Path>,
    root: Option<Utf8PathBuf>,
    profile: Option<&str>,
) -> Result<Config> {
    let settings = variables.settings()?;
    let file = file
        .map(Utf8Path::to_owned)
        .or_else(|| variables.get("NONDEX_CONFIG_FILE").map(Into::into));
    let profile = profile.or_else(|| variables.get("NONDEX_PROFILE")).unwrap_or(DEFAULT_PROFILE);
    let folder = root.as_deref().unwrap_or(Utf8Path::new(""));
    let mut config = match location::read(file.as_deref(), root.as_deref())? {
        Some((path, text)) => File::parse(&text, &path, folder)?.chosen(profile)?,
        None if profile == DEFAULT_PROFILE => Config::default(),
        None => return Err(file::unknown_profile(profile, None, [].into_iter(), folder)),
    };
    if let Some(root) = &root {
        config.nextest = Nextest::read(root)?;
    }
    let mut overrides = std::mem::take(&mut config.nextest.overrides);
    // A timeout in this tool's own configuration takes precedence over nextest's timeouts.
    if config.profile.timeout.is_some() {
        overrides.iter_mut().for_each(|found| found.get_mut().timeout = None);
    }
    config.profile.overrides.extend(overrides);
    config.variables = settings;
    config.root = root;
    Ok(config)
}

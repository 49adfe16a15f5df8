//! Configuration: `.config/nondex.toml` and the `NONDEX_…` variables, below the command line.
//!
//! Every option of `cargo nondex run` is a [`Key`]: a key of the file and a variable are derived from its name, so a new
//! option has both without further ado. A [`Layer`] is what one source sets; [`merge`] gives the values of the layers to
//! the parser of the command line as defaults, so that they are read by the very code that reads the command line. What no
//! option can say, such as [`Override`]s for single tests, stays in [`Config`].

mod document;
mod file;
pub mod key;
mod layers;
pub mod location;
mod nearest;
mod overrides;
mod sanitisers;
mod variables;

pub use file::{DEFAULT_PROFILE, File};
pub use key::Key;
pub use layers::{Layer, Setting, merge};
pub use overrides::{KEYS as OVERRIDE_KEYS, Override, PerTest};
pub use sanitisers::KEYS as SANITISE_KEYS;
pub use variables::{read as read_variables, unknown as unknown_variables};

use std::collections::BTreeSet;

use camino::Utf8Path;

use crate::error::Result;
use crate::sanitise::OperationSanitiser;

/// What the file says of more than options, for the profile that was chosen.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// For single tests, the most important first.
    pub overrides: Vec<Override>,
    /// The entries `[[sanitise]]`, of all profiles.
    pub sanitisers: Vec<OperationSanitiser>,
    /// The names of options that the command line or a variable sets: they win over [`overrides`](Self::overrides).
    pub given: BTreeSet<String>,
}

/// What `profile` of a configuration file sets, the more important layer first, and what else the file says: of the `file`, or of
/// `.config/nondex.toml` in the root of the workspace that `manifest_path` or the current folder belongs to.
///
/// # Errors
/// When the file cannot be read or understood, and when there is no such profile.
pub fn load(
    file: Option<&Utf8Path>,
    manifest_path: Option<&Utf8Path>,
    profile: &str,
) -> Result<(Vec<Layer>, Config)> {
    let root = location::workspace_root(manifest_path);
    match location::read(file, root.as_deref())? {
        Some((path, text)) => {
            let root = root.unwrap_or_default();
            File::parse(&text, &path, &root)?.chosen(profile)
        }
        None if profile == DEFAULT_PROFILE => Ok(Default::default()),
        None => Err(file::unknown_profile(profile, None, [].into_iter())),
    }
}

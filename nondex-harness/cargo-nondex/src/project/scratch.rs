//! Temporary folder of one process.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::Result;
use crate::file;

/// Temporary folder, removed when dropped.
#[derive(Debug)]
pub struct Scratch(Utf8PathBuf);

impl Scratch {
    /// Creates the folder of this process in `home`. `name` distinguishes it from other such
    /// folders.
    pub(super) fn create(home: &Utf8Path, name: &str) -> std::io::Result<Self> {
        let folder = home.join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        Ok(Scratch(folder))
    }

    /// Creates this folder.
    ///
    /// # Errors
    /// Returns a set-up error with the path.
    pub fn at(folder: Utf8PathBuf) -> Result<Self> {
        file::create_folder(&folder)?;
        Ok(Scratch(folder))
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Utf8Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder that cannot be removed does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

//! The Rust toolchain that builds the project under test.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::{Error, Result};

/// A toolchain, as the project's own folder selects it.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// The cargo to run.
    pub cargo: OsString,
    /// The rustc that cargo will run.
    pub rustc: OsString,
    /// Its whole version text (`rustc -vV`): what decides whether two can share libraries.
    pub version: String,
    /// The host triple.
    pub host: String,
}

impl Toolchain {
    /// The toolchain that cargo uses in `dir`.
    ///
    /// # Errors
    /// When rustc cannot be run there.
    pub fn in_dir(dir: &Utf8Path) -> Result<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let version = stdout(Command::new(&rustc).arg("-vV").current_dir(dir))?;
        let host = version
            .lines()
            .find_map(|line| line.strip_prefix("host: "))
            .ok_or_else(|| {
                Error::setup(format!(
                    "`{} -vV` names no host, it printed: {version}",
                    rustc.display()
                ))
            })?
            .to_owned();
        // With rustup, `rustc` is chosen by the current folder: in another one it would be another
        // one.
        let sysroot = stdout(
            Command::new(&rustc)
                .args(["--print", "sysroot"])
                .current_dir(dir),
        )?;
        let own = Utf8PathBuf::from(sysroot.trim())
            .join("bin")
            .join(format!("rustc{}", std::env::consts::EXE_SUFFIX));
        let rustc = if own.is_file() {
            own.into_os_string()
        } else {
            rustc
        };
        Ok(Toolchain {
            cargo,
            rustc,
            version,
            host,
        })
    }
}

impl Toolchain {
    /// The rustdoc that cargo would run: the user's, or the compiler's neighbour.
    #[must_use]
    pub fn rustdoc(&self) -> OsString {
        if let Some(own) = std::env::var_os("RUSTDOC") {
            return own;
        }
        let name = format!("rustdoc{}", std::env::consts::EXE_SUFFIX);
        let sibling = Path::new(&self.rustc).with_file_name(&name);
        if sibling.is_file() {
            sibling.into_os_string()
        } else {
            name.into()
        }
    }
}

/// What a command prints, when it succeeds.
pub(super) fn stdout(command: &mut Command) -> Result<String> {
    let name = command.get_program().display().to_string();
    let output = command
        .output()
        .map_err(|e| Error::setup(format!("failed to run `{name}`: {e}")))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(Error::setup(format!(
            "`{name}` failed ({}): {}",
            output.status,
            stderr.trim()
        )));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| Error::setup(format!("`{name}` printed something that is not UTF-8")))
}

/// Where this program is, or another build of it that took its place.
pub(super) fn own() -> Result<String> {
    let own = std::env::current_exe()
        .map_err(|e| Error::setup(format!("failed to find the path of this program: {e}")))?;
    let own = own
        .into_os_string()
        .into_string()
        .map_err(|own| Error::setup(format!("the path {} is not UTF-8", own.display())))?;
    // What was installed or built again meanwhile is where it was: Linux marks it so.
    match own.strip_suffix(" (deleted)") {
        Some(place) if Utf8Path::new(place).is_file() => Ok(place.to_owned()),
        _ => Ok(own),
    }
}

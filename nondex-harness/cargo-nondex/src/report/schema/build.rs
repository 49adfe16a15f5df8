//! Builds whose output decides the outcome of a test.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Program of the build whose output varies between builds and decides the outcome of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildCause {
    /// Package of the build script or proc macro.
    pub package: String,
    /// `build-script` or `proc-macro`.
    pub kind: String,
    /// Differing file in `OUT_DIR`, `stdout` for the standard output, or the root of the proc
    /// macro.
    pub file: Option<String>,
    /// Further files that differ in the same builds: any of them may be the one that decides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_files: Vec<String>,
    /// Whether no seed decides what differs, such as the date or a process number. `passes` and
    /// `fails` are then the numbers of builds that cannot be repeated.
    #[serde(default)]
    pub by_chance: bool,
    /// Seed of a build in which the test passes; null if it fails in all of them, with different
    /// values.
    pub passes: Option<u64>,
    /// Seed of a build in which the test fails; null if the builds could not be compared.
    pub fails: Option<u64>,
}

impl BuildCause {
    /// The kind of build scripts.
    pub const BUILD_SCRIPT: &str = "build-script";

    /// The kind of proc macros.
    pub const PROC_MACRO: &str = "proc-macro";
}

/// Maximum number of further files that are named.
const SHOWN: usize = 2;

impl fmt::Display for BuildCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let package = &self.package;
        match self.file.as_deref() {
            file if self.kind == Self::PROC_MACRO => {
                let place = file.map_or_else(String::new, |file| format!(" ({file})"));
                write!(f, "the proc macro `{package}`{place} may expand to different code")
            }
            Some("stdout") | None => {
                write!(f, "the build script of `{package}` may print different output")
            }
            Some(file) => {
                write!(f, "the build script of `{package}` may write a different `{file}`")?;
                let mut shown = self.more_files.iter().take(SHOWN);
                shown.try_for_each(|file| write!(f, " or `{file}`"))?;
                match self.more_files.len().saturating_sub(SHOWN) {
                    0 => Ok(()),
                    more => write!(f, " or {more} other files"),
                }
            }
        }?;
        f.write_str(" in each build")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_and_the_file_are_named() {
        let mut cause = BuildCause {
            package: "shop".to_owned(),
            kind: BuildCause::BUILD_SCRIPT.to_owned(),
            file: Some("table.rs".to_owned()),
            more_files: Vec::new(),
            by_chance: false,
            passes: Some(0),
            fails: Some(1),
        };
        assert_eq!(
            cause.to_string(),
            "the build script of `shop` may write a different `table.rs` in each build"
        );
        cause.more_files = ["a.rs", "b.rs", "c.rs", "d.rs"].map(str::to_owned).to_vec();
        assert_eq!(
            cause.to_string(),
            "the build script of `shop` may write a different `table.rs` or `a.rs` or `b.rs` or 2 \
             other files in each build"
        );
        cause.file = Some("stdout".to_owned());
        assert_eq!(
            cause.to_string(),
            "the build script of `shop` may print different output in each build"
        );
        cause.kind = BuildCause::PROC_MACRO.to_owned();
        cause.file = Some("macros/src/lib.rs".to_owned());
        assert_eq!(
            cause.to_string(),
            "the proc macro `shop` (macros/src/lib.rs) may expand to different code in each build"
        );
    }
}

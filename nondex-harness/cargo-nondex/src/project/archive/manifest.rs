//! Manifest of an archive: what it is, and which tests it has.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use camino::{Utf8Path, Utf8PathBuf};
use cargo_metadata::Metadata;
use nondex_core::hash;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::project::plan::BuildPlan;
use crate::project::suite::Suite;

/// The name of the manifest in an archive.
pub(super) const NAME: &str = "nondex-archive.json";

/// What kind of archive it is: only the same version of this tool reads it, because it runs the
/// tests over a runtime of that version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kind {
    /// The version of this tool.
    pub(super) nondex: String,
    /// The architecture that the tests were built for.
    pub(super) architecture: String,
}

impl Kind {
    /// What this program writes and reads.
    pub(super) fn own() -> Self {
        Kind {
            nondex: env!("CARGO_PKG_VERSION").to_owned(),
            architecture: std::env::consts::ARCH.to_owned(),
        }
    }
}

/// Tests that were built.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Built {
    pub(super) suites: Vec<Suite>,
    pub(super) notes: Vec<String>,
    /// Those on binaries whose tests run on the host's own std.
    pub(super) on_host: BTreeMap<String, String>,
    pub(super) is_order_unknown: bool,
    pub(super) unbuilt: Vec<String>,
    /// The ids of executables that have paths of this machine as data, as from `env!`.
    pub(super) with_paths: Vec<String>,
    /// Name of its folder in ours.
    pub(super) folder: String,
}

/// The manifest of an archive. Paths are those of the machine that packed it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) kind: Kind,
    /// When it was packed, in nanoseconds since 1970: no two archives have the same key.
    pub(super) time: String,
    pub(super) workspace_root: Utf8PathBuf,
    pub(super) target_dir: Utf8PathBuf,
    /// The version text of the toolchain.
    pub(super) toolchain: String,
    pub(super) plan: BuildPlan,
    pub(super) tests: Built,
    /// The build without this tool, if it is packed.
    pub(super) plain: Option<Built>,
    /// The packages of which a build script or a proc macro makes something else in each build.
    pub(super) varied: Vec<String>,
    /// Whether the files of the workspace are packed.
    pub(super) has_sources: bool,
    /// What cargo knows of the workspace, with its dependencies.
    pub(super) metadata: Metadata,
}

impl Manifest {
    /// The time that it is now, as a manifest has it.
    pub(super) fn now() -> String {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos()).to_string()
    }

    /// Reads a manifest that was found in `file`.
    ///
    /// # Errors
    /// When another version of this tool wrote it, or it is for another architecture.
    pub(super) fn parse(text: &str, file: &Utf8Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct Only {
            kind: Kind,
        }
        let refused = |why: &str| Error::setup(format!("failed to read `{file}`: {why}"));
        let only: Only = serde_json::from_str(text).map_err(|e| refused(&e.to_string()))?;
        let (own, found) = (Kind::own(), only.kind);
        if own.nondex != found.nondex {
            return Err(refused(&format!(
                "version {} of cargo nondex packed it, and this is version {}",
                found.nondex, own.nondex
            )));
        }
        if own.architecture != found.architecture {
            return Err(refused(&format!(
                "its tests are for {}, and this machine is {}",
                found.architecture, own.architecture
            )));
        }
        serde_json::from_str(text).map_err(|e| refused(&e.to_string()))
    }

    /// The key of the folders that are extracted from an archive with this manifest.
    pub(super) fn key(text: &str) -> String {
        format!("archive {:016x}", hash::of(&text))
    }

    /// All builds that are packed.
    pub(super) fn builds(&self) -> impl Iterator<Item = &Built> {
        [&self.tests].into_iter().chain(&self.plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_version_or_machine_packed_is_refused_with_the_reason() {
        let own = Kind::own();
        let other = Kind { nondex: "0.0.9".to_owned(), ..own.clone() };
        let elsewhere = Kind { architecture: "vax".to_owned(), ..own };
        for (kind, expected) in [
            (other, "version 0.0.9 of cargo nondex packed it"),
            (elsewhere, "its tests are for vax"),
        ] {
            let text = serde_json::json!({ "kind": kind, "more": 1 }).to_string();
            let error = Manifest::parse(&text, Utf8Path::new("a.tar")).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
        let error = Manifest::parse("[]", Utf8Path::new("a.tar")).unwrap_err();
        assert!(error.to_string().starts_with("failed to read `a.tar`"));
    }
}

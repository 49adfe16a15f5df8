//! Manifest of an archive: its kind, and the tests in it.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use camino::{Utf8Path, Utf8PathBuf};
use cargo_metadata::Metadata;
use nondex_core::hash;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::project::{BuildPlan, Suite};

/// File name of the manifest.
pub(super) const NAME: &str = "nondex-archive.json";

/// Kind of an archive. Only the version of this tool that packed an archive can read it, because
/// its tests are linked with a runtime of that version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ArchiveKind {
    /// Version of this tool.
    pub(super) nondex: String,
    /// Architecture that the tests were built for.
    pub(super) architecture: String,
}

impl ArchiveKind {
    /// Returns the kind that this program writes and reads.
    pub(super) fn own() -> Self {
        ArchiveKind {
            nondex: env!("CARGO_PKG_VERSION").to_owned(),
            architecture: std::env::consts::ARCH.to_owned(),
        }
    }
}

/// Built tests.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Built {
    pub(super) suites: Vec<Suite>,
    pub(super) notes: Vec<String>,
    /// Notes on binaries whose tests run on the host's own std, by the id of the binary.
    pub(super) on_host: BTreeMap<String, String>,
    pub(super) is_order_unknown: bool,
    pub(super) unbuilt: Vec<String>,
    /// Ids of executables that have paths of the packing machine compiled in, as from `env!`.
    pub(super) with_paths: Vec<String>,
    /// Name of the build's folder in the `nondex` folder of the target directory.
    pub(super) folder: String,
}

/// Manifest of an archive. Paths are those of the machine that packed it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ArchiveManifest {
    pub(super) kind: ArchiveKind,
    /// Time of packing, in nanoseconds since 1970. It makes the key of each archive unique.
    pub(super) time: String,
    pub(super) workspace_root: Utf8PathBuf,
    pub(super) target_dir: Utf8PathBuf,
    /// Version text of the toolchain (`rustc -vV`).
    pub(super) toolchain: String,
    pub(super) plan: BuildPlan,
    pub(super) tests: Built,
    /// Plain build, if it is packed.
    pub(super) plain: Option<Built>,
    /// Packages with a build script or proc macro whose output differs between builds.
    pub(super) varied: Vec<String>,
    /// Whether the files of the workspace are packed.
    pub(super) has_sources: bool,
    /// Cargo's metadata of the workspace, with its dependencies.
    pub(super) metadata: Metadata,
}

impl ArchiveManifest {
    /// Returns the current time in the format of [`ArchiveManifest::time`].
    pub(super) fn now() -> String {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos()).to_string()
    }

    /// Parses the text of a manifest that was found in `file`.
    ///
    /// # Errors
    /// Returns an error if the text is not a manifest, another version of this tool wrote it, or it
    /// is for another architecture.
    pub(super) fn parse(text: &str, file: &Utf8Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct Only {
            kind: ArchiveKind,
        }
        let refused = |why: &str| Error::setup(format!("failed to read `{file}`: {why}"));
        // Another version may have other fields, so only the kind is parsed first.
        let only: Only = serde_json::from_str(text).map_err(|e| refused(&e.to_string()))?;
        let (own, found) = (ArchiveKind::own(), only.kind);
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

    /// Returns the key of the build folders extracted from an archive with this manifest.
    pub(super) fn key(text: &str) -> String {
        format!("archive {:016x}", hash::of(&text))
    }

    /// Returns all builds that are packed.
    pub(super) fn builds(&self) -> impl Iterator<Item = &Built> {
        [&self.tests].into_iter().chain(&self.plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_version_or_machine_packed_is_refused_with_the_reason() {
        let own = ArchiveKind::own();
        let other = ArchiveKind { nondex: "0.0.9".to_owned(), ..own.clone() };
        let elsewhere = ArchiveKind { architecture: "vax".to_owned(), ..own };
        for (kind, expected) in [
            (other, "version 0.0.9 of cargo nondex packed it"),
            (elsewhere, "its tests are for vax"),
        ] {
            let text = serde_json::json!({ "kind": kind, "more": 1 }).to_string();
            let error = ArchiveManifest::parse(&text, Utf8Path::new("a.tar")).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
        let error = ArchiveManifest::parse("[]", Utf8Path::new("a.tar")).unwrap_err();
        assert!(error.to_string().starts_with("failed to read `a.tar`"));
    }
}

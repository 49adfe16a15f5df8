//! Options that select models.

use camino::Utf8Path;
use cargo_metadata::Metadata;
use clap::Args;
use nondex_core::Files;
use nondex_core::model::CATALOGUE;
use regex::Regex;

use crate::error::{Error, Result};

/// Selection of models by name: `family/api`, such as `hash_map/std::collections::HashMap::iter`.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Campaign options")]
pub struct ModelArgs {
    /// Only models whose `family/api` matches (see `cargo nondex models`)
    #[arg(long, value_name = "REGEX")]
    pub models: Option<Regex>,

    /// No models whose `family/api` matches
    #[arg(long, value_name = "REGEX")]
    pub skip_models: Option<Regex>,

    /// Only calls in these files, folders or dependencies: `src/cache.rs`, `crates/store`, `serde`
    #[arg(long = "files", value_name = "PATH", value_delimiter = ',')]
    pub only_files: Vec<String>,

    /// No calls in these files, folders or dependencies
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    pub skip_files: Vec<String>,
}

/// Returns the names of all models. An API has one name for each family that records it.
pub fn model_names() -> impl Iterator<Item = String> {
    CATALOGUE.iter().flat_map(|model| model.families().iter().map(|family| model.name(*family)))
}

impl ModelArgs {
    /// Returns the files whose calls are choices.
    pub fn files(&self) -> Files {
        Files { only: self.only_files.clone(), skip: self.skip_files.clone() }
    }

    /// Checks the paths of `--files` and `--skip-files`.
    ///
    /// # Errors
    /// Returns an error if a path is no file, folder or dependency of the workspace. The error
    /// suggests a path if the given one exists relative to `here`, the current folder.
    pub fn check_files(&self, metadata: &Metadata, here: &Utf8Path) -> Result<()> {
        let root = &metadata.workspace_root;
        for (flag, paths) in [("--files", &self.only_files), ("--skip-files", &self.skip_files)] {
            let Some(path) = paths.iter().find(|path| !is_source(path, metadata)) else { continue };
            let below_here = here.join(path);
            let suggestion = below_here.strip_prefix(root).ok().filter(|_| below_here.exists());
            let expected = suggestion.map_or_else(
                || "expected a file, a folder or the name of a dependency.".to_owned(),
                |path| format!("did you mean `{path}`?"),
            );
            return Err(Error::usage(format!(
                "`{flag} {path}` matches no source: {expected} Paths start at the root of the \
                 workspace, `{root}`"
            )));
        }
        Ok(())
    }

    /// Returns the names of the models that are off.
    ///
    /// # Errors
    /// Returns an error if an expression matches no model, or no model is left on.
    pub fn models_off(&self) -> Result<Vec<String>> {
        for (flag, regex) in [("--models", &self.models), ("--skip-models", &self.skip_models)] {
            if let Some(regex) = regex
                && !model_names().any(|name| regex.is_match(&name))
            {
                return Err(Error::usage(format!(
                    "`{flag} {regex}` matches no model; `cargo nondex models` lists them, such as \
                     `hash_map/std::collections::HashMap::iter`"
                )));
            }
        }
        let off: Vec<String> = model_names()
            .filter(|name| {
                self.models.as_ref().is_some_and(|on| !on.is_match(name))
                    || self.skip_models.as_ref().is_some_and(|off| off.is_match(name))
            })
            .collect();
        if off.len() == model_names().count() {
            return Err(Error::usage(
                "--models and --skip-models leave no model on; for clean runs only use `--seeds 0`",
            ));
        }
        Ok(off)
    }
}

/// Returns whether source files may have this path, in the format of [`Files`].
fn is_source(path: &str, metadata: &Metadata) -> bool {
    let path = path.trim_end_matches('/');
    let first = path.split('/').next().unwrap_or_default();
    let is_of_package = |package: &cargo_metadata::Package| {
        let name = package.name.as_str();
        let is_of_checkout = |source: &cargo_metadata::Source| {
            let url = source.repr.split(['?', '#']).next().unwrap_or_default();
            let checkout = url.rsplit('/').next().unwrap_or_default().trim_end_matches(".git");
            source.repr.starts_with("git+") && first.starts_with(checkout)
        };
        path == name
            || first == format!("{name}-{}", package.version)
            || package.source.as_ref().is_some_and(is_of_checkout)
    };
    // Sources below `library` belong to std.
    metadata.workspace_root.join(path).exists()
        || first == "library"
        || metadata.packages.iter().any(is_of_package)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a workspace with a dependency from the registry and one from git.
    fn metadata() -> Metadata {
        let package = |name: &str, source: Option<&str>| {
            serde_json::json!({
                "name": name, "version": "1.2.3", "id": name, "source": source,
                "dependencies": [], "targets": [], "features": {},
                "manifest_path": "/nowhere/Cargo.toml",
            })
        };
        let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR"));
        let registry = "registry+https://github.com/rust-lang/crates.io-index";
        let git = "git+https://example.org/tools.git?branch=main#0123abcd";
        let metadata = serde_json::json!({
            "packages": [
                package("own", None),
                package("serde", Some(registry)),
                package("fork", Some(git)),
            ],
            "workspace_members": ["own"],
            "resolve": null,
            "workspace_root": root,
            "target_directory": root.join("target"),
            "version": 1,
        });
        serde_json::from_value(metadata).unwrap()
    }

    #[test]
    fn a_file_that_nothing_can_match_is_refused_with_what_was_meant() {
        let metadata = metadata();
        let refused = |path: &str, here: &str| {
            let args = ModelArgs {
                only_files: vec!["src".to_owned(), path.to_owned()],
                ..ModelArgs::default()
            };
            let here = metadata.workspace_root.join(here);
            let checked = args.check_files(&metadata, &here);
            checked.err().map(|error| error.to_string())
        };
        for path in [
            "src/cli/model_args.rs",
            "src/",
            "serde",
            "serde-1.2.3/src/de.rs",
            "tools-0123abcd/4567/src",
            "library/alloc",
        ] {
            assert_eq!(refused(path, ""), None, "{path}");
        }
        for (path, here, expected) in [
            ("src/cach.rs", "", "expected a file, a folder or the name"),
            ("serde/src", "", "`--files serde/src` matches no source"),
            ("cli", "src", "did you mean `src/cli`?"),
        ] {
            let error = refused(path, here).unwrap_or_default();
            assert!(error.contains(expected), "{path}: {error}");
        }
    }

    fn off(models: Option<&str>, skip: Option<&str>) -> Result<Vec<String>, String> {
        let regex = |text: &str| Regex::new(text).unwrap();
        let args = ModelArgs {
            models: models.map(regex),
            skip_models: skip.map(regex),
            ..ModelArgs::default()
        };
        args.models_off().map_err(|error| error.to_string())
    }

    #[test]
    fn models_switch_by_family_and_by_api() {
        assert_eq!(off(None, None), Ok(vec![]));
        let only_directories = off(Some("^directory/"), None).unwrap();
        assert!(only_directories.iter().all(|name| !name.starts_with("directory/")));
        assert!(only_directories.contains(&"hash_map/std::collections::HashMap::iter".to_owned()));
        let no_iter = off(None, Some("HashMap::iter$")).unwrap();
        assert_eq!(
            no_iter,
            [
                "hash_map/std::collections::HashMap::iter",
                "fixed_hasher/std::collections::HashMap::iter"
            ]
        );
    }

    #[test]
    fn an_expression_that_matches_nothing_or_leaves_nothing_is_an_error() {
        assert!(off(Some("HashMpa"), None).unwrap_err().contains("--models HashMpa"));
        assert!(off(None, Some("HashMpa")).unwrap_err().contains("--skip-models"));
        assert!(off(None, Some(".")).unwrap_err().contains("no model on"));
    }
}

//! Which models are switched on.

use clap::Args;
use nondex_core::Files;
use nondex_core::model::CATALOGUE;
use regex::Regex;

use crate::error::{Error, Result};

/// Switches models by name: `family/api`, such as `hash_map/std::collections::HashMap::iter`.
#[derive(Args, Clone, Debug, Default)]
pub struct ModelArgs {
    /// Only models whose `family/api` matches (see `cargo nondex models`)
    #[arg(long, value_name = "REGEX")]
    #[arg(help_heading = "Campaign options")]
    pub models: Option<Regex>,

    /// No models whose `family/api` matches
    #[arg(long, value_name = "REGEX")]
    #[arg(help_heading = "Campaign options")]
    pub skip_models: Option<Regex>,

    /// Only calls in these files, folders or dependencies: `src/cache.rs`, `crates/store`, `serde`
    #[arg(long = "files", value_name = "PATH", value_delimiter = ',')]
    #[arg(help_heading = "Campaign options")]
    pub only_files: Vec<String>,

    /// No calls in these
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    #[arg(help_heading = "Campaign options")]
    pub skip_files: Vec<String>,
}

/// The names of all models, an API once for each family it is recorded under.
pub fn model_names() -> impl Iterator<Item = String> {
    CATALOGUE
        .iter()
        .flat_map(|model| model.families().iter().map(|family| model.name(*family)))
}

impl ModelArgs {
    /// Whose calls are choices.
    #[must_use]
    pub fn files(&self) -> Files {
        Files {
            only: self.only_files.clone(),
            skip: self.skip_files.clone(),
        }
    }

    /// The names of the models that are off.
    ///
    /// # Errors
    /// When an expression matches no model, or no model is left on.
    pub fn models_off(&self) -> Result<Vec<String>> {
        for (flag, regex) in [
            ("--models", &self.models),
            ("--skip-models", &self.skip_models),
        ] {
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
                    || self
                        .skip_models
                        .as_ref()
                        .is_some_and(|off| off.is_match(name))
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

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(
            only_directories
                .iter()
                .all(|name| !name.starts_with("directory/"))
        );
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
        assert!(
            off(Some("HashMpa"), None)
                .unwrap_err()
                .contains("--models HashMpa")
        );
        assert!(
            off(None, Some("HashMpa"))
                .unwrap_err()
                .contains("--skip-models")
        );
        assert!(off(None, Some(".")).unwrap_err().contains("no model on"));
    }
}

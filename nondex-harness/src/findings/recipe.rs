//! How a test executable was built, so that it can be built again.

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Parser, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::cli::BuildArgs;
use crate::error::{Error, Result};
use crate::project;

/// The flags of a build and the directory they were given in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    /// Where the command was given, relative to the root of the workspace when it is inside: it decides which packages are
    /// selected without `-p`, and which configuration cargo reads.
    pub directory: Utf8PathBuf,
    /// The flags that select packages, targets, features, profile and mode.
    pub flags: Vec<String>,
}

/// The flags, as the command line has them.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Flags {
    #[command(flatten)]
    build: BuildArgs,
}

impl Recipe {
    /// The recipe of a build with `args`, given in `directory`.
    #[must_use]
    pub fn new(args: &BuildArgs, directory: &Utf8Path, workspace_root: &Utf8Path) -> Self {
        // How many jobs is a matter of the machine.
        let args = BuildArgs {
            jobs: None,
            ..args.clone()
        };
        let words = project::for_cargo(&args).into_iter();
        let mut flags: Vec<String> = words
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let mode = args.mode.to_possible_value();
        for (flag, value) in [
            ("--target", args.target.clone()),
            (
                "--target-dir",
                args.target_dir.map(Utf8PathBuf::into_string),
            ),
            ("--mode", mode.map(|mode| mode.get_name().to_owned())),
        ] {
            flags.extend(value.into_iter().flat_map(|value| [flag.to_owned(), value]));
        }
        let directory = directory.strip_prefix(workspace_root).unwrap_or(directory);
        Recipe {
            directory: directory.to_owned(),
            flags,
        }
    }

    /// The flags again.
    ///
    /// # Errors
    /// When they were written by another version that has other flags.
    pub fn build_args(&self) -> Result<BuildArgs> {
        // They are cargo's, and its flag for the profile is called otherwise here.
        let flags = self.flags.iter().map(|flag| match flag.as_str() {
            "--profile" => "--cargo-profile",
            other => other,
        });
        let flags = Flags::try_parse_from(flags).map_err(|error| {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            Error::setup(format!(
                "the build flags `{}` are not understood: {}",
                self.flags.join(" "),
                first.trim_start_matches("error: ")
            ))
        })?;
        Ok(flags.build)
    }

    /// The directory the flags were given in, in the workspace at `root`.
    #[must_use]
    pub fn directory_in(&self, root: &Utf8Path) -> Utf8PathBuf {
        root.join(&self.directory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Mode;

    #[test]
    fn every_build_flag_comes_back_as_it_was_but_the_number_of_jobs() {
        let line = "-p a -p b@1.0 --exclude c --workspace --lib --bins --bin x --examples --example y --tests --test z \
                    --benches --bench w --all-targets -F f1,f2 --all-features --no-default-features --cargo-profile ci --target t \
                    --target-dir /t --mode swap --manifest-path m/Cargo.toml --locked --offline --frozen --config a=1";
        let args = Flags::try_parse_from(line.split(' ')).unwrap().build;
        let root = Utf8Path::new("/w");
        let recipe = Recipe::new(&args, Utf8Path::new("/w/member"), root);
        assert_eq!(recipe.directory, "member");
        assert_eq!(
            recipe.directory_in(Utf8Path::new("/moved")),
            "/moved/member"
        );
        let again = recipe.build_args().unwrap();
        assert_eq!(format!("{again:?}"), format!("{args:?}"));
        assert_eq!(again.mode, Mode::Swap);

        let doc = Flags::try_parse_from(["--doc"]).unwrap().build;
        let again = Recipe::new(&doc, root, root).build_args().unwrap();
        assert!(again.doc);

        let jobs = Flags::try_parse_from(["-j", "3", "--release"]).unwrap();
        let recipe = Recipe::new(&jobs.build, Utf8Path::new("/elsewhere"), root);
        assert_eq!(recipe.flags, ["--release", "--mode", "program"]);
        assert_eq!(recipe.directory_in(root), "/elsewhere");
    }

    #[test]
    fn flags_of_another_version_are_an_error_that_names_them() {
        let recipe = Recipe {
            directory: Utf8PathBuf::new(),
            flags: vec!["--later".into()],
        };
        let message = recipe.build_args().unwrap_err().to_string();
        assert!(message.contains("--later"), "{message}");
    }
}

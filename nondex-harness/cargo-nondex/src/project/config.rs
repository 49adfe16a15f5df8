//! Reads the two settings of the user's cargo configuration that this tool replaces for cargo: the
//! rustc wrapper and the target runner.

use camino::{Utf8Path, Utf8PathBuf};

use super::checkout::Checkout;

/// User's own programs around rustc and around test executables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CargoConfig {
    /// Value of `RUSTC_WRAPPER`, or of `build.rustc-wrapper`.
    pub(super) rustc_wrapper: Option<String>,
    /// Words of `target.<triple>.runner`: a program and its arguments. Empty if there is none.
    pub(super) runner: Vec<String>,
    /// Whether a configuration file gives the runner as one string, which cargo merges only with
    /// another string.
    pub(super) runner_is_text: bool,
}

impl CargoConfig {
    /// Reads the environment and the [configuration files](files) of `dir`. The environment has
    /// precedence, then the nearest file.
    pub(super) fn read(dir: &Utf8Path, checkout: Option<&Checkout>, target: &str) -> Self {
        let mut config = CargoConfig {
            rustc_wrapper: set("RUSTC_WRAPPER").or_else(|| set("CARGO_BUILD_RUSTC_WRAPPER")),
            runner: set(&runner_variable(target)).map(|text| words(&text)).unwrap_or_default(),
            runner_is_text: false,
        };
        // An empty variable disables the wrapper of the configuration files.
        let wrapper_is_decided = std::env::var_os("RUSTC_WRAPPER").is_some();
        for file in files(dir, checkout) {
            // Cargo reports a file that cannot be read or parsed.
            let Some(table) = std::fs::read_to_string(&file)
                .ok()
                .and_then(|text| text.parse::<toml::Table>().ok())
            else {
                continue;
            };
            let base = file.ancestors().nth(2).unwrap_or(dir);
            if config.rustc_wrapper.is_none() && !wrapper_is_decided {
                let found = table
                    .get("build")
                    .and_then(|build| build.get("rustc-wrapper"))
                    .and_then(toml::Value::as_str);
                config.rustc_wrapper =
                    found.filter(|text| !text.is_empty()).map(|text| program(base, text));
            }
            let found =
                table.get("target").and_then(|t| t.get(target)).and_then(|t| t.get("runner"));
            config.runner_is_text |= found.is_some_and(toml::Value::is_str);
            if config.runner.is_empty()
                && let Some(found) = found
            {
                config.runner = match found {
                    toml::Value::String(text) => words(text),
                    toml::Value::Array(list) => {
                        list.iter().filter_map(|v| v.as_str().map(str::to_owned)).collect()
                    }
                    _ => Vec::new(),
                };
                if let Some(first) = config.runner.first_mut() {
                    *first = program(base, first);
                }
            }
        }
        config
    }
}

/// Returns the name of the environment variable from which cargo reads a target's runner.
pub(super) fn runner_variable(target: &str) -> String {
    format!("CARGO_TARGET_{}_RUNNER", target.to_uppercase().replace(['-', '.'], "_"))
}

/// Returns the configuration files that cargo reads in `dir`, the nearest first. In a checkout,
/// the folders around the user's repository follow its own.
pub(super) fn files<'d>(
    dir: &'d Utf8Path,
    checkout: Option<&'d Checkout>,
) -> impl Iterator<Item = Utf8PathBuf> + use<'d> {
    let home = || Some(Utf8PathBuf::from(set("HOME")?).join(".cargo"));
    let home = set("CARGO_HOME").map(Utf8PathBuf::from).or_else(home);
    let own = checkout.into_iter().flat_map(move |checkout| checkout.folders(dir));
    let around = checkout.map_or(dir, Checkout::outside).ancestors();
    let folders = own.chain(around).map(|folder| folder.join(".cargo")).chain(home);
    folders.filter_map(|folder| file_in(&folder))
}

/// Returns cargo's arguments for the configuration of `dir`, a folder of this checkout. Of two
/// values, cargo takes the one that comes last.
pub(super) fn arguments(dir: &Utf8Path, checkout: &Checkout) -> Vec<String> {
    let folders = checkout.folders(dir);
    let mut files: Vec<Utf8PathBuf> =
        folders.filter_map(|folder| file_in(&folder.join(".cargo"))).collect();
    files.reverse();
    files.into_iter().flat_map(|file| ["--config".to_owned(), file.into_string()]).collect()
}

/// Returns the configuration file in a folder `.cargo`. If there are two, cargo reads the one
/// without an extension.
fn file_in(folder: &Utf8Path) -> Option<Utf8PathBuf> {
    let names = ["config", "config.toml"];
    names.map(|name| folder.join(name)).into_iter().find(|file| file.is_file())
}

/// Returns the value of an environment variable that is not empty.
fn set(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Returns a program as cargo resolves it: a relative path starts at `base`, the folder that
/// contains `.cargo`. A plain name stays, because the system searches for it in `PATH`.
fn program(base: &Utf8Path, text: &str) -> String {
    if text.contains('/') { base.join(text).into_string() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_file_wins_and_paths_start_at_its_folder() {
        let dir = tempfile::tempdir().unwrap();
        let outer = Utf8Path::from_path(dir.path()).unwrap();
        let inner = outer.join("a/b");
        for folder in [outer, &inner] {
            std::fs::create_dir_all(folder.join(".cargo")).unwrap();
        }
        let far =
            "[build]\nrustc-wrapper = \"far\"\n[target.t-u]\nrunner = [\"tools/run\", \"-x\"]\n";
        std::fs::write(outer.join(".cargo/config.toml"), far).unwrap();
        std::fs::write(inner.join(".cargo/config.toml"), "[build]\nrustc-wrapper = \"bin/near\"\n")
            .unwrap();
        let config = CargoConfig::read(&inner, None, "t-u");
        assert_eq!(config.runner, [outer.join("tools/run").as_str(), "-x"]);
        assert!(!config.runner_is_text);
        if std::env::var_os("RUSTC_WRAPPER").is_none() {
            assert_eq!(config.rustc_wrapper.as_deref(), Some(inner.join("bin/near").as_str()));
        }
    }

    #[test]
    fn of_two_files_in_a_folder_the_one_without_an_extension_is_read_as_by_cargo() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap();
        std::fs::create_dir_all(root.join(".cargo")).unwrap();
        for name in ["config", "config.toml"] {
            let text = format!("[target.t-u]\nrunner = [\"{name}\"]\n");
            std::fs::write(root.join(".cargo").join(name), text).unwrap();
        }
        assert_eq!(CargoConfig::read(root, None, "t-u").runner, ["config"]);
    }

    #[test]
    fn a_runner_that_is_one_string_is_split_at_its_spaces_and_known_as_such() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap();
        std::fs::create_dir_all(root.join(".cargo")).unwrap();
        let text = "[target.t-u]\nrunner = \"tools/run -x\"\n";
        std::fs::write(root.join(".cargo/config.toml"), text).unwrap();
        let config = CargoConfig::read(root, None, "t-u");
        assert_eq!(config.runner, [root.join("tools/run").as_str(), "-x"]);
        assert!(config.runner_is_text);
    }

    #[test]
    fn the_runner_variable_is_named_as_cargo_names_it() {
        assert_eq!(
            runner_variable("x86_64-unknown-linux-gnu"),
            "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER"
        );
    }
}

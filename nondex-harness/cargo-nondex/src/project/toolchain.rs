//! The Rust toolchain that builds the project under test.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::{Error, Result};
use crate::program;

/// The oldest release with which the runtime compiles: the `rust-version` of its crates.
const OLDEST: [u32; 2] = [1, 85];

/// The newest release whose std the mirror is known to have all of.
pub(super) const NEWEST: [u32; 2] = [1, 95];

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
        let sysroot = stdout(Command::new(&rustc).args(["--print", "sysroot"]).current_dir(dir))?;
        let own = Utf8PathBuf::from(sysroot.trim())
            .join("bin")
            .join(format!("rustc{}", std::env::consts::EXE_SUFFIX));
        // One that is always started by a script, which finds its libraries, does not run.
        let runs = || stdout(Command::new(&own).arg("-vV")).is_ok_and(|text| text == version);
        let rustc = if own.is_file() && runs() { own.into_os_string() } else { found(rustc, dir) };
        Ok(Toolchain { cargo, rustc, version, host })
    }
}

/// How rustdoc is given the program by which doctests are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunTool {
    /// As `--test-runtool`.
    Stable,
    /// As `--runtool`, which has to be unlocked.
    Unstable,
}

impl RunTool {
    /// What a rustdoc with this help text has.
    fn of(help: &str) -> Self {
        if help.contains(" --runtool ") && !help.contains(" --test-runtool ") {
            RunTool::Unstable
        } else {
            RunTool::Stable
        }
    }
}

/// Where a program is that would be started by this name in `dir`: it is started in other folders,
/// too.
fn found(program: OsString, dir: &Utf8Path) -> OsString {
    let is_path = Path::new(&program).components().nth(1).is_some();
    if is_path {
        return dir.as_std_path().join(program).into_os_string();
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let mut candidates = std::env::split_paths(&paths).map(|folder| folder.join(&program));
    candidates
        .find(|candidate| candidate.is_absolute() && candidate.is_file())
        .map_or(program, PathBuf::into_os_string)
}

impl Toolchain {
    /// Refuses a toolchain with which the runtime does not compile.
    ///
    /// # Errors
    /// With what was found, what is needed, and what selects another one.
    pub(super) fn check(&self) -> Result<()> {
        // What has no release is not known to be too old: its compiler has the last word.
        let is_too_old = release(&self.version).is_some_and(|release| release < OLDEST);
        if !is_too_old {
            return Ok(());
        }
        let [major, minor] = OLDEST;
        let name = self.version.lines().next().unwrap_or_default();
        Err(Error::setup(format!(
            "the project's toolchain is {name}, and whole-program mode needs Rust \
             {major}.{minor} or newer, because that toolchain compiles the runtime: another one \
             is selected by `rust-toolchain.toml`, RUSTUP_TOOLCHAIN, RUSTC or PATH, for this run \
             as `RUSTUP_TOOLCHAIN=stable cargo nondex`"
        )))
    }

    /// Whether its std may have methods that the mirror has not: it is newer, or accepts what is
    /// unstable.
    pub(super) fn may_have_more(&self) -> bool {
        let is_newer = release(&self.version).is_none_or(|release| release > NEWEST);
        is_newer || ["-nightly", "-dev"].iter().any(|channel| self.version.contains(channel))
    }

    /// The option of its rustdoc that names the program by which doctests are run.
    pub(super) fn run_tool(&self) -> RunTool {
        let help = stdout(Command::new(self.rustdoc()).arg("--help"));
        RunTool::of(help.as_deref().unwrap_or_default())
    }

    /// The rustdoc that cargo would run: the user's, or the compiler's neighbour.
    pub fn rustdoc(&self) -> OsString {
        if let Some(own) = std::env::var_os("RUSTDOC") {
            return own;
        }
        let name = format!("rustdoc{}", std::env::consts::EXE_SUFFIX);
        let sibling = Path::new(&self.rustc).with_file_name(&name);
        if sibling.is_file() { sibling.into_os_string() } else { name.into() }
    }
}

/// The release in the text of `rustc -vV`: major and minor number.
fn release(version: &str) -> Option<[u32; 2]> {
    let release = version.lines().find_map(|line| line.strip_prefix("release: "))?;
    let mut numbers = release.split('.').map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => Some([major, minor]),
        _ => None,
    }
}

/// What a command prints, when it succeeds.
pub(super) fn stdout(command: &mut Command) -> Result<String> {
    let name = command.get_program().display().to_string();
    let output = program::output(command).map_err(Error::setup)?;
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

/// Compiles what is called this for the user.
///
/// # Errors
/// When the compiler cannot be run, and what it wrote first when that does not compile.
pub(super) fn compile(what: &str, compiler: &mut Command) -> Result<(), String> {
    let output = program::output(compiler.stdin(Stdio::null()))?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let first = errors.lines().next().unwrap_or_default();
    Err(format!("{what} does not compile: {first}"))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(version: &str) -> Toolchain {
        Toolchain {
            cargo: "cargo".into(),
            rustc: "rustc".into(),
            version: version.to_owned(),
            host: "x86_64-unknown-linux-gnu".to_owned(),
        }
    }

    fn text(release: &str) -> String {
        format!("rustc {release} (0123 2024-01-01)\nbinary: rustc\nhost: h\nrelease: {release}\n")
    }

    #[test]
    fn a_toolchain_of_the_oldest_release_or_a_newer_one_is_accepted() {
        for release in ["1.85.0", "1.85.1", "1.95.0-beta.3", "1.97.0-nightly", "2.0.0"] {
            of(&text(release)).check().unwrap();
        }
        // Whoever builds a compiler may call it as they like.
        of("rustc of ours").check().unwrap();
        of("release: new").check().unwrap();
    }

    #[test]
    fn an_older_toolchain_is_refused_with_what_was_found_and_what_is_needed() {
        for release in ["1.84.1", "1.63.0", "0.12.0", "1.84.0-nightly"] {
            let refused = of(&text(release)).check().unwrap_err();
            let said = refused.to_string();
            assert!(said.contains(&format!("is rustc {release} (0123")), "{said}");
            assert!(said.contains("needs Rust 1.85 or newer"), "{said}");
            assert_eq!(refused.code(), crate::exit_code::ExitCode::Setup);
        }
    }

    #[test]
    fn a_newer_or_an_unstable_std_may_have_more_than_the_mirror() {
        let [major, minor] = NEWEST;
        let newer = format!("{major}.{}.0", minor + 1);
        for release in [newer.as_str(), "2.0.0", "1.90.0-nightly", "1.90.0-dev"] {
            assert!(of(&text(release)).may_have_more(), "{release}");
        }
        assert!(of("rustc of ours").may_have_more());
        for release in [format!("{major}.{minor}.1"), "1.85.0".to_owned()] {
            assert!(!of(&text(&release)).may_have_more(), "{release}");
        }
    }

    #[test]
    fn the_newest_std_is_the_one_that_the_mirror_is_compared_with() {
        let repository = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let list = format!("{repository}/nondex-collections/tests/parity/std.txt");
        let list = std::fs::read_to_string(list).unwrap();
        let [major, minor] = NEWEST;
        let expected = format!("# The stable API of std {major}.{minor}.");
        assert!(list.starts_with(&expected), "{expected}");
    }

    #[test]
    fn the_oldest_toolchain_is_what_the_crates_of_the_runtime_declare() {
        let repository = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        for package in
            ["nondex-core", "nondex-collections", "nondex-collections/interpose", "nondex-harness"]
        {
            let manifest = format!("{repository}/{package}/Cargo.toml");
            let manifest: toml::Table = std::fs::read_to_string(manifest).unwrap().parse().unwrap();
            let declared = manifest["package"]["rust-version"].as_str();
            let [major, minor] = OLDEST;
            assert_eq!(declared, Some(&*format!("{major}.{minor}")), "{package}");
        }
    }

    #[test]
    fn the_option_of_rustdoc_is_the_one_that_its_help_has() {
        let of = |option: &str| RunTool::of(&format!("Options:\n   {option} The tool to run\n"));
        assert_eq!(of("--runtool"), RunTool::Unstable);
        assert_eq!(of("--test-runtool"), RunTool::Stable);
        assert_eq!(RunTool::of(""), RunTool::Stable);
    }

    #[test]
    fn a_program_is_found_where_it_would_be_started_from() {
        let dir = Utf8Path::new("/project");
        assert_eq!(found("./tools/rustc".into(), dir), "/project/./tools/rustc");
        assert_eq!(found("/opt/rustc".into(), dir), "/opt/rustc");
        let shell = found("sh".into(), dir);
        assert!(Path::new(&shell).is_absolute(), "{}", shell.display());
        assert_eq!(found("no-such-program".into(), dir), "no-such-program");
    }
}

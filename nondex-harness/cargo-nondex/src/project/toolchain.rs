//! Rust toolchain that builds the project under test.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::{Error, OrSetup, Result};
use crate::program;

/// Oldest release with which the runtime compiles: the `rust-version` of its crates.
const OLDEST: [u32; 2] = [1, 85];

/// Newest release of which the runtime's copy of std is known to be complete.
pub(super) const NEWEST: [u32; 2] = [1, 95];

/// Toolchain that the project's folder selects.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// Cargo to run.
    pub cargo: OsString,
    /// Compiler that cargo runs, by a path that is the same compiler in every folder.
    pub rustc: OsString,
    /// Whole version text (`rustc -vV`). Two toolchains with the same text can share libraries.
    pub version: String,
    /// Host triple.
    pub host: String,
}

impl Toolchain {
    /// Returns the toolchain that cargo uses in `dir`.
    ///
    /// # Errors
    /// Returns an error if rustc cannot be run there.
    pub fn in_dir(dir: &Utf8Path) -> Result<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let rustc = rustc();
        let version = version_of(&rustc, dir)?;
        let host = host(&rustc, &version)?;
        // With rustup, the current folder selects the compiler that `rustc` runs. The path in the
        // sysroot does not depend on the folder.
        let sysroot = stdout(Command::new(&rustc).args(["--print", "sysroot"]).current_dir(dir))?;
        let own = Utf8PathBuf::from(sysroot.trim())
            .join("bin")
            .join(format!("rustc{}", std::env::consts::EXE_SUFFIX));
        // A compiler whose libraries are found by a wrapper script does not run by this path.
        let runs = || stdout(Command::new(&own).arg("-vV")).is_ok_and(|text| text == version);
        let rustc = if own.is_file() && runs() { own.into_os_string() } else { found(rustc, dir) };
        Ok(Toolchain { cargo, rustc, version, host })
    }

    /// Returns this toolchain with its own cargo, if there is one next to its compiler. With
    /// rustup, the current folder selects the one that `cargo` runs.
    pub(super) fn in_any_folder(self) -> Self {
        let name = format!("cargo{}", std::env::consts::EXE_SUFFIX);
        let own = Path::new(&self.rustc).with_file_name(name);
        let is_given = std::env::var_os("CARGO").is_some();
        if is_given || !own.is_file() {
            return self;
        }
        Toolchain { cargo: own.into_os_string(), ..self }
    }

    /// Returns the host triple of the toolchain that cargo uses in `dir`, by one call of rustc.
    ///
    /// # Errors
    /// Returns an error if rustc cannot be run there.
    pub(super) fn host_in(dir: &Utf8Path) -> Result<String> {
        let rustc = rustc();
        host(&rustc, &version_of(&rustc, dir)?)
    }
}

/// Returns the name or path of the compiler that cargo runs.
fn rustc() -> OsString {
    std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())
}

/// Returns the whole version text of the compiler that `rustc` starts in `dir`.
fn version_of(rustc: &OsStr, dir: &Utf8Path) -> Result<String> {
    stdout(Command::new(rustc).arg("-vV").current_dir(dir))
}

/// Returns the host triple in the version text of a compiler.
fn host(rustc: &OsStr, version: &str) -> Result<String> {
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| {
        let rustc = rustc.display();
        Error::setup(format!("`{rustc} -vV` names no host, it printed: {version}"))
    })
}

/// Returns the path of the program that this name starts in `dir`, so that it can be started in
/// other folders, too.
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
    /// Returns an error that names the toolchain, the oldest supported release, and the ways to
    /// select another toolchain.
    pub(super) fn check(&self) -> Result<()> {
        // A toolchain without a release may be new enough. Its compiler decides.
        let is_too_old = release(&self.version).is_some_and(|release| release < OLDEST);
        if !is_too_old {
            return Ok(());
        }
        let [major, minor] = OLDEST;
        let name = self.version.lines().next().unwrap_or_default();
        Err(Error::setup(format!(
            "the project's toolchain is {name}, and whole-program mode needs Rust {major}.{minor} \
             or newer, because that toolchain compiles the runtime: select another one by \
             `rust-toolchain.toml`, RUSTUP_TOOLCHAIN, RUSTC or PATH, such as \
             `RUSTUP_TOOLCHAIN=stable cargo nondex`"
        )))
    }

    /// Returns whether std may have methods that the runtime's copy lacks, because the toolchain is
    /// newer or accepts unstable features.
    pub(super) fn may_have_more(&self) -> bool {
        let is_newer = release(&self.version).is_none_or(|release| release > NEWEST);
        is_newer || ["-nightly", "-dev"].iter().any(|channel| self.version.contains(channel))
    }

    /// Returns a call of the compiler for this text, which is written to the file `source`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub(super) fn compiler(&self, source: &Utf8Path, text: &str) -> Result<Command, String> {
        std::fs::write(source, text).map_err(|e| format!("failed to write `{source}`: {e}"))?;
        let mut compiler = Command::new(&self.rustc);
        compiler.args(["--edition", "2024", "--cap-lints", "allow", "-Cdebuginfo=0"]).arg(source);
        Ok(compiler)
    }

    /// Returns whether the toolchain's rustdoc has a stable option that names the program that runs
    /// doctests.
    pub(super) fn has_stable_run_tool(&self) -> bool {
        let help = stdout(Command::new(self.rustdoc()).arg("--help"));
        is_run_tool_stable(help.as_deref().unwrap_or_default())
    }

    /// Returns the rustdoc that cargo would run: the user's, or the one next to the compiler.
    pub fn rustdoc(&self) -> OsString {
        if let Some(own) = std::env::var_os("RUSTDOC") {
            return own;
        }
        let name = format!("rustdoc{}", std::env::consts::EXE_SUFFIX);
        let sibling = Path::new(&self.rustc).with_file_name(&name);
        if sibling.is_file() { sibling.into_os_string() } else { name.into() }
    }
}

/// Returns whether the rustdoc with this help text has the stable option `--test-runtool`, and not
/// the unstable `--runtool`.
fn is_run_tool_stable(help: &str) -> bool {
    !help.contains(" --runtool ") || help.contains(" --test-runtool ")
}

/// Returns the release in the text of `rustc -vV`: major and minor number.
fn release(version: &str) -> Option<[u32; 2]> {
    let release = version.lines().find_map(|line| line.strip_prefix("release: "))?;
    let mut numbers = release.split('.').map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => Some([major, minor]),
        _ => None,
    }
}

/// Runs a command and returns what it prints.
///
/// # Errors
/// Returns an error if the command cannot be run, fails, or prints something that is not UTF-8.
pub(super) fn stdout(command: &mut Command) -> Result<String> {
    let name = command.get_program().display().to_string();
    let output = program::interruptible(command).map_err(Error::setup)?;
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

/// Runs `compiler`. Errors call the compiled program or library `what`.
///
/// # Errors
/// Returns an error if the compiler cannot be run. If the compiler fails, the error has its first
/// line.
pub(super) fn compile(what: &str, compiler: &mut Command) -> Result<(), String> {
    let output = program::output(compiler.stdin(Stdio::null()))?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let first = errors.lines().next().unwrap_or_default();
    Err(format!("{what} does not compile: {first}"))
}

/// Returns the path of this program, or of another build that replaced it.
///
/// # Errors
/// Returns an error if the path cannot be found out or is not UTF-8.
pub(super) fn own() -> Result<String> {
    let own = std::env::current_exe().or_setup("failed to find the path of this program")?;
    let own = own
        .into_os_string()
        .into_string()
        .map_err(|own| Error::setup(format!("the path {} is not UTF-8", own.display())))?;
    // Linux adds this mark to the path if the file was replaced, such as by a new installation.
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
        // A custom compiler may have any version text.
        of("rustc of ours").check().unwrap();
        of("release: new").check().unwrap();
    }

    #[test]
    fn an_older_toolchain_is_refused_with_what_was_found_and_what_is_needed() {
        for release in ["1.84.1", "1.63.0", "0.12.0", "1.84.0-nightly"] {
            let refused = of(&text(release)).check().unwrap_err();
            let message = refused.to_string();
            assert!(message.contains(&format!("is rustc {release} (0123")), "{message}");
            assert!(message.contains("needs Rust 1.85 or newer"), "{message}");
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
        let is_stable =
            |option: &str| is_run_tool_stable(&format!("Options:\n   {option} The tool to run\n"));
        assert!(!is_stable("--runtool") && is_stable("--test-runtool"));
        assert!(is_run_tool_stable(""));
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

//! Repeats build scripts and proc macros that took random bytes in a build, and build scripts that
//! read data that no seed controls.
//!
//! The library that makes the bytes records how such a program was started: a build script, or
//! rustc with the proc macro. The program runs again in the same way, and writes into a folder of
//! this tool. That takes milliseconds, where a build takes seconds.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};

use super::plan::Varied;
use super::preload::EntropyLibrary;
use crate::file::entries;

/// Name of the file that records a build script. The file of a proc macro has the name of its
/// library.
const BUILD_SCRIPT: &str = "build-script";

/// Name of the file that records a build script that read the date, its process id or a random
/// device.
const BY_CHANCE: &str = "build-script-by-chance";

/// Name of a program's standard output among the files that it makes.
pub(super) const STDOUT: &str = "stdout";

/// Time limit on one run of such a program.
const LIMIT: Duration = Duration::from_secs(30);

/// Returns the folder in which programs of the build in the folder `build` are recorded.
pub(super) fn folder(build: &Utf8Path) -> Utf8PathBuf {
    build.join("nondex-drawn")
}

/// Record of a program that took random bytes, or read data that no seed controls: how it was
/// started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Whether the program read data that no seed controls.
    pub(super) by_chance: bool,
    /// File name of the proc macro; `None` for a build script.
    proc_macro: Option<String>,
    cwd: PathBuf,
    executable: PathBuf,
    arguments: Vec<OsString>,
    /// Environment variables that cargo set.
    variables: BTreeMap<OsString, OsString>,
}

/// Returns the programs that were recorded in the build in this folder, in a fixed order.
pub(super) fn all(build: &Utf8Path) -> Vec<Drawn> {
    entries(&folder(build))
        .iter()
        .flat_map(|one| entries(one))
        .filter_map(|file| Drawn::parse(file.file_name()?, &fs::read(&file).ok()?))
        .collect()
}

/// Returns the folders of the packages that such programs built in the build in this folder.
pub(super) fn packages(build: &Utf8Path) -> impl Iterator<Item = Utf8PathBuf> {
    all(build).into_iter().filter_map(|drawn| drawn.package().map(Utf8Path::to_owned))
}

impl Drawn {
    /// Parses the text that `probes/entropy.rs` wrote into the file with this name.
    fn parse(name: &str, text: &[u8]) -> Option<Self> {
        let mut parts = text.split(|byte| *byte == 0).map(OsStr::from_bytes);
        let cwd = parts.next()?.into();
        let executable = parts.next()?.into();
        let count: usize = parts.next()?.to_str()?.parse().ok()?;
        let arguments = parts.by_ref().take(count).map(OsStr::to_owned).collect();
        let variables = parts.filter_map(|variable| {
            let bytes = variable.as_bytes();
            let end = bytes.iter().position(|byte| *byte == b'=')?;
            let own = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
            Some((own(&bytes[..end]), own(&bytes[end + 1..])))
        });
        Some(Drawn {
            by_chance: name == BY_CHANCE,
            proc_macro: (![BUILD_SCRIPT, BY_CHANCE].contains(&name)).then(|| name.to_owned()),
            cwd,
            executable,
            arguments,
            variables: variables.collect(),
        })
    }

    /// Returns the crate name of the proc macro, or `None` for a build script.
    pub(super) fn macro_name(&self) -> Option<&str> {
        let file = self.proc_macro.as_deref()?;
        let name = file.strip_prefix("lib").unwrap_or(file);
        Some(name.rsplit_once('-').map_or(name, |(name, _)| name))
    }

    /// Returns the folder of the package that was built: that of the build script, or the one that
    /// uses the macro.
    pub(super) fn package(&self) -> Option<&Utf8Path> {
        let folder = self.variables.get(OsStr::new("CARGO_MANIFEST_DIR"))?;
        Utf8Path::from_path(Path::new(folder))
    }

    /// Returns the name of the program in the library of random bytes: see [`Varied::program`].
    pub(super) fn program(&self) -> Option<String> {
        match self.macro_name() {
            Some(name) => Some(format!("proc-macro:{name}")),
            None => Some(format!("build-script:{}", self.package()?)),
        }
    }

    /// Runs the program with random bytes from `seed`, after emptying the folder `scratch`. Returns
    /// what the program made, or `None` if it fails. For a build script, these are the files in
    /// `OUT_DIR` and its output for cargo. For a proc macro, it is the crate with its macros
    /// expanded.
    pub(super) fn run(
        &self,
        library: &EntropyLibrary,
        seed: u64,
        scratch: &Utf8Path,
        is_over: &dyn Fn() -> bool,
    ) -> Option<BTreeMap<Utf8PathBuf, Vec<u8>>> {
        let _ = fs::remove_dir_all(scratch);
        let out = scratch.join("out");
        fs::create_dir_all(&out).ok()?;
        let stdout = scratch.join(STDOUT);
        let mut command = Command::new(&self.executable);
        command
            .current_dir(&self.cwd)
            .envs(&self.variables)
            .stdin(Stdio::null())
            .stdout(File::create(&stdout).ok()?)
            .stderr(Stdio::null());
        // These variables refer to the job server of a cargo that has ended.
        for name in ["CARGO_MAKEFLAGS", "MAKEFLAGS", "MFLAGS"] {
            command.env_remove(name);
        }
        if self.proc_macro.is_some() {
            // `-Zunpretty` is unstable, which the variable allows.
            command
                .args(expanding(&self.arguments))
                .args(["-Zunpretty=expanded", "--out-dir", out.as_str()])
                .env("RUSTC_BOOTSTRAP", "1");
        } else {
            command.args(&self.arguments).env("OUT_DIR", &out);
        }
        let varied = Varied { program: self.program()?, seed, packages: Vec::new() };
        library.install_in_build(&mut command, &varied, &folder(scratch));
        wait(command.spawn().ok()?, is_over).filter(ExitStatus::success)?;
        let mut made = BTreeMap::new();
        let mut printed = fs::read(&stdout).ok()?;
        if self.proc_macro.is_none() {
            read(&out, &out, &mut made);
            printed = for_cargo(&printed);
        }
        made.insert(STDOUT.into(), printed);
        Some(made)
    }
}

/// Returns the lines of a build script's output that cargo reads. Other lines are for people, such
/// as the duration of a step.
fn for_cargo(printed: &[u8]) -> Vec<u8> {
    printed
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| line.starts_with(b"cargo:"))
        .flatten()
        .copied()
        .collect()
}

/// Returns the arguments of a call of rustc without those that select what it writes, and where.
fn expanding(arguments: &[OsString]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let text = argument.to_str().unwrap_or_default();
        if text == "--out-dir" {
            arguments.next();
        } else if text == "-C" {
            let value = arguments.next().map(OsString::as_os_str).unwrap_or_default();
            if !value.as_bytes().starts_with(b"incremental=") {
                kept.extend([argument.clone(), value.to_owned()]);
            }
        } else if !["--emit=", "-Cincremental="].iter().any(|start| text.starts_with(start)) {
            kept.push(argument.clone());
        }
    }
    kept
}

/// Waits for the end of a program. Kills it and returns `None` after [`LIMIT`], or when `is_over`
/// returns true.
fn wait(mut child: Child, is_over: &dyn Fn() -> bool) -> Option<ExitStatus> {
    let begin = Instant::now();
    loop {
        match child.try_wait() {
            Ok(None) if begin.elapsed() < LIMIT && !is_over() => {
                thread::sleep(Duration::from_millis(1));
            }
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
            Ok(status) => return status,
        }
    }
}

/// Reads the files below `folder` into `made`, with names relative to `root`.
fn read(folder: &Utf8Path, root: &Utf8Path, made: &mut BTreeMap<Utf8PathBuf, Vec<u8>>) {
    for path in entries(folder) {
        if path.is_dir() {
            read(&path, root, made);
        } else if let (Ok(content), Ok(name)) = (fs::read(&path), path.strip_prefix(root)) {
            made.insert(name.to_owned(), content);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_read_as_it_was_written() {
        let text = b"/w\0/bin/rustc\x002\0--crate-name\0a\0CARGO_MANIFEST_DIR=/w/a\0X=1=2\0";
        let drawn = Drawn::parse("libmy_macros-0a1b.so", text).unwrap();
        assert_eq!(drawn.arguments, ["--crate-name", "a"]);
        assert_eq!(drawn.package(), Some(Utf8Path::new("/w/a")));
        assert_eq!(drawn.variables[OsStr::new("X")], "1=2");
        assert_eq!(drawn.program().unwrap(), "proc-macro:my_macros");

        let script = Drawn::parse(BUILD_SCRIPT, text).unwrap();
        assert_eq!(script.program().unwrap(), "build-script:/w/a");
        assert_eq!(Drawn::parse(BUILD_SCRIPT, b"/w\0/bin/x\0"), None);
        let by_chance = Drawn::parse(BY_CHANCE, text).unwrap();
        assert_eq!(by_chance, Drawn { by_chance: true, ..script });
    }

    #[test]
    fn what_a_build_script_prints_for_people_is_not_what_it_makes() {
        let printed = b"took 3 ms\ncargo::rustc-cfg=a\n cargo:b\ncargo:rustc-env=C=1";
        assert_eq!(for_cargo(printed), b"cargo::rustc-cfg=a\ncargo:rustc-env=C=1");
    }

    #[test]
    fn rustc_expands_a_crate_and_writes_nothing() {
        let arguments = [
            "--crate-name",
            "a",
            "--emit=dep-info,link",
            "-C",
            "incremental=/i",
            "-C",
            "debuginfo=2",
            "--out-dir",
            "/o",
            "-Cincremental=/i",
            "--test",
        ];
        let kept = expanding(&arguments.map(OsString::from));
        assert_eq!(kept, ["--crate-name", "a", "-C", "debuginfo=2", "--test"]);
    }
}

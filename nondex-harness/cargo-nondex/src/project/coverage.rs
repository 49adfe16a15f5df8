//! Instrumentation by LLVM's `SanitizerCoverage`: which code of the project's own crates a test
//! ran, and each of its plain accesses.
//!
//! Crates of the project are compiled with LLVM's `SanitizerCoverage`, a pass that stable rustc
//! runs if it is named. Each basic block sets its own flag, and a table has the addresses of the
//! blocks. Crates that did not change are instrumented, too, because a generic function is compiled
//! in the crate that uses it. The flags have separate pages, so that a file can be mapped there. So
//! the flags outlive the process.

use std::ffi::OsStr;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::arguments::codegen;
use super::blocks::TABLE;
use super::scratch::Scratch;
use super::toolchain::Toolchain;
use crate::error::Result;
use crate::file;
use crate::program;

/// Flags of rustc for a crate that records which of its code runs. Nothing is optimised, and not
/// even `#[inline(always)]` functions are inlined. Code that was folded into its caller or into a
/// constant would have no lines. The last three flags keep lines and symbols, whatever the profile
/// sets.
const FLAGS: [&str; 7] = [
    "-Cllvm-args=-sanitizer-coverage-level=2 -sanitizer-coverage-inline-bool-flag \
     -sanitizer-coverage-pc-table -sanitizer-coverage-prune-blocks=0",
    "-Cno-prepopulate-passes",
    "-Cpasses=sancov-module",
    "-Copt-level=0",
    "-Cdebuginfo=line-tables-only",
    "-Csplit-debuginfo=off",
    "-Cstrip=none",
];

/// Linker script that gives the flags separate pages.
const SCRIPT: &str = "SECTIONS { __sancov_bools : ALIGN(CONSTANT(MAXPAGESIZE)) { *(__sancov_bools) \
    . = ALIGN(CONSTANT(MAXPAGESIZE)); } } INSERT AFTER .data;\n";

/// Flags of rustc for a crate of the project that make each of its plain loads and stores an
/// operation of the scheduler. Races through `unsafe` or `static mut` involve no atomic operation.
pub(super) const ACCESSES: [&str; 2] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=2 -sanitizer-coverage-trace-loads \
     -sanitizer-coverage-trace-stores",
];

/// Function that code with instrumented accesses calls before a store of one byte.
const ACCESS: &str = "__sanitizer_cov_store1";

/// Instrumentation that records which code of the project's own crates runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Covered {
    /// Path of the linker script for the executables.
    script: Utf8PathBuf,
}

impl Covered {
    /// Writes the linker script into the build folder.
    ///
    /// # Errors
    /// Returns an error if the script cannot be written.
    pub(super) fn prepare(dir: &Utf8Path) -> Result<Self> {
        let script = dir.join("flags.ld");
        file::write(&script, SCRIPT)?;
        Ok(Covered { script })
    }

    /// Returns the arguments that rustc or rustdoc gets for a crate in addition to `arguments`.
    /// They name the linker script only if the linker is known to accept scripts.
    pub(super) fn arguments<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Vec<String> {
        // Without optimisation, rustc would switch on checks that the optimised crate does not
        // have.
        let level = codegen(arguments, "opt-level").next_back();
        let is_optimised = level.is_some_and(|level| level != "0")
            || arguments.iter().any(|argument| argument.as_ref() == "-O");
        let is_explicit = codegen(arguments, "debug-assertions").next().is_some();
        let checks = (is_optimised && !is_explicit).then(|| "-Cdebug-assertions=off".to_owned());
        let flags = FLAGS.map(str::to_owned).into_iter().chain(checks);
        let script = takes_scripts(arguments).then(|| format!("-Clink-arg=-Wl,-T,{}", self.script));
        flags.chain(script).collect()
    }
}

/// Returns whether these arguments select, or leave as the compiler's default, a linker that
/// accepts scripts: LLVM's or GNU's.
fn takes_scripts<S: AsRef<OsStr>>(arguments: &[S]) -> bool {
    arguments.iter().map(|argument| argument.as_ref().to_string_lossy()).all(|argument| {
        let after = |name: &str| argument.split_once(name).map(|(_, value)| value.to_owned());
        let is_driver = |program: &str| {
            let name = Utf8Path::new(program).file_name().unwrap_or_default();
            let is_cross = name.ends_with("-gcc") || name.ends_with("-cc");
            is_cross || ["cc", "gcc", "clang"].contains(&name)
        };
        let by_name = after("-fuse-ld=").is_none_or(|name| ["lld", "bfd"].contains(&&*name));
        let linker = after("linker=").filter(|_| !argument.contains("linker-plugin"));
        by_name
            && !argument.contains("-ld-path=")
            && !argument.contains("linker-flavor")
            && linker.is_none_or(|linker| is_driver(&linker))
    })
}

/// Returns why the compiler cannot instrument a program for coverage, or `None` if it can.
pub(super) fn obstacle(toolchain: &Toolchain) -> Option<String> {
    let source = "pub fn probe(a: u8) -> u8 { if a > 1 { a } else { 2 } }";
    missing(toolchain, &FLAGS, source, TABLE)
}

/// Returns why the compiler cannot make plain accesses operations, or `None` if it can.
pub(super) fn obstacle_to_accesses(toolchain: &Toolchain) -> Option<String> {
    missing(toolchain, &ACCESSES, "pub fn probe(a: &mut u8) { *a = 1; }", ACCESS)
}

/// Compiles this library with these flags. Returns why the object does not have this name in it, or
/// `None` if it does.
fn missing(toolchain: &Toolchain, flags: &[&str], library: &str, name: &str) -> Option<String> {
    // The compiler makes parts of the object in this folder, by default the user's current one.
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let folder = format!("nondex-probe-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let temporary = Utf8PathBuf::from_path_buf(std::env::temp_dir()).unwrap_or("/tmp".into());
    let work = match Scratch::create(&temporary, &folder) {
        Ok(work) => work,
        Err(error) => return Some(format!("no folder in `{temporary}`: {error}")),
    };
    let mut rustc = Command::new(&toolchain.rustc);
    rustc.args(["-", "--crate-type=lib", "--crate-name=probe", "--emit=obj=-"]);
    rustc.args(["--out-dir", work.path().as_str()]);
    rustc.args(flags).stdin(Stdio::piped());
    let done = rustc.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().and_then(|mut rustc| {
        if let Some(mut source) = rustc.stdin.take() {
            // If the compiler ends early, the write fails, but stderr has the reason.
            let _ = source.write_all(library.as_bytes());
        }
        rustc.wait_with_output()
    });
    let done = match done {
        Ok(done) => done,
        Err(error) => return Some(program::not_run(&toolchain.rustc, &error)),
    };
    if !done.status.success() {
        let errors = String::from_utf8_lossy(&done.stderr);
        return Some(errors.lines().next().unwrap_or_default().to_owned());
    }
    let has_name = done.stdout.windows(name.len()).any(|bytes| bytes == name.as_bytes());
    (!has_name).then(|| "it has no `SanitizerCoverage`".to_owned())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::project::arguments::for_runtime;

    fn covered() -> Covered {
        Covered { script: "s.ld".into() }
    }

    #[test]
    fn the_script_is_given_to_linkers_that_are_known_to_take_it() {
        for (arguments, expected) in [
            ("--test -Copt-level=1", true),
            ("-C linker=gcc -Clink-arg=-fuse-ld=lld", true),
            ("-Clinker=/usr/bin/x86_64-linux-gnu-gcc", true),
            ("-Clinker-plugin-lto=no", true),
            ("-C link-arg=-fuse-ld=mold", false),
            ("-Clink-args=-fuse-ld=gold", false),
            ("-Clinker=/opt/wild", false),
            ("-C linker=./link.sh", false),
            ("-Clink-arg=--ld-path=/opt/mold", false),
        ] {
            let words: Vec<&str> = arguments.split(' ').collect();
            assert_eq!(takes_scripts(&words), expected, "{arguments}");
            let all = covered().arguments(&words);
            let script = all.iter().filter(|argument| argument.contains("-T,s.ld"));
            assert_eq!(script.count(), usize::from(expected), "{arguments}");
        }
    }

    #[test]
    fn nothing_is_optimised_and_checks_are_what_they_would_be() {
        for (arguments, is_off) in [
            ("--test", false),
            ("-C opt-level=0", false),
            ("-C opt-level=3", true),
            ("-Copt_level=s --test", true),
            ("-O", true),
            ("-C opt-level=3 -C opt-level=0", false),
            ("--codegen=opt-level=3 -C debug-assertions=on", false),
            ("-C debug-assertions -C opt-level=1", false),
        ] {
            let words: Vec<&str> = arguments.split(' ').collect();
            let all = covered().arguments(&words);
            let off = "-Cdebug-assertions=off".to_owned();
            assert_eq!(all.contains(&off), is_off, "{arguments}");
        }
        let remapped = "-g --remap-path-prefix a=b --test --remap-path-prefix=c=d -O";
        let words: Vec<OsString> = remapped.split(' ').map(OsString::from).collect();
        let kept = for_runtime(&words, true);
        assert_eq!(kept, ["-g", "--test", "-O"]);
    }

    #[test]
    fn a_compiler_that_cannot_be_run_is_an_obstacle() {
        let toolchain = Toolchain {
            rustc: "/nowhere/rustc".into(),
            ..Toolchain::in_dir(Utf8Path::new(".")).unwrap()
        };
        let why = obstacle(&toolchain).unwrap();
        assert!(why.starts_with("failed to run `/nowhere/rustc`: "), "{why}");
    }

    #[test]
    fn a_compiler_that_does_not_call_anything_is_an_obstacle() {
        let toolchain = Toolchain::in_dir(Utf8Path::new(".")).unwrap();
        let source = "pub fn probe(a: &mut u8) { *a = 1; }";
        assert_eq!(missing(&toolchain, &ACCESSES, source, ACCESS), None);
        let other = missing(&toolchain, &ACCESSES, source, "__no_such_call");
        assert_eq!(other.as_deref(), Some("it has no `SanitizerCoverage`"));
        let refused = missing(&toolchain, &["-Cpasses=no-such-pass"], source, ACCESS);
        assert!(refused.is_some_and(|why| why.contains("error")));
    }
}

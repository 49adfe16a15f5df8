//! Builds calls of rustdoc.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};

use super::keep::{KEEP, LINKER};
use super::{Compiler, HERE};
use crate::error::{Error, Result};
use crate::project::arguments::codegen;
use crate::project::atomics;
use crate::project::intercept::Start;
use crate::project::toolchain::own;

/// Variables of libtest that change rustdoc's output.
const LIBTEST_VARIABLES: [&str; 3] =
    ["RUST_TEST_NOCAPTURE", "RUST_TEST_SHUFFLE", "RUST_TEST_THREADS"];

/// Call of rustdoc for one package, based on the one that cargo would make.
pub(super) struct RustdocCall<'a> {
    pub(super) compiler: &'a Compiler<'a>,
    /// Command line and environment with which cargo would have started rustdoc.
    pub(super) start: &'a Start,
    /// Folder for executables.
    pub(super) dir: Utf8PathBuf,
}

impl RustdocCall<'_> {
    /// Returns the command that runs rustdoc as cargo would, with this program as its run tool and
    /// linker. Executables are kept in the folder `dir` of this call's folder.
    ///
    /// # Errors
    /// Returns an error if files cannot be written, or the path of this program is unknown.
    pub(super) fn command(&self, dir: &str, threads: usize) -> Result<Command> {
        let own = own()?;
        let dir = self.dir.join(dir);
        let temporary = self.dir.join("tmp");
        let failed = |path: &Utf8Path, e| Error::setup(format!("failed to write `{path}`: {e}"));
        for path in [&dir, &temporary] {
            fs::create_dir_all(path).map_err(|e| failed(path, e))?;
        }
        let mut command = Command::new(&self.compiler.rustdoc);
        command
            .current_dir(&self.start.cwd)
            .env_clear()
            .envs(self.start.environment())
            // Executables can be renamed only within one file system.
            .env("TMPDIR", &temporary)
            .stdin(Stdio::null());
        for name in LIBTEST_VARIABLES {
            command.env_remove(name);
        }
        command.args(self.arguments());
        let option = if self.compiler.has_stable_run_tool {
            "--test-runtool"
        } else {
            // The option was stabilised under another name, without other changes. This variable
            // permits unstable options on stable versions. As a side effect, doctests with
            // `#![feature]` compile.
            command.env("RUSTC_BOOTSTRAP", "1").arg("-Zunstable-options");
            "--runtool"
        };
        let argument = |value: &str| format!("{option}-arg={value}");
        command
            .arg(format!("{option}={own}"))
            .args([argument(KEEP), argument(dir.as_str())])
            .arg(format!("--test-args=--test-threads={threads}"))
            .arg("--test-args=--color=never");
        if let Some(linker) = self.linker() {
            // The compiler derives the linker's command-line syntax from its file name.
            let name = Utf8Path::new(linker).file_name().unwrap_or("cc");
            let link = self.dir.join(name);
            if !link.exists() {
                symlink(&own, &link).map_err(|e| failed(&link, e))?;
            }
            command.arg(format!("-Clinker={link}")).env(LINKER, linker);
        }
        if self.is_merging() {
            // A program of several doctests needs the crate `test`. If that crate cannot be read,
            // the program does not compile, and rustdoc compiles the doctests one by one.
            let unreadable = self.dir.join("libtest.rlib");
            fs::write(&unreadable, "").map_err(|e| failed(&unreadable, e))?;
            command.arg(format!("--extern=test={unreadable}"));
        }
        command.args(self.runtime_arguments());
        Ok(command)
    }

    /// Returns the arguments of the compiler that replace std by the runtime.
    pub(super) fn runtime_arguments(&self) -> Vec<String> {
        let Some(runtime) = self.compiler.runtime.filter(|_| !self.has_own_std()) else {
            return Vec::new();
        };
        let mut arguments = vec![
            format!("-Ldependency={}", runtime.libraries),
            format!("--extern=std={}", runtime.std),
            // Gives stack frames their lines.
            "-Cdebuginfo=line-tables-only".to_owned(),
        ];
        if let Some(covered) = self.compiler.covered {
            arguments.extend(covered.arguments(&self.start.arguments));
        }
        let are_calls = self.compiler.atomics_are_calls;
        arguments.extend(atomics::arguments(&runtime.libraries, are_calls));
        if self.value("--cap-lints").is_none() {
            arguments.push("--cap-lints=allow".to_owned());
        }
        arguments
    }

    /// Returns the path of the crate's root source file.
    pub(super) fn root(&self) -> Option<&str> {
        let arguments = &self.start.arguments;
        arguments.windows(2).find(|pair| pair[0] == "--test").map(|pair| pair[1].as_str())
    }

    /// Returns whether the doctests use the host's own std although the runtime replaces std for
    /// the target. This is so for crates that are built for the host, such as proc macros.
    pub(super) fn has_own_std(&self) -> bool {
        self.compiler.runtime.is_some() && self.value("--target").is_none()
    }

    /// Returns cargo's arguments, without the options that [`command`](Self::command) adds. A
    /// relative path of the crate's root gets the prefix [`HERE`].
    pub(super) fn arguments(&self) -> Vec<String> {
        const OURS: [&str; 5] =
            ["--test-args", "--test-runtool", "--test-runtool-arg", "--runtool", "--runtool-arg"];
        let mut kept: Vec<String> = Vec::new();
        let mut arguments = self.start.arguments.iter();
        while let Some(argument) = arguments.next() {
            let (flag, value) = argument
                .split_once('=')
                .map_or((argument.as_str(), None), |(flag, value)| (flag, Some(value)));
            if OURS.contains(&flag) {
                if value.is_none() {
                    arguments.next();
                }
                continue;
            }
            let is_root = kept.last().is_some_and(|last| last == "--test");
            kept.push(if is_root && Utf8Path::new(argument).is_relative() {
                format!("{HERE}{argument}")
            } else {
                argument.clone()
            });
        }
        kept
    }

    /// Returns the value of a flag: the last one in a separate argument, or else the last one after
    /// `=`.
    pub(super) fn value(&self, flag: &str) -> Option<&str> {
        let arguments = &self.start.arguments;
        let after = arguments
            .windows(2)
            .rev()
            .find_map(|pair| (pair[0] == flag).then_some(pair[1].as_str()));
        after.or_else(|| {
            let mut arguments = arguments.iter().rev();
            arguments.find_map(|argument| argument.strip_prefix(flag)?.strip_prefix('='))
        })
    }

    /// Returns whether rustdoc compiles several doctests as one program, as it does since edition
    /// 2024.
    fn is_merging(&self) -> bool {
        let edition = self.value("--edition").unwrap_or("2015");
        !["2015", "2018", "2021"].contains(&edition)
    }

    /// Returns the linker that the compiler would call, or `None` if it is unknown.
    fn linker(&self) -> Option<&str> {
        let chosen = codegen(&self.start.arguments, "linker").next_back();
        let is_for_host = || {
            let target = self.value("--target");
            target.is_none_or(|target| target == self.compiler.host)
        };
        chosen.or_else(|| (cfg!(unix) && is_for_host()).then_some("cc"))
    }
}

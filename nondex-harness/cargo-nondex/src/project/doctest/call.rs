//! How rustdoc is called.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};

use super::keep::{KEEP, LINKER};
use super::{Compiler, HERE};
use crate::error::{Error, Result};
use crate::project::intercept::Start;
use crate::project::toolchain::{RunTool, own};

/// Variables of libtest that change what rustdoc prints.
const LIBTEST_VARIABLES: [&str; 3] =
    ["RUST_TEST_NOCAPTURE", "RUST_TEST_SHUFFLE", "RUST_TEST_THREADS"];

/// A call of rustdoc as cargo would make it, and what we make of it.
pub(super) struct Call<'a> {
    pub(super) compiler: &'a Compiler<'a>,
    /// How cargo would have started rustdoc.
    pub(super) start: &'a Start,
    /// Where executables are kept.
    pub(super) dir: Utf8PathBuf,
}

impl Call<'_> {
    /// Rustdoc as cargo would have started it, with our part in it.
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
            // On the filesystem that executables are moved to.
            .env("TMPDIR", &temporary)
            .stdin(Stdio::null());
        for name in LIBTEST_VARIABLES {
            command.env_remove(name);
        }
        command.args(self.arguments());
        let option = match self.compiler.run_tool {
            RunTool::Stable => "--test-runtool",
            RunTool::Unstable => {
                // The option was stabilised under another name, and as it was. With this variable
                // the compiler accepts what needs `#![feature]`, but only from who writes that.
                command.env("RUSTC_BOOTSTRAP", "1").arg("-Zunstable-options");
                "--runtool"
            }
        };
        let word = |word: &str| format!("{option}-arg={word}");
        command
            .arg(format!("{option}={own}"))
            .args([word(KEEP), word(dir.as_str())])
            .arg(format!("--test-args=--test-threads={threads}"))
            .arg("--test-args=--color=never");
        if let Some(linker) = self.linker() {
            // By its name the compiler knows how to call it.
            let name = Utf8Path::new(linker).file_name().unwrap_or("cc");
            let link = self.dir.join(name);
            if !link.exists() {
                symlink(&own, &link).map_err(|e| failed(&link, e))?;
            }
            command.arg(format!("-Clinker={link}")).env(LINKER, linker);
        }
        if self.is_merging() {
            // A program of several doctests needs the crate `test`. One that cannot be read makes
            // rustdoc do without such a program, as it does when the doctests do not fit together.
            let unreadable = self.dir.join("libtest.rlib");
            fs::write(&unreadable, "").map_err(|e| failed(&unreadable, e))?;
            command.arg(format!("--extern=test={unreadable}"));
        }
        command.args(self.of_runtime());
        Ok(command)
    }

    /// What puts the runtime in place of std.
    pub(super) fn of_runtime(&self) -> Vec<String> {
        let Some(runtime) = self.compiler.runtime.filter(|_| !self.has_own_std()) else {
            return Vec::new();
        };
        let mut arguments = vec![
            format!("-Ldependency={}", runtime.libraries),
            format!("--extern=std={}", runtime.std),
            // Stacks have lines by it.
            "-Cdebuginfo=line-tables-only".to_owned(),
        ];
        if let Some(covered) = self.compiler.covered {
            arguments.extend(covered.arguments(&self.start.arguments));
        }
        if self.value("--cap-lints").is_none() {
            arguments.push("--cap-lints=allow".to_owned());
        }
        arguments
    }

    /// The source of the crate's root.
    pub(super) fn root(&self) -> Option<&str> {
        let arguments = &self.start.arguments;
        arguments.windows(2).find(|pair| pair[0] == "--test").map(|pair| pair[1].as_str())
    }

    /// Whether std is not replaced though it is for the target: what is built for the host, as proc
    /// macros are, has the host's own.
    pub(super) fn has_own_std(&self) -> bool {
        self.compiler.runtime.is_some() && self.value("--target").is_none()
    }

    /// Cargo's arguments without those that we give ourselves.
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

    /// The value of a flag, the last one.
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

    /// Whether rustdoc puts several doctests into one program.
    fn is_merging(&self) -> bool {
        let edition = self.value("--edition").unwrap_or("2015");
        !["2015", "2018", "2021"].contains(&edition)
    }

    /// The linker that the compiler would call; `None` when that is not known.
    fn linker(&self) -> Option<&str> {
        let arguments = &self.start.arguments;
        let chosen = arguments.iter().rev().find_map(|argument| {
            argument.strip_prefix("-C").unwrap_or(argument).strip_prefix("linker=")
        });
        let is_for_host = || {
            let target = self.value("--target");
            target.is_none_or(|target| target == self.compiler.host)
        };
        chosen.or_else(|| (cfg!(unix) && is_for_host()).then_some("cc"))
    }
}

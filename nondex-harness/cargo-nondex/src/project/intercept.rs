//! Handles the calls of this program by cargo during a build or a test run.
//!
//! In whole-program mode, this program is cargo's rustc wrapper, rustdoc and target runner. The
//! first argument shows which of them a call is: the path of rustc, a flag of rustdoc, or a
//! constant of this module.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use super::arguments;
use super::atomics;
use super::coverage::{self, Covered};
use super::platform;
use super::runtime::Runtime;
use super::rustix;
use crate::program;

/// Environment variable that passes an `Intercept` as JSON to intercepted calls.
pub const VARIABLE: &str = "NONDEX_INTERCEPT";

/// Name of the `cfg` that sources can test, as in `#[cfg_attr(nondex, ignore)]`.
const CFG: &str = "nondex";

/// First argument of a call as target runner that only records the start.
pub(super) const RECORD: &str = "__record";

/// First argument of a call as target runner that runs the executable.
pub const RUN: &str = "__run";

/// Prefix of the names of files that record calls of rustdoc.
pub(super) const RUSTDOC: &str = "rustdoc";

/// Data for the intercepted calls.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Intercept {
    /// Replacement of std and test; `None` unless a whole program is built.
    pub(super) runtime: Option<Runtime>,
    /// User's own rustc wrapper, which still runs around rustc.
    pub(super) wrapper: Option<String>,
    /// Whether atomics are instrumented.
    pub(super) atomics_are_calls: bool,
    /// How the project's own crates record which of their code runs, if they do.
    pub(super) covered: Option<Covered>,
    /// Whether plain loads and stores of the project's own crates are operations of the scheduler.
    pub(super) races: bool,
    /// Whether rustix calls libc, where its operations are observed.
    pub(super) rustix_uses_libc: bool,
    /// Folder in which calls as target runner and as rustdoc are recorded.
    pub(super) starts: Utf8PathBuf,
    /// Environment variables that this tool sets for cargo, with their previous values.
    pub(super) replaced: BTreeMap<String, Option<String>>,
    /// User's rustdoc, if calls of it and of test executables are made instead of recorded.
    pub(super) rustdoc: Option<String>,
}

/// Command by which cargo would start a test executable, or rustdoc for the doctests of a package.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Start {
    pub(super) program: Utf8PathBuf,
    pub(super) arguments: Vec<String>,
    pub(super) cwd: Utf8PathBuf,
    /// Names and values of environment variables. They are bytes, because neither need be UTF-8.
    pub(super) env: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Start {
    /// Returns the whole environment.
    pub(super) fn environment(&self) -> BTreeMap<OsString, OsString> {
        let decode = |bytes: &Vec<u8>| OsString::from_vec(bytes.clone());
        self.env.iter().map(|(name, value)| (decode(name), decode(value))).collect()
    }
}

impl Intercept {
    /// Passes this data to the calls of this program by the cargo that `command` starts.
    pub(super) fn install(&self, command: &mut Command) {
        let text = serde_json::to_string(self).expect("an intercept has only string keys");
        command.env(VARIABLE, text);
    }

    /// Returns the environment of this call without the variables that this tool set.
    fn environment(&self) -> BTreeMap<OsString, OsString> {
        let mut env: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        env.remove(OsStr::new(VARIABLE));
        for (name, before) in &self.replaced {
            match before {
                Some(value) => env.insert(name.into(), value.into()),
                None => env.remove(OsStr::new(name)),
            };
        }
        env
    }
}

/// Handles a call by cargo or rustdoc. Returns `None` for any other start.
pub(super) fn intercept(arguments: &[OsString]) -> Option<Result<ExitCode, String>> {
    // The command line handles such a call.
    if arguments.first().is_some_and(|first| first == RUN) {
        return None;
    }
    let result = installed()?.and_then(|intercept| match arguments.first() {
        Some(first) if first == RECORD => match &arguments[1..] {
            [program, arguments @ ..] => record(&intercept, "start", program, arguments),
            [] => Err("no executable to record".to_owned()),
        },
        Some(first) if first.as_bytes().starts_with(b"-") => match &intercept.rustdoc {
            Some(program) => rustdoc(&intercept, program, arguments),
            None => record(&intercept, RUSTDOC, OsStr::new("rustdoc"), arguments),
        },
        Some(_) => rustc(&intercept, arguments),
        None => Err("started in the middle of a build without arguments".to_owned()),
    });
    Some(result)
}

/// Returns the data of an intercepted call. Returns `None` for any other start.
fn installed() -> Option<Result<Intercept, String>> {
    let text = std::env::var(VARIABLE).ok()?;
    Some(serde_json::from_str(&text).map_err(|e| format!("{VARIABLE}: {e}")))
}

/// Environment of a test executable that cargo starts over the runtime.
#[derive(Debug)]
pub struct Surroundings {
    /// Environment that the executable would have without this tool.
    pub env: BTreeMap<OsString, OsString>,
    /// Library that observes the programs that the executable starts, if there is one.
    pub preload: Option<Utf8PathBuf>,
}

impl Surroundings {
    /// Returns the surroundings of the executable in a call as target [runner](RUN).
    ///
    /// # Errors
    /// Returns an error if this is no such call.
    pub fn of_call() -> Result<Self, String> {
        let intercept = installed().unwrap_or_else(|| Err(format!("{VARIABLE} is not set")))?;
        Ok(Surroundings {
            env: intercept.environment(),
            preload: intercept.runtime.and_then(|runtime| runtime.preload),
        })
    }
}

/// Runs rustdoc, over the runtime's std and test if it works for the target.
fn rustdoc(
    intercept: &Intercept,
    program: &str,
    arguments: &[OsString],
) -> Result<ExitCode, String> {
    let mut command = Command::new(program);
    command.args(arguments);
    let is_for_target = arguments.iter().any(|argument| argument == "--target");
    if let Some(runtime) = intercept.runtime.as_ref().filter(|_| is_for_target) {
        command
            .args(["--cfg", CFG])
            .arg(format!("-Ldependency={}", runtime.libraries))
            .arg(format!("--extern=std={}", runtime.std))
            // A program that combines several doctests calls the test crate.
            .arg(format!("--extern=test={}", runtime.test))
            .arg("--cap-lints=allow");
    }
    Err(program::replace(&mut command))
}

/// Runs rustc, over the runtime's std and test for every crate of the target.
fn rustc(intercept: &Intercept, arguments: &[OsString]) -> Result<ExitCode, String> {
    let mut command = match &intercept.wrapper {
        Some(wrapper) => {
            let mut command = Command::new(wrapper);
            command.arg(&arguments[0]);
            command
        }
        None => Command::new(&arguments[0]),
    };
    let role = Role::of(arguments);
    // Cargo caps the lints of crates that are not the project's own.
    let is_of_others = arguments.iter().any(|argument| argument == "--cap-lints");
    let covered = intercept.covered.as_ref().filter(|_| !is_of_others);
    if intercept.runtime.is_some() && role == Role::Crate {
        command.args(arguments::for_runtime(&arguments[1..], covered.is_some()));
    } else {
        command.args(&arguments[1..]);
    }
    if role != Role::Host && platform::is_static(arguments) {
        platform::note_static(&intercept.starts)?;
        if intercept.runtime.is_some() && role == Role::Crate {
            // The driver reads the file that was just written, and reports the reason.
            return Ok(ExitCode::FAILURE);
        }
    }
    if intercept.rustix_uses_libc
        && (role == Role::Probe
            || role == Role::Crate && arguments::is_crate(arguments, rustix::CRATE))
    {
        command.args(["--cfg", rustix::CFG]);
    }
    if let Some(runtime) = &intercept.runtime
        && role == Role::Crate
    {
        command.args(["--cfg", CFG]);
        command.arg(format!("-Ldependency={}", runtime.libraries));
        command.arg(format!("--extern=std={}", runtime.std));
        if arguments.iter().any(|argument| argument == "--test") {
            command.arg(format!("--extern=test={}", runtime.test));
        }
        command.args(arguments::debug_info(&arguments[1..], is_of_others));
        // These module passes come before the function pass of `atomics`.
        if let Some(covered) = covered {
            command.args(covered.arguments(arguments));
        }
        if intercept.races && !is_of_others {
            command.args(coverage::ACCESSES);
        }
        command.args(atomics::arguments(&runtime.libraries, intercept.atomics_are_calls));
        // A lint that inspects the crates on the command line must not fail this build. Users see
        // warnings in their own builds.
        if !arguments.iter().any(|argument| argument.as_bytes().starts_with(b"--cap-lints")) {
            command.arg("--cap-lints=allow");
        }
    }
    Err(program::replace(&mut command))
}

/// Purpose of a call of rustc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Compiles a crate for the target.
    Crate,
    /// Queries the target for cargo. Such a call has the crate name `___`.
    Probe,
    /// Works for the host: compiles build scripts, proc macros and their dependencies. Such a call
    /// has no `--target`.
    Host,
}

impl Role {
    fn of(arguments: &[OsString]) -> Self {
        let has = |flag: &str| {
            arguments.iter().any(|argument| {
                argument == flag
                    || argument
                        .to_str()
                        .is_some_and(|argument| argument.starts_with(&format!("{flag}=")))
            })
        };
        let is_probe = arguments::is_crate(arguments, "___");
        match (has("--target") && has("--crate-name"), is_probe) {
            (true, true) => Role::Probe,
            (true, false) => Role::Crate,
            (false, _) => Role::Host,
        }
    }
}

/// Records how cargo would start a test executable or rustdoc, without starting it. The name of the
/// record begins with `prefix`.
fn record(
    intercept: &Intercept,
    prefix: &str,
    program: &OsStr,
    arguments: &[OsString],
) -> Result<ExitCode, String> {
    let text = |value: &OsStr| {
        value.to_str().map(str::to_owned).ok_or_else(|| format!("{value:?} is not UTF-8"))
    };
    let env = intercept.environment();
    let cwd =
        std::env::current_dir().map_err(|e| format!("failed to read the current folder: {e}"))?;
    let start = Start {
        program: text(program)?.into(),
        arguments: arguments.iter().map(|argument| text(argument)).collect::<Result<_, _>>()?,
        cwd: Utf8PathBuf::from_path_buf(cwd)
            .map_err(|path: PathBuf| format!("{path:?} is not UTF-8"))?,
        env: env.into_iter().map(|(name, value)| (name.into_vec(), value.into_vec())).collect(),
    };
    let file = intercept.starts.join(format!("{prefix}-{}.json", std::process::id()));
    let json = serde_json::to_string(&start).expect("a start has no map");
    std::fs::write(&file, json).map_err(|e| format!("failed to write `{file}`: {e}"))?;
    Ok(ExitCode::SUCCESS)
}

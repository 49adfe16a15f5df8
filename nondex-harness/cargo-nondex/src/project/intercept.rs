//! What this program does when cargo starts it in the middle of a build or a test run.
//!
//! In whole-program mode it is cargo's rustc wrapper, rustdoc, and target runner. The first
//! argument shows which of them a call is: the path of rustc, a flag of rustdoc, or a word of ours.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use super::accesses;
use super::atomics;
use super::coverage::{self, Covered};
use super::lines;
use super::lto;
use super::platform;
use super::runtime::Runtime;
use super::rustix;
use super::shims;
use crate::program;

/// The environment variable that carries an `Intercept` as JSON to ourselves.
pub const VARIABLE: &str = "NONDEX_INTERCEPT";

/// What the source can ask, as in `#[cfg_attr(nondex, ignore)]`.
const CFG: &str = "nondex";

/// The first argument of a call as target runner.
pub(super) const RECORD: &str = "__record";

/// The first argument of a call as target runner that runs the executable.
pub const RUN: &str = "__run";

/// What the names of the files begin with in which calls of rustdoc are written down.
pub(super) const RUSTDOC: &str = "rustdoc";

/// What the intercepted calls need to know.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Intercept {
    /// What is put in place of std and test; `None` in swap mode.
    pub(super) runtime: Option<Runtime>,
    /// The user's own rustc wrapper, which is run around rustc.
    pub(super) wrapper: Option<String>,
    /// Whether atomics are instrumented.
    pub(super) atomics_are_calls: bool,
    /// How the project's own crates tell which of their code runs, if they do.
    pub(super) covered: Option<Covered>,
    /// Whether plain loads and stores of the project's own crates are operations.
    pub(super) races: bool,
    /// Whether rustix goes through libc, where its operations are seen.
    pub(super) rustix_uses_libc: bool,
    /// Where calls as target runner and as rustdoc are written down.
    pub(super) starts: Utf8PathBuf,
    /// The environment variables we set for cargo, with their values before.
    pub(super) replaced: BTreeMap<String, Option<String>>,
    /// The user's rustdoc, where calls of it, and of test executables, are not written down but
    /// made.
    pub(super) rustdoc: Option<String>,
}

/// How cargo would have started a test executable, or rustdoc for the doctests of a package.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Start {
    pub(super) program: Utf8PathBuf,
    pub(super) arguments: Vec<String>,
    pub(super) cwd: Utf8PathBuf,
    /// Names and values: bytes, because neither need be UTF-8.
    pub(super) env: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Start {
    /// The whole environment.
    pub(super) fn environment(&self) -> BTreeMap<OsString, OsString> {
        let decode = |bytes: &Vec<u8>| OsString::from_vec(bytes.clone());
        self.env.iter().map(|(name, value)| (decode(name), decode(value))).collect()
    }
}

impl Intercept {
    /// Makes `command` a cargo whose calls come to us.
    pub(super) fn install(&self, command: &mut Command) {
        let text = serde_json::to_string(self).expect("an intercept has only string keys");
        command.env(VARIABLE, text);
    }

    /// The environment of this call without what we set.
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

/// Does the work of a call by cargo or rustdoc; `None` when this is another start.
pub(super) fn intercept(arguments: &[OsString]) -> Option<Result<ExitCode, String>> {
    if arguments.first().is_some_and(|first| first == RUN) {
        return None;
    }
    let result = installed()?.and_then(|intercept| match arguments.first() {
        Some(first) if first == RECORD => record(&intercept, Tool::Runner, &arguments[1..]),
        Some(first) if first.as_bytes().starts_with(b"-") => match &intercept.rustdoc {
            Some(program) => rustdoc(&intercept, program, arguments),
            None => record(&intercept, Tool::Rustdoc, arguments),
        },
        Some(_) => rustc(&intercept, arguments),
        None => Err("started in the middle of a build without arguments".to_owned()),
    });
    Some(result)
}

/// What cargo's calls come to us with; `None` when this is another start.
fn installed() -> Option<Result<Intercept, String>> {
    let text = std::env::var(VARIABLE).ok()?;
    Some(serde_json::from_str(&text).map_err(|e| format!("{VARIABLE}: {e}")))
}

/// What a test executable has that cargo starts over our runtime.
#[derive(Debug)]
pub struct Surroundings {
    /// The environment that it would have without us.
    pub env: BTreeMap<OsString, OsString>,
    /// The library that observes the programs that it starts, where there is one.
    pub preload: Option<Utf8PathBuf>,
}

impl Surroundings {
    /// Those of a call as target [runner](RUN).
    ///
    /// # Errors
    /// When it is no such call.
    pub fn of_call() -> Result<Self, String> {
        let intercept = installed().unwrap_or_else(|| Err(format!("{VARIABLE} is not set")))?;
        Ok(Surroundings {
            env: intercept.environment(),
            preload: intercept.runtime.and_then(|runtime| runtime.preload),
        })
    }
}

/// Runs rustdoc, with the facade for what is documented and tested for the target.
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
            // A program of several doctests calls it.
            .arg(format!("--extern=test={}", runtime.test))
            .arg("--cap-lints=allow");
    }
    Err(program::replace(&mut command))
}

/// Runs rustc, with the facade for every crate that is built for the target.
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
        let kept = shims::without(lto::without(&arguments[1..]));
        command.args(match covered {
            Some(_) => coverage::with_own_paths(kept),
            None => kept,
        });
    } else {
        command.args(&arguments[1..]);
    }
    if role != Role::Host && platform::is_static(arguments) {
        platform::note_static(&intercept.starts)?;
        if intercept.runtime.is_some() && role == Role::Crate {
            // The driver reports why.
            return Ok(ExitCode::FAILURE);
        }
    }
    if intercept.rustix_uses_libc
        && (role == Role::Probe || role == Role::Crate && rustix::is_rustix(arguments))
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
        command.args(lines::arguments(&arguments[1..], is_of_others));
        // Before the other pass, which is over functions.
        if let Some(covered) = covered {
            command.args(covered.arguments(arguments));
        }
        if intercept.races && !is_of_others {
            command.args(accesses::FLAGS);
        }
        command.args(atomics::arguments(&runtime.libraries, intercept.atomics_are_calls));
        // A lint that looks at the crates on the command line must not fail a build of ours;
        // warnings belong to the user's own builds.
        if !arguments.iter().any(|argument| argument.as_bytes().starts_with(b"--cap-lints")) {
            command.arg("--cap-lints=allow");
        }
    }
    Err(program::replace(&mut command))
}

/// What a call of rustc is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It compiles a crate for the target.
    Crate,
    /// Cargo queries the target. Such a call has its own crate name.
    Probe,
    /// It is for the host, as build scripts, proc macros and what they depend on are: these have no
    /// `--target`.
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
        let is_probe =
            arguments.windows(2).any(|pair| pair[0] == "--crate-name" && pair[1] == "___");
        match (has("--target") && has("--crate-name"), is_probe) {
            (true, true) => Role::Probe,
            (true, false) => Role::Crate,
            (false, _) => Role::Host,
        }
    }
}

/// What cargo starts to run tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tool {
    /// The runner of a test executable, which comes first among the arguments.
    Runner,
    /// Rustdoc, for the doctests of a package.
    Rustdoc,
}

/// Writes down how cargo would start a test executable, or rustdoc, and does not start it.
fn record(intercept: &Intercept, tool: Tool, arguments: &[OsString]) -> Result<ExitCode, String> {
    let text = |value: &OsStr| {
        value.to_str().map(str::to_owned).ok_or_else(|| format!("{value:?} is not UTF-8"))
    };
    let (program, arguments, prefix) = match tool {
        Tool::Runner => {
            let (program, arguments) = arguments.split_first().ok_or("no executable to record")?;
            (text(program)?, arguments, "start")
        }
        Tool::Rustdoc => ("rustdoc".to_owned(), arguments, RUSTDOC),
    };
    let env = intercept.environment();
    let cwd =
        std::env::current_dir().map_err(|e| format!("failed to read the current folder: {e}"))?;
    let start = Start {
        program: program.into(),
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

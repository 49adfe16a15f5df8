//! The request of one run: the only input of the runtime.

mod choices;
mod execution;

use std::path::PathBuf;

use crate::catalogue::Level;
use crate::json;

use super::choices::Choices;
use super::execution::Execution;
use super::files::Files;
use super::network::Network;
use super::operation::Observed;
use super::schedule::Schedule;
use super::site::Site;

/// The version of [`RunSpec`] and [`RunRecord`](crate::RunRecord). A runtime refuses any other.
pub const PROTOCOL: u32 = 2;

/// The version of the algorithm that turns a seed into choices. A seed reproduces within one
/// version.
pub const ALGORITHM: u32 = 10;

/// The environment variable that carries a [`RunSpec`] as JSON into a test process, or `@` and the
/// path of a file with it. It is removed before a test starts.
pub const SPEC_VARIABLE: &str = "NONDEX_SPEC";

/// The environment variable with the identity of a program that a test starts: the number of the
/// test's own process, a colon, and the path of the thread that started it with the ordinal of the
/// start. It is removed before `main`.
pub const CHILD_VARIABLE: &str = "NONDEX_CHILD";

/// Environment variables that switch the shims on without the driver, in a plain `cargo test` of a
/// dev build.
pub const SEED_VARIABLE: &str = "NONDEX_SEED";
/// See [`SEED_VARIABLE`]; the default is `FULL`.
pub const LEVEL_VARIABLE: &str = "NONDEX_LEVEL";

/// Everything that decides one run of one test, or an experiment: several tests in one process, one
/// after the other, with a record for each. With the built binary it determines the
/// [`RunRecord`](crate::RunRecord).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSpec {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// The name of the test as libtest prints it; part of every choice's identity.
    pub test: String,
    /// What runs with it in its process, and on which threads.
    pub execution: Execution,
    /// What decides the choices.
    pub choices: Choices,
    /// Names of models (see [`Model::name`](crate::Model::name)) that are off: not chosen and not
    /// recorded.
    pub models_off: Vec<String>,
    /// Whose calls are choices.
    pub files: Files,
    /// Where the record is written, absolute; `None` keeps nothing.
    pub record: Option<PathBuf>,
    /// Sites for which the stack of the first call, or of the last one whose choice is given, is
    /// kept (slow: it reads debug information).
    pub trace: Vec<Site>,
    /// What is done about the network.
    pub network: Network,
    /// The library that is put before libc in the programs that the test starts, absolute; they are
    /// not observed without it.
    pub preload: Option<PathBuf>,
    /// Failures of operations that are recorded.
    pub observe: Vec<Observed>,
    /// Whether it is recorded which code ran.
    pub cover: bool,
    /// Whether the files and folders that are written are recorded.
    pub writes: bool,
    /// Number of the processor that the threads of the test share while they are scheduled; that
    /// of its first thread without one. It decides how long the run takes, and nothing else.
    pub processor: Option<u32>,
}

json::object!(strict RunSpec {
    protocol,
    test,
    execution = optional,
    choices,
    models_off = optional,
    files = optional,
    record = optional,
    trace = optional,
    network = optional,
    preload = optional,
    observe = optional,
    cover = optional,
    writes = optional,
    processor = optional,
});

impl RunSpec {
    /// A clean run of `test`: canonical order everywhere.
    pub fn clean(test: impl Into<String>) -> Self {
        RunSpec { choices: Choices::Canonical, ..RunSpec::new(test, Level::Std, 0) }
    }

    /// A run of `test` with all choices made at `level` from `seed`.
    pub fn new(test: impl Into<String>, level: Level, seed: u64) -> Self {
        RunSpec {
            protocol: PROTOCOL,
            test: test.into(),
            execution: Execution::default(),
            choices: Choices::all(Schedule::default(), level, seed),
            models_off: Vec::new(),
            files: Files::default(),
            record: None,
            trace: Vec::new(),
            network: Network::default(),
            preload: None,
            observe: Vec::new(),
            cover: false,
            writes: false,
            processor: None,
        }
    }

    /// Reads a spec from JSON.
    ///
    /// # Errors
    /// When the text is not a spec of this [`PROTOCOL`]; the message has what was found.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let spec: RunSpec = json::from_str(text).map_err(|e| format!("not a run spec: {e}"))?;
        if spec.protocol != PROTOCOL {
            return Err(format!(
                "the run spec has protocol {}, this runtime speaks {PROTOCOL}",
                spec.protocol
            ));
        }
        Ok(spec)
    }

    /// The extension of the file next to the record that has a spec which is too long for a
    /// variable.
    pub const FILE: &str = "spec";

    /// Reads a spec as [`SPEC_VARIABLE`] has it.
    ///
    /// # Errors
    /// As [`from_json`](Self::from_json), and when there is no such file.
    pub fn from_variable(value: &str) -> Result<Self, String> {
        let Some(path) = value.strip_prefix('@') else { return Self::from_json(value) };
        let text = std::fs::read_to_string(path);
        Self::from_json(&text.map_err(|e| format!("failed to read `{path}`: {e}"))?)
    }

    /// The spec as JSON, on one line.
    pub fn to_json(&self) -> String {
        json::to_string(self)
    }
}

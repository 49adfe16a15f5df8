//! The specification of one run, which is the only input of the runtime.

mod choices;
mod execution;
mod fork_request;

use std::path::PathBuf;

use crate::catalogue::Level;
use crate::json;

pub use self::fork_request::{FORK_SERVER, ForkRequest};
use super::choices::Choices;
use super::execution::Execution;
use super::files::Files;
use super::network::Network;
use super::operation::Observed;
use super::schedule::Schedule;
use super::site::Site;

/// Version of [`RunSpec`] and [`RunRecord`](crate::RunRecord). A runtime rejects any other version.
pub const PROTOCOL: u32 = 3;

/// Version of the algorithm that turns a seed into choices. A seed reproduces a run only within one
/// version.
pub const ALGORITHM: u32 = 10;

/// Environment variable that carries a [`RunSpec`] into a test process, as JSON, or as `@` and the
/// path of a file. It is removed before a test starts.
pub const SPEC_VARIABLE: &str = "NONDEX_SPEC";

/// Environment variable that identifies a program which a test starts. It has the number of the
/// test's own process, a colon, and a path: that of the thread that started the program, with the
/// ordinal of the start. It is removed before `main`.
pub const CHILD_VARIABLE: &str = "NONDEX_CHILD";

/// Environment variables that enable the shims without the driver, in a plain `cargo test` of a
/// development build.
pub const SEED_VARIABLE: &str = "NONDEX_SEED";
/// Level for [`SEED_VARIABLE`]; `FULL` by default.
pub const LEVEL_VARIABLE: &str = "NONDEX_LEVEL";

/// All parameters of one run of a test, or of an experiment. An experiment runs several tests in
/// one process, one after the other, with one record each. Together with the built binary, the spec
/// determines the [`RunRecord`](crate::RunRecord).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSpec {
    /// Protocol version: [`PROTOCOL`].
    pub protocol: u32,
    /// Name of the test as libtest prints it; part of every choice's identity.
    pub test: String,
    /// The other tests that run in the process, and the kind of threads.
    pub execution: Execution,
    /// The source of the choices.
    pub choices: Choices,
    /// Names of models (see [`Model::name`](crate::Model::name)) that are off: no choices are made
    /// or recorded for them.
    pub models_off: Vec<String>,
    /// Source files whose calls are choices.
    pub files: Files,
    /// Absolute path of the record; `None` writes no record.
    pub record: Option<PathBuf>,
    /// Sites for which a stack is recorded: that of the first call, or of the last call whose
    /// choice is given. Slow, because it reads debug information.
    pub trace: Vec<Site>,
    /// How the network is treated.
    pub network: Network,
    /// Absolute path of the library that is preloaded into the programs that the test starts.
    /// Without it, they are not observed.
    pub preload: Option<PathBuf>,
    /// Failures of operations to record.
    pub observe: Vec<Observed>,
    /// Whether to record which code ran.
    pub cover: bool,
    /// Whether to record the files and folders that are written.
    pub writes: bool,
    /// Number of the processor that the threads of the test share while they are scheduled. Without
    /// it, they share that of the first thread. It affects only how long the run takes.
    pub processor: Option<u32>,
    /// How the process learns when the test begins.
    pub start: TestStart,
}

/// How a process learns when its test begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TestStart {
    /// This tool's harness reports it.
    #[default]
    Reported,
    /// libtest gives the test the first new thread.
    Thread,
    /// The process is the test, from its start to its exit.
    Process,
}

json::words!(TestStart { Reported = "reported", Thread = "thread", Process = "process" });

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
    start = optional,
});

impl RunSpec {
    /// Returns the spec of a clean run of `test`: canonical order everywhere.
    pub fn clean(test: impl Into<String>) -> Self {
        RunSpec { choices: Choices::Canonical, ..RunSpec::new(test, Level::Std, 0) }
    }

    /// Returns the spec of a run of `test` with all choices drawn at `level` from `seed`.
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
            start: TestStart::default(),
        }
    }

    /// Parses a spec from JSON.
    ///
    /// # Errors
    /// Returns a message with the reason if `text` is not a spec of this [`PROTOCOL`].
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

    /// Extension of the file next to the record that holds a spec too long for a variable.
    pub const FILE: &str = "spec";

    /// Parses the value of [`SPEC_VARIABLE`].
    ///
    /// # Errors
    /// Fails as [`from_json`](Self::from_json) does, and if the file cannot be read.
    pub fn from_variable(value: &str) -> Result<Self, String> {
        let Some(path) = value.strip_prefix('@') else { return Self::from_json(value) };
        let text = std::fs::read_to_string(path);
        Self::from_json(&text.map_err(|e| format!("failed to read `{path}`: {e}"))?)
    }

    /// Returns the spec as one line of JSON.
    pub fn to_json(&self) -> String {
        json::to_string(self)
    }
}

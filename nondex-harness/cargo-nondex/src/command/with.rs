//! `cargo nondex with`: another command's tests, with choices that are always the same.

mod runner;
mod signals;

use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use super::console::Console;
use crate::cli::WithArgs;
use crate::error::{Error, Result};
use crate::file;
use crate::judge::Options;
use crate::judge::world::World;
use crate::program::not_run;
use crate::project::{Around, BuildPlan};

pub(super) use self::runner::run;

/// The variable that carries a [`Manner`] to ourselves.
const MANNER: &str = "NONDEX_WITH";

/// As a shell reports a process that a signal ended.
const SIGNAL_BASE: i32 = 128;

/// How each test is run.
#[derive(Debug, Serialize, Deserialize)]
struct Manner {
    seed: Option<u64>,
    real_threads: bool,
    max_steps: u64,
    workspace_root: Utf8PathBuf,
    /// The user's own runner of test executables.
    runner: Vec<String>,
    /// Where records are kept while a test runs.
    records: Utf8PathBuf,
}

impl Manner {
    fn world(&self) -> World {
        World { seed: self.seed, verify: false }
    }

    fn options(&self) -> Options {
        Options {
            world: Some(self.world()),
            real_threads: self.real_threads,
            max_steps: self.max_steps,
            ..Options::new(self.workspace_root.clone())
        }
    }
}

/// Runs the command; the code it ends with.
pub(super) fn with(args: &WithArgs, console: &Console) -> Result<i32> {
    let here = camino::absolute_utf8(".")
        .map_err(|e| Error::setup(format!("failed to read the current folder: {e}")))?;
    let plan = BuildPlan { directory: here, ..BuildPlan::of(args.manifest_path.as_deref()) };
    let around = Around::prepare(&plan, console.quiet)?;
    let records = around.build_dir().join("records");
    file::create_folder(&records)?;
    let manner = Manner {
        seed: args.world.seed,
        real_threads: args.world.real_threads.unwrap_or(false),
        max_steps: args.world.max_steps.unwrap_or(0),
        workspace_root: around.workspace_root.clone(),
        runner: around.runner.clone(),
        records,
    };
    let manner = serde_json::to_string(&manner)
        .map_err(|e| Error::setup(format!("failed to write how tests are run: {e}")))?;
    let [program, arguments @ ..] = args.command.as_slice() else {
        return Err(Error::usage("there is no command".to_owned()));
    };
    let mut command = Command::new(program);
    command.args(arguments).env(MANNER, manner);
    around.install(&mut command);
    let status = signals::run(&mut command).map_err(|e| Error::setup(not_run(program, &e)))?;
    let signalled = status.signal().map(|signal| SIGNAL_BASE + signal);
    Ok(status.code().or(signalled).unwrap_or(1))
}

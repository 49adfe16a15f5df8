//! `cargo nondex with`: runs the tests of another command, with choices that are the same in every
//! run.

mod runner;
mod signals;

use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use super::console::Console;
use super::interrupt;
use crate::cli::WithArgs;
use crate::error::{Error, OrSetup, Result};
use crate::file;
use crate::judge::{Options, World};
use crate::program::not_run;
use crate::project::{Around, BuildPlan};

pub(super) use self::runner::run;

/// Variable that passes a [`Manner`] as JSON to the processes of this executable that run tests.
const MANNER: &str = "NONDEX_WITH";

/// Options of each test run.
#[derive(Debug, Serialize, Deserialize)]
struct Manner {
    seed: Option<u64>,
    real_threads: bool,
    max_steps: u64,
    workspace_root: Utf8PathBuf,
    /// The user's own runner of test executables.
    runner: Vec<String>,
    /// Folder for records while a test runs.
    records: Utf8PathBuf,
}

impl Manner {
    /// Returns the fixed choices.
    fn world(&self) -> World {
        World { seed: self.seed, verify: false }
    }

    /// Returns the options of a run.
    fn options(&self) -> Options {
        Options {
            world: Some(self.world()),
            real_threads: self.real_threads,
            max_steps: self.max_steps,
            ..Options::new(self.workspace_root.clone())
        }
    }
}

/// Runs the command. Returns its exit code.
pub(super) fn with(args: &WithArgs, console: &Console) -> Result<i32> {
    let here = camino::absolute_utf8(".").or_setup("failed to read the current folder")?;
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
    let manner_json =
        serde_json::to_string(&manner).or_setup("failed to write how tests are run")?;
    let [program, arguments @ ..] = args.command.as_slice() else {
        return Err(Error::usage("no command given".to_owned()));
    };
    let mut command = Command::new(program);
    command.args(arguments).env(MANNER, manner_json);
    around.install(&mut command);
    let status = signals::run(&mut command).map_err(|e| Error::setup(not_run(program, &e)))?;
    let signalled = status.signal().map(|signal| interrupt::SIGNAL_BASE + signal);
    Ok(status.code().or(signalled).unwrap_or(1))
}

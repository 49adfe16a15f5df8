//! `cargo nondex test`: runs every test once, with choices that are the same in every run.

use super::configuration::Asked;
use super::console::Console;
use super::run;
use super::session::{Session, Stages};
use crate::cli::TestArgs;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;

/// Runs the tests. Rejects `--retries`, because each run makes the same choices.
pub(super) fn test(args: &TestArgs, asked: &Asked, console: &Console) -> Result<ExitCode> {
    if args.retries.as_deref().is_some_and(|retries| retries != "0") {
        return Err(Error::usage(
            "`--retries` is not supported: every run of a test makes the same choices, so a retry \
             would have the same outcome. `cargo nondex run` finds tests that may fail, and `cargo \
             nondex known add` lets them fail until a date",
        ));
    }
    let passed_over = args.display.passed_over();
    if !passed_over.is_empty() {
        let passed_over = passed_over.join("`, `");
        console.note(&format!("ignored, because they do not change the output: `{passed_over}`"));
    }
    let stages = Stages::World(args.world());
    let campaign = args.campaign();
    run::within(&campaign, asked, console, stages, |session: &Session<'_>| session.campaign())
}

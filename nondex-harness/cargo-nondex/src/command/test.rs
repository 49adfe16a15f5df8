//! `cargo nondex test`: every test once, with choices that are always the same.

use super::configuration::Asked;
use super::console::Console;
use super::run;
use super::session::Stages;
use crate::cli::TestArgs;
use crate::error::Result;
use crate::exit_code::ExitCode;

/// Runs the tests. `line` is the command line, for the report.
pub(super) fn test(
    args: &TestArgs,
    asked: &Asked,
    line: &str,
    console: &Console,
) -> Result<ExitCode> {
    let stages = Stages::World(args.world());
    let campaign = args.campaign();
    run::within(&campaign, asked, line, console, stages, |session| {
        session.campaign()
    })
}

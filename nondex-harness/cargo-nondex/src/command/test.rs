//! `cargo nondex test`: every test once, with choices that are always the same.

mod display;

use self::display::Display;
use super::configuration::Asked;
use super::console::Console;
use super::run;
use super::session::{Session, Stages};
use super::{outcome, selection};
use crate::cli::TestArgs;
use crate::error::Result;
use crate::exit_code::ExitCode;
use crate::judge::world::World;
use crate::report::Report;

/// Runs the tests. `line` is the command line, for the report.
pub(super) fn test(
    args: &TestArgs,
    asked: &Asked,
    line: &str,
    console: &Console,
) -> Result<ExitCode> {
    let world = args.world();
    let stages = Stages::World(world);
    run::within(&args.campaign(), asked, line, console, stages, |session| {
        run_all(&world, session)
    })
}

fn run_all(world: &World, session: &Session<'_>) -> Result<Report> {
    let Session {
        selected, console, ..
    } = *session;
    console.status("Starting", &starting(world, session));
    let display = Display::new(console, selection::running(selected));
    let report = outcome::run(
        selected,
        session.options,
        session.directory,
        session.plain,
        None,
        session.stop,
        &display,
    );
    display.finish();
    let mut report = report?;
    session.compare_builds(&mut report);
    Ok(report)
}

/// `48 tests across 3 binaries, twice each, in the world of seed 7`.
fn starting(world: &World, session: &Session<'_>) -> String {
    let running = selection::running(session.selected);
    let all: usize = session.selected.iter().map(|one| one.tests.len()).sum();
    let binaries = match session.selected.len() {
        1 => "1 binary".to_owned(),
        many => format!("{many} binaries"),
    };
    let skipped = match all - running {
        0 => String::new(),
        skipped => format!(" ({skipped} ignored)"),
    };
    let twice = if world.verify { ", twice each" } else { "" };
    let seed = world.seed.map_or_else(String::new, |seed| {
        format!(", with the choices of seed {seed}")
    });
    let tests = selection::count(running, "test");
    format!("{tests} across {binaries}{skipped}{twice}{seed}")
}

//! `cargo nondex check`: choices and orders in one build and one report, for CI.

use super::configuration::Asked;
use super::console::Console;
use super::progress::Display;
use super::run::{self, Session};
use super::selection;
use crate::campaign::orders;
use crate::cli::CheckArgs;
use crate::error::Result;
use crate::exit_code::ExitCode;
use crate::judge::order::OrderOptions;
use crate::report::{Report, combined};

/// The part of `--max-time` that choices may take when orders come after them.
pub(super) const SHARE: f64 = 0.6;

/// Runs a campaign, then the tests in other orders. `line` is the command line, for the report.
pub(super) fn check(
    args: &CheckArgs,
    asked: &Asked,
    line: &str,
    console: &Console,
) -> Result<ExitCode> {
    let usual = OrderOptions::default();
    let tried = OrderOptions {
        orders: args.orders.unwrap_or(usual.orders),
        ..usual
    };
    run::and_then(&args.run, asked, line, console, SHARE, |session, report| {
        in_orders(&tried, session, report, console)
    })
}

/// Runs the tests of the session in other orders, and adds what that shows to its report.
pub(super) fn in_orders(
    tried: &OrderOptions,
    session: &Session<'_>,
    report: &mut Report,
    console: &Console,
) -> Result<()> {
    if session.stop.is_set() {
        report.partial = true;
        report
            .notes
            .push("no other order of tests was tried: the run was stopped before".to_owned());
        return Ok(());
    }
    let running = selection::running(session.selected);
    console.status(
        "Running",
        &format!("{} in other orders", selection::count(running, "test")),
    );
    let display = Display::new(console, running);
    let mut options = session.options.clone();
    options.max_time = None;
    let found = orders::run(
        session.selected,
        &options,
        tried,
        session.directory,
        &display,
        session.stop,
    );
    display.finish();
    combined::add_orders(report, found?);
    Ok(())
}

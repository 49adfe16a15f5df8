//! `cargo nondex order`: runs the tests in many orders, without other choices.

use super::configuration::Asked;
use super::console::Console;
use super::run;
use super::session::Stages;
use crate::cli::{OrderArgs, RunArgs};
use crate::error::Result;
use crate::exit_code::ExitCode;
use crate::report::Verdict;

/// Searches for tests whose outcome depends on the tests before them.
pub(super) fn order(args: &OrderArgs, asked: &Asked, console: &Console) -> Result<ExitCode> {
    let tried = args.options();
    let args = RunArgs {
        budget: args.budget.clone(),
        testing: args.testing.clone(),
        ..RunArgs::default()
    };
    run::within(&args, asked, console, Stages::Orders, |session| {
        let mut report = session.in_orders(&tried)?;
        if report.tests.iter().any(|test| test.verdict == Verdict::Broken) {
            session.compare_with_plain(&mut report, |_| true);
            session.compare_builds(&mut report);
        }
        Ok(report)
    })
}

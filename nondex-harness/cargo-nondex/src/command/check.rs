//! `cargo nondex check`: tries choices and test orders in one build and one report, for CI.

use std::collections::BTreeSet;

use super::configuration::Asked;
use super::console::Console;
use super::deflake::Change;
use super::run;
use super::session::{Session, Stages};
use crate::cli::CheckArgs;
use crate::error::Result;
use crate::exit_code::ExitCode;
use crate::judge::order::OrderOptions;
use crate::report::{Report, combined};

/// Runs a campaign, then the tests in other orders. With `--base`, also decides whether the change
/// since that commit is to blame for failures.
pub(super) fn check(args: &CheckArgs, asked: &Asked, console: &Console) -> Result<ExitCode> {
    let usual = OrderOptions::default();
    let tried = OrderOptions { orders: args.orders.unwrap_or(usual.orders), ..usual };
    let stages = Stages::ChoicesAndOrders;
    let compared = args.base.as_deref().zip(asked.config.root.as_deref());
    let change = compared.map(|(base, root)| Change::since(Some(base), root)).transpose()?;
    run::within(&args.run, asked, console, stages, |session| {
        let mut report = session.campaign()?;
        add_orders(&tried, session, &mut report)?;
        if let Some(change) = change {
            change.blame(false, session, &mut report)?;
        }
        Ok(report)
    })
}

/// Runs the tests of the session in other orders, and adds the results to its report.
pub(super) fn add_orders(
    tried: &OrderOptions,
    session: &Session<'_>,
    report: &mut Report,
) -> Result<()> {
    if session.stop.is_set() {
        session.tree.restore();
        report.partial = true;
        report.notes.push("no other test order was tried: the run was stopped".to_owned());
        return Ok(());
    }
    let mut orders = session.in_orders(tried)?;
    // A test may pass in the campaign and fail in each order because of what this tool adds there.
    let passing: BTreeSet<&String> =
        report.tests.iter().filter(|test| test.verdict.passes()).map(|test| &test.id).collect();
    session.compare_with_plain(&mut orders, |test| passing.contains(&test.id));
    combined::add_orders(report, orders);
    Ok(())
}

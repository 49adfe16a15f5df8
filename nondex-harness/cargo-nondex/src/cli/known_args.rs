//! Options of `cargo nondex known`, for tests that may be flaky until a date.

use chrono::NaiveDate;
use clap::{Args, Subcommand};

use super::location_args::LocationArgs;
use crate::findings::known::date;

/// Options of `cargo nondex known`.
#[derive(Args, Clone, Debug)]
pub struct KnownArgs {
    /// Action on the known flakes.
    #[command(subcommand)]
    pub action: KnownAction,
}

/// Action on the known flakes.
#[derive(Clone, Debug, Subcommand)]
pub enum KnownAction {
    /// Add a test that the last report calls flaky, with its cause: it does not fail a run until
    /// that day, unless by another cause
    Add(KnownAddArgs),
    /// List the entries that are overdue by the last report: their day is over, their tests are
    /// stable, or their test does not exist
    Check(KnownCheckArgs),
    /// Remove the entries that are overdue, except those whose test was renamed
    Prune(KnownCheckArgs),
}

/// Options of `cargo nondex known add`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Entry options")]
pub struct KnownAddArgs {
    /// The test's id, or a part of it that no other flaky test of the last report has
    #[arg(value_name = "TEST", required_unless_present = "all", help_heading = "Arguments")]
    pub test: Option<String>,

    /// Add every test whose finding fails the last run
    #[arg(long, conflicts_with = "test")]
    pub all: bool,

    /// Why it is not fixed yet [default with --all: not examined yet]
    #[arg(long, value_name = "TEXT", required_unless_present = "all")]
    pub reason: Option<String>,

    /// The last day on which it may be flaky, such as 2027-01-31 [default with --all: in 90 days]
    #[arg(long, value_name = "DATE", value_parser = date::parse, required_unless_present = "all")]
    pub expires: Option<NaiveDate>,

    /// Where that is written, such as the address of an issue
    #[arg(long, value_name = "LINK")]
    pub link: Option<String>,

    /// Location of the project.
    #[command(flatten)]
    pub location: LocationArgs,
}

/// Options of `cargo nondex known check` and `prune`.
#[derive(Args, Clone, Debug)]
pub struct KnownCheckArgs {
    /// Location of the project.
    #[command(flatten)]
    pub location: LocationArgs,
}

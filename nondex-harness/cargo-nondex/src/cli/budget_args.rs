//! Options that limit the duration of a search.

use clap::Args;

use super::values::{Switch as _, factor};
use crate::judge::options::DEFAULT_BUDGET_FACTOR;

/// Options that limit a search, or remove the limit.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Campaign options")]
pub struct BudgetArgs {
    /// How long to explore, as a multiple of one run of all tests; 30 seconds at least. Then the
    /// tests are judged by the runs so far. Seeds that are given are all tried [default: 10]
    #[arg(long, value_name = "FACTOR", conflicts_with = "thorough", value_parser = factor)]
    pub budget_factor: Option<f64>,

    /// Explore everything, however long that takes
    #[arg(long, switch = "BOOL")]
    pub thorough: Option<bool>,
}

impl BudgetArgs {
    /// Returns the maximum duration of exploration as a multiple of one run of all tests, or `None`
    /// without a limit.
    pub fn factor(&self) -> Option<f64> {
        let is_limited = self.thorough != Some(true);
        is_limited.then(|| self.budget_factor.unwrap_or(DEFAULT_BUDGET_FACTOR))
    }
}

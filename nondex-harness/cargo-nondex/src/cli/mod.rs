//! The command line, the environment variables, and the selection of tests.

pub mod bisect_args;
pub mod build_args;
pub mod changed_args;
pub mod check_args;
pub mod classify_args;
mod command_line;
pub mod config_args;
pub mod confirm_args;
pub mod deflake_args;
pub mod explain_args;
pub mod filterset;
pub mod known_args;
pub mod location_args;
pub mod model_args;
pub mod network_args;
pub mod network_list_args;
pub mod order_args;
pub mod output_args;
pub mod replay_args;
pub mod report_args;
pub mod run_args;
pub mod seeds;
pub mod test_filter;
pub(crate) mod values;

pub use bisect_args::BisectArgs;
pub use build_args::BuildArgs;
pub use changed_args::ChangedArgs;
pub use check_args::CheckArgs;
pub use classify_args::ClassifyArgs;
pub use command_line::{
    CleanArgs, Command, CommandLine, CompletionsArgs, ListArgs, ManArgs, ModelsArgs,
};
pub use config_args::ConfigArgs;
pub use confirm_args::ConfirmArgs;
pub use deflake_args::DeflakeArgs;
pub use explain_args::ExplainArgs;
pub use known_args::{KnownAction, KnownAddArgs, KnownArgs, KnownCheckArgs};
pub use location_args::LocationArgs;
pub use model_args::ModelArgs;
pub use network_args::NetworkArgs;
pub use network_list_args::NetworkListArgs;
pub use order_args::OrderArgs;
pub use output_args::{Color, MessageFormat, OutputArgs};
pub use replay_args::ReplayArgs;
pub use report_args::{MergeArgs, ReportAction, ReportArgs};
pub use run_args::RunArgs;
pub use test_filter::{FilterArgs, Match, TestFilter};

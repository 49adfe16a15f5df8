//! Parses the command line and its test filters.

mod build_args;
mod command_line;
pub mod filterset;
pub mod model_args;
mod order_args;
mod output_args;
pub mod partition;
mod project_args;
mod replay_args;
mod report_args;
mod run_args;
pub mod seeds;
mod short_help;
mod test_args;
pub mod test_filter;
mod testing_args;
pub(crate) mod values;

pub use build_args::{BuildArgs, LocationArgs};
pub use command_line::{
    CleanArgs, Command, CommandLine, CompletionsArgs, InitArgs, ModelsArgs, SchemaArgs, SchemaOf,
};
pub use filterset::Expression;
pub use model_args::ModelArgs;
pub use order_args::OrderArgs;
pub use output_args::{Annotations, Color, FileArgs, MessageFormat, OutputArgs};
pub use project_args::{
    ArchiveArgs, ConfigArgs, ConfirmArgs, ExtractArgs, ListFormat, NetworkListArgs, ProjectArgs,
};
pub use replay_args::ReplayArgs;
pub use report_args::{
    BisectArgs, ExplainArgs, KnownAction, KnownAddArgs, MergeArgs, ReportAction, ReportArgs,
};
pub use run_args::{CheckArgs, ClassifyArgs, DeflakeArgs, RunArgs};
pub use seeds::Seeds;
pub use test_args::{DisplayArgs, TestArgs, WithArgs, WorldArgs};
pub use test_filter::{FilterArgs, Match, TestFilter};
pub use testing_args::{BudgetArgs, ChangedArgs, NetworkArgs, TestingArgs};
pub use values::MaxFail;
pub(crate) use values::processors;
